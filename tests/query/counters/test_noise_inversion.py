"""Reaches of sums of many noises, against exact laws: they hold, and are not much wider than they must be."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest

from dither.mechanisms.additive.gaussian import Gaussian
from dither.mechanisms.additive.geometric import Geometric
from dither.query.counters import noise_inversion
from dither.query.counters.noise_inversion import inverted_reach
from tests.query.counters.test_noise_sums import CASES, NOISES, tail

LEVELS = [Fraction(1, 2), Fraction(95, 100), Fraction(999, 1000), 1 - Fraction(1, 10**6)]
MORE = [*CASES, [(Geometric(epsilon="0.2", sensitivity=1), 1)] * 3 + [(NOISES[1], 4)], [(NOISES[0], 1)] * 20]


def reach(parts, level):
    return inverted_reach(tuple(noise for noise, _ in parts), (1,) * len(parts), tuple(float(s) for _, s in parts), level)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("case", range(len(MORE)))
def test_it_holds_by_the_exact_law(case, level):
    found = reach(MORE[case], level)
    assert tail(MORE[case], found) <= float(1 - level)
    if found < inf:  # a step of the lattice and 2% narrower it would not
        assert tail(MORE[case], found * 0.98 - 1) > float(1 - level)


def test_equal_noises_may_be_told_by_their_number():
    one, several = (((NOISES[0],) * n, (9 // n,) * n, (0.5,) * n, LEVELS[1]) for n in (1, 9))
    assert inverted_reach(*one) == pytest.approx(inverted_reach(*several))


def test_nothing_is_said_where_doubles_do_not_hold_it():
    narrow = Gaussian(rho=8, l2_squared=1, integers=True)
    assert inverted_reach((narrow,), (3,), (1.0,), LEVELS[1]) == inf
    assert inverted_reach((NOISES[0],), (3,), (1.0,), 1 - Fraction(1, 10**7)) == inf
    assert inverted_reach((NOISES[0],), (10**12,), (1.0,), LEVELS[1]) == inf


def test_a_sum_of_other_noise_is_found(monkeypatch):
    monkeypatch.setattr(noise_inversion, "_characteristic", lambda noise, variance, u: np.exp(-variance * u * u / 2.5))
    with pytest.raises(AssertionError):
        test_it_holds_by_the_exact_law(3, LEVELS[2])
