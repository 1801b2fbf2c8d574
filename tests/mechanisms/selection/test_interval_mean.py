"""The exponential mechanism for a mean: two ways to punish errors, sensitivities by enumeration."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from dither import IntervalMean, Laplace, bounded_range, sensitivity
from dither.errors import BrokenPromise, InputError
from dither.testing import check_mechanism

CASES = [
    IntervalMean(epsilon=1, rows=3, points=5),
    IntervalMean(epsilon=2, rows=2, points=4, bounds=(-1, 2)),
    IntervalMean(epsilon=1, rows=3, points=5, squared=True),
    IntervalMean(epsilon=5, rows=1, points=3, squared=True, bounds=(2, 5)),
]


@pytest.mark.parametrize("mechanism", CASES, ids=repr)
def test_conforms(mechanism):
    check_mechanism(mechanism)


@pytest.mark.parametrize("squared", [False, True])
def test_every_pair_of_data_sets(squared):
    mechanism = IntervalMean(epsilon=1, rows=3, points=4, squared=squared)
    rows = [Fraction(0), Fraction(1, 2), Fraction(1)]
    check_mechanism(mechanism, query=lambda data: sum(data) / 3, universe=rows, rows=3)


def at(score, place, data):
    return score(data)[place]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_sensitivities_by_enumeration(n):
    points = [Fraction(k, 4) for k in range(5)]

    def scores(squared):
        def of(data):
            mean = sum(data, start=Fraction(0)) / n
            return [-(abs(mean - point) ** (2 if squared else 1)) for point in points]

        return of

    for squared in (False, True):
        score, largest = scores(squared), Fraction(0)
        for place in range(5):
            one = sensitivity.of(partial(at, score, place), universe=[0, 1], rows=n, unit="replace one person")
            largest = max(largest, one.l1)
        assert largest == IntervalMean(epsilon=1, rows=n, points=5, squared=squared).sensitivity
    assert IntervalMean(epsilon=1, rows=10, squared=True).sensitivity == Fraction(19, 100)  # not 1/10


def test_how_differently_scores_move():
    """(x - l)^2 - (y - l)^2 ranges over 2 |x - y| as l goes from 0 to 1: what the mechanism pays for."""
    for n in (1, 2, 5):
        points = [Fraction(k, 8) for k in range(9)]
        for k in range(n):
            x, y = Fraction(k, n), Fraction(k + 1, n)
            for squared in (False, True):
                power = 2 if squared else 1
                moves = [abs(x - p) ** power - abs(y - p) ** power for p in points]
                assert max(moves) - min(moves) <= IntervalMean(epsilon=1, rows=n, squared=squared).range
        assert IntervalMean(epsilon=1, rows=n, squared=True).range == Fraction(2, n)


class HalfTheRange(IntervalMean):
    range = property(lambda self: Fraction(1, self.rows))


@pytest.mark.parametrize("squared", [False, True])
def test_half_the_range_is_caught(squared):
    with pytest.raises(BrokenPromise, match="is false"):
        check_mechanism(HalfTheRange(epsilon=8, rows=2, points=3, squared=squared))


def test_what_comes_out():
    mechanism = IntervalMean(epsilon=1, rows=1000, bounds=(0, 10))
    assert mechanism.guarantee == bounded_range(1, unit="replace one person")
    released = [mechanism.release(9.99) for _ in range(100)]
    assert all(0 <= x <= 10 for x in released)
    assert abs(sum(released) / 100 - 9.99) < 0.2
    plain = Laplace(epsilon=1, sensitivity=sensitivity.mean(0, 10, rows=1000))
    assert plain.error(0.95) < mechanism.error(0.95)
    for odd in (math.inf, -math.inf, math.nan, 10**400):
        assert 0 <= mechanism.release(odd) <= 10
    sharp = IntervalMean(epsilon=10**5, rows=10, points=11)
    assert [sharp.release(x) for x in (math.inf, -math.inf, math.nan, np.float32(0.5), np.int64(1))] == [1, 0, 0, 0.5, 1]
    assert IntervalMean(epsilon="0.01", rows=1).error(0.95) == 1  # no further than the interval is long
    coarse = IntervalMean(epsilon=10**5, rows=10, points=3)
    assert coarse.error(0.95) >= 0.25  # half a spacing, whatever the noise is
    assert IntervalMean(epsilon=10**5, rows=10, points=3, squared=True).error(0.95) >= 0.25


def test_the_squared_one_is_a_gaussian_cut_off():
    # far from the ends: variance 1 / (n epsilon)
    n, epsilon = 5000, 2
    mechanism = IntervalMean(epsilon=epsilon, rows=n, squared=True, points=2001)
    law = mechanism.choice
    places = law.places(Fraction(1, 2))
    weights = [math.exp(float(law.rate) * int(p - places.max())) for p in places]
    variance = sum(w * (k / 2000 - 0.5) ** 2 for k, w in enumerate(weights)) / sum(weights)
    assert variance == pytest.approx(1 / (n * epsilon), rel=0.01)


def test_bad_input_is_refused_with_words():
    for bad in (
        {"rows": 0},
        {"epsilon": 0},
        {"bounds": (1, 1)},
        {"bounds": 3},
        {"points": 1},
        {"points": 10**7},
        {"unit": "add/remove one person"},
        {"squared": "no"},
        {"bounds": (10**15, 10**15 + 1), "rows": 100},
        {"bounds": (0, "1e400")},
    ):
        with pytest.raises(InputError, match="is refused"):
            IntervalMean(**{"epsilon": 1, "rows": 3, **bad})
    for value in (None, "0.5", True, [0.5]):
        with pytest.raises(InputError, match="is refused"):
            CASES[0].release(value)
