"""The values of a column that made-up rows take: keys, steps between the bounds, days, or texts that are plainly made up.

All arithmetic is of whole numbers and fractions; a float is the one nearest to a fraction, which is the same everywhere.
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, TypeAlias

from dither.query.policy.column import MOST_FOUND, Column, Key, Type

if TYPE_CHECKING:
    import pyarrow

Cell: TypeAlias = str | int | float | bool | Decimal | datetime.date | None
LARGEST, SMALLEST = 2**63 - 1, -(2**63)
FREE = 50  # values of a column of which the policy says nothing
SEARCHED = 1000  # steps in use where the policy lets bounds be found
FIRST_DAY, LAST_DAY = datetime.date(2020, 1, 1), datetime.date(2029, 12, 31)  # where the policy has no bounds of dates
DIGITS, PLACES = 18, 9  # of decimals that are stored as such; others are stored as floats
MANY = 2**62  # of ids


@dataclass(frozen=True)
class Values:
    """So many values, by their places."""

    count: int
    at: Callable[[int], Cell]

    def spread(self, most: int) -> Values:
        """At most so many of them, evenly spread: a column that is joined by has the same few in both tables."""
        return self if self.count <= most else Values(most, lambda place: self.at(place * self.count // most))


def values_of(column: Column, most: Fraction | None = None) -> Values:
    """What made-up cells of a column hold, if they are there; of numbers, none whose absolute value is above `most`."""
    if column.keys is not None:
        keys = _keys(column, most)
        return Values(len(keys), keys.__getitem__)
    if column.type is Type.BOOLEAN:
        return Values(2, bool)
    if column.type is Type.TEXT:
        return Values(FREE, lambda place: f"text {place + 1}")
    if column.type.is_date:
        return _dates(column)
    if column.lower is None:
        unit = Fraction(1) if column.type is Type.INTEGER else Fraction(1, 4)
        return Values(FREE, lambda place: as_cell(column, (place + 1) * unit))
    return _steps(column, most)


def least_size(column: Column) -> Fraction:
    """The smallest absolute value that a made-up number of a column with bounds has."""
    nearest = values_of(column, Fraction(0)).at(0)
    return abs(Fraction(nearest)) if isinstance(nearest, (int, float, Decimal)) else Fraction(0)


def ids_of(column: Column, word: str, most: Fraction | None = None) -> Values:
    """Values that tell people or rows apart: as many as the policy leaves room for."""
    if column.keys is not None or column.has_bounds:
        return values_of(column, most)
    if column.type is Type.TEXT:
        return Values(MANY, lambda place: f"{word} {place + 1}")
    if column.type is Type.INTEGER:
        return Values(MANY, lambda place: place + 1)
    if column.type is Type.DATE:
        return Values((datetime.date.max - FIRST_DAY).days, lambda place: FIRST_DAY + datetime.timedelta(days=place))
    start = datetime.datetime.combine(FIRST_DAY, datetime.time())
    return Values(10**10, lambda place: start + datetime.timedelta(seconds=place))


def arrow_type(column: Column) -> pyarrow.DataType:
    """How made-up cells of a column are stored."""
    import pyarrow

    if column.type is Type.DECIMAL:
        places = _places(column)
        return pyarrow.float64() if places is None else pyarrow.decimal128(DIGITS, places)
    found: dict[Type, pyarrow.DataType] = {
        Type.INTEGER: pyarrow.int64(),
        Type.FLOAT: pyarrow.float64(),
        Type.TEXT: pyarrow.string(),
        Type.BOOLEAN: pyarrow.bool_(),
        Type.DATE: pyarrow.date32(),
        Type.TIMESTAMP: pyarrow.timestamp("us"),
    }
    return found[column.type]


def as_cell(column: Column, value: Fraction) -> Cell:
    """A number as it is stored."""
    if column.type is Type.INTEGER:
        return min(max(floor(value), SMALLEST), LARGEST)
    places = _places(column) if column.type is Type.DECIMAL else None
    if places is not None:
        return Decimal(int(value * 10**places)).scaleb(-places)
    largest = Fraction(sys.float_info.max)
    return float(min(max(value, -largest), largest))


def _places(column: Column) -> int | None:
    """Digits behind the point that hold every step of a decimal; None where no such type does."""
    if column.lower is None or column.upper is None or column.step is None:
        return 2
    for places in range(PLACES + 1):
        if all((end * 10**places).denominator == 1 for end in (column.lower, column.step)):
            widest = max(abs(column.lower), abs(column.upper)) * 10**places
            return places if widest < 10**DIGITS else None
    return None


def _steps(column: Column, most: Fraction | None) -> Values:
    """Numbers on the steps between the bounds."""
    assert column.lower is not None
    assert column.upper is not None
    assert column.step is not None
    lower, step = column.lower, column.step
    if column.type is Type.INTEGER and step.denominator != 1:
        step = Fraction(1)
    first, last = 0, floor((column.upper - lower) / step)
    if column.auto:  # where nothing is known but the step: near zero, or near the end that is stated
        first = MOST_FOUND if lower == -column.upper else 0 if abs(lower) <= abs(column.upper) else last - SEARCHED
        last = min(last, first + SEARCHED)
    if column.type is Type.INTEGER:
        first, last = _within(lower, step, first, last, Fraction(SMALLEST), Fraction(LARGEST))
    if most is not None:
        first, last = _within(lower, step, first, last, -most, most)
    return Values(last - first + 1, lambda place: as_cell(column, lower + (first + place) * step))


def _within(lower: Fraction, step: Fraction, first: int, last: int, low: Fraction, high: Fraction) -> tuple[int, int]:
    """The steps whose values are from low to high; the nearest one where there is none."""
    least, most = max(first, ceil((low - lower) / step)), min(last, floor((high - lower) / step))
    if least <= most:
        return least, most
    nearest = first if lower + first * step > high else last if lower + last * step < low else min(max(first, most), last)
    return nearest, nearest


def _keys(column: Column, most: Fraction | None) -> list[Key]:
    """The keys within the bounds, where there are some beside them; of numbers the least where all are above `most`."""
    keys = [key for key in column.keys or () if _is_within(column, key)] or list(column.keys or ())
    if most is None:
        return keys
    numbers = [key for key in keys if isinstance(key, int)]
    return [key for key in numbers if abs(key) <= most] or [min(numbers, key=abs)]


def _is_within(column: Column, key: Key) -> bool:
    if isinstance(key, datetime.date):
        return column.first is None or column.last is None or column.first <= key <= column.last
    if isinstance(key, str) or column.lower is None or column.upper is None:
        return True
    return column.lower <= key <= column.upper


def _dates(column: Column) -> Values:
    first, last = column.first or FIRST_DAY, column.last or LAST_DAY
    if column.type is Type.DATE:
        return Values((last - first).days + 1, lambda place: first + datetime.timedelta(days=place))
    start, end = (one if isinstance(one, datetime.datetime) else _midnight(one) for one in (first, last))
    second = datetime.timedelta(seconds=1)
    return Values((end - start) // second + 1, lambda place: start + place * second)


def _midnight(day: datetime.date) -> datetime.datetime:
    return datetime.datetime.combine(day, datetime.time())
