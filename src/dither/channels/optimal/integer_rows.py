"""A mechanism with rational probabilities of one denominator, made from a matrix that is nearly private.

A solver works with tolerances, so what it returns breaks the promise by a little, and its rows do not add up to one.
Let F(e) <= e^(epsilon d) be a fraction for each edge e of length d.

1. Entries become whole numbers N, negative ones zero. In each column every entry is raised to the least that its
   neighbours demand: N(x) >= N(y) / F(e). Going through the nodes from the largest entry down settles each of them
   once, since F > 1 never raises anything above what it comes from (Dijkstra's argument). Now each column is private.
2. Rows have sums R(x). What is missing to the largest, m(x) = max R - R(x), is added to one column, and a constant M on
   top, M >= (m(x) - F m(y)) / (F - 1) on every edge, both ways. m + M is private by the choice of M, and a sum of
   private columns is private: x <= F y and x' <= F y' give x + x' <= F (y + y').
3. Every row has the sum T = max R + M. N / T is a channel, exactly private, and exactly drawn.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from dither.channels.matrix import MatrixEntry
from dither.channels.neighbour_graph import Graph
from dither.errors import PrecisionError
from dither.noise.uniform_integers import weighted
from dither.numeric.balls import ends, precision
from dither.numeric.number import Number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SCALE_BITS = 60  # of the whole numbers that stand for probabilities
LARGEST_EXPONENT = 1000
FACTOR_BITS = 80  # of the fractions below e^(epsilon d)


@dataclass(frozen=True)
class IntegerRows:
    """Rows of whole numbers with one sum: a row for each input, a column for each guess."""

    rows: tuple[tuple[int, ...], ...]

    def draw(self, place: int) -> int:
        """The number of a guess for the answer at this place, drawn exactly."""
        return weighted(self.rows[place])

    def row(self, place: int) -> dict[int, MatrixEntry]:
        """How likely each guess is, exactly, by its number."""
        return dict(self.lower_row(place))

    def lower_row(self, place: int) -> list[tuple[int, Fraction]]:
        """Guesses and their exact chances."""
        whole = sum(self.rows[place])
        return [(guess, Fraction(entry, whole)) for guess, entry in enumerate(self.rows[place]) if entry]

    @property
    def width(self) -> int:
        """How many guesses there are at least."""
        return len(self.rows[0])

    def keeps(self, graph: Graph, epsilon: Number) -> bool:
        """Whether all rows have one sum, and neighbouring ones differ by factors of at most e^(epsilon d): in integers."""
        if len(self.rows) != len(graph) or len({len(row) for row in self.rows}) != 1:
            return False
        if not all(type(entry) is int and entry >= 0 for row in self.rows for entry in row):
            return False
        if {sum(row) > 0 for row in self.rows} != {True} or len({sum(row) for row in self.rows}) != 1:
            return False
        for (x, y), (top, bottom) in zip(graph.edges, factors(graph, epsilon), strict=True):
            for a, b in zip(self.rows[x], self.rows[y], strict=True):
                if a * bottom > b * top or b * bottom > a * top:
                    return False
        return True


def factors(graph: Graph, epsilon: Number) -> list[tuple[int, int]]:
    """For each edge a fraction (top, bottom) not above e^(epsilon d)."""
    return [factor(epsilon * graph.length(at)) for at in range(len(graph.edges))]


@lru_cache(maxsize=256)
def factor(exponent: Number) -> tuple[int, int]:
    exponent = min(exponent, Number(LARGEST_EXPONENT))  # any fraction that is not above will do
    plain = exponent.exp_fraction()
    if plain is not None and plain.numerator.bit_length() <= FACTOR_BITS:
        return plain.numerator, plain.denominator
    with precision(FACTOR_BITS + 32):
        low = ends(exponent.ball().exp())[0]
    if low <= 1:
        raise PrecisionError("epsilon", exponent, "it is too small to be told from zero", "an epsilon above 1e-30")
    return low.numerator, low.denominator


def repair(matrix: NDArray[np.float64], graph: Graph, epsilon: Number, spare: int) -> IntegerRows:
    """The nearest mechanism that is private; what rows lack goes to the column `spare`."""
    given = factors(graph, epsilon)
    ways: list[list[tuple[int, int, int]]] = [[] for _ in graph.nodes]
    for (x, y), (top, bottom) in zip(graph.edges, given, strict=True):
        ways[x].append((y, top, bottom))
        ways[y].append((x, top, bottom))
    columns = [_raised(column, ways) for column in matrix.T.tolist()]
    sums = [sum(row) for row in zip(*columns, strict=True)]
    missing = [max(sums) - one for one in sums]
    constant = 0
    for (x, y), (top, bottom) in zip(graph.edges, given, strict=True):
        for a, b in ((x, y), (y, x)):  # m(a) + M <= (top / bottom) (m(b) + M)
            constant = max(constant, -((top * missing[b] - bottom * missing[a]) // (top - bottom)))
    columns[spare] = [entry + lack + constant for entry, lack in zip(columns[spare], missing, strict=True)]
    return IntegerRows(tuple(zip(*columns, strict=True)))


def _raised(column: Sequence[float], ways: list[list[tuple[int, int, int]]]) -> list[int]:
    """The least whole numbers above a column that satisfy every edge."""
    found = [int(max(entry, 0.0) * 2**SCALE_BITS) for entry in column]
    queue = [(-entry, node) for node, entry in enumerate(found)]
    heapq.heapify(queue)
    while queue:
        size, node = heapq.heappop(queue)
        if -size != found[node]:
            continue  # it was raised since
        for other, top, bottom in ways[node]:
            least = -(size * bottom // top)  # the entry over F, rounded up
            if least > found[other]:
                found[other] = least
                heapq.heappush(queue, (-least, other))
    return found
