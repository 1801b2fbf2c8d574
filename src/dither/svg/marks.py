"""Marks: an estimate as a dot with its interval as a whisker, along either direction.

An end that is open goes to the edge with an arrow. Series differ by shape, never by colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dither.svg.element import Markup, element
from dither.svg.theme import SERIES
from dither.svg.ticks import Axis

CAP, RADIUS, ARROW = 5.0, 3.5, 5.0  # caps are longer than dots are wide, and show also beside a dot that hides its whisker


@dataclass(frozen=True)
class Mark:
    """An estimate with the ends of its interval; None where there is none, or where it is open."""

    value: Fraction | None
    low: Fraction | None
    high: Fraction | None
    told: str  # when one points at it

    @property
    def drawn(self) -> bool:
        """Whether there is something to draw: an estimate, or an interval with both ends."""
        return self.value is not None or (self.low is not None and self.high is not None)

    @property
    def numbers(self) -> list[Fraction]:
        """What the axis has to hold."""
        return [one for one in (self.value, self.low, self.high) if one is not None] if self.drawn else []


def draw_mark(
    mark: Mark, axis: Axis, origin: float, across: float, series: int = 0, *, upright: bool = False, scale: float = 1.0
) -> Markup:
    """A mark on an axis that begins at `origin`, at `across` in the other direction; an upright axis goes up from there."""

    def at(value: Fraction) -> float:
        return origin - axis.place(value) if upright else origin + axis.place(value)

    ends = (origin, origin - axis.length if upright else origin + axis.length)
    low, high = (end if one is None else at(one) for one, end in zip((mark.low, mark.high), ends, strict=True))
    parts = [_line([(low, across), (high, across)], upright=upright)]
    for place, one, inward in ((low, mark.low, 1), (high, mark.high, -1)):
        back = place + (0.0 if one is not None else inward * ARROW * scale * (-1 if upright else 1))
        tip = [] if one is not None else [(place, across)]
        parts.append(_line([(back, across - CAP * scale), *tip, (back, across + CAP * scale)], upright=upright))
    if mark.value is not None:
        x, y = (across, at(mark.value)) if upright else (at(mark.value), across)
        parts.append(_shape(x, y, series, RADIUS * scale))
    return element("g", element("title", mark.told), *parts, class_=f"chart-mark {SERIES[series]}")


def _line(points: Sequence[tuple[float, float]], *, upright: bool) -> Markup:
    turned = [(y, x) if upright else (x, y) for x, y in points]
    if len(turned) == 2:
        (x1, y1), (x2, y2) = turned
        return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke="currentColor", stroke_width="1.5")
    return polyline(turned, width="1.5")


def polyline(points: Sequence[tuple[float, float]], *, width: str) -> Markup:
    """A line through points."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return element("polyline", points=path, fill="none", stroke="currentColor", stroke_width=width, stroke_linejoin="round")


def _shape(x: float, y: float, series: int, radius: float) -> Markup:
    if series == 0:
        return element("circle", cx=x, cy=y, r=radius, fill="currentColor")
    side = 2 * radius
    return element(
        "rect", x=x - radius, y=y - radius, width=side, height=side, fill="none", stroke="currentColor", stroke_width="2"
    )
