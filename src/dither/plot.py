"""Charts, with altair (install `dither[plot]`). Every function returns an altair chart: show it, or save it as SVG.

Every point of a chart is a certified number, rounded against us; between two points the line is only a line.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from dither.errors import DataError
from dither.mechanisms.additive import Additive
from dither.privacy.guarantee import Guarantee

if TYPE_CHECKING:
    import altair

__all__ = ["neighbours", "tradeoff"]

BARS = 120
LEVELS = [Fraction(i, 400) for i in (0, 1, 2, 4, 6, 8, 12, 16, 24, 32, *range(40, 401, 12))]


def tradeoff(guarantees: Mapping[str, Guarantee] | Guarantee) -> altair.Chart:
    """The power that a test of "was this person in?" can reach at each level: the closer to the diagonal, the better."""
    import altair

    named = {str(guarantees): guarantees} if isinstance(guarantees, Guarantee) else guarantees
    if (
        not isinstance(named, Mapping)
        or not named
        or not all(isinstance(guarantee, Guarantee) for guarantee in named.values())
    ):
        raise DataError("guarantees", guarantees, "there is nothing to draw", "a Guarantee, or {'name': Guarantee}")
    rows = [
        {"level": float(level), "power": guarantee.tradeoff(level), "guarantee": name}
        for name, guarantee in named.items()
        for level in LEVELS
    ]
    rows += [{"level": float(level), "power": float(level), "guarantee": "guessing"} for level in (0, 1)]
    scale = altair.Scale(domain=[0, 1])
    chart: altair.Chart = (
        altair.Chart(altair.InlineData(values=rows), width=420, height=420)
        .mark_line()
        .encode(
            x=altair.X("level:Q", scale=scale, title="level: how often a test accuses someone who was not in"),
            y=altair.Y("power:Q", scale=scale, title="power: how often it finds someone who was"),
            color=altair.Color("guarantee:N", title=None, sort=[*named, "guessing"]),
        )
    )
    return chart


def neighbours(mechanism: Additive, value: object, other: object) -> altair.Chart:
    """What may come out for one value and for another, with the exact probabilities: the picture of the promise."""
    import altair

    if not isinstance(mechanism, Additive) or mechanism.dimension is not None:
        raise DataError(
            "mechanism", mechanism, "only noise added to one number is drawn", "Geometric(epsilon=1, sensitivity=1)"
        )
    reach = max(1, mechanism.law.quantile("0.995")[1])
    step = Fraction(1) if mechanism.lattice is None else mechanism.lattice.step
    width = max(1, -(-2 * reach // BARS))
    rows = []
    for start in (value, other):
        place = mechanism.place(start)
        for left in range(-reach, reach + 1, width):
            chance = mechanism.law.tail(left - 1).upper - mechanism.law.tail(left + width - 1).lower
            middle = (place + left + Fraction(width - 1, 2)) * step
            rows.append({"release": float(middle), "probability": chance, "value": f"the value is {start}"})
    chart: altair.Chart = (
        altair.Chart(altair.InlineData(values=rows), width=420, height=260)
        .mark_line(interpolate="step")
        .encode(
            x=altair.X("release:Q", title="what may be published", scale=altair.Scale(zero=False)),
            y=altair.Y("probability:Q", title="probability" if width == 1 else f"probability of {width} steps"),
            color=altair.Color("value:N", title=None),
        )
    )
    return chart
