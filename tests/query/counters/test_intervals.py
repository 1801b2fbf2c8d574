"""Error bars cover at their confidence: exactly, on small cases."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from dither import Gaussian, Geometric
from dither.query.counters import intervals as interval

LEVEL = Fraction(9, 10)
MECHANISMS = [
    Geometric(epsilon=1, sensitivity=1),
    Geometric(epsilon=1, sensitivity=2),
    Geometric(epsilon=4, sensitivity=1),
    Gaussian(sigma=2, l2_squared=1, integers=True),
    Gaussian(sigma="0.4", l2_squared=1, integers=True),
]


@cache
def masses(mechanism) -> np.ndarray:
    """The probabilities of -k..k, where no more than 1e-10 is left out."""
    reach = max(mechanism.law.quantile("0.9999999999")) + 2
    half = [mechanism.law.pmf(k).lower for k in range(reach + 1)]
    return np.array(half[:0:-1] + half)


@pytest.mark.parametrize("mechanism", [*MECHANISMS, Geometric(epsilon=1, sensitivity=30)], ids=str)
@pytest.mark.parametrize("weights", [(1,), (1, 1), (1, 1, 1), (3, 1), (1, -2), (Fraction(1, 7), 1)])
def test_a_sum_of_noisy_numbers_stays_within_its_error(mechanism, weights):
    unit = math.lcm(*(Fraction(weight).denominator for weight in weights))
    law = np.array([1.0])
    for weight in weights:  # one law spread out by its weight, added to the sum so far
        spread = np.zeros((len(masses(mechanism)) - 1) * abs(int(weight * unit)) + 1)
        spread[:: abs(int(weight * unit))] = masses(mechanism)
        law = np.convolve(law, spread)
    values = np.abs(np.arange(len(law)) - len(law) // 2) / unit
    half = interval.sum_error(mechanism, [Fraction(weight) for weight in weights], LEVEL)
    assert law[values <= half + 1e-9].sum() >= float(LEVEL) - 1e-8
    # and it is not much too wide: two steps of each number less would not do
    tight = half - 2 * sum(abs(float(weight)) for weight in weights) - 1e-6
    assert law[values <= tight].sum() < float(LEVEL)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
@pytest.mark.parametrize(("a", "b"), [(1, 0), (0, 1), (1, 1), (2, 0), (5, 5), (9, 1), (40, 3), (0, 0)])
def test_the_interval_of_an_average_covers(mechanism, a, b):
    """All noise that matters is enumerated, with totals at or below zero among it."""
    chances = masses(mechanism)
    reach = len(chances) // 2
    limits = interval.quantiles(mechanism, LEVEL)
    above, below = np.meshgrid(np.arange(a - reach, a + reach + 1), np.arange(b - reach, b + reach + 1), indexing="ij")
    low, high = interval.fractions(above.ravel(), below.ravel(), limits)
    assert ((low >= 0) & (low <= high) & (high <= 1)).all()
    if a + b == 0:
        return  # nobody is there: there is no average to cover
    truth = a / (a + b)
    covered = ((low <= truth) & (truth <= high)).reshape(above.shape)
    assert (np.outer(chances, chances) * covered).sum() >= float(LEVEL) - 1e-8


def test_the_interval_of_an_average_narrows_with_many_rows():
    mechanism = Geometric(epsilon=1, sensitivity=100)
    limits = interval.quantiles(mechanism, Fraction(19, 20))
    low, high = interval.fractions([30_000_00], [70_000_00], limits)
    assert low[0] < 0.3 < high[0]
    assert high[0] - low[0] < 2.2 * interval.average_error(mechanism, 100_000, 100, Fraction(19, 20))


def test_noise_that_contradicts_itself_gives_an_interval_still():
    limits = interval.quantiles(Geometric(epsilon=1, sensitivity=1), LEVEL)
    low, high = interval.fractions([500, -500, -500, 0], [-500, 500, -400, 0], limits)
    assert (low <= high).all()
    assert (low[3], high[3]) == (0.0, 1.0)


def test_the_quantile_falls_to_the_middle_and_rises_from_there():
    for mechanism in MECHANISMS:
        limits = interval.quantiles(mechanism, LEVEL)
        middle = len(limits) // 2
        assert (np.diff(limits[: middle + 1]) <= 1e-9).all()
        assert np.array_equal(limits, limits[::-1])
