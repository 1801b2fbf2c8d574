"""The geometric mechanism: its promise, its error, and the way back."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest

from dither import Geometric, Unit, ln, pure, sensitivity
from dither.errors import InputError, UnitError
from dither.testing import check_mechanism

CASES = [
    Geometric(epsilon=1, sensitivity=1),
    Geometric(epsilon=ln(3), sensitivity=1),
    Geometric(epsilon="0.5", sensitivity=3),
    Geometric(epsilon=5, sensitivity=2),
    Geometric(epsilon=1, sensitivity=1, bounds=(0, 1)),
    Geometric(epsilon=1, sensitivity=2, bounds=(-3, 4)),
    Geometric(epsilon=1, sensitivity=9, bounds=(0, 3)),
    Geometric(epsilon=1, sensitivity=1, unit=Unit.REPLACE_ONE),
]
VECTORS = [
    Geometric(epsilon=2, sensitivity=2, dimension=2),
    Geometric(epsilon=3, sensitivity=1, dimension=3),
    Geometric(epsilon=6, sensitivity=2, bounds=(0, 2), dimension=2),
    Geometric(epsilon=4, sensitivity=2, bounds=(0, 1), dimension=2),
]


@pytest.mark.parametrize("mechanism", CASES, ids=repr)
def test_conforms(mechanism):
    report = check_mechanism(mechanism)
    assert abs(report.epsilon - float(mechanism.epsilon)) < 1e-9  # tight


@pytest.mark.parametrize("mechanism", VECTORS, ids=repr)
def test_vectors_conform(mechanism):
    assert abs(check_mechanism(mechanism, cutoff="1e-11").epsilon - float(mechanism.epsilon)) < 1e-6


def test_every_pair_of_data_sets():
    for unit, size in ((Unit.ADD_REMOVE, 1), (Unit.REPLACE_ONE, 1)):
        mechanism = Geometric(epsilon=1, sensitivity=size, unit=unit)
        check_mechanism(mechanism, query=lambda rows: sum(rows), universe=[0, 1], rows=3)


def outside(q: Fraction, k: int) -> Fraction:
    """P(|N| > k), by another road: one minus the finite sum."""
    return 1 - sum((1 - q) / (1 + q) * q ** abs(x) for x in range(-k, k + 1))


def test_the_error_is_the_smallest_half_width():
    for base, level, count in product((2, 3, 10), ("0.5", "0.8", "0.95", "0.999"), (1, 2, 7)):
        q, c = Fraction(1, base), Fraction(level)
        width = Geometric(epsilon=ln(base), sensitivity=1, dimension=count).error(level)
        assert (1 - outside(q, width)) ** count >= c
        assert width == 0 or (1 - outside(q, width - 1)) ** count < c  # one step less does not cover
    assert Geometric(epsilon=ln(3), sensitivity=1).error("0.5") == 0  # P(N = 0) is exactly one half
    assert Geometric(epsilon=ln(3), sensitivity=1).error("5/6") == 1
    assert Geometric(epsilon=ln(3), sensitivity=1, dimension=2).error("1/4") == 0
    assert Geometric(epsilon=ln(3), sensitivity=1).error(Fraction(5, 6) + Fraction(1, 10**300)) == 2
    assert Geometric(epsilon=ln(3), sensitivity=1).error("0.499") == 0


def test_bounds_make_the_error_smaller():
    free, bounded = Geometric(epsilon="0.1", sensitivity=1), Geometric(epsilon="0.1", sensitivity=1, bounds=(0, 10))
    assert free.error(0.99) > 40
    assert bounded.error(0.99) == 10
    assert bounded.error(0.5) < free.error(0.5)  # from the middle one side is cut off
    for level, (low, high) in product(("0.3", "0.6", "0.9", "0.95"), ((0, 3), (0, 8), (0, 30))):
        mechanism = Geometric(epsilon="0.3", sensitivity=1, bounds=(low, high))
        width = mechanism.error(level)
        q = math.exp(-0.3)
        worst = [_misses(q, x, w, low, high) for w in (width, width - 1) for x in range(low, high + 1)]
        half = len(worst) // 2
        assert max(worst[:half]) <= 1 - float(level) + 1e-12
        assert width == 0 or max(worst[half:]) > 1 - float(level) - 1e-12


def _misses(q, x, width, low, high):
    """P(|release - x| > width) for the clamped release, term by term."""
    total = 0.0
    for noise in range(-200, 201):
        if abs(max(low, min(high, x + noise)) - x) > width:
            total += (1 - q) / (1 + q) * q ** abs(noise)
    return total


def test_for_error_has_the_least_epsilon():
    for width, level, count in ((3, "0.95", None), (0, "0.9", None), (100, "0.99", 50)):
        found = Geometric.for_error(width, level, sensitivity=2, dimension=count)
        assert found.error(level) <= width
        less = Geometric(epsilon=found.epsilon * Fraction(999_999, 10**6), sensitivity=2, dimension=count)
        assert less.error(level) > width
    assert Geometric.for_error("3.9", 0.95, sensitivity=1) == Geometric.for_error(3, 0.95, sensitivity=1)
    bounded = Geometric.for_error(3, 0.95, sensitivity=1, bounds=(0, 7))
    assert bounded.error(0.95) == 3
    assert bounded.epsilon < Geometric.for_error(3, 0.95, sensitivity=1).epsilon
    assert Geometric.for_error(5, "0.5", sensitivity=1, bounds=(0, 10)).error("0.5") <= 5  # any epsilon will do
    assert Geometric.for_error(5, "1e-30", sensitivity=1).error("1e-30") <= 5
    assert Geometric.for_error(5, 1 - Fraction(1, 10**400), sensitivity=1).error(1 - Fraction(1, 10**400)) <= 5
    with pytest.raises(InputError, match="bounds alone"):
        Geometric.for_error(7, 0.95, sensitivity=1, bounds=(0, 7))


def test_what_comes_out():
    count = Geometric(epsilon="0.5", sensitivity=1)
    assert isinstance(count.release(128), int)
    assert count.guarantee == pure("0.5")
    bounded = Geometric(epsilon=1, sensitivity=1, bounds=(0, 5))
    assert {bounded.release(10**30) for _ in range(200)} <= set(range(6))
    assert {bounded.release(3) for _ in range(2000)} == set(range(6))
    wide = Geometric(epsilon=5, sensitivity=5, bounds=[0, 5], dimension=1000).release([10**30] * 500 + [-1] * 500)
    assert set(wide.tolist()) == set(range(6))
    sharp = Geometric(epsilon=1000, sensitivity=1, bounds=(0, 5), dimension=2)
    assert sharp.release([10**6, -(10**6)]).tolist() == [5, 0]
    assert Geometric(epsilon=1, sensitivity=sensitivity.count(unit="replace one row")).unit is Unit.REPLACE_ONE_ROW


def test_bad_input_is_refused_with_words():
    for bad in (
        {"epsilon": 0},
        {"epsilon": "nan"},
        {"epsilon": 2**21},
        {"sensitivity": 0},
        {"sensitivity": -1},
        {"sensitivity": "1.5"},
        {"bounds": (3, 3)},
        {"bounds": (5, 2)},
        {"bounds": (0, 2**70)},
        {"bounds": (0.5, 2)},
        {"bounds": 3},
        {"dimension": 0},
        {"dimension": 2.5},
        {"unit": "people"},
    ):
        with pytest.raises(InputError, match="is refused"):
            Geometric(**{"epsilon": 1, "sensitivity": 1, **bad})
    with pytest.raises(UnitError):
        Geometric(epsilon=1, sensitivity=sensitivity.count(), unit=Unit.REPLACE_ONE)
    with pytest.raises(TypeError):
        Geometric(1, 1)
    for level in (0, 1, -1, "nan", 2):
        with pytest.raises(InputError):
            Geometric(epsilon=1, sensitivity=1).error(level)
    for width in (-1, "nan"):
        with pytest.raises(InputError):
            Geometric.for_error(width, 0.9, sensitivity=1)
