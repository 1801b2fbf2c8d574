"""An answer as SVG text: an estimate a group as a dot, with its interval as a whisker; of the released numbers alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from dither.errors import DataError
from dither.query.answers.caption import TOO_FEW
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
from dither.query.answers.key_labels import STEPS, group_names, key_texts, places, short_names
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
MOST_LINES = 6  # panels, where there is a line for each value of a key
MOST_ROWS, MOST_POINTS = 40, 120  # of a panel of dots; of a line, which needs less room for each
NUMBERS = {"whole", "number"}
MOST_NAMES = 8  # of columns that are left out
ENDS = ("", "_low", "_high")
LONGEST = 6000.0  # the width of a name when one points at it
NAME = 300.0  # the width of a name inside a sentence


def svg_chart(table: IntervalTable, name: str | None, *, alone: bool) -> str:
    """A panel for each aggregate that has intervals, or for one of them; rows in the order of the answer."""
    chosen = _chosen(table, name)
    lines = _lines(table)
    drawn = _dot_panels(table, chosen) if lines is None else _line_panels(table, chosen, lines)
    panels, notes = (
        drawn.panels,
        [*left_out(row_count(table) - drawn.rows, chosen[len(drawn.names) :]), *_marks_told(table, drawn)],
    )
    if not row_count(table):
        panels, notes = [], ["no groups"]
    told = " ".join(_told(table, one) for one in drawn.names) or "no groups"
    return draw_picture(_title(table, drawn.names), told, panels, notes, alone=alone)


class Drawn(NamedTuple):
    """The panels of a chart: of which columns, of how many rows, with which marks."""

    panels: list[Panel]
    names: Sequence[str]
    rows: int
    marks: list[Mark]
    is_line: bool


class Line(NamedTuple):
    """Rows whose keys are a series, of one value of the other key, if there is another."""

    of: str
    rows: list[int]
    at: list[Fraction]
    names: list[str]  # below the axis


def _lines(table: IntervalTable) -> list[Line] | None:
    """The lines of a table with a key of time, or of numbers; None where its rows are no series.

    With two keys, one of them is of time, or one of them alone of numbers: then there is a line for each value of the other.
    """
    by, keys = shown_keys(table), key_rows(table, MOST_POINTS * MOST_LINES)
    kinds = [table.kinds.get(key, "text") for key in by]
    several = [[at for at, kind in enumerate(kinds) if kind in some] for some in (STEPS, NUMBERS)]
    place = next((places[0] for places in several if len(places) == 1), None) if 1 <= len(by) <= 2 else None
    if place is None:
        return None
    rows: dict[tuple[Any, ...], list[int]] = {}
    for row, key in enumerate(keys):
        rows.setdefault(key[:place] + key[place + 1 :], []).append(row)
    found = []
    for name, (other, own) in zip(group_names(list(rows)), rows.items(), strict=True):
        own_keys = [(keys[row][place],) for row in own]
        at = places(own_keys, [kinds[place]])
        if at is None:
            return None
        named_keys = short_names(own_keys[:MOST_POINTS], group_names(own_keys[:MOST_POINTS]))
        found.append(Line(name if other else "", own[:MOST_POINTS], at[:MOST_POINTS], named_keys))
    return found


def _line_panels(table: IntervalTable, chosen: Sequence[str], lines: Sequence[Line]) -> Drawn:
    """A panel for each line of each column; those of one column have one scale."""
    columns, keys = drawn_columns(table.columns, table.uninformative), key_rows(table)
    shown = chosen[: max(1, MOST_LINES // len(lines)) if len(lines) > 1 else MOST_PANELS]
    lines = lines[:MOST_LINES]
    panels: list[Panel] = []
    drawn: list[Mark] = []
    for one in shown:
        several = []
        for line in lines:
            groups = group_names([keys[row] for row in line.rows])
            marks = [
                mark_of([columns[one + end][row] for end in ENDS], group)
                for row, group in zip(line.rows, groups, strict=True)
            ]
            several.append(sorted(map(Point, line.at, line.names, marks), key=lambda point: point.at))
            drawn += marks
        numbers = [one for row in several for point in row for one in point.mark.numbers]
        for line, row in zip(lines, several, strict=True):
            head = ": ".join(part for part in (visible(one) if len(shown) > 1 else "", line.of) if part)
            panels.append((head, _line(row, numbers, whole=is_whole(table, one))))
    return Drawn(panels, shown, sum(len(line.rows) for line in lines), drawn, is_line=True)


def _dot_panels(table: IntervalTable, chosen: Sequence[str]) -> Drawn:
    """A panel for each column, with a row for each group."""
    columns, keys, by = drawn_columns(table.columns, table.uninformative), key_rows(table, MOST_ROWS), shown_keys(table)
    shown, texts, groups = chosen[:MOST_PANELS], key_texts(keys), group_names(keys)
    panels: list[Panel] = []
    drawn: list[Mark] = []
    for one in shown:
        marks = [mark_of([columns[one + end][row] for end in ENDS], group) for row, group in enumerate(groups)]
        drawn += marks
        rows = [Row(text if by else (visible(one),), (mark,)) for text, mark in zip(texts, marks, strict=True)]
        panels.append((visible(one) if len(shown) > 1 and by else "", _dots(rows, whole=is_whole(table, one))))
    return Drawn(panels, shown, MOST_ROWS, drawn, is_line=False)


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


def _line(points: Sequence[Point], numbers: Sequence[Fraction], *, whole: bool) -> Callable[[float], tuple[Markup, float]]:
    return lambda top: line_panel(points, numbers, top, whole=whole)


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


def _marks_told(table: IntervalTable, drawn: Drawn) -> list[str]:
    """How marks are to be read that are not plain."""
    is_open = any(mark.drawn and None in (mark.low, mark.high) for mark in drawn.marks)
    notes = ["an arrow: the interval has no end there"] if is_open else []
    if not drawn.is_line or all(mark.value is not None for mark in drawn.marks):
        return notes
    return [*notes, f"×: {TOO_FEW if any(name in table.uninformative for name in drawn.names) else NO_VALUE}"]
