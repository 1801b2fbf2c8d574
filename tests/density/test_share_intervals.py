"""The interval of a share: one list of quantiles for all groups, never below what any place of a cell needs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb

from dither.density.moments.ratio_intervals import (
    AT_ONCE,
    SHARES,
    CounterNoise,
    quantile,
    ratio_interval,
    share_quantiles,
    shares_within,
)
from dither.numeric.balls import precision

ODDS = -math.log(0.05)
LAPLACE, NORMAL = CounterNoise(1.0, 2.0**-20), CounterNoise(1.0, 2.0**-20, normal=True)
PAIR = np.array([1.0, 1.0]), np.array([1.0, 0.0])
WEIGHTS = [
    PAIR,
    (np.array([1.0, 1.0, 1.0]), np.array([1.0, 0.5, 0.0])),  # of a variance
    (np.array([1.0, 0.0, 0.0]), np.array([0.5, 0.5, 0.0])),  # a person may replace another
    (np.array([1.0, 1.0, 1.0, 1.0]), np.array([0.0, 0.0, 1.0, 1.0])),  # of a covariance
    (np.array([1.0, 0.3, 0.8]), np.array([0.1, 0.29, 0.0])),  # the largest size changes hands inside a cell
]


def beyond(sizes: list[float], t: float, noise: CounterNoise) -> float:
    """P(|sum of sizes times noise| > t) of continuous noise of scale 1, from the formula, in 400 bits."""
    if noise.normal:
        return math.erfc(t / math.hypot(*sizes) / math.sqrt(2))
    with precision(400):  # equal ones a little apart, by far less than is looked at
        w = [arb(size) * (1 + arb((at, -120))) for at, size in enumerate(sorted(sizes)) if size > 0]
        found = arb(0)
        for a in w:
            factor = (-arb(t) / a).exp()
            for b in w:
                factor = factor if a is b else factor * a * a / (a * a - b * b)
            found += factor
        return float(found)


@pytest.mark.parametrize("noise", [LAPLACE, NORMAL], ids=["laplace", "normal"])
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
def test_a_cell_has_room_for_all_of_its_places(weights, noise):
    """By the formula of the tail itself, for which nothing is rounded or made larger."""
    of_total, of_sum = weights
    rooms = share_quantiles(of_total, of_sum, noise, ODDS)
    for part in (0.0, 0.3, 0.5, 1.0):  # places of every cell
        x = (np.arange(SHARES) + part) / SHARES
        sizes = np.abs(of_sum - x[:, None] * of_total)
        assert (rooms <= quantile(sizes, noise, ODDS) * 1.02 + 1e-4).all()
        for size, room in zip(sizes.tolist(), rooms.tolist(), strict=True):
            assert beyond(size, room - sum(size) * noise.step, noise) <= 0.05


def test_the_room_is_that_of_the_farther_end_for_two_numbers():
    for noise in (LAPLACE, NORMAL):
        x = np.minimum(np.arange(SHARES), np.arange(SHARES)[::-1]) / SHARES  # the end that is farther from 1/2
        exactly = quantile(np.stack([1 - x, x], axis=-1), noise, ODDS)
        assert share_quantiles(*PAIR, noise, ODDS) == pytest.approx(exactly, rel=1e-5)


@pytest.mark.parametrize("noise", [LAPLACE, NORMAL], ids=["laplace", "normal"])
def test_a_set_holds_every_place_that_fits(noise):
    """Beside a fine list of places, with totals near, at and below zero among them."""
    rooms, x = share_quantiles(*PAIR, noise, ODDS), np.linspace(0, 1, 4097)
    needed = quantile(np.stack([1 - x, x], axis=-1), noise, ODDS)
    for total in (-50.0, -3.0, 0.0, 0.5, 4.0, 30.0, 1000.0):
        for share in (-0.1, 0.0, 0.2, 0.5, 0.97, 1.0):
            fits = x[np.abs(share * total - x * total) <= needed]
            low, high = shares_within(total, share * total, rooms)
            assert 0 <= low <= high <= 1
            if fits.size:
                assert low <= fits[0]
                assert high >= fits[-1]
                assert total < 30 or high - low <= 1.02 * (fits[-1] - fits[0]) + 1 / 2000


def test_where_nothing_fits_one_cell_or_all_of_them_stand_for_it():
    rooms = share_quantiles(*PAIR, LAPLACE, ODDS)
    assert shares_within(1000.0, -200.0, rooms) == (0.0, 1 / SHARES)
    assert shares_within(1000.0, 1200.0, rooms) == (1 - 1 / SHARES, 1.0)
    assert shares_within(1000.0, -200.0, rooms, nearest=False) == (0.0, 1.0)
    assert ratio_interval(1000.0, -200.0, *PAIR, LAPLACE, ODDS) == (0.0, 1.0)
    assert ratio_interval(-300.0, -100.0, *PAIR, LAPLACE, ODDS) == (0.0, 1.0)


def test_many_groups_are_each_by_itself():
    rooms = share_quantiles(*PAIR, LAPLACE, ODDS)
    total = np.linspace(-20, 300, AT_ONCE + 5)
    low, high = shares_within(total, total / 3, rooms)
    for at in (0, 100, AT_ONCE - 1, AT_ONCE, AT_ONCE + 4):
        assert (low[at], high[at]) == shares_within(float(total[at]), float(total[at]) / 3, rooms)
    low, high = shares_within(np.full(AT_ONCE + 1, 1000.0), -200.0, rooms, nearest=False)
    assert (low == 0).all()
    assert (high == 1).all()
    none = shares_within(np.empty(0), np.empty(0), rooms)
    assert [part.shape for part in none] == [(0,), (0,)]
