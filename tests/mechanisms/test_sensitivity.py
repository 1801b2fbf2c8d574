"""Sensitivities, each against enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither import AboveThreshold, Exponential, Laplace, NoisyMax, PermuteAndFlip, TopK, Unit, sensitivity
from dither.errors import InputError

ADD, REPLACE = Unit.ADD_REMOVE, Unit.REPLACE_ONE
BOUNDS = [(0, 1), (-5, 2), (3, 7), (-4, -1), (Fraction(-1, 2), Fraction(1, 3))]


@pytest.mark.parametrize("unit", list(Unit))
@pytest.mark.parametrize("bounds", BOUNDS)
def test_sums(bounds, unit):
    claimed = sensitivity.sum(*bounds, unit=unit)
    universe = [bounds[0], bounds[1], (Fraction(bounds[0]) + bounds[1]) / 2]
    found = sensitivity.of(lambda rows: sum(rows, start=Fraction(0)), universe=universe, rows=3, unit=unit)
    assert (found.l1, found.l2_squared, found.unit) == (claimed.l1, claimed.l2_squared, claimed.unit)


def mean(rows):
    return sum(rows, start=Fraction(0)) / len(rows) if rows else Fraction(0)


@pytest.mark.parametrize("bounds", BOUNDS)
def test_means(bounds):
    for n in (1, 2, 3):
        found = sensitivity.of(mean, universe=bounds, rows=n, unit=REPLACE)
        assert found.l1 == sensitivity.mean(*bounds, rows=n).l1
    # add/remove among data sets with at least two rows: the smaller ones are not counted here
    worst = max(
        abs(mean(rows) - mean(rows[:-1])) for size in (3, 4) for rows in product([Fraction(b) for b in bounds], repeat=size)
    )
    assert worst == sensitivity.mean(*bounds, rows=2, unit=ADD).l1


def test_counts_and_histograms():
    cells = ["a", "b", "c"]

    def histogram(rows):
        return [rows.count(cell) for cell in cells]

    for unit in Unit:
        found = sensitivity.of(histogram, universe=cells, rows=3, unit=unit)
        claimed = sensitivity.histogram(unit=unit)
        assert (found.l1, found.l2_squared) == (claimed.l1, claimed.l2_squared)
        count = sensitivity.of(lambda rows: np.int64(rows.count("a")), universe=cells, rows=3, unit=unit)
        assert count.l1 == sensitivity.count(unit=unit).l1 == 1
    assert sensitivity.histogram(unit=REPLACE).l2 >= 2**0.5
    assert str(sensitivity.histogram(unit=REPLACE)) == "L1 2, L2 1.41421 (replace one person)"


def test_the_largest_change_of_one_score_is_what_choices_take():
    """The score of an output by how much rarer it is than the commonest value: a replaced row moves one by 2 at most."""

    def scores(rows):
        counts = [rows.count(one) for one in "abc"]
        return [count - max(counts) for count in counts]

    found = sensitivity.of(scores, universe="abc", rows=3, unit=REPLACE)
    assert found.linf == 2 < found.l1
    one_by_one = [
        sensitivity.of(lambda rows, at=at: scores(rows)[at], universe="abc", rows=3, unit=REPLACE) for at in range(3)
    ]
    assert found.linf == max(one.l1 for one in one_by_one)
    for choice in (Exponential, PermuteAndFlip, NoisyMax):
        assert choice(epsilon=1, sensitivity=found, candidates=3).sensitivity == 2
    assert TopK(epsilon=1, sensitivity=found, candidates=3, k=2).sensitivity == 2
    assert AboveThreshold(epsilon=1, sensitivity=found, threshold=0).sensitivity == 2
    assert Laplace(epsilon=1, sensitivity=found, dimension=3).sensitivity == found.l1
    exact = Exponential(epsilon=1, sensitivity=found, candidates=3, integers=True)
    inputs = [tuple(scores(rows)) for rows in product("abc", repeat=3)]
    pairs = [(one, other) for one in product("abc", repeat=3) for other in product("abc", repeat=3)]
    near = [
        (scores(one), scores(other)) for one, other in pairs if sum(x != y for x, y in zip(one, other, strict=True)) == 1
    ]
    chances = dict(zip(dict.fromkeys(inputs), exact.channel(dict.fromkeys(inputs)).matrix, strict=True))
    worst = max(float((chances[tuple(one)] / chances[tuple(other)]).max()) for one, other in near)
    assert 1.3 < worst <= np.exp(1)


def test_the_largest_change_of_one_number():
    assert [sensitivity.histogram(unit=unit).linf for unit in (ADD, REPLACE)] == [1, 1]
    assert sensitivity.sum(-5, 2).linf == 5
    assert sensitivity.Sensitivity(l1=3, l2_squared=9, unit=ADD).linf == 3  # not stated: no more than the L1 norm
    for linf in (4, -1, "x", 2):
        with pytest.raises(InputError):
            sensitivity.Sensitivity(l1=3, l2_squared=3, linf=linf, unit=ADD)
    with pytest.raises(InputError, match="square is 5 or less"):  # 3 or less would be refused again
        sensitivity.Sensitivity(l1=3, l2_squared=5, linf=3, unit=ADD)
    for l1, linf, way in ((3, "1.6", "5/3 or more"), (3, 0, "5/3 or more"), (0, 0, "l1")):  # too little noise for choices
        with pytest.raises(InputError, match=way):
            sensitivity.Sensitivity(l1=l1, l2_squared=5, linf=linf, unit=ADD)
    assert sensitivity.Sensitivity(l1=3, l2_squared=5, linf="5/3", unit=ADD).linf == Fraction(5, 3)


def test_the_pair_that_attains_it_is_named():
    found = sensitivity.of(lambda rows: max(rows, default=0), universe=[0, 1, 10], rows=2)
    assert found.l1 == 10
    assert {max(data, default=0) for data in found.pair} == {0, 10}
    ordered = sensitivity.of(lambda rows: rows[0] if rows else 0, universe=[0, 5], rows=2)
    assert ordered.l1 == 5  # the first row: removing it brings the second to the front


@given(st.lists(st.integers(-8, 8), min_size=1, max_size=4, unique=True))
@settings(max_examples=30, deadline=None)
def test_sums_over_any_universe_stay_within_the_claim(universe):
    low, high = min(universe), max(universe)
    for unit in (ADD, REPLACE):
        found = sensitivity.of(sum, universe=universe, rows=3, unit=unit)
        assert found.l1 == sensitivity.sum(low, high, unit=unit).l1


def test_rows_of_any_kind():
    found = sensitivity.of(lambda rows: sum(len(row) for row in rows), universe=[[1, 2], [3], []], rows=2)
    assert found.l1 == 2
    told_apart = sensitivity.of(lambda rows: sum(type(row) is bool for row in rows), universe=[1, True], rows=2)
    assert told_apart.l1 == 1
    at_the_end = sensitivity.of(lambda rows: 10 if len(rows) == 3 else 0, universe=[0], rows=3)
    assert at_the_end.l1 == 10  # data sets of exactly so many rows are among them


def test_bounds_written_as_floats_hold_for_floats():
    assert sensitivity.sum(0, 0.1).l1 == Fraction(0.1) > Fraction("0.1")
    assert sensitivity.sum(-0.3, 0).l1 == Fraction(3, 10) > Fraction(0.3)
    assert sensitivity.sum(0, "0.1").l1 == Fraction("0.1")


def test_floating_point_sums_move_by_more_than_one_row():
    # The sum of floats moves by more than the claim: why values are put on a lattice before they are added up.
    found = sensitivity.of(lambda rows: float(np.sum(np.array(rows, dtype=float))), universe=[2.0**53, 1.0, 3.0], rows=3)
    assert found.l1 > 2**53


def test_bad_input_is_refused_with_words():
    for call in (
        lambda: sensitivity.sum(2, 1),
        lambda: sensitivity.sum(0, float("inf")),
        lambda: sensitivity.sum("nan", 1),
        lambda: sensitivity.mean(0, 1, rows=0),
        lambda: sensitivity.count(unit="row"),
        lambda: sensitivity.of(sum, universe=[], rows=2),
        lambda: sensitivity.of(sum, universe=range(1000), rows=5),
        lambda: sensitivity.of(sum, universe=[1], rows=0),
        lambda: sensitivity.of(sum, universe=5, rows=1),
        lambda: sensitivity.of(3, universe=[1], rows=1),
        lambda: sensitivity.Sensitivity(l1=-1, l2_squared=1, unit=ADD),
        lambda: sensitivity.Sensitivity(l1="x", l2_squared=1, unit=ADD),
        lambda: sensitivity.Sensitivity(l1=1, l2_squared=1, unit="x"),
        lambda: sensitivity.of(lambda rows: float("nan"), universe=[1], rows=1),
        lambda: sensitivity.of(lambda rows: "text", universe=[1], rows=1),
        lambda: sensitivity.of(lambda rows: [1] * len(rows), universe=[1], rows=2),
    ):
        with pytest.raises(InputError, match="is refused"):
            call()
