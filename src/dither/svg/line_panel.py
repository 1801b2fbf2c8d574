"""A panel of a series: points in the order of a number or of time, with upright whiskers, and a line between neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from dither.svg.element import Markup, element, joined
from dither.svg.labels import text_width
from dither.svg.marks import Mark, draw_mark, polyline
from dither.svg.theme import GRID, LETTERS, RULE, SMALL, WIDTH
from dither.svg.ticks import GAP, MARGIN, Axis, axis_of

HEIGHT = 180.0
SIDE = 14.0  # between the edges and the first and the last point
MANY = 40  # points; with more, marks are smaller
NEIGHBOURS = Fraction(3, 2)  # times the least step: the months of a year are neighbours, January and March are not


@dataclass(frozen=True)
class Point:
    """A group of a series: where it stands, what it is called, and its mark."""

    at: Fraction
    name: str
    mark: Mark


def line_panel(points: Sequence[Point], numbers: Sequence[Fraction], top: float, *, whole: bool) -> tuple[Markup, float]:
    """The panel, and how high it is.

    Args:
        points: in rising order of where they stand, two at least, with short names.
        numbers: what the axis has to hold: those of the points, and of other panels with the same scale.
        top: where it begins.
        whole: all are whole numbers.
    """
    axis = axis_of(numbers, HEIGHT, SMALL, whole=whole, upright=True)
    left = max([text_width(tick.label, SMALL) for tick in axis.ticks], default=0.0) + MARGIN
    bottom = top + HEIGHT + 6
    first, last = points[0].at, points[-1].at
    room = WIDTH - MARGIN - left - 2 * SIDE
    places = [left + SIDE + float((point.at - first) / (last - first) * Fraction(room)) for point in points]
    parts = [*_grid(axis, left, bottom), *_names(points, places, bottom)]
    parts += [element("g", each, class_="chart-first") for each in _lines(points, places, axis, bottom)]
    scale = 1.0 if len(points) <= MANY else 0.5
    for point, x in zip(points, places, strict=True):
        if point.mark.drawn:
            parts.append(draw_mark(point.mark, axis, bottom, x, upright=True, scale=scale))
        if point.mark.value is None:
            parts.append(element("text", element("title", point.mark.told), "×", x=x, y=bottom - 2, text_anchor="middle"))
    return joined(*parts), HEIGHT + 6 + LETTERS + 16


def _grid(axis: Axis, left: float, bottom: float) -> Iterator[Markup]:
    for tick in axis.ticks:
        y = bottom - axis.place(tick.value)
        dark = RULE if tick.value == 0 else GRID
        yield element("line", x1=left, x2=WIDTH - MARGIN, y1=y, y2=y, stroke="currentColor", stroke_opacity=dark)
        yield element("text", tick.label, x=left - 6, y=y + 4, text_anchor="end", font_size=SMALL)


def _names(points: Sequence[Point], places: Sequence[float], bottom: float) -> Iterator[Markup]:
    """The names of points, as many as do not touch each other, evenly."""
    for each in range(1, len(points) + 1):
        shown = list(zip(points, places, strict=True))[::each]
        labels = [(point.name, _inside(x, text_width(point.name, SMALL) / 2)) for point, x in shown]
        ends = [(x - (half := (text_width(name, SMALL) + GAP) / 2), x + half) for name, x in labels]
        if all(one[1] <= other[0] for one, other in pairwise(ends)):
            for name, x in labels:
                yield element("text", name, x=x, y=bottom + LETTERS + 4, text_anchor="middle", font_size=SMALL)
            return


def _inside(x: float, half: float) -> float:
    return max(half + 2, min(x, WIDTH - half - 2))


def _lines(points: Sequence[Point], places: Sequence[float], axis: Axis, bottom: float) -> list[Markup]:
    """Lines between neighbours that both have an estimate: over a gap there is none."""
    most = NEIGHBOURS * min((other.at - one.at for one, other in pairwise(points)), default=Fraction(0))
    runs: list[list[tuple[float, float]]] = []
    last: Fraction | None = None
    for point, x in zip(points, places, strict=True):
        if point.mark.value is not None:  # over a point without one, the next is no neighbour
            runs += [[]] if last is None or point.at - last > most else []
            runs[-1].append((x, bottom - axis.place(point.mark.value)))
            last = point.at
    return [polyline(run, width="1") for run in runs if len(run) > 1]
