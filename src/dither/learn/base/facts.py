"""What a fit knows before it sees a row: columns, classes, the price. All of it is public."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from attrs import frozen

from dither.errors import NumberError
from dither.learn.base.columns import Category, CategoryColumn, Column, NumberColumn
from dither.learn.base.price import Price
from dither.learn.base.rows import default_norm
from dither.numeric.number import integer

MOST_ROWS, MOST_OF_A_PERSON = 10**12, 10**6
LARGEST = sys.float_info.max


@frozen
class Facts:
    """The public facts of a fit."""

    columns: tuple[Column, ...]
    names: tuple[str, ...]  # of the columns
    price: Price
    classes: tuple[Category, ...] = ()  # of a classifier
    target: NumberColumn | None = None  # of a regressor
    rows: int | None = None  # how many rows there are, if that is public
    rows_per_person: int = 1
    has_persons: bool = False  # whether it is known whose each row is

    @property
    def mu(self) -> float:
        """What the price buys for rows of one person, for rules of thumb: less where she has several, or is replaced."""
        return self.price.mu / (self.rows_per_person * self.price.replacement)

    @property
    def has_lists(self) -> bool:
        """Whether some column is one of categories."""
        return any(isinstance(column, CategoryColumn) for column in self.columns)

    @property
    def width(self) -> int:
        """How many coordinates the vector of a row has."""
        return sum(column.width for column in self.columns)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Their names: a column, or `column=level` of a category."""
        return tuple(
            f"{name}={value}" if value is not None else name
            for name, column in zip(self.names, self.columns, strict=True)
            for value in (column.levels if isinstance(column, CategoryColumn) else (None,))
        )

    def norm(self, stated: Any) -> float:
        """The L2 norm that vectors are bounded by: as stated, or what no row exceeds."""
        most = default_norm(self.columns)
        if stated is None:
            return most
        why = "it bounds the length of a row after scaling to [-1, 1]"
        return min(read_setting(stated, "norm", 2**-20, float("inf"), f"norm={most:.3g}", why), most)


def read_setting(value: Any, name: str, least: float, most: float, ways: str, why: str = "") -> float:
    """A setting that is a number, of Python or numpy, from `least` to `most`, and finite."""
    plain = value.item() if isinstance(value, np.generic) else value  # exactly its value
    number = not isinstance(plain, bool) and isinstance(plain, (int, float)) and abs(plain) <= LARGEST  # NaN is not
    if not number or not least <= plain <= most:
        raise NumberError(name, value, why or f"it is a number from {least:g} to {most:g}", ways)
    return float(plain)


def read_rows_hint(rows: Any) -> int | None:
    """A public number of rows; None where it is private."""
    if rows is None:
        return None
    found = integer(rows, name="rows", least=1)
    if found > MOST_ROWS:
        raise NumberError("rows", "more", f"a fit is to {MOST_ROWS:,} rows at most", "rows=10000, or none")
    return found


def read_max_rows(max_rows: Any) -> int:
    """How many rows of a person count."""
    found = integer(max_rows, name="max_rows", least=1)
    if found > MOST_OF_A_PERSON:
        raise NumberError("max_rows", "more", f"{MOST_OF_A_PERSON:,} rows of a person are the most", "max_rows=5")
    return found
