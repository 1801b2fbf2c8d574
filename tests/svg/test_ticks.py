"""Axes: everything that is drawn is on them, ticks are round, labels say their numbers exactly and never touch."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from dither.svg.labels import text_width
from dither.svg.ticks import GAP, MARGIN, axis_of, real
from tests.seeds import examples, of_the_day

SIZE, LENGTH = 11.0, 360.0


def read(label: str) -> Fraction:
    return Fraction(label.replace(",", ""))


def check(values: list[Fraction], length: float = LENGTH, *, whole: bool = False, upright: bool = False) -> None:
    axis = axis_of(values, length, SIZE, whole=whole, upright=upright)
    assert all(-1e-9 <= axis.place(one) <= length + 1e-9 for one in values)
    assert axis.ticks
    for tick in axis.ticks:
        assert axis.low <= tick.value <= axis.high
        assert read(tick.label) == tick.value
        assert not whole or tick.value.denominator == 1
    steps = {other.value - one.value for one, other in itertools.pairwise(axis.ticks)}
    assert len(steps) <= 1
    assert all(step > 0 for step in steps)
    if not upright:
        middles = [(axis.label_place(tick, SIZE), text_width(tick.label, SIZE) / 2) for tick in axis.ticks]
        assert all(x + half + GAP <= other - wide + 1e-9 for (x, half), (other, wide) in itertools.pairwise(middles))
        assert all(x - half >= -MARGIN and x + half <= length + MARGIN for x, half in middles)
    else:
        places = [axis.place(tick.value) for tick in axis.ticks]
        assert all(other - one >= SIZE for one, other in itertools.pairwise(places))


CASES = [
    [],
    [0],
    [5],
    [-5],
    [1e300],
    [-1e300, 1e300],
    [1e300, 1.0000000000000002e300],
    [5e-324],
    [0.0, 5e-324],
    [-1e-12, 2e-12],
    [10**18, 10**18 + 3],
    [10**400, -(10**399)],
    [1000000.00005, 1000000.0002],
    [0.1, 0.3],
    [-0.5, -0.25],
    [999, 1001],
    [0, 1],
]


@pytest.mark.parametrize("values", CASES, ids=lambda values: str(values)[:40])
@pytest.mark.parametrize("upright", [False, True])
def test_axes_of_any_numbers(values, upright):
    exact = [Fraction(one) for one in values]
    check(exact, upright=upright)
    if all(one.denominator == 1 for one in exact):
        check(exact, whole=True, upright=upright)


def test_axes_of_random_numbers():
    random = of_the_day("axes")
    for _ in range(examples(150, 5000)):
        scale = 10.0 ** random.randrange(-300, 300)
        values = [Fraction(random.uniform(-1, 1) * scale) for _ in range(random.randrange(1, 6))]
        check(values, random.uniform(150, 500))
        whole = [
            Fraction(random.randrange(-(10 ** random.randrange(1, 25)), 10 ** random.randrange(1, 25))) for _ in range(4)
        ]
        check(whole, random.uniform(150, 500), whole=True)


def test_zero_is_shown_where_it_is_near():
    def low(values, *, whole=False):
        return axis_of(map(Fraction, values), LENGTH, SIZE, whole=whole).low

    assert low([60, 100]) != 0  # a difference of 40, and zero further away than that
    assert low([60, 100], whole=True) == 0  # counts: less far
    assert low([40, 100]) == 0
    assert low([1000, 1010], whole=True) > 900  # or nothing else would be seen
    assert axis_of(map(Fraction, [-100, -40]), LENGTH, SIZE).high == 0


def test_labels_are_plain():
    def labels(*values, whole=False):
        return [tick.label for tick in axis_of(map(Fraction, values), LENGTH, SIZE, whole=whole).ticks]

    assert labels(0, 5012, whole=True) == ["0", "1,000", "2,000", "3,000", "4,000", "5,000"]
    assert labels(0, 0.5) == ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]
    assert labels(-1e300, 1e300) == ["-1e300", "-5e299", "0", "5e299", "1e300"]
    assert labels(0, 2, whole=True) == ["0", "1", "2"]


def test_what_is_no_number_is_not_drawn():
    assert [real(one) for one in (None, float("nan"), float("inf"), float("-inf"))] == [None] * 4
    assert real(0.5) == Fraction(1, 2)
