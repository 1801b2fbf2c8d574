"""Global sensitivity, how far one person can move a value: of counts, sums, means, histograms, and of any function on a
small universe.

For a sum of numbers in [a, b], one row a person: adding or removing a row moves it by that row, so by max(|a|, |b|);
replacing one moves it by at most b - a. (Not by b, as textbooks have it: with a = -5 and b = 2 one row weighs 5.)

For a mean of n numbers, n public: replacing one moves it by (b - a)/n. Adding a row x to n rows with mean m moves it by
(x - m)/(n + 1), so by at most (b - a)/(n + 1) where every data set has n rows or more.

For a histogram, one row a person: adding or removing moves one cell by 1. Replacing moves one cell down and one up:
L1 norm 2, L2 norm sqrt 2, L∞ norm 1.

For a list of scores, what a choice pays for is the L∞ norm, the largest change of *one* score: with weights exp(e s_i / 2D)
the ratio P(i)/P'(i) = exp(e (s_i - s'_i) / 2D) Z'/Z has both factors within exp(e/2) where no score moves by more than D:
Z'/Z is an average of exp(e (s'_j - s_j) / 2D) with weights P(j). How many scores move at once, the L1 norm, does not matter.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, SupportsIndex, TypeAlias, Union

from attrs import frozen

from dither.arguments import argument_errors
from dither.errors import DataError, NumberError, UnitError
from dither.mechanisms.norms import float_root
from dither.numeric.number import Number, NumberLike, integer, rational
from dither.numeric.representation import short_repr
from dither.privacy.unit import Unit, UnitLike, read_unit

__all__ = ["Sensitivity", "count", "histogram", "mean", "of", "sum"]

SensitivityLike: TypeAlias = Union["Sensitivity", NumberLike]  # what a mechanism takes: all norms, or the one it needs
Pair: TypeAlias = tuple[tuple[Any, ...], tuple[Any, ...]]

MOST_DATA_SETS = 200_000
_total = builtins.sum  # this module has a public `sum` of its own


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class Sensitivity:
    """The largest change that one person can make, in the L1, the L2 and the L∞ norm, exactly.

    Args:
        l1: the L1 norm of the change.
        l2_squared: the square of its L2 norm, since the norm itself may be irrational.
        unit: the neighbouring relation that the change is about.
        linf: the L∞ norm, the largest change of one number of a list; if not stated, the L1 norm, which it never exceeds.
        pair: two neighbouring data sets that attain the L1 norm, where known.

    Raises:
        NumberError: a norm is no exact number, irrational, or below zero; or the L∞ norm does not fit the others.
        UnitError: the unit is unknown.

    Example:
        >>> from dither import sensitivity
        >>> print(sensitivity.Sensitivity(l1=2, l2_squared=2, unit="replace one person"))
        L1 2, L2 1.41421 (replace one person)
    """

    l1: Fraction
    l2_squared: Fraction
    unit: Unit
    linf: Fraction  # the largest change of one number
    pair: Pair | None  # two neighbouring data sets that attain the L1 norm, where known
    __repr__ = short_repr

    def __init__(
        self,
        *,
        l1: NumberLike,
        l2_squared: NumberLike,
        unit: UnitLike,
        linf: NumberLike | None = None,
        pair: Pair | None = None,
    ) -> None:
        norm = rational(l1, name="l1", nonnegative=True)
        square = rational(l2_squared, name="l2_squared", nonnegative=True)
        largest = norm if linf is None else rational(linf, name="linf", nonnegative=True)
        if linf is not None and (largest > norm or largest**2 > square):
            why = "one number of a list moves by no more than all of them together"
            most = f"{Number(norm)} or less" if norm**2 <= square else f"a number whose square is {Number(square)} or less"
            raise NumberError("linf", linf, why, most)
        if linf is not None and square > largest * norm:  # each change c has sum c_i^2 <= max |c_i| sum |c_i|
            why = "the square of the L2 norm is at most the L∞ norm times the L1 norm"
            raise NumberError("linf", linf, why, f"{Number(square / norm)} or more" if norm else "an l1 above 0")
        self.__attrs_init__(l1=norm, l2_squared=square, unit=read_unit(unit), linf=largest, pair=pair)

    @property
    def l2(self) -> float:
        """The L2 norm of the change, rounded up to a float."""
        return float_root(self.l2_squared)

    def __str__(self) -> str:
        return f"L1 {Number(self.l1)}, L2 {self.l2:.6g} ({self.unit})"


@argument_errors
def count(*, unit: UnitLike = Unit.ADD_REMOVE) -> Sensitivity:
    """The sensitivity of a count: how many rows have a property, one row a person.

    Args:
        unit: the neighbouring relation, add/remove one person by default.

    Raises:
        UnitError: the unit is unknown.

    Example:
        >>> from dither import sensitivity
        >>> print(sensitivity.count())
        L1 1, L2 1 (add/remove one person)
    """
    return _number(Fraction(1), read_unit(unit))


@argument_errors
def sum(low: NumberLike, high: NumberLike, *, unit: UnitLike = Unit.ADD_REMOVE) -> Sensitivity:  # noqa: A001 - said with its module
    """The sensitivity of a sum of numbers between `low` and `high`, one row a person.

    Args:
        low: the least value of a row; rows are clipped to it.
        high: the largest value of a row.
        unit: the neighbouring relation, add/remove one person by default.

    Raises:
        NumberError: a bound is no rational number, or `low` lies above `high`.
        UnitError: the unit is unknown.

    Example:
        >>> from dither import sensitivity
        >>> print(sensitivity.sum(-5, 2))
        L1 5, L2 5 (add/remove one person)
        >>> print(sensitivity.sum(-5, 2, unit="replace one person"))
        L1 7, L2 7 (replace one person)
    """
    a, b, wanted = *_bounds(low, high), read_unit(unit)
    return _number(b - a if _replaces(wanted) else max(abs(a), abs(b)), wanted)


@argument_errors
def mean(low: NumberLike, high: NumberLike, *, rows: SupportsIndex, unit: UnitLike = Unit.REPLACE_ONE) -> Sensitivity:
    """The sensitivity of a mean of numbers between `low` and `high`, one row a person.

    Args:
        low: the least value of a row; rows are clipped to it.
        high: the largest value of a row.
        rows: how many rows there are, publicly (replace), or the least number that there can be (add/remove).
        unit: the neighbouring relation, replace one person by default.

    Raises:
        NumberError: a bound is no rational number, `low` lies above `high`, or `rows` is no integer above zero.
        UnitError: the unit is unknown.

    Example:
        >>> from dither import sensitivity
        >>> print(sensitivity.mean(0, 100, rows=50))
        L1 2, L2 2 (replace one person)
    """
    a, b, wanted = *_bounds(low, high), read_unit(unit)
    n = integer(rows, name="rows", least=1)
    return _number((b - a) / (n if _replaces(wanted) else n + 1), wanted)


@argument_errors
def histogram(*, unit: UnitLike = Unit.ADD_REMOVE) -> Sensitivity:
    """The sensitivity of a histogram: how many rows fall into each of several disjoint cells, one row a person.

    Args:
        unit: the neighbouring relation, add/remove one person by default.

    Raises:
        UnitError: the unit is unknown.

    Example:
        >>> from dither import sensitivity
        >>> print(sensitivity.histogram(unit="replace one person"))
        L1 2, L2 1.41421 (replace one person)
    """
    wanted = read_unit(unit)
    moved = Fraction(2 if _replaces(wanted) else 1)
    return Sensitivity(l1=moved, l2_squared=moved, linf=1, unit=wanted)


@argument_errors
def of(
    function: Callable[[tuple[Any, ...]], Any],
    *,
    universe: Iterable[Any],
    rows: SupportsIndex,
    unit: UnitLike = Unit.ADD_REMOVE,
) -> Sensitivity:
    """The exact sensitivity of any function, by going through all data sets of a small universe.

    Add/remove: data sets of 0 to `rows` rows. Replace: data sets of exactly `rows` rows. Rows are ordered, so a function
    that depends on their order is seen to. Results are numbers or equally long lists of numbers; floats count at their
    binary value.

    Args:
        function: of a data set, a tuple of rows.
        universe: the rows that a data set can have, of any kind.
        rows: how many rows a data set has, or has at most.
        unit: the neighbouring relation, add/remove one person by default.

    Raises:
        DataError: there are more than 200,000 data sets or none, or a result is no finite number or list of them.
        NumberError: `rows` is no integer above zero.
        UnitError: the unit is unknown.

    Example:
        >>> from dither import sensitivity
        >>> found = sensitivity.of(max, universe=[0, 1, 10], rows=2, unit="replace one person")
        >>> print(found, found.pair)
        L1 10, L2 10 (replace one person) ((0, 0), (10, 0))
        >>> votes = sensitivity.of(lambda rows: [rows.count(one) for one in "abc"], universe="abc", rows=3)
        >>> print(votes.linf)  # what a choice among three counts pays for
        1
    """
    wanted, most = read_unit(unit), integer(rows, name="rows", least=1)
    if not isinstance(universe, Iterable) or not callable(function):
        raise DataError(
            "function, universe", (function, universe), "a function and a list of rows are needed", "sum, [0, 1]"
        )
    members = tuple(universe)
    # data sets are lists of places in the universe, so that rows may be of any kind
    values = {data: _vector(function(tuple(members[i] for i in data))) for data in data_sets(members, most, wanted)}
    if len({len(value) for value in values.values()}) > 1:
        raise DataError("function", function, "it gives lists of different lengths", "lists of one length")
    l1, l2_squared, linf, pair = Fraction(-1), Fraction(0), Fraction(0), None
    for one, other in neighbours(values, len(members), wanted):
        change = [abs(x - y) for x, y in zip(values[one], values[other], strict=True)]
        if _total(change) > l1:
            l1, pair = Fraction(_total(change)), (one, other)
        l2_squared = max(l2_squared, Fraction(_total(x * x for x in change)))
        linf = max([linf, *change])
    found = None if pair is None else (tuple(members[i] for i in pair[0]), tuple(members[i] for i in pair[1]))
    return Sensitivity(l1=max(l1, Fraction(0)), l2_squared=l2_squared, linf=linf, unit=wanted, pair=found)


def data_sets(universe: Sequence[Any], rows: int, unit: Unit) -> Iterator[tuple[int, ...]]:
    """All data sets of `rows` rows, or for add/remove of up to that many, as lists of places in the universe."""
    sizes = [rows] if _replaces(unit) else range(rows + 1)
    if not universe or _total(len(universe) ** size for size in sizes) > MOST_DATA_SETS:
        why = f"all data sets are gone through: 1 to {MOST_DATA_SETS} of them"
        raise DataError("universe, rows", (len(universe), rows), why, "a small universe with few rows")
    for size in sizes:
        yield from product(range(len(universe)), repeat=size)


def neighbours(
    listed: Iterable[tuple[int, ...]], size: int, unit: Unit
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All pairs of neighbours among all data sets: the larger with each row left out, or with each row replaced."""
    for data in listed:
        for at in range(len(data)):
            if _replaces(unit):
                yield from ((data, (*data[:at], other, *data[at + 1 :])) for other in range(size))
            else:
                yield data, data[:at] + data[at + 1 :]


