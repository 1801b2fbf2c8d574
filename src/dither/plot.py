"""Charts, with altair (install `dither[plot]`). Every function returns an altair chart: show it, or save it as SVG.

Every point of a chart is a certified number, rounded against us; between two points the line is only a line.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, SupportsIndex

from dither.channels.channel import Channel
from dither.channels.closed_form_rows import flat
from dither.channels.optimal.optimal import GraphLike, optimal, read_graph
from dither.channels.prior import PriorLike, read_prior
from dither.channels.utility import GainLike
from dither.density.histograms.axis import Bins
from dither.density.histograms.distribution import Distribution
from dither.errors import DataError, SizeError
from dither.extras import needs
from dither.local.bridge import compare
from dither.mechanisms.additive.additive import Additive
from dither.numeric.number import NumberLike, RealLike, integer
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.unit import Unit

if TYPE_CHECKING:
    import altair

__all__ = ["cdf", "channel", "composition", "density", "epsilon", "neighbours", "tradeoff", "trust", "utility"]

BARS = 120
MOST_CELLS = 40_000  # of a heat map
LEVELS = [Fraction(i, 400) for i in (0, 1, 2, 4, 6, 8, 12, 16, 24, 32, *range(40, 401, 12))]


Promise = Guarantee | Loss


def tradeoff(guarantees: Mapping[str, Promise] | Promise) -> altair.Chart:
    """The power that a test of "was this person in?" can reach at each level: the closer to the diagonal, the better."""
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
            color=altair.Color("guarantee:N", title=None, sort=[*named, "guessing"]),
        )
    )
    return chart


def epsilon(guarantees: Mapping[str, Promise] | Promise) -> altair.Chart:
    """The epsilon at each delta, from 1e-2 down to 1e-12: one promise, seen at every delta."""
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
            x=altair.X("delta:Q", scale=altair.Scale(type="log"), axis=altair.Axis(format="e"), title="δ"),
            y=altair.Y("epsilon:Q", title="ε"),
            color=altair.Color("promise:N", title=None, sort=list(named)),
        )
    )
    return chart


def composition(losses: Mapping[str, Promise] | Promise, *, delta: NumberLike, most: SupportsIndex = 1000) -> altair.Chart:
    """How epsilon grows when a mechanism is used again and again, at one delta."""
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
    chart: altair.Chart = (
        altair.Chart(altair.InlineData(values=rows), width=420, height=320)
        .mark_line(point=True)
        .encode(
            x=altair.X("times:Q", scale=altair.Scale(type="log"), title="how often it is used"),
            y=altair.Y("epsilon:Q", scale=altair.Scale(type="log"), title="ε of all together"),
            color=altair.Color("mechanism:N", title=None, sort=list(named)),
        )
    )
    return chart


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


def neighbours(mechanism: Additive, value: RealLike, other: RealLike) -> altair.Chart:
    """What may come out for one value and for another, with the exact probabilities: the picture of the promise."""
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
            color=altair.Color("value:N", title=None),
        )
    )
    return chart


def channel(matrix: Channel) -> altair.Chart:
    """A channel as a heat map: a row for each input, darker where an output is likelier."""
    with needs("dither[plot]"):
        import altair

    if not isinstance(matrix, Channel):
        raise DataError("channel", matrix, "it is not a channel", "RandomizedResponse(epsilon=1).channel()")
    if len(matrix.inputs) * len(matrix.outputs) > MOST_CELLS:
        raise SizeError("channel", matrix, f"a picture has up to {MOST_CELLS} cells", "fewer inputs and outputs")
    rows = [
        {"input": str(given), "output": str(said), "probability": chance}
        for given, chances in zip(matrix.inputs, matrix.matrix.tolist(), strict=True)
        for said, chance in zip(matrix.outputs, chances, strict=True)
    ]
    chart: altair.Chart = (
        altair.Chart(altair.InlineData(values=rows), width=420, height=420)
        .mark_rect()
        .encode(
            x=altair.X("output:N", sort=[str(said) for said in matrix.outputs], title="what is said"),
            y=altair.Y("input:N", sort=[str(given) for given in matrix.inputs], title="what is true"),
            color=altair.Color("probability:Q", scale=altair.Scale(scheme="blues"), title="probability"),
        )
    )
    return chart


def utility(
    inputs: Iterable[Hashable],
    *,
    epsilons: Iterable[NumberLike] = ("0.1", "0.25", "0.5", "1", "1.5", "2", "3", "4"),
    prior: PriorLike = "uniform",
    gain: GainLike = "identity",
    graph: GraphLike = "path",
) -> altair.Chart:
    """What can be gained at each epsilon: by the best mechanism, and by the flat one, each with its best remap."""
    with needs("dither[plot]"):
        import altair

    nodes, rows = read_graph(graph, inputs), []
    if isinstance(epsilons, str) or not isinstance(epsilons, Iterable):
        raise DataError("epsilons", epsilons, "they are a list", "['0.1', 1, 2]")
    nearest = min(nodes.length(at) for at in range(len(nodes.edges)))
    prior = read_prior(prior, nodes.nodes)
    for value in epsilons:
        best = optimal(nodes.nodes, epsilon=value, prior=prior, gain=gain, graph=nodes)
        plain = Channel(Channel(flat(len(nodes), best.epsilon * nearest)).matrix, nodes.nodes).utility(prior, gain)
        for name, gained in (("the best mechanism", best.utility), ("the flat mechanism", float(plain))):
            rows.append({"epsilon": float(best.epsilon), "utility": gained, "mechanism": name})
    if not rows:
        raise DataError("epsilons", epsilons, "there is nothing to draw", "['0.1', 1, 2]")
    chart: altair.Chart = (
        altair.Chart(altair.InlineData(values=rows), width=420, height=320)
        .mark_line(point=True)
        .encode(
            x=altair.X("epsilon:Q", title="ε"),
            y=altair.Y("utility:Q", title="expected gain", scale=altair.Scale(zero=False)),
            color=altair.Color("mechanism:N", title=None, sort=["the best mechanism", "the flat mechanism"]),
        )
    )
    return chart


def trust(epsilon: NumberLike, *, most: SupportsIndex = 10**6) -> altair.Chart:
    """What trust in a collector buys: the deviation of a count of 1 to `most` people, with such a collector and without."""
    with needs("dither[plot]"):
        import altair

    last = integer(most, name="most", least=10)
    names = ("a trusted collector: Laplace noise", "nobody is trusted: randomized response")
    rows = [
        {"people": found.people, "deviation": deviation, "collector": name}
        for count in sorted({round(last ** (i / 24)) for i in range(25)})
        for found in [compare(count, epsilon)]
        for name, deviation in zip(names, (found.central, found.local), strict=True)
    ]
    log = altair.Scale(type="log")
    chart: altair.Chart = (
        altair.Chart(altair.InlineData(values=rows), width=420, height=320)
        .mark_line(point=True)
        .encode(
            x=altair.X("people:Q", scale=log, title="people"),
            y=altair.Y("deviation:Q", scale=log, title="deviation of a count"),
            color=altair.Color("collector:N", title=None, sort=list(names), legend=altair.Legend(labelLimit=300)),
        )
    )
    return chart


def density(distribution: Distribution) -> altair.Chart:
    """A released histogram: people in each cell, and the band that the truth lies in. The true shape is never shown."""
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
    base = altair.Chart(altair.InlineData(values=rows), width=420, height=260).encode(
        x=altair.X("cell:N", sort=sort, title=None)
    )
    title = f"people, with {100 * found.confidence:g}% bands"
    bars = base.mark_bar(opacity=0.6).encode(y=altair.Y("people:Q", title=title))
    chart: altair.Chart = bars + base.mark_rule().encode(y="low:Q", y2="high:Q")
    return chart


def cdf(distribution: Distribution) -> altair.Chart:
    """The released share of people below each edge, and the band that the truth lies in at all edges at once."""
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
    title = f"share of people below, with a {100 * found.confidence:g}% band"
    area = base.mark_area(opacity=0.3).encode(y=altair.Y("low:Q", title=title), y2="high:Q")
    chart: altair.Chart = area + base.mark_line().encode(y="share:Q")
    return chart


def _released(distribution: Distribution) -> Distribution:
    if not isinstance(distribution, Distribution):
        raise DataError("distribution", distribution, "it was not released", "histogram(bins, epsilon=1).release(counts)")
    if distribution.axis.size > MOST_CELLS:
        raise SizeError("distribution", distribution, f"a picture has up to {MOST_CELLS} cells", "wider cells")
    return distribution
