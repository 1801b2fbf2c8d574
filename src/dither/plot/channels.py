"""Charts of channels: their matrix as a heat map, and the expected gain of the best mechanism at each epsilon."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING

from dither.altair_theme import series, themed
from dither.arguments import argument_errors
from dither.channels.channel import Channel
from dither.channels.closed_form_rows import flat
from dither.channels.graph import GraphLike, read_graph
from dither.channels.optimal.optimal import optimal
from dither.channels.prior import PriorLike, read_prior
from dither.channels.utility import GainLike
from dither.errors import DataError, SizeError
from dither.extras import needs
from dither.numeric.number import NumberLike

if TYPE_CHECKING:
    import altair

MOST_CELLS = 40_000  # of a heat map
FEW, LETTERS_ABREAST = 16, 60  # labels that stand side by side, and their letters together


@argument_errors
def channel(matrix: Channel) -> altair.Chart:
    """A channel as a heat map: a row for each input, darker where an output is likelier.

    Args:
        matrix: The channel.

    Raises:
        DataError: It is no channel.
        SizeError: It has more cells than a picture shows.
        MissingExtraError: altair is not installed (`pip install "dither[plot]"`).

    Example:
        >>> import dither
        >>> dither.plot.channel(dither.Channel([["3/4", "1/4"], ["1/4", "3/4"]])).to_dict()["mark"]["type"]
        'rect'
    """
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
    upright = altair.Axis(labelAngle=0) if len(matrix.outputs) <= FEW and _short(matrix) else altair.Axis()
    chart: altair.Chart = (
        altair.Chart(altair.InlineData(values=rows), width=420, height=420)
        .mark_rect()
        .encode(
            x=altair.X("output:N", sort=[str(said) for said in matrix.outputs], title="what is said", axis=upright),
            y=altair.Y("input:N", sort=[str(given) for given in matrix.inputs], title="what is true"),
            color=altair.Color(
                "probability:Q",
                scale=altair.Scale(scheme="blues"),
                title=None,
                legend=altair.Legend(orient="right", direction="vertical"),
            ),
        )
    )
    return themed(chart, "How likely each output is, for each input: the darker, the likelier")


@argument_errors
def utility(
    inputs: Iterable[Hashable],
    *,
    epsilons: Iterable[NumberLike] = ("0.1", "0.25", "0.5", "1", "1.5", "2", "3", "4"),
    prior: PriorLike = "uniform",
    gain: GainLike = "identity",
    graph: GraphLike = "path",
) -> altair.Chart:
    """The expected gain at each epsilon: of the best mechanism, and of k-ary randomized response, each with its best remap.

    Args:
        inputs: The labels of the true answers, each once.
        epsilons: The promises to draw, exact numbers above zero.
        prior: How likely each input is: "uniform", a mapping, or a list of exact probabilities.
        gain: How good a guess is: a name, a function g(guess, truth), or a matrix.
        graph: Which inputs are neighbours: "path", "complete", or a `Graph` on the inputs.

    Raises:
        DataError: `epsilons` is no list or an empty one, or `prior`, `gain` or `graph` is none.
        NumberError: An epsilon is not above zero.
        SizeError: The linear program would be too large.
        MissingExtraError: altair is not installed (`pip install "dither[plot]"`).

    Example:
        >>> import dither
        >>> dither.plot.utility(range(4), epsilons=["0.5", 1], gain="absolute").to_dict()["mark"]["type"]
        'line'
    """
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
            **series("mechanism", ["the best mechanism", "the flat mechanism"]),
        )
    )
    return themed(chart, "Expected gain at each ε")


def _short(matrix: Channel) -> bool:
    return sum(len(str(said)) + 1 for said in matrix.outputs) <= LETTERS_ABREAST
