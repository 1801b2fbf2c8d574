"""A chart of curves that somebody has computed: of a bound beside what is exact, say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from dither.arguments import argument_errors
from dither.errors import DataError
from dither.extras import needs

if TYPE_CHECKING:
    import altair

LOGARITHMIC = ("", "x", "y", "xy")
DASHES = [[1, 0], [7, 3], [2, 2], [9, 2, 2, 2], [4, 4], [1, 3]]  # curves differ by them, never by colour alone
RULE, GRID = "#8c9196", "#e6e8eb"
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]  # Okabe and Ito's: safe for the colour-blind


@argument_errors
def lines(
    curves: Mapping[str, Iterable[tuple[float, float]]], *, x: str, y: str, title: str, log: str = ""
) -> altair.Chart:
    """Curves by their names, each a list of points.

    Args:
        curves: The points (x, y) of each curve, by the name that the legend shows.
        x: What the points lie above: the title of the horizontal axis.
        y: What they show: the title of the vertical axis.
        title: What is seen.
        log: The axes with a logarithmic scale: "x", "y", "xy", or none of them.

    Raises:
        DataError: There is no curve, one has no points, or `log` names no axes.
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
    rows = [{"x": float(at), "y": float(value), "name": name} for name, points in curves.items() for at, value in points]
    empty = [name for name in curves if not any(row["name"] == name for row in rows)]
    if empty or not curves:
        raise DataError("curves", empty or {}, "there is nothing to draw", "at least one curve, with points (x, y) in each")
    scales = {axis: altair.Scale(type="log" if axis in log else "linear", zero=False) for axis in "xy"}
    ticks = {axis: altair.Axis(tickCount=5 if axis in log else 8) for axis in "xy"}
    shown = {"title": None, "sort": list(curves), "legend": altair.Undefined if len(curves) > 1 else None}
    chart: altair.Chart = (
        altair.Chart(altair.InlineData(values=rows), width=420, height=260, title=title)
        .mark_line(strokeWidth=2)
        .encode(
            x=altair.X("x:Q", title=x, scale=scales["x"], axis=ticks["x"]),
            y=altair.Y("y:Q", title=y, scale=scales["y"], axis=ticks["y"]),
            color=altair.Color("name:N", scale=altair.Scale(range=COLOURS), **shown),
            strokeDash=altair.StrokeDash("name:N", scale=altair.Scale(range=DASHES), **shown),
        )
        .configure_title(anchor="start")
        .configure_view(stroke=None)
        .configure_axis(gridColor=GRID, domainColor=RULE, tickColor=RULE, titleFontWeight="normal", labelOverlap="greedy")
        .configure_legend(orient="bottom", direction="vertical", labelLimit=400, symbolSize=300)
    )
    return chart
