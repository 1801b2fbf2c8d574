"""How private a channel is: the smallest epsilon on a graph of inputs, and who attains it; delta at an epsilon.

On an edge of length d the channel must have C[x, z] <= e^(epsilon d) C[y, z] for all z, both ways. So the smallest
epsilon is the largest ln(C[x, z] / C[y, z]) / d over edges and outputs: infinite where an output is possible for x
only. Only edges are looked at: paths of edges follow (`graph.py`).

A float is an exact number too, so the epsilon of a matrix of floats is exact as well: the epsilon of *that* matrix.
Division rounds monotonically, so the largest ratio is among those whose float quotient is largest; of these, what the
rounding took away is computed from the exact products of floats, and the few that remain are compared as fractions.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dither.channels.matrix import MatrixEntry, StochasticMatrix
from dither.channels.neighbour_graph import Graph
from dither.channels.rational_function import Ratio
from dither.errors import DataError
from dither.numeric.balls import precision
from dither.numeric.enclosure import certify, to_ball
from dither.numeric.number import Enclosure, Number, NumberLike, exact, ln

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CHUNK = 64  # edges at a time: a few rows stay in the cache
EdgeRatio = tuple[Any, Fraction, int, int, int]  # a ratio, the length of its edge, x, y, z


@dataclass(frozen=True)
class Leak:
    """The smallest epsilon of a channel, and where it is attained."""

    bounds: Enclosure  # floats around it; both are inf where something is lost outright
    exact: Number | None  # the number itself, where it has a name
    pair: tuple[Hashable, Hashable] | None  # the input that makes the output likelier, and its neighbour
    output: Hashable

    @property
    def epsilon(self) -> float:
        """The smallest epsilon, rounded up."""
        return self.bounds.upper

    def __str__(self) -> str:
        value = f"{self.bounds.upper:.6g}"
        if self.exact is not None and len(str(self.exact)) < 24:
            value = str(self.exact)
        where = "" if self.pair is None else f", attained by {self.pair[0]!r} against {self.pair[1]!r} at {self.output!r}"
        return f"ε = {value}{where}"


def epsilon(channel: StochasticMatrix, graph: Graph) -> Leak:
    """The smallest epsilon on the edges of a graph."""
    _same_nodes(channel, graph)
    lost, best = _of_exact(channel, graph) if channel.rows is not None else _of_floats(channel.matrix, graph)
    if lost is not None:
        x, y, z = lost
        return Leak(Enclosure(math.inf, math.inf), None, (channel.inputs[x], channel.inputs[y]), channel.outputs[z])
    if best is None:
        return Leak(Enclosure(0.0, 0.0), Number(0), None, None)
    ratio, length, x, y, z = best
    named = _named(ratio)
    value = None if named is None else named / length
    bounds = value.bounds() if value is not None else certify(lambda: _ball(ratio).log() / to_ball(length))
    return Leak(bounds, value, (channel.inputs[x], channel.inputs[y]), channel.outputs[z])


def delta(channel: StochasticMatrix, graph: Graph, at: NumberLike) -> float:
    """The largest sum over outputs of (C[x, z] - e^(epsilon d) C[y, z])_+ on an edge, either way; rounded up."""
    _same_nodes(channel, graph)
    bound = exact(at, name="epsilon", nonnegative=True)
    worst = 0.0
    for place, edge in enumerate(graph.edges):
        reach = bound * graph.length(place)
        for x, y in (edge, edge[::-1]):
            worst = max(worst, _delta(channel.entries(x), channel.entries(y), reach))
    return worst


def _delta(one: Iterable[MatrixEntry], other: Iterable[MatrixEntry], reach: Number) -> float:
    pairs = [(a, b) for a, b in zip(one, other, strict=True) if a > 0]

    def total() -> Any:
        grown, found = reach.ball().exp(), to_ball(0)
        for a, b in pairs:
            over = _ball(a) - grown * _ball(b)
            if not over < 0:
                found += over.max(to_ball(0))
        return found

    return max(0.0, certify(total).upper)


def _ball(entry: MatrixEntry) -> Any:
    return entry.ball() if isinstance(entry, Ratio) else to_ball(entry)


# -- exact entries -----------------------------------------------------------------------------------------------------


def _of_exact(channel: StochasticMatrix, graph: Graph) -> tuple[tuple[int, int, int] | None, EdgeRatio | None]:
    """Where something is lost outright, or else the largest ratio; nothing where all rows are the same."""
    assert channel.rows is not None
    best: EdgeRatio | None = None
    seen: set[tuple[object, Fraction]] = set()  # most channels have few different ratios
    for place, edge in enumerate(graph.edges):
        length = graph.length(place)
        for x, y in (edge, edge[::-1]):
            for z, (a, b) in enumerate(zip(channel.rows[x], channel.rows[y], strict=True)):
                if a == 0:
                    continue
                if b == 0:
                    return (x, y, z), None
                if a > b:
                    ratio = a / b
                    key = (str(ratio) if isinstance(ratio, Ratio) else ratio), length
                    if key not in seen and (best is None or larger(ratio, length, best[0], best[1])):
                        best = ratio, length, x, y, z
                    seen.add(key)
    return None, best


def larger(a: MatrixEntry, d: Fraction, b: MatrixEntry, e: Fraction) -> bool:
    """Whether ln(a)/d > ln(b)/e: by balls, and where these touch by a^(e p) > b^(d p) for whole powers, exactly."""
    if d == e:
        return bool(a > b)
    with precision(128):
        left, right = _ball(a).log() / to_ball(d), _ball(b).log() / to_ball(e)
        if left > right or left < right:
            return bool(left > right)
    power = math.lcm(d.denominator, e.denominator)
    return bool(_power(a, int(e * power)) > _power(b, int(d * power)))


def _power(value: Any, times: int) -> Any:
    if isinstance(value, Fraction):
        return value**times
    total = value
    for _ in range(times - 1):
        total = total * value
    return total


def _named(ratio: MatrixEntry) -> Number | None:
    """ln of a ratio as an exact number, where it has one: a rational, or a rational times a power of E."""
    if isinstance(ratio, Fraction):
        return ln(ratio)
    high = [(at, c) for at, c in enumerate(ratio.top.coeffs()) if c != 0]
    low = [(at, c) for at, c in enumerate(ratio.bottom.coeffs()) if c != 0]
    if len(high) != 1 or len(low) != 1:
        return None
    share = high[0][1] / low[0][1]
    found: Number = ratio.epsilon * (high[0][0] - low[0][0])
    return found + ln(Fraction(int(share.p), int(share.q)))


# -- floats ------------------------------------------------------------------------------------------------------------


def _of_floats(matrix: NDArray[np.float64], graph: Graph) -> tuple[tuple[int, int, int] | None, EdgeRatio | None]:
    """What `_of_exact` finds, for a matrix of floats: by whole rows."""
    import numpy as np

    edges = np.array(graph.edges).reshape(-1, 2)
    places: dict[Fraction, list[int]] = {}
    for at in range(len(edges)):
        places.setdefault(graph.length(at), []).append(at)
    best: EdgeRatio | None = None
    for length, listed in places.items():
        for start in range(0, len(listed), CHUNK):
            part = edges[listed[start : start + CHUNK]]
            for tops, bottoms in ((part[:, 0], part[:, 1]), (part[:, 1], part[:, 0])):
                top, bottom = matrix[tops], matrix[bottoms]
                if not (bottom > 0).all() and ((top > 0) & (bottom == 0)).any():
                    at, z = (int(i) for i in np.argwhere((top > 0) & (bottom == 0))[0])
                    return (int(tops[at]), int(bottoms[at]), z), None
                found = _largest(top, bottom)
                if found is not None:
                    ratio, at, z = found
                    if best is None or larger(ratio, length, best[0], best[1]):
                        best = ratio, length, int(tops[at]), int(bottoms[at]), z
    return None, best


def _largest(top: NDArray[np.float64], bottom: NDArray[np.float64]) -> tuple[Fraction, int, int] | None:
    """The largest ratio above one in two matrices, exactly, and its row and column."""
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        quotients = top / bottom
    most = np.fmax.reduce(quotients, axis=None)  # 0/0 is left out
    if not most >= 1:  # monotone: a ratio above one has no quotient below one
        return None
    rows, columns = np.nonzero(quotients == most)
    a, b = top[rows, columns], bottom[rows, columns]
    if np.isfinite(most) and float(np.min(b)) > 1e-280:
        rest = remainder(a, b, float(most)) / b  # what the quotient lacks, to its last few bits
        near = rest >= rest.max() - 1e-12 * np.abs(rest).max()
        rows, columns, a, b = rows[near], columns[near], a[near], b[near]
    pairs, first = np.unique(np.stack([a, b], axis=1), axis=0, return_index=True)
    ratios = [Fraction(x) / Fraction(y) for x, y in pairs.tolist()]
    at = max(range(len(ratios)), key=ratios.__getitem__)
    if ratios[at] <= 1:
        return None
    return ratios[at], int(rows[first[at]]), int(columns[first[at]])


def remainder(a: NDArray[np.float64], b: NDArray[np.float64], quotient: float) -> NDArray[np.float64]:
    """a - quotient * b without rounding of the product: it is split into a float and what that leaves (Dekker)."""
    splitter = float(2**27 + 1)
    high_b = splitter * b - (splitter * b - b)
    low_b = b - high_b
    high_q = splitter * quotient - (splitter * quotient - quotient)
    low_q = quotient - high_q
    product = quotient * b
    error = ((high_q * high_b - product) + high_q * low_b + low_q * high_b) + low_q * low_b
    return (a - product) - error  # a and the product are next to each other, so their difference is exact


def _same_nodes(channel: StochasticMatrix, graph: Graph) -> None:
    if not isinstance(graph, Graph):
        raise DataError("graph", graph, "it is not a graph", "graph.path(range(11)), graph.complete(['a', 'b'])")
    if graph.nodes != channel.inputs:
        raise DataError("graph", graph.nodes[:4], "its nodes are not the inputs of the channel", str(channel.inputs[:4]))
    graph.require_connected()
