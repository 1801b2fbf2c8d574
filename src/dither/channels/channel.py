"""A channel: what a mechanism may say for each input, as a stochastic matrix that can be asked what it promises.

The matrix and its algebra are in `matrix.py`, the questions in `privacy.py` and `utility.py`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from dither.arguments import argument_errors
from dither.channels import privacy, utility
from dither.channels.matrix import StochasticMatrix
from dither.channels.neighbour_graph import Graph
from dither.channels.prior import PriorLike
from dither.channels.utility import GainLike
from dither.errors import DataError
from dither.numeric.number import NumberLike


@argument_errors
class Channel(StochasticMatrix):
    """A row-stochastic matrix with labelled inputs and outputs: a mechanism on finitely many inputs.

    Args:
        matrix: A row for each input, a column for each output: exact probabilities, or floats.
        inputs: The labels of the rows, each once; None for 0, 1, 2, ...
        outputs: The labels of the columns, each once; None for 0, 1, 2, ...

    Raises:
        DataError: There is no row, or a row does not add up to one (floats: within 1e-9), or a label is there twice.
        NumberError: An entry is negative, or no number.
        SizeError: Rows differ in length, or there are not as many labels.

    Example:
        >>> from dither import Channel
        >>> from dither.channels import graph
        >>> coin = Channel([["3/4", "1/4"], ["1/4", "3/4"]], ["no", "yes"], ["no", "yes"])
        >>> print(coin.epsilon(graph.complete(["no", "yes"])))
        ε = ln(3), attained by 'no' against 'yes' at 'no'
    """

    __slots__ = ()

    def epsilon(self, graph: Graph) -> privacy.Leak:
        """The smallest epsilon between neighbours in a `graph` of the inputs, exactly, and who attains it (`privacy.py`)."""
        return privacy.epsilon(self, graph)

    def delta(self, graph: Graph, epsilon: NumberLike) -> float:
        """The smallest delta at this `epsilon` between neighbours in a `graph` of the inputs, rounded up."""
        return privacy.delta(self, graph, epsilon)

    def utility(self, prior: PriorLike, gain: GainLike, guesses: Iterable[Hashable] | None = None) -> utility.Utility:
        """The expected gain of somebody who makes the best of what it says, and how (`utility.py`).

        `prior` says how likely each input is, `gain` how good a guess is; `guesses` are the inputs unless said otherwise.
        """
        return utility.utility(self, prior, gain, guesses)


def deterministic(outputs: Iterable[Hashable], remap: Mapping[Any, Hashable]) -> Channel:
    """A remap of `outputs` as a channel: each output goes to one guess with certainty."""
    listed = tuple(outputs)
    missing = [output for output in listed if output not in remap]
    if missing:
        raise DataError("remap", missing[0], "it says nothing about this output", "a guess for every output")
    said = tuple(dict.fromkeys(remap[output] for output in listed))
    return Channel([[Fraction(int(remap[output] == guess)) for guess in said] for output in listed], listed, said)
