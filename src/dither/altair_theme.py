"""Charts of altair in the theme of all others, shown without a network: as SVG that vl-convert draws on this machine.

The SVG is light, and dark where a page is dark: its style says for each colour of the theme which one takes its place.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from dither.extras import needs
from dither.svg.theme import DARK_SERIES_COLOURS, FONT, LETTERS, SERIES_COLOURS, SMALL

if TYPE_CHECKING:
    import altair

DASHES = [[1, 0], [7, 3], [2, 2], [9, 2, 2, 2], [4, 4], [1, 3]]  # series differ by them, never by colour alone
PAPER, INK, RULE, GRID = "#ffffff", "#1f2328", "#8c9196", "#e6e8eb"  # lines in RULE are seen on both papers
DARK = {PAPER: "#16191d", INK: "#e6e8eb", GRID: "#33383e", **dict(zip(SERIES_COLOURS, DARK_SERIES_COLOURS, strict=True))}
STYLE = "".join(
    f'svg.marks [{part}="{light}"] {{ {part}: {dark} }} ' for light, dark in DARK.items() for part in ("fill", "stroke")
)
ChartKind = TypeVar("ChartKind", bound="altair.TopLevelMixin")


def themed(chart: ChartKind, title: str = "") -> ChartKind:
    """The chart with the theme, and with a title that says what is seen; '' where its parts have their own."""
    made: Any = chart.copy(deep=False)  # type: ignore[attr-defined]
    if title:
        made = made.properties(title=title)
    made = made.configure(
        background=PAPER,
        font=FONT,
        view={"stroke": None},
        title={"anchor": "start", "fontSize": LETTERS + 1, "color": INK, "offset": 10},
        axis={
            **{"gridColor": GRID, "domainColor": RULE, "tickColor": RULE, "labelColor": INK, "titleColor": INK},
            **{"labelFontSize": SMALL, "titleFontSize": LETTERS, "titleFontWeight": "normal", "titlePadding": 14},
            **{"labelOverlap": "greedy", "labelSeparation": 12, "labelLimit": 220},
        },
        legend={
            **{"orient": "bottom", "direction": "vertical", "labelLimit": 400, "labelColor": INK},
            **{"symbolType": "stroke", "symbolSize": 400, "symbolStrokeWidth": 2, "gradientStrokeColor": GRID},
        },
        range={"category": SERIES_COLOURS},
        line={"strokeWidth": 2},
        rule={"color": INK},
    )
    kind: Any = type(made)
    object.__setattr__(made, "__class__", _offline(kind))  # altair takes every attribute for a part of the chart
    shown: ChartKind = made
    return shown


def series(field: str, names: Sequence[str]) -> dict[str, Any]:
    """The channels that tell lines apart, by the names of a field: colours, and dashes beside them."""
    with needs("dither[plot]"):
        import altair

    several = list(names)
    colours, dashes = (
        altair.Scale(domain=several, range=[kinds[at % len(kinds)] for at in range(len(several))])
        for kinds in (SERIES_COLOURS, DASHES)
    )
    legend: Any = altair.Legend(title=None) if len(several) > 1 else None  # alike, so that the two are one legend
    return {
        "color": altair.Color(f"{field}:N", scale=colours, legend=legend),
        "strokeDash": altair.StrokeDash(f"{field}:N", scale=dashes, legend=legend),
    }


@cache
def _offline(kind: type) -> type:
    """The same class of charts, which notebooks show as SVG, for light and dark: altair's own display loads scripts."""

    def save(chart: Any, fp: Any, format: str | None = None, *rest: Any, **options: Any) -> None:  # noqa: A002 - altair's
        if (format or str(fp).rpartition(".")[2]) != "svg":
            kind.save(chart, fp, format, *rest, **options)  # type: ignore[attr-defined]
            return
        file = io.StringIO()
        kind.save(chart, file, "svg", *rest, **options)  # type: ignore[attr-defined]
        head, end, drawn = file.getvalue().partition(">")
        made = f"{head}{end}<style>@media (prefers-color-scheme: dark) {{ {STYLE}}}</style>{drawn}"
        if isinstance(fp, (str, Path)):
            Path(fp).write_text(made, encoding="utf-8")
        else:
            fp.write(made)

    def bundle(chart: Any, *_: Any, **__: Any) -> dict[str, str]:
        file = io.StringIO()
        chart.save(file, format="svg")
        return {"image/svg+xml": file.getvalue(), "text/plain": repr(chart)}

    def spoken(chart: Any) -> str:
        return f"{kind.__name__}({str(chart.title)!r})" if isinstance(chart.title, str) else f"{kind.__name__}(...)"

    if "_repr_mimebundle_" in vars(kind) and kind.__module__ == __name__:
        return kind
    own = {"save": save, "_repr_mimebundle_": bundle, "__repr__": spoken, "__module__": __name__}
    return type(kind.__name__, (kind,), own)
