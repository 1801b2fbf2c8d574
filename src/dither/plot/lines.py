"""A chart of curves that somebody has computed: of a bound beside what is exact, say."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from dither.altair_theme import series, themed
from dither.arguments import argument_errors
from dither.errors import DataError
from dither.extras import needs

if TYPE_CHECKING:
    import altair

LOGARITHMIC = ("", "x", "y", "xy")


@argument_errors
def lines(curves: Mapping[str, Iterable[tuple[float, float]]], *, x: str, y: str, title: str, log: str = "") -> altair.Chart:
    """Curves by their names, each a list of points.

    Args:
        curves: The points (x, y) of each curve, by the name that the legend shows.
        x: What the points lie above: the title of the horizontal axis.
        y: What they show: the title of the vertical axis.
        title: What is seen.
        log: The axes with a logarithmic scale: "x", "y", "xy", or none of them.

    Raises:
        DataError: There is no curve, one has no points, a point is not finite or has no logarithm, or `log` names no axes.
        MissingExtraError: altair is not installed (`pip install "dither[plot]"`).

    Example:
        >>> import dither
        >>> squares = {"n²": [(n, n * n) for n in range(5)]}
        >>> dither.plot.lines(squares, x="n", y="n²", title="Squares").title
        'Squares'
    """
    with needs("dither[plot]"):
        import altair

    if log not in LOGARITHMIC:
        raise DataError("log", log, "these are no axes", "'x', 'y', 'xy', or '' for none")
    rows = _rows(curves)
    if any(row[axis] <= 0 for row in rows for axis in log):
        least = min(row[axis] for row in rows for axis in log)
        raise DataError("curves", least, "it has no logarithm", f"numbers above 0, or log='' in place of {log!r}")
    scales = {axis: altair.Scale(type="log" if axis in log else "linear", zero=False) for axis in "xy"}
    ticks = {axis: altair.Axis(tickCount=5 if axis in log else 8) for axis in "xy"}
    chart: altair.Chart = (
        altair.Chart(altair.InlineData(values=rows), width=420, height=260)
        .mark_line()
        .encode(
            x=altair.X("x:Q", title=x, scale=scales["x"], axis=ticks["x"]),
            y=altair.Y("y:Q", title=y, scale=scales["y"], axis=ticks["y"]),
            **series("name", list(curves)),
        )
    )
    return themed(chart, title)


def _rows(curves: Mapping[str, Iterable[tuple[float, float]]]) -> list[dict[str, Any]]:
    """The points of all curves, each with the name of its curve."""
    try:
        read = {str(name): [(float(x), float(y)) for x, y in points] for name, points in curves.items()}
    except (AttributeError, TypeError, ValueError, OverflowError):
        read = {}
    if not read or not all(read.values()):
        raise DataError(
            "curves", curves, "there is nothing to draw", "{'a name': [(1, 0.5), (2, 0.7)]}, with points in each"
        )
    for point in (point for points in read.values() for point in points):
        if not all(map(math.isfinite, point)):
            raise DataError("curves", point, "a point has two finite numbers", "leave the point out")
    return [{"x": x, "y": y, "name": name} for name, points in read.items() for x, y in points]
