"""Bounds of weighted sums of noise, against the exact law of small sums; and quotients, against their truth."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from dither.mechanisms.additive.gaussian import Gaussian
from dither.mechanisms.additive.geometric import Geometric
from dither.query.counters import noise_sums
from dither.query.counters.noise_sums import NoiseSum
from dither.query.counters.quotients import quotient_interval
from dither.testing import seeded

NOISES = [
    Geometric(epsilon="0.5", sensitivity=1),
    Geometric(epsilon=3, sensitivity=1),
    Gaussian(rho="0.1", l2_squared=1, integers=True),
    Gaussian(rho=8, l2_squared=1, integers=True),
]
LEVELS = [Fraction(1, 2), Fraction(95, 100), Fraction(999, 1000)]


def masses(noise, reach: int = 200) -> np.ndarray:
    """P(Z = k) for k from -reach to reach."""
    law = noise.law
    return np.array([float(law.pmf(k).upper) for k in range(-reach, reach + 1)])


def tail(parts: list[tuple[object, int]], bound: float) -> float:
    """P(|sum| > bound) for whole weights, by convolution."""
    law = np.ones(1)
    for noise, weight in parts:
        own = masses(noise)
        spaced = np.zeros((len(own) - 1) * weight + 1)
        spaced[::weight] = own
        law = np.convolve(law, spaced)
    middle = len(law) // 2
    sums = np.abs(np.arange(len(law)) - middle)
    return float(law[sums > bound].sum())


CASES = [
    [(NOISES[0], 1)],
    [(NOISES[0], 1), (NOISES[0], 1)],
    [(NOISES[0], 2), (NOISES[1], 5), (NOISES[0], 1)],
    [(NOISES[1], 1)] * 9,
    [(NOISES[2], 1)] * 7,
    [(NOISES[2], 3), (NOISES[3], 1)],
    [(NOISES[3], 1)] * 12,
    [(NOISES[0], 1), (NOISES[2], 2)],
]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("case", range(len(CASES)))
def test_every_bound_holds_by_the_exact_law(case, level):
    merged = [(*one, len(list(same))) for one, same in itertools.groupby(CASES[case])]
    found = NoiseSum(tuple(noise for noise, _, _ in merged), tuple(times for _, _, times in merged), level)
    sizes = np.array([[float(weight) for _, weight, _ in merged]])
    bounds = [found._exact(sizes), found._chernoff(sizes), found.reach(sizes)]
    continuous = found._continuous(sizes)
    bounds += [] if continuous is None else [continuous]
    for bound in bounds:
        assert tail(CASES[case], float(bound[0])) <= float(1 - level) + 1e-12
    if case != 6:  # where noise is nearly always zero
        assert tail(CASES[case], float(found.reach(sizes)[0]) / 3) > float(1 - level)  # and none is far too wide


def test_a_bound_without_the_factor_of_chernoff_is_caught(monkeypatch):
    level, case = Fraction(1, 2), CASES[3]
    found = NoiseSum((NOISES[1],), (9,), level)
    monkeypatch.setattr(noise_sums, "_log_geometric", lambda u, rate: 0 * u)  # as if noise had no spread
    assert tail(case, float(found._chernoff(np.ones((1, 1)))[0])) > float(1 - level)


def test_many_noises_add_up_like_their_root():
    """A total of many groups: not the sum of their bars."""
    one, many = (NoiseSum((NOISES[0],), (times,), LEVELS[1]).reach(np.ones((1, 1)))[0] for times in (1, 10_000))
    assert 50 * one < many < 200 * one


def test_no_noise_has_no_reach():
    huge = Geometric(epsilon=10**6, sensitivity=1)
    assert NoiseSum((huge,), (1000,), LEVELS[1]).reach(np.ones((1, 1)))[0] == 0.0
    assert NoiseSum((NOISES[0],), (3,), LEVELS[1]).reach(np.zeros((1, 1)))[0] == 0.0


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("over", "under"), [(40, 60), (-400, 25), (0, 3000), (3, 2), (100_000, 7)])
def test_quotients_hold_their_truth(noise, over, under):
    """2,000 draws with a fixed seed: about 5% miss, and no more."""
    with pytest.warns(UserWarning, match="NOT PRIVATE"), seeded(7):
        drawn = np.array(noise.law.sample((2000, 2)), dtype=np.float64)
    sums, totals = over + 2.0 * drawn[:, 0], under + drawn[:, 1] + 1.0 * drawn[:, 0]
    both = NoiseSum((noise, noise), (1, 1), LEVELS[1])
    low, high = quotient_interval(sums, totals, np.array([2.0, 0.0]), np.array([1.0, 1.0]), both, (-np.inf, np.inf))
    held = np.mean((low <= over / under) & (over / under <= high))
    assert held >= 0.94


def test_a_total_within_its_noise_has_no_end():
    both = NoiseSum((NOISES[0], NOISES[0]), (1, 1), LEVELS[1])
    weights = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    sums, totals = np.array([1000.0, 1000.0, 0.0]), np.array([1.0, 1000.0, 0.0])
    low, high = quotient_interval(sums, totals, *weights, both, (-np.inf, np.inf))
    assert (low[0], high[0]) == (-np.inf, np.inf) == (low[2], high[2])
    assert 0.9 < low[1] < 1 < high[1] < 1.1
    low, high = quotient_interval(sums, totals, *weights, both, (0.0, np.inf))
    assert 50 < low[0] < 500  # its sign is known, and that it is large
    assert high[0] == np.inf
    low, high = quotient_interval(np.array([-500.0]), np.array([1000.0]), *weights, both, (0.0, 1.0))
    assert (low[0], high[0]) == (0.0, 0.0)  # beyond what can be
