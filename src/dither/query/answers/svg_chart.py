"""An answer as SVG text: an estimate a group as a dot, with its interval as a whisker; of the released numbers alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from dither.errors import DataError
from dither.query.answers.interval_table import (
    IntervalTable,
    drawn_columns,
    is_whole,
    key_rows,
    percent,
    row_count,
    shown_keys,
    with_intervals,
)
from dither.query.answers.key_labels import group_names, key_texts, places, short_names
from dither.query.plan.text import number
from dither.svg.dot_panel import NO_VALUE, Row, dot_panel
from dither.svg.element import Markup
from dither.svg.labels import isolated, shortened, visible
from dither.svg.line_panel import Point, line_panel
from dither.svg.marks import Mark
from dither.svg.picture import Panel, draw_picture
from dither.svg.theme import LETTERS
from dither.svg.ticks import real

MOST_PANELS = 4
MOST_ROWS, MOST_POINTS = 40, 120  # of a panel of dots; of a line, which needs less room for each
MOST_NAMES = 8  # of columns that are left out
ENDS = ("", "_low", "_high")
LONGEST = 6000.0  # the width of a name when one points at it
NAME = 300.0  # the width of a name inside a sentence


def svg_chart(table: IntervalTable, name: str | None, *, alone: bool) -> str:
    """A panel for each aggregate that has intervals, or for one of them; rows in the order of the answer."""
    chosen = _chosen(table, name)
    shown, keys, by = chosen[:MOST_PANELS], key_rows(table, MOST_POINTS), shown_keys(table)
    at = places(keys, [table.kinds.get(key, "text") for key in by])
    most = MOST_ROWS if at is None else MOST_POINTS
    texts, groups = key_texts(keys[:most]), group_names(keys[:most])
    columns = drawn_columns(table.columns, table.uninformative)
    panels: list[Panel] = []
    drawn: list[Mark] = []
    for one in shown:
        marks = [mark_of([columns[one + end][row] for end in ENDS], group) for row, group in enumerate(groups)]
        drawn += marks
        if at is None:
            rows = [Row(text if by else (visible(one),), (mark,)) for text, mark in zip(texts, marks, strict=True)]
            draw = _dots(rows, whole=is_whole(table, one))
        else:
            several = zip(at, short_names(keys, groups), marks, strict=True)
            points = sorted((Point(*each) for each in several), key=lambda point: point.at)
            draw = _line(points, whole=is_whole(table, one))
        panels.append((visible(one) if len(shown) > 1 and by else "", draw))
    notes = [*left_out(row_count(table) - most, chosen[MOST_PANELS:]), *_marks_told(drawn, line=at is not None)]
    if not groups:
        panels, notes = [], ["no groups"]
    told = " ".join(_told(table, one) for one in shown) or "no groups"
    return draw_picture(_title(table, shown), told, panels, notes, alone=alone)


def _chosen(table: IntervalTable, name: str | None) -> list[str]:
    names = with_intervals(table)
    if not names:
        raise DataError("answer", ", ".join(table.columns), "no column of it has error bars", "answer.rows()")
    if name is not None and name not in names:
        raise DataError("name", name, "it is no aggregate with error bars of the answer", ", ".join(names))
    return names if name is None else [name]


def chart_title(table: IntervalTable, name: str | None) -> str:
    """What a chart shows, in a line."""
    return _title(table, _chosen(table, name)[:MOST_PANELS])


def mark_of(cells: Sequence[Any], group: str, series: str = "") -> Mark:
    """The mark of an estimate, of its value and its ends, with its numbers in words."""
    value, low, high = map(_real, cells)
    return Mark(
        value, low, high, ": ".join(part for part in (shortened(group, LONGEST, LETTERS), series, words(cells)) if part)
    )


def words(cells: Sequence[Any]) -> str:
    """An estimate with its interval, in words."""
    value, low, high = (None if _real(cell) is None else number(cell) for cell in cells)
    ends = (
        f", between {low} and {high}" if low and high else f", {low} or more" if low else f", {high} or less" if high else ""
    )
    return (value or NO_VALUE) + (ends or ", without bounds" if value else ends)


def _real(cell: Any) -> Any:
    return real(cell) if isinstance(cell, int | float) else None


def _dots(rows: Sequence[Row], *, whole: bool) -> Callable[[float], tuple[Markup, float]]:
    return lambda top: dot_panel(rows, top, whole=whole)


def _line(points: Sequence[Point], *, whole: bool) -> Callable[[float], tuple[Markup, float]]:
    return lambda top: line_panel(points, top, whole=whole)


def named(name: str) -> str:
    """A name inside a sentence: short, and by itself where it runs from right to left."""
    return isolated(shortened(visible(name), NAME, LETTERS))


def _title(table: IntervalTable, shown: Sequence[str]) -> str:
    by = ", ".join(map(named, shown_keys(table)))
    return f"{', '.join(map(named, shown))}{' by ' * bool(by)}{by}, with {percent(table.confidence)} intervals"


def _told(table: IntervalTable, name: str) -> str:
    """A sentence with the range and the largest group, of all groups."""
    cells = table.columns[name]
    rows = [
        row for row, cell in enumerate(cells) if isinstance(cell, int) or (isinstance(cell, float) and math.isfinite(cell))
    ]
    if not rows:
        return f"{named(name)}: {NO_VALUE}." if cells else ""
    least, largest = min(rows, key=cells.__getitem__), max(rows, key=cells.__getitem__)
    ends = words([table.columns[name + end][largest] for end in ENDS])
    if len(cells) == 1:
        return f"{named(name)}: {ends}."
    span = f"from {number(cells[least])} to {number(cells[largest])} in {len(cells):,} groups"
    (group,) = group_names([tuple(table.columns[key][largest] for key in shown_keys(table))])
    return f"{named(name)}: {span}; the largest is {named(group)} with {ends}."


def left_out(groups: int, names: Sequence[str]) -> list[str]:
    """What a chart has no room for."""
    notes = [f"{groups:,} more group{'s are' if groups > 1 else ' is'} in the table"] if groups > 0 else []
    if names:
        more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
        notes.append(f"not drawn: {', '.join(map(named, names[:MOST_NAMES]))}{more}")
    return notes


def _marks_told(marks: Sequence[Mark], *, line: bool) -> list[str]:
    """How marks are to be read that are not plain."""
    is_open = any(mark.drawn and None in (mark.low, mark.high) for mark in marks)
    notes = ["an arrow: the interval has no end there"] if is_open else []
    return notes + ([f"×: {NO_VALUE}"] if line and any(mark.value is None for mark in marks) else [])
