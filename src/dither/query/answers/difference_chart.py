"""Two answers as one chart: for each group a filled circle and an open square, each with its own whisker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from dither.query.answers.interval_table import percent
from dither.query.answers.key_labels import group_names, key_texts
from dither.query.answers.svg_chart import MOST_PANELS, MOST_ROWS, left_out, mark_of, named, words
from dither.svg.dot_panel import Row, dot_panel
from dither.svg.element import Markup
from dither.svg.labels import visible
from dither.svg.picture import Panel, draw_picture
from dither.svg.ticks import real

SHAPES = "a: filled circles, b: open squares"


class Pair(NamedTuple):
    """A number of two answers, of one group: value, low and high of each, and of their difference."""

    key: tuple[Any, ...]
    column: str
    a: tuple[Any, ...]
    b: tuple[Any, ...]
    difference: tuple[Any, Any, Any]
    levels: tuple[Fraction, Fraction]
    whole: bool


def difference_chart(
    pairs: Sequence[Pair], keys: Sequence[str], columns: Sequence[str], notes: Sequence[str], *, alone: bool
) -> str:
    """A panel for each column, groups in the order of the first answer."""
    panels: list[Panel] = []
    shown, groups = columns[:MOST_PANELS], 0
    sentences = []
    for name in shown:
        several = [pair for pair in pairs if pair.column == name]
        groups = len(several)
        of = [pair.key for pair in several]
        texts, names = key_texts(of), group_names(of)
        rows = [
            Row(text if keys else (visible(name),), (mark_of(pair.a, group, "a"), mark_of(pair.b, group, "b")))
            for pair, text, group in zip(several, texts, names, strict=True)
        ]
        panels.append((visible(name) if len(shown) > 1 and keys else "", _panel(rows[:MOST_ROWS], several)))
        sentences += _sentence(name, several, names)
    by = ", ".join(map(named, keys))
    head = f"{', '.join(map(named, shown))}{' by ' * bool(by)}{by}: a and b"
    notes = [SHAPES, *left_out(groups - MOST_ROWS, columns[MOST_PANELS:]), *map(visible, notes)]
    if not pairs:
        return draw_picture(head, "no groups in both", [], ["no groups in both", *notes[1:]], alone=alone)
    sure = list(dict.fromkeys(map(percent, pairs[0].levels)))
    return draw_picture(f"{head}, with {' and '.join(sure)} intervals", " ".join(sentences), panels, notes, alone=alone)


def _panel(rows: Sequence[Row], pairs: Sequence[Pair]) -> Callable[[float], tuple[Markup, float]]:
    return lambda top: dot_panel(rows, top, whole=all(pair.whole for pair in pairs), series=("a", "b"))


def _sentence(name: str, pairs: Sequence[Pair], groups: Sequence[str]) -> list[str]:
    """The largest difference, in words."""
    found = [(abs(size), -at) for at, pair in enumerate(pairs) if (size := real(pair.difference[0])) is not None]
    if not found:
        return []
    at = -max(found)[1]
    where = f" is that of {named(groups[at])}" if groups[at] else " is"
    return [f"{named(name)}: the largest difference{where}: {words(pairs[at].difference)}."]
