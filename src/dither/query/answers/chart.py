"""A chart of an answer: estimates as points, with the confidence intervals of the noise as error bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dither.errors import DataError
from dither.extras import needs
from dither.query.plan.text import plain

if TYPE_CHECKING:
    import altair

MOST_POINTS = 200


def chart(
    table: Sequence[Mapping[str, Any]], keys: Sequence[str], names: Sequence[str], name: str | None, confidence: Fraction
) -> altair.LayerChart:
    """One aggregate, one point a group, with the interval that holds the noise."""
    with needs("dither[plot]"):
        import altair

    chosen = names[0] if name is None else name
    if chosen not in names:
        raise DataError("name", name, "it is no aggregate of the answer", ", ".join(names))
    rows = [
        {
            "group": ", ".join(plain(row[key]) for key in keys) or "all",
            "value": float(row[chosen]),
            "low": float(row[f"{chosen}_low"]),
            "high": float(row[f"{chosen}_high"]),
        }
        for row in table[:MOST_POINTS]
        if all(row[f"{chosen}{end}"] is not None for end in ("", "_low", "_high"))  # no bar can be drawn without an end
    ]
    base = altair.Chart(altair.InlineData(values=rows)).encode(
        y=altair.Y("group:N", sort=[str(row["group"]) for row in rows], title=", ".join(keys) or None)
    )
    percent = f"{float(confidence * 100):.4g}%"
    axis = altair.Scale(zero=False)
    bars = base.mark_rule(strokeWidth=2).encode(
        x=altair.X("low:Q", title=f"{chosen}, with {percent} error bars for the noise", scale=axis), x2="high:Q"
    )
    points = base.mark_point(filled=True, size=60).encode(x=altair.X("value:Q", scale=axis))
    drawn: altair.LayerChart = altair.layer(bars, points).properties(width=420)  # type: ignore[assignment]
    return drawn
