"""A chart of the central and the local model: the error of a count with a trusted collector, and without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsIndex

from dither.altair_theme import series, themed
from dither.arguments import argument_errors
from dither.extras import needs
from dither.local.bridge import compare
from dither.numeric.number import NumberLike, integer

if TYPE_CHECKING:
    import altair


@argument_errors
def trust(epsilon: NumberLike, *, most: SupportsIndex = 10**6) -> altair.Chart:
    """The standard deviation of a count: Laplace noise by a trusted collector, and randomized response without one.

    Args:
        epsilon: The promise, an exact number above zero.
        most: The largest number of people, at least 10.

    Raises:
        NumberError: `epsilon` is not above zero, or `most` no such whole number.
        MissingExtraError: altair is not installed (`pip install "dither[plot]"`).

    Example:
        >>> import dither
        >>> dither.plot.trust(1, most=1000).to_dict()["encoding"]["y"]["scale"]
        {'type': 'log'}
    """
    with needs("dither[plot]"):
        import altair

    last = integer(most, name="most", least=10)
    names = ("a trusted collector: Laplace noise", "no trusted collector: randomized response")
    rows = [
        {"people": found.people, "deviation": deviation, "collector": name}
        for count in sorted({round(last ** (i / 24)) for i in range(25)})
        for found in [compare(count, epsilon)]
        for name, deviation in zip(names, (found.central, found.local), strict=True)
    ]
    log, few = altair.Scale(type="log"), altair.Axis(tickCount=5)
    chart: altair.Chart = (
        altair.Chart(altair.InlineData(values=rows), width=420, height=320)
        .mark_line(point=True)
        .encode(
            x=altair.X("people:Q", scale=log, axis=few, title="people"),
            y=altair.Y("deviation:Q", scale=log, axis=few, title="deviation of a count"),
            **series("collector", names),
        )
    )
    return themed(chart, f"Error of a count with and without a trusted collector, ε = {epsilon}")
