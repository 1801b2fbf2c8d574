"""Charts of released histograms: the counts of the cells and the cumulative distribution, each with its confidence band."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dither.altair_theme import themed
from dither.arguments import argument_errors
from dither.density.histograms.axis import Bins
from dither.density.histograms.distribution import Distribution
from dither.errors import DataError, SizeError
from dither.extras import needs
from dither.svg.theme import SERIES_COLOURS

if TYPE_CHECKING:
    import altair

MOST_CELLS = 40_000  # of one picture
LETTERS_ABREAST = 60  # of labels that stand side by side


@argument_errors
def density(distribution: Distribution) -> altair.Chart:
    """A released histogram: people in each cell, and the confidence band of the true counts. The true shape is never shown.

    Args:
        distribution: What a histogram released.

    Raises:
        DataError: It was not released.
        SizeError: It has more cells than a picture shows.
        MissingExtraError: altair is not installed (`pip install "dither[plot]"`).

    Example:
        >>> import dither
        >>> from dither.density import Bins, histogram
        >>> released = histogram(Bins([0, 25, 50, 75, 100]), epsilon=1).release([10, 40, 30, 20])
        >>> len(dither.plot.density(released).to_dict()["layer"])
        2
    """
    with needs("dither[plot]"):
        import altair

    found = _released(distribution)
    columns = (range(found.axis.size), found.counts.tolist(), found.low.tolist(), found.high.tolist())
    names = [found.axis.name(at) for at in range(found.axis.size)]
    if len(set(names)) < len(names):  # labels such as 1 and "1": bars of one name would be drawn as one
        names = [f"{at}: {name}" for at, name in enumerate(names)]
    rows = [
        {"cell": names[at], "people": people, "low": low, "high": high}
        for at, people, low, high in zip(*columns, strict=True)
    ]
    sort = [row["cell"] for row in rows]
    axis = altair.Axis(labelAngle=0) if sum(len(name) + 1 for name in names) <= LETTERS_ABREAST else altair.Axis()
    base = altair.Chart(altair.InlineData(values=rows), width=420, height=260).encode(
        x=altair.X("cell:N", sort=sort, title=None, axis=axis)
    )
    bars = base.mark_bar(color=SERIES_COLOURS[0], opacity=0.5).encode(y=altair.Y("people:Q", title="people"))
    ends = base.mark_rule(strokeWidth=1.5).encode(y="low:Q", y2="high:Q")
    chart: altair.Chart = bars + ends
    return themed(chart, f"People in each cell, with {100 * found.confidence:g}% bands")


@argument_errors
def cdf(distribution: Distribution) -> altair.Chart:
    """The released cumulative distribution: the share of people below each edge, with a simultaneous confidence band.

    Args:
        distribution: What a histogram released over `Bins`.

    Raises:
        DataError: It was not released, or its cells are not in order on a line.
        SizeError: It has more cells than a picture shows.
        MissingExtraError: altair is not installed (`pip install "dither[plot]"`).

    Example:
        >>> import dither
        >>> from dither.density import Bins, histogram
        >>> released = histogram(Bins([0, 25, 50, 75, 100]), epsilon=1).release([10, 40, 30, 20])
        >>> len(dither.plot.cdf(released).to_dict()["layer"])
        2
    """
    with needs("dither[plot]"):
        import altair

    found = _released(distribution)
    if not isinstance(found.axis, Bins):
        raise DataError("distribution", found, "its cells lie in no order on a line", "a release over Bins")
    edges, band = found.axis.edges.tolist()[1:], found.cdf()
    columns = (edges, band.estimate.tolist(), band.low.tolist(), band.high.tolist())
    rows = [
        {"value": edge, "share": share, "low": low, "high": high} for edge, share, low, high in zip(*columns, strict=True)
    ]
    base = altair.Chart(altair.InlineData(values=rows), width=420, height=260).encode(
        x=altair.X("value:Q", title="value", scale=altair.Scale(zero=False))
    )
    area = base.mark_area(color=SERIES_COLOURS[0], opacity=0.25)
    band = area.encode(y=altair.Y("low:Q", title="share of people"), y2="high:Q")
    chart: altair.Chart = band + base.mark_line(color=SERIES_COLOURS[0]).encode(y="share:Q")
    return themed(chart, f"Share of people below each value, with a {100 * found.confidence:g}% band")


def _released(distribution: Distribution) -> Distribution:
    if not isinstance(distribution, Distribution):
        raise DataError("distribution", distribution, "it was not released", "histogram(bins, epsilon=1).release(counts)")
    if distribution.axis.size > MOST_CELLS:
        raise SizeError("distribution", distribution, f"a picture has up to {MOST_CELLS} cells", "wider cells")
    return distribution
