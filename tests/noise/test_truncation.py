"""Truncated laws: the law that is stated, the rejection that draws it, and what is refused."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy.stats import chi2

import dither
from dither.errors import NotPrivateWarning, NumberError
from dither.noise import DiscreteLaplace, DiscreteNormal, OneSidedGeometric, RoundedGaussian, Truncated
from dither.noise.truncation import _Rejection
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.testing import seeded
from dither.testing.enumerate import outcomes

LAWS = [
    Truncated(DiscreteLaplace(rate=dither.ln(3)), 3),
    Truncated(DiscreteLaplace(5), 9),
    Truncated(RoundedGaussian(2), 5),
    Truncated(DiscreteNormal(9), 4),
]


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_masses_are_those_of_the_whole_law_over_what_is_kept(law):
    with precision(256):
        masses = {k: law.mass(k) for k in range(-law.bound - 3, law.bound + 4)}
        kept = sum((law.law.mass(k) for k in range(-law.bound, law.bound + 1)), start=arb(0))
        assert sum(masses.values(), start=arb(0)).overlaps(arb(1))
        for k, mass in masses.items():
            assert mass.overlaps(law.law.mass(k) / kept) if abs(k) <= law.bound else mass == 0
            above = sum((m for j, m in masses.items() if j > k), start=arb(0))
            assert (law.above(k) if k >= 0 else 1 - law.cdf(k)).overlaps(above)
    assert law.quantile("0.5") == (0, 0)
    assert abs(law.quantile("0.999999999999")[1]) <= law.bound
    assert pickle.loads(pickle.dumps(law)) == law != Truncated(law.law, law.bound + 1)


def test_the_geometric_law_is_the_one_of_the_textbook():
    """q^|z| / N with N = (1 + q - 2 q^(B+1)) / (1 - q)."""
    law, q, bound = LAWS[0], Fraction(1, 3), 3
    whole = (1 + q - 2 * q ** (bound + 1)) / (1 - q)
    assert sum(q ** abs(z) for z in range(-bound, bound + 1)) == whole
    with precision(256):
        for z in range(-bound, bound + 1):
            assert law.mass(z).contains(to_ball(q ** abs(z) / whole))


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_all_draws_that_there_are_have_probability_one(law):
    found = outcomes(lambda _: law.sample(), None)
    assert len(found.masses) == 2 * law.bound + 1
    assert float(found.missing) < 1e-50


class Script:
    """A sampler that gives what is written, in order."""

    def __init__(self, values, dtype=np.int64):
        self.values, self.dtype = list(values), dtype

    def one(self):
        return self.values.pop(0)

    def many(self, count):
        found, self.values = self.values[:count], self.values[count:]
        return np.array(found, dtype=self.dtype)


def test_what_lies_beyond_is_drawn_again_and_nothing_else():
    script = [4, -4, 3, 0, -3, 9, -(2**63), 2**63 - 1, 1]
    one = _Rejection(Script(script), 3)
    assert [one.one() for _ in range(4)] == [3, 0, -3, 1]
    many = _Rejection(Script([*script, -1, 5, 6, 2, 2, -2, 3]), 3).many(9)  # five are drawn again, two of these once more
    assert many.tolist() == [-1, -2, 3, 0, -3, 3, 2, 2, 1]
    assert many.dtype == np.int64
    wide = _Rejection(Script([2**80, 1, -(2**70), -1, 2], dtype=object), 3).many(3)
    assert (wide.dtype, wide.tolist()) == (np.dtype(np.int64), [-1, 1, 2])


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_draws_are_those_of_the_law(law):
    many = 200_000
    with pytest.warns(NotPrivateWarning), seeded(11):
        drawn = law.sample(many)
    assert isinstance(law.sample(), int)
    assert np.abs(drawn).max() == law.bound
    cells = range(-law.bound, law.bound + 1)
    expected = np.array([float(law.mass(k)) * many for k in cells])
    seen = np.array([np.count_nonzero(drawn == k) for k in cells])
    large = expected > 10
    assert chi2.sf(float(((seen - expected)[large] ** 2 / expected[large]).sum()), int(large.sum())) > 1e-6


def test_refusals():
    for bad in (0, -1, "x", 1.5, True, 2**63):
        with pytest.raises(NumberError, match="bound"):
            Truncated(DiscreteLaplace(1), bad)
    with pytest.raises(NumberError, match="half of all draws"):
        Truncated(RoundedGaussian(1000), 600)
    assert math.isfinite(Truncated(RoundedGaussian(1000), 700).bound)
    for other in (OneSidedGeometric(3), LAWS[0], "x"):
        with pytest.raises(NumberError, match="symmetric"):
            Truncated(other, 3)
