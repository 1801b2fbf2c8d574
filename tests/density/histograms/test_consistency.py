"""Projections: optimal, idempotent, and never further from what is possible."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither.density import isotonic, nonnegative, simplex, tie_down
from dither.density.histograms import consistency
from dither.errors import DataError, InputError, NumberError, SizeError

FEWER = settings(max_examples=80)
quarters = st.lists(st.integers(-80, 80), min_size=1, max_size=7).map(lambda xs: [x / 4 for x in xs])


@FEWER
@given(quarters, st.integers(0, 60))
def test_the_simplex_meets_the_conditions_of_the_nearest_point(y, total):
    x = simplex(y, total)
    assert (x >= 0).all()
    assert x.sum() == pytest.approx(total, abs=1e-9)
    slack = np.array(y) - x  # Lagrange: one c where x is positive, and at most c elsewhere
    if total:
        c = slack[x > 0].max()
        assert slack[x > 0] == pytest.approx(c, abs=1e-9)
        assert (slack <= c + 1e-9).all()
    assert simplex(x, total) == pytest.approx(x, abs=1e-9)


def exactly_isotonic(y):
    """The formula of maxima and minima of means, in fractions."""
    y = [Fraction(v) for v in y]
    size = len(y)
    return [
        max(min(sum(y[a : b + 1], start=Fraction(0)) / (b - a + 1) for b in range(i, size)) for a in range(i + 1))
        for i in range(size)
    ]


@FEWER
@given(quarters)
def test_isotonic_is_the_exact_projection(y):
    wanted = [float(v) for v in exactly_isotonic(y)]
    found = isotonic(y)
    assert found == pytest.approx(wanted, abs=1e-9)
    assert isotonic(found) == pytest.approx(found, abs=1e-9)
    assert isotonic(y, low=-5, high=7) == pytest.approx(np.clip(wanted, -5, 7), abs=1e-9)


@FEWER
@given(quarters)
def test_pooling_one_by_one_gives_the_same(y):
    before = consistency.ROUNDS
    consistency.ROUNDS = 0
    try:
        assert isotonic(y) == pytest.approx([float(v) for v in exactly_isotonic(y)], abs=1e-9)
    finally:
        consistency.ROUNDS = before


@FEWER
@given(quarters, st.randoms(use_true_random=False))
def test_no_projection_moves_away_from_a_possible_point(y, random):
    possible = np.array([random.randint(0, 40) / 4 for _ in y])
    y = np.array(y)

    def apart(a, b):
        return float(np.square(a - b).sum())

    assert apart(nonnegative(y), possible) <= apart(y, possible) + 1e-9
    assert apart(simplex(y, possible.sum()), possible) <= apart(y, possible) + 1e-9
    rising = np.sort(possible)
    assert apart(isotonic(y), rising) <= apart(y, rising) + 1e-9
    assert apart(isotonic(y, low=0, high=10), rising) <= apart(y, rising) + 1e-9


def test_examples_by_hand():
    assert nonnegative([3, -1, 0.5]).tolist() == [3, 0, 0.5]
    assert simplex([3, 1, -2], 2).tolist() == [2, 0, 0]
    assert simplex([-5, -5], 4).tolist() == [2, 2]
    assert simplex([-5, -5], 0).tolist() == [0, 0]
    assert isotonic([1, 3, 2, 2, 5]).tolist() == pytest.approx([1, 7 / 3, 7 / 3, 7 / 3, 5])
    assert isotonic([2, 2, 2]).tolist() == [2, 2, 2]
    assert tie_down([1, 4, 6], 9).tolist() == [2, 6, 9]
    assert tie_down([7], 9).tolist() == [9]


def test_a_million_prefixes_take_seconds_in_the_worst_order_too():
    many = np.random.default_rng(1).normal(size=10**6).cumsum()
    assert (np.diff(isotonic(many)) >= 0).all()
    assert np.allclose(isotonic(-np.arange(10**6, dtype=float)), -499999.5)
    bad = np.concatenate([np.arange(2000.0), [-(10.0**9)]])  # pools one block a round
    assert np.allclose(isotonic(bad), bad.mean())


def test_what_is_refused():
    for wrong, kind in (
        ([], SizeError),
        ([[1.0]], SizeError),
        ([math.nan], NumberError),
        ([math.inf], NumberError),
        ("ab", DataError),
    ):
        for call in (nonnegative, isotonic, lambda y: simplex(y, 1), lambda y: tie_down(y, 1)):
            with pytest.raises(kind):
                call(wrong)
    for call in (
        lambda: simplex([1], -1),
        lambda: tie_down([1], math.nan),
        lambda: isotonic([1], low=2, high=1),
        lambda: nonnegative(["x"]),
    ):
        with pytest.raises(InputError):
            call()


def test_complex_numbers_are_refused():
    wrong = np.array([1 + 2j, 3])
    for call in (lambda: nonnegative(wrong), lambda: simplex(wrong, 1), lambda: isotonic(wrong), lambda: tie_down(wrong, 1)):
        with pytest.raises(DataError):
            call()