# -- what mechanisms ask --------------------------------------------------------------------------------------------


def read_l1(value: SensitivityLike, unit: UnitLike | None) -> tuple[Fraction, Unit]:
    """The L1 norm and the unit, from a Sensitivity or from a number."""
    if isinstance(value, Sensitivity):
        return _positive(value.l1), _agreed(value, unit)
    return rational(value, name="sensitivity", positive=True), read_unit(Unit.ADD_REMOVE if unit is None else unit)


def read_linf(value: SensitivityLike, unit: UnitLike | None) -> tuple[Fraction, Unit]:
    """The L∞ norm and the unit, from a Sensitivity or from a number."""
    if isinstance(value, Sensitivity):
        return _positive(value.linf), _agreed(value, unit)
    return read_l1(value, unit)


def read_l2_squared(value: SensitivityLike, unit: UnitLike | None) -> tuple[Fraction, Unit]:
    """The square of the L2 norm and the unit, from a Sensitivity or from a number."""
    if isinstance(value, Sensitivity):
        return _positive(value.l2_squared), _agreed(value, unit)
    norm = rational(value, name="l2_sensitivity", positive=True)
    return norm**2, read_unit(Unit.ADD_REMOVE if unit is None else unit)


def _agreed(value: Sensitivity, unit: UnitLike | None) -> Unit:
    if unit is not None and read_unit(unit) is not value.unit:
        raise UnitError("unit", unit, f"the sensitivity is about '{value.unit}'", "no unit, or the same one")
    return value.unit


