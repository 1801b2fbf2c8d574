"""A panel of dots: one row a group, its label at the left, its marks on one axis with ticks below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dither.svg.element import Markup, element, joined
from dither.svg.labels import joined_labels, text_width
from dither.svg.marks import Mark, draw_mark
from dither.svg.theme import GRID, LETTERS, RULE, SERIES, SMALL, WIDTH
from dither.svg.ticks import MARGIN, Axis, axis_of

ROW, SECOND = 22.0, 12.0  # how high a row is with one mark, and how much each further one adds
MOST_LABEL = 300.0  # at least 200 are left for marks
NO_VALUE = "no value"


@dataclass(frozen=True)
class Row:
    """A group: its keys, and a mark of each series; None where a series does not have it."""

    keys: tuple[str, ...]
    marks: tuple[Mark | None, ...]


def dot_panel(rows: Sequence[Row], top: float, *, whole: bool, series: Sequence[str] = ()) -> tuple[Markup, float]:
    """The panel, and how high it is.

    Args:
        rows: groups from the top, of visible keys.
        top: where it begins.
        whole: all are whole numbers.
        series: names beside the first marks, where there are several.
    """
    labels = joined_labels([row.keys for row in rows], MOST_LABEL, LETTERS)
    left = max([text_width(label, LETTERS) for label in labels], default=0.0) + MARGIN + 8
    left = min(left, MOST_LABEL + MARGIN + 8)
    numbers = [one for row in rows for mark in row.marks if mark is not None for one in mark.numbers]
    axis = axis_of(numbers, WIDTH - left - 2 * MARGIN, SMALL, whole=whole)
    left += MARGIN
    several = max([len(row.marks) for row in rows], default=1)
    height = ROW + SECOND * (several - 1)
    parts = list(_grid(axis, left, top, top + height * len(rows)))
    named: set[int] = set()
    for at, (row, label) in enumerate(zip(rows, labels, strict=True)):
        middle = top + height * (at + 0.5)
        parts.append(element("text", label, x=left - MARGIN, y=middle + 4, text_anchor="end"))
        for place, mark in enumerate(row.marks):
            y = middle + SECOND * (place - (several - 1) / 2)
            if mark is None:
                continue
            told = series[place] if series and place not in named and mark.drawn else ""
            if mark.drawn:
                parts.append(draw_mark(mark, axis, left, y, place))
                named.add(place)
            told = told if mark.value is not None else f"{told}: {NO_VALUE}" if told else NO_VALUE
            parts += [_beside(told, mark, axis, left, y, SERIES[place])] if told else []
    return joined(*parts), height * len(rows) + LETTERS + 12


def _grid(axis: Axis, left: float, top: float, bottom: float) -> Iterator[Markup]:
    for tick in axis.ticks:
        x = left + axis.place(tick.value)
        dark = RULE if tick.value == 0 else GRID
        yield element("line", x1=x, x2=x, y1=top, y2=bottom, stroke="currentColor", stroke_opacity=dark)
        x = left + axis.label_place(tick, SMALL)
        yield element("text", tick.label, x=x, y=bottom + LETTERS + 2, text_anchor="middle", font_size=SMALL)


def _beside(told: str, mark: Mark, axis: Axis, left: float, y: float, colour: str) -> Markup:
    """Words beside a whisker, where there is room for them: at the right, at the left, or else above it."""
    wide = text_width(told, SMALL) + 8
    ends = ((mark.low, 0.0), (mark.high, axis.length)) if mark.drawn else ((None, 0.0), (None, 0.0))
    low, high = (end if one is None else axis.place(one) for one, end in ends)
    x, anchor, above = left + (low + high) / 2, "middle", 1.0
    if high + wide <= axis.length + MARGIN:
        x, anchor, above = left + high + 8, "start", -4.0
    elif low - wide >= 0:
        x, anchor, above = left + low - 8, "end", -4.0
    words = (element("title", mark.told), told)
    return element("text", *words, x=x, y=y - above, font_size=SMALL, class_=colour, fill="currentColor", text_anchor=anchor)
