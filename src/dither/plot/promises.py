"""Charts of promises: trade-off curves, epsilon at each delta and under composition, and the laws of two neighbours."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, SupportsIndex

from dither.altair_theme import series, themed
from dither.arguments import argument_errors
from dither.errors import DataError
from dither.extras import needs
from dither.mechanisms.additive.additive import Additive
from dither.numeric.number import NumberLike, RealLike, exact, integer
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.unit import Unit

if TYPE_CHECKING:
    import altair

BARS = 120
LEVELS = [Fraction(i, 400) for i in (0, 1, 2, 4, 6, 8, 12, 16, 24, 32, *range(40, 401, 12))]
Promise = Guarantee | Loss


@argument_errors
def tradeoff(guarantees: Mapping[str, Promise] | Promise) -> altair.Chart:
    """The trade-off curve: the power that a test of "was this person in?" can reach at each level.

    The closer to the diagonal, the better the promise.

    Args:
        guarantees: A `Guarantee` or a `Loss`, or several by their names.

    Raises:
        DataError: There is nothing to draw, or something that is neither.
        MissingExtraError: altair is not installed (`pip install "dither[plot]"`).

    Example:
        >>> import dither
        >>> dither.plot.tradeoff({"ε = 1": dither.pure(1), "μ = 1": dither.gdp(1)}).to_dict()["mark"]["type"]
        'line'
    """
    with needs("dither[plot]"):
        import altair

    named = _named(guarantees)
    rows = [
        {"level": float(level), "power": _guarantee(guarantee).tradeoff(level), "guarantee": name}
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
            **series("guarantee", [*named, "guessing"]),
        )
    )
    return themed(chart, "How well a test can tell whether a person was in")


@argument_errors
def epsilon(guarantees: Mapping[str, Promise] | Promise) -> altair.Chart:
    """The epsilon at each delta, from 1e-2 down to 1e-12.

    Args:
        guarantees: A `Guarantee` or a `Loss`, or several by their names.

    Raises:
        DataError: There is nothing to draw, or none has a finite epsilon at these deltas.
        MissingExtraError: altair is not installed (`pip install "dither[plot]"`).

    Example:
        >>> import dither
        >>> dither.plot.epsilon(dither.gdp(1)).to_dict()["encoding"]["x"]["scale"]
        {'type': 'log'}
    """
    with needs("dither[plot]"):
        import altair

    named = _named(guarantees)
    rows = [
        {"delta": 10.0**-power, "epsilon": value, "promise": name}
        for name, promise in named.items()
        for power in range(2, 13)
        if math.isfinite(value := promise.epsilon(Fraction(1, 10**power)))
    ]
    if not rows:
        raise DataError("guarantees", guarantees, "none of them has an epsilon at any of these deltas", "a smaller loss")
    chart: altair.Chart = (
        altair.Chart(altair.InlineData(values=rows), width=420, height=320)
        .mark_line(point=True)
        .encode(
            x=altair.X("delta:Q", scale=altair.Scale(type="log"), axis=altair.Axis(format=".0e"), title="δ"),
            y=altair.Y("epsilon:Q", title="ε"),
            **series("promise", list(named)),
        )
    )
    return themed(chart, "ε at each δ")


@argument_errors
def composition(losses: Mapping[str, Promise] | Promise, *, delta: NumberLike, most: SupportsIndex = 1000) -> altair.Chart:
    """How epsilon grows under composition with itself, at one delta.

    Args:
        losses: A `Guarantee` or a `Loss` of one use, or several by their names.
        delta: The delta at which epsilon is read, from 0 to 1.
        most: The largest number of uses, at least 2.

    Raises:
        DataError: There is nothing to draw, or no finite epsilon at this `delta`.
        NumberError: `delta` is no probability, or `most` no such whole number.
        MissingExtraError: altair is not installed (`pip install "dither[plot]"`).

    Example:
        >>> import dither
        >>> dither.plot.composition(dither.Loss.pure("0.1"), delta="1e-6", most=10).to_dict()["mark"]["type"]
        'line'
    """
    with needs("dither[plot]"):
        import altair

    named, last = _named(losses), integer(most, name="most", least=2)
    counts = sorted({1, last, *(round(last ** (i / 11)) for i in range(12))})
    rows = [
        {"times": count, "epsilon": value, "mechanism": name}
        for name, promise in named.items()
        for count in counts
        if math.isfinite(value := (count * promise).epsilon(delta))
    ]
    if not rows:
        raise DataError("delta", delta, "no epsilon is proved at this delta", "a larger delta")
    log, few = altair.Scale(type="log"), altair.Axis(tickCount=5)
    chart: altair.Chart = (
        altair.Chart(altair.InlineData(values=rows), width=420, height=320)
        .mark_line(point=True)
        .encode(
            x=altair.X("times:Q", scale=log, axis=few, title="how often it is used"),
            y=altair.Y("epsilon:Q", scale=log, axis=few, title="ε of all together"),
            **series("mechanism", list(named)),
        )
    )
    return themed(chart, f"ε of repeated use, at δ = {float(exact(delta, name='delta')):g}")


def _named(promises: Mapping[str, Promise] | Promise) -> dict[str, Promise]:
    named = {str(promises): promises} if isinstance(promises, Guarantee | Loss) else promises
    if isinstance(named, Mapping) and named:
        found = {str(name): promise for name, promise in named.items() if isinstance(promise, Guarantee | Loss)}
        if len(found) == len(named):
            return found
    raise DataError("guarantees", promises, "there is nothing to draw", "a Guarantee, a Loss, or {'name': Guarantee}")


def _guarantee(promise: Promise) -> Guarantee:
    return (
        promise
        if isinstance(promise, Guarantee)
        else Guarantee.from_loss(promise, unit=promise.unit or promise.relation() or Unit.ADD_REMOVE)
    )


@argument_errors
def neighbours(mechanism: Additive, value: RealLike, other: RealLike) -> altair.Chart:
    """The laws of a release for two values, with exact probabilities: what epsilon bounds the ratio of.

    Args:
        mechanism: A mechanism that adds noise to one number.
        value: A true value.
        other: Its neighbour.

    Raises:
        DataError: `mechanism` adds no noise to one number, or a value is no number.
        MissingExtraError: altair is not installed (`pip install "dither[plot]"`).

    Example:
        >>> import dither
        >>> dither.plot.neighbours(dither.Geometric(epsilon=1, sensitivity=1), 10, 11).to_dict()["mark"]["type"]
        'line'
    """
    with needs("dither[plot]"):
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
            **series("value", list(dict.fromkeys(str(row["value"]) for row in rows))),
        )
    )
    return themed(chart, "What may be published, for two neighbouring values")