def _positive(norm: Fraction) -> Fraction:
    if norm <= 0:
        raise NumberError("sensitivity", norm, "a value that nobody moves needs no noise", "publish it as it is")
    return norm


# -- small things ---------------------------------------------------------------------------------------------------


def _replaces(unit: Unit) -> bool:
    return unit.replacement is unit


def _number(moved: Fraction, unit: Unit) -> Sensitivity:
    return Sensitivity(l1=moved, l2_squared=moved**2, unit=unit)


def _bounds(low: NumberLike, high: NumberLike) -> tuple[Fraction, Fraction]:
    a, b = rational(low, name="low"), rational(high, name="high")
    if isinstance(low, float):  # a row clipped at a float lies at its binary value
        a = min(a, Fraction(low))
    if isinstance(high, float):
        b = max(b, Fraction(high))
    if a > b:
        raise NumberError("low, high", (low, high), "the lower bound lies above the upper one", "low=0, high=100")
    return a, b


def _vector(value: Any) -> tuple[Fraction, ...]:
    plain = value.tolist() if hasattr(value, "tolist") else value  # numpy's numbers and arrays
    exact = []
    for item in plain if isinstance(plain, (list, tuple)) else [plain]:
        if isinstance(item, bool) or not isinstance(item, (int, float, Fraction)) or not math.isfinite(item):
            raise DataError("function", value, "sensitivity is about finite numbers", "a number or a list of numbers")
        exact.append(Fraction(item))
    return tuple(exact)
