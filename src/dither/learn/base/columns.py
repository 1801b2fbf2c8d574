"""Public facts of columns: the bounds of numbers, and the lists of categories. Nobody reads them off the data.

A bound that is the largest value of the data is somebody's value, and a list of the wards that occur names the ward where
one person lies. So `bounds` has no default.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen

from dither.errors import DataError, NumberError, SizeError

WAYS = "bounds=(0, 120), bounds=([0, 0], [120, 5000]), or by column: bounds={'age': (0, 120), 'ward': ['north', 'south']}"
MOST_CATEGORIES = 10_000

Category: TypeAlias = str | int | float | bool
ColumnBounds: TypeAlias = "tuple[float, float] | list[Category]"
BoundsLike: TypeAlias = "tuple[Any, Any] | Sequence[ColumnBounds] | Mapping[Any, ColumnBounds] | None"


@frozen
class NumberColumn:
    """Numbers between two bounds. What lies beyond is moved to the bound; what is no number counts as the middle."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """Where u = 0."""
        return self.low / 2 + self.high / 2

    @property
    def half(self) -> float:
        """How far u = 1 is from there."""
        return self.high / 2 - self.low / 2

    @property
    def width(self) -> int:
        """How many coordinates it has in a vector."""
        return 1


@frozen
class CategoryColumn:
    """One of a list of values, one-hot encoded: each is a coordinate that is 0 or 1. A value that is not listed has none.

    Treatment coded, the first value is the reference level and has no coordinate.
    """

    values: tuple[Category, ...]
    has_reference: bool = False  # treatment coding, for linear models with an intercept

    @property
    def levels(self) -> tuple[Category, ...]:
        """The values that have a coordinate."""
        return self.values[1:] if self.has_reference else self.values

    @property
    def width(self) -> int:
        """How many coordinates it has in a vector."""
        return len(self.levels)


Column: TypeAlias = NumberColumn | CategoryColumn


def read_bounds(bounds: BoundsLike, names: Sequence[str] | None, count: int) -> tuple[Column, ...]:
    """The facts of each of `count` columns, by their names where they have some."""
    if bounds is None:
        why = "the range of each column is public, and is never read off the data"
        raise DataError("bounds", None, why, WAYS)
    if isinstance(bounds, Mapping):
        return _by_name(bounds, names, count)
    if isinstance(bounds, list):
        if len(bounds) != count:
            raise SizeError("bounds", len(bounds), f"there are {count} columns", "one entry for each column, or one pair")
        return tuple(_column(entry, f"bounds[{place}]") for place, entry in enumerate(bounds))
    if not isinstance(bounds, tuple) or len(bounds) != 2:
        raise DataError("bounds", bounds, "it is neither a pair nor a list or mapping of pairs and lists", WAYS)
    lows, highs = (_ends(end, count) for end in bounds)
    return tuple(_column((low, high), "bounds") for low, high in zip(lows, highs, strict=True))


def stated_width(bounds: Any) -> int | None:
    """Return how many columns the bounds say there are; None where one pair is for all."""
    if isinstance(bounds, (list, Mapping)):
        return len(bounds)
    ends = bounds if isinstance(bounds, tuple) else ()
    return next((len(end) for end in ends if isinstance(end, (list, tuple, np.ndarray))), None)


def read_pair(pair: Any, where: str, ways: str) -> NumberColumn:
    """A pair of bounds, the lower one first."""
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise DataError(where, pair, "bounds are a pair, the lower one first", ways)
    low, high = (_number(end, where, ways) for end in pair)
    found = NumberColumn(low, high)
    if not low < high or not math.isfinite(found.half) or found.half == 0:
        raise NumberError(where, pair, "the lower bound is first, and below the upper one", ways)
    return found


def _by_name(bounds: Mapping[Any, ColumnBounds], names: Sequence[str] | None, count: int) -> tuple[Column, ...]:
    keys: Sequence[Any] = range(count) if names is None else names
    strange = [key for key in bounds if key not in keys]
    lacking = [key for key in keys if key not in bounds]
    if strange or lacking:
        why = f"there is no such column: {strange[0]!r}" if strange else f"nothing is said about {lacking[0]!r}"
        raise DataError("bounds", sorted(map(str, bounds)), why, f"one entry for each of {', '.join(map(repr, keys))}")
    return tuple(_column(bounds[key], f"bounds[{key!r}]") for key in keys)


def _column(entry: Any, where: str) -> Column:
    if isinstance(entry, list):
        if len(entry) == 2 and all(isinstance(one, (int, float)) for one in entry) and entry[1] - entry[0] > 1:
            why = "a list is one of categories, and this looks like a range"
            raise DataError(
                where, entry, why, f"({entry[0]}, {entry[1]}) for a range; of categories, other numbers for them"
            )
        return CategoryColumn(read_categories(entry, where))
    return read_pair(entry, where, "(0, 120) for numbers, ['north', 'south'] for categories")


def read_categories(values: Any, where: str) -> tuple[Category, ...]:
    """A list of different values."""
    if not isinstance(values, (list, tuple, np.ndarray)) or not 1 <= len(values) <= MOST_CATEGORIES:
        raise DataError(where, values, f"it is not a list of 1 to {MOST_CATEGORIES} values", "['north', 'south']")
    plain = tuple(value.item() if isinstance(value, np.generic) else value for value in values)
    for value in plain:
        if not isinstance(value, (str, int, float)) or value != value:
            raise DataError(where, value, "a category is a text, a number or a truth value", "['north', 'south']")
    if len(set(plain)) < len(plain):
        raise DataError(where, values, "two of them are equal", "each value once")
    return plain


def _ends(end: Any, count: int) -> list[Any]:
    """One end of the bounds of each column."""
    if isinstance(end, (list, tuple, np.ndarray)):
        if len(end) != count:
            raise SizeError("bounds", len(end), f"there are {count} columns", "one number for each column, or one for all")
        return list(end)
    return [end] * count


def _number(value: Any, where: str, ways: str) -> float:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise NumberError(where, value, "a bound is a number", ways)
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise NumberError(where, value, "a bound is finite", ways)
    return found
