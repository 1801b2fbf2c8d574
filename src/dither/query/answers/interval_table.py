"""What charts and differences read of an answer: keys, numbers with intervals, and how sure these are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any, Protocol

from dither.query.answers.record import Column, Kind

NOT_COUNTED = "are not counted"  # behind the rows that belong to nobody
SHOWN_ALONE = "numbers that are shown, taken alone, may miss the truth more often"  # of extremes of two values
FINITE_ALONE = "intervals with both ends, taken alone, may miss the truth more often"  # of slopes
SELECTED = "chose the rows by released numbers: error bars may fail more often among those that are shown"


class IntervalTable(Protocol):
    """A table with columns of keys and of numbers; x_low to x_high is the interval of x."""

    @property
    def columns(self) -> Mapping[str, Column]: ...
    @property
    def kinds(self) -> Mapping[str, Kind]: ...
    @property
    def keys(self) -> tuple[str, ...]: ...
    @property
    def aggregates(self) -> tuple[str, ...]: ...
    @property
    def confidence(self) -> Fraction: ...
    @property
    def statements(self) -> Mapping[str, str]: ...
    @property
    def uninformative(self) -> Mapping[str, Sequence[int]]: ...


def with_intervals(table: IntervalTable) -> list[str]:
    """The aggregates that are shown and have intervals."""
    return [name for name in table.aggregates if f"{name}_low" in table.columns]


def shown_keys(table: IntervalTable) -> list[str]:
    """The keys that are shown."""
    return [key for key in table.keys if key in table.columns]


def drawn_columns(
    columns: Mapping[str, Sequence[Any]], uninformative: Mapping[str, Sequence[int]]
) -> dict[str, Sequence[Any]]:
    """The columns as they are drawn: an interval that says nothing has no ends, which would set the scale of all others."""
    found = dict(columns)
    for name, rows in uninformative.items():
        for end in ("", "_low", "_high"):
            if name + end in found:
                found[name + end] = [None if row in rows else cell for row, cell in enumerate(found[name + end])]
    return found


def is_whole(table: IntervalTable, name: str) -> bool:
    """Whether a column holds whole numbers."""
    return table.kinds.get(name) == "whole"


def percent(confidence: Fraction) -> str:
    """A probability as people read it, rounded down: more is not promised."""
    whole, part = divmod(int(confidence * 10**6), 10**4)
    return f"{whole}.{part:04}".rstrip("0").rstrip(".") + "%"


def row_count(table: IntervalTable) -> int:
    """How many rows there are."""
    return len(next(iter(table.columns.values())))


def key_rows(table: IntervalTable, most: int | None = None) -> list[tuple[Any, ...]]:
    """The keys of each row, or of the first ones; of a table without keys, nothing for each row."""
    keys = [table.columns[key] for key in shown_keys(table)] or [[()] * row_count(table)]
    several = list(islice(zip(*keys, strict=True), most))
    return several if shown_keys(table) else [()] * len(several)
