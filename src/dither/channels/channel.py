"""A channel: what a mechanism may say for each input, as a stochastic matrix that can be asked what it promises.

The matrix and its algebra are in `matrix.py`, the questions in `privacy.py` and `utility.py`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from dither.channels import privacy, utility
from dither.channels.graph import Graph
from dither.channels.matrix import StochasticMatrix
from dither.channels.prior import PriorLike
from dither.channels.utility import GainLike
from dither.errors import DataError
from dither.numeric.number import NumberLike


class Channel(StochasticMatrix):
    """A row-stochastic matrix with labelled inputs and outputs."""

    __slots__ = ()

    def epsilon(self, graph: Graph) -> privacy.Leak:
        """The smallest epsilon between neighbours in a graph, exactly, and who attains it (`privacy.py`)."""
        return privacy.epsilon(self, graph)

    def delta(self, graph: Graph, epsilon: NumberLike) -> float:
        """The smallest delta at an epsilon, rounded up."""
        return privacy.delta(self, graph, epsilon)

    def utility(self, prior: PriorLike, gain: GainLike, guesses: Iterable[Hashable] | None = None) -> utility.Utility:
        """The expected gain of somebody who makes the best of what it says, and how (`utility.py`)."""
        return utility.utility(self, prior, gain, guesses)


def deterministic(outputs: Iterable[Hashable], remap: Mapping[Any, Hashable]) -> Channel:
    """A remap as a channel: what it says is certain."""
    listed = tuple(outputs)
    missing = [output for output in listed if output not in remap]
    if missing:
        raise DataError("remap", missing[0], "it says nothing about this output", "a guess for every output")
    said = tuple(dict.fromkeys(remap[output] for output in listed))
    return Channel([[Fraction(int(remap[output] == guess)) for guess in said] for output in listed], listed, said)
