"""Mechanisms put together."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dither import Gaussian, Geometric, Laplace, Partitioned, Processed, Repeated, Together, Unit, gdp, parallel, pure
from dither.errors import BrokenPromise, InputError
from dither.mechanisms.combine import each_of
from dither.testing import check_mechanism

COUNT = Geometric(epsilon=2, sensitivity=1)
CASES = [
    Repeated(mechanism=COUNT, times=2),
    Partitioned(mechanism=COUNT, cells=2),
    Partitioned(mechanism=COUNT, cells=1, unit=Unit.REPLACE_ONE),
    Partitioned(mechanism=COUNT, cells=2, unit=Unit.REPLACE_ONE, inside=pure(0, unit=Unit.REPLACE_ONE)),
    Together(mechanisms=(COUNT, Geometric(epsilon=1, sensitivity=2, bounds=(0, 3)))),
    Together(mechanisms=(COUNT, Gaussian(l2_sensitivity=1, sigma=1, integers=True))),
    Processed(mechanism=COUNT, function=lambda x: max(0, x)),
]


@pytest.mark.parametrize("mechanism", CASES, ids=lambda m: type(m).__name__)
def test_conforms(mechanism):
    check_mechanism(mechanism, cutoff="1e-11")


def test_guarantees():
    assert Repeated(mechanism=COUNT, times=3).guarantee == 3 * pure(2)
    assert Partitioned(mechanism=COUNT, cells=10**9).guarantee == pure(2)
    moved = Partitioned(mechanism=COUNT, cells=5, unit=Unit.REPLACE_ONE)
    assert moved.guarantee == parallel([pure(2)] * 5, unit=Unit.REPLACE_ONE)
    mixed = Together(mechanisms=[COUNT, Gaussian(l2_sensitivity=1, sigma=1, integers=True)])
    assert mixed.guarantee == pure(2) + gdp(1)
    assert Processed(mechanism=mixed, function=sum).guarantee == mixed.guarantee


def test_errors_hold_together():
    assert Repeated(mechanism=COUNT, times=10).error(0.95) == Geometric(epsilon=2, sensitivity=1, dimension=10).error(0.95)
    assert each_of("0.95", 1) * 100 == 95
    level = each_of("0.95", 10)
    assert 0.9948 < level < 1 - (1 - level) / 2
    assert level**10 >= 0.95
    for count in range(2, 40):
        assert each_of("0.9", count) ** count >= Fraction(9, 10)
    assert each_of("0.95", 10**12) < 1
    pair = Together(mechanisms=(COUNT, Laplace(epsilon=1, sensitivity=1)))
    assert len(pair.error(0.9)) == 2
    with pytest.raises(InputError, match="depends on the function"):
        Processed(mechanism=COUNT, function=abs).error(0.9)


def test_the_hardest_neighbours_are_listed():
    moved = Partitioned(mechanism=COUNT, cells=3, unit=Unit.REPLACE_ONE)
    assert all(sum(a != b for a, b in zip(x, y, strict=True)) == 2 for x, y in moved.neighbours())
    assert all({a - b for a, b in zip(x, y, strict=True)} == {1, -1, 0} for x, y in moved.neighbours())
    assert len(list(Together(mechanisms=(COUNT, Geometric(epsilon=1, sensitivity=3))).neighbours())) == 12
    assert check_mechanism(CASES[3], cutoff="1e-9").epsilon == pytest.approx(4)  # out of one cell, into another


def test_releases():
    assert len(Repeated(mechanism=COUNT, times=3).release([1, 2, 3])) == 3
    assert isinstance(Together(mechanisms=(COUNT, Laplace(epsilon=1, sensitivity=1))).release((1, 2.5))[1], float)
    assert Processed(mechanism=COUNT, function=lambda x: x > -(10**9)).release(5) is True


def test_cells_that_overlap_are_caught():
    overlapping = Partitioned(mechanism=COUNT, cells=2)
    with pytest.raises(BrokenPromise, match="is false"):
        check_mechanism(overlapping, pairs=[([0, 0], [1, 1])], cutoff="1e-11")  # one person in both cells


def test_bad_input_is_refused_with_words():
    for make in (
        lambda: Repeated(mechanism=COUNT, times=0),
        lambda: Repeated(mechanism=3, times=1),
        lambda: Partitioned(mechanism=COUNT, cells="x"),
        lambda: Partitioned(mechanism=Geometric(epsilon=1, sensitivity=1, unit=Unit.REPLACE_ONE), cells=2),
        lambda: Together(mechanisms=()),
        lambda: Together(mechanisms=5),
        lambda: Together(mechanisms=[Geometric]),
        lambda: Repeated(mechanism=Geometric, times=2),
        lambda: Partitioned(mechanism=COUNT, cells=2, inside=3),
        lambda: Together(mechanisms=(COUNT, Geometric(epsilon=1, sensitivity=1, unit=Unit.REPLACE_ONE))),
        lambda: Processed(mechanism=COUNT, function=3),
        lambda: Repeated(mechanism=COUNT, times=2).release([1]),
        lambda: Repeated(mechanism=COUNT, times=2).release(7),
        lambda: Together(mechanisms=(COUNT,)).release([1, 2]),
    ):
        with pytest.raises(InputError, match="is refused"):
            make()
