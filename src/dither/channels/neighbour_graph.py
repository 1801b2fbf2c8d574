"""A graph of neighbouring inputs: nodes with labels, edges between them, and a length for each edge.

It states a privacy requirement: on an edge of length d, what may be said differs by a factor of at most e^(epsilon d).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dither.arguments import argument_errors
from dither.channels.labels import read_labels
from dither.errors import DataError
from dither.numeric.representation import short_repr

Edge = tuple[int, int]


@argument_errors
@dataclass(frozen=True)
class Graph:
    """A graph of neighbouring inputs, whose edges have lengths: 1, unless it is a metric.

    Args:
        nodes: The labels of the inputs, each once.
        edges: Pairs of places in `nodes`, the smaller first, each once.
        lengths: The length of each edge, above zero; None where all are 1.

    Raises:
        DataError: A label is there twice, an edge joins no two places, or a length is missing or not above zero.

    Example:
        >>> from dither.channels.graph import Graph
        >>> Graph(("a", "b", "c"), ((0, 1), (1, 2))).distances(0)
        [0, 1, 2]
    """

    nodes: tuple[Hashable, ...]
    edges: tuple[Edge, ...]  # places of the nodes, smaller first, each once
    lengths: tuple[Fraction, ...] | None = None  # of the edges; None: all are 1
    __repr__ = short_repr

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", read_labels(self.nodes, "nodes"))
        count = len(self.nodes)
        if not all(0 <= a < b < count for a, b in self.edges) or len(set(self.edges)) != len(self.edges):
            raise DataError(
                "edges", self.edges[:4], "each joins two places, the smaller first, and is there once", "((0, 1),)"
            )
        if self.lengths is not None and (len(self.lengths) != len(self.edges) or not all(d > 0 for d in self.lengths)):
            raise DataError(
                "lengths", self.lengths[:4], "every edge has one, above zero", "no lengths, or one for each edge"
            )

    def __len__(self) -> int:
        return len(self.nodes)

    @cached_property
    def place(self) -> dict[Hashable, int]:
        """The place of each node in `nodes`."""
        return {node: at for at, node in enumerate(self.nodes)}

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """The places of the neighbours of each node."""
        found: list[list[int]] = [[] for _ in self.nodes]
        for a, b in self.edges:
            found[a].append(b)
            found[b].append(a)
        return tuple(tuple(sorted(row)) for row in found)

    def require_connected(self) -> None:
        """Refused where two nodes have no way between them: nothing would be promised about telling them apart."""
        cut = next((node for node, steps in zip(self.nodes, self.distances(0), strict=True) if steps is None), None)
        if cut is not None:
            why = f"there is no way from {self.nodes[0]!r} to {cut!r}, so the two could be told apart"
            raise DataError("graph", self.nodes[:4], why, "edges that connect all nodes, or one graph for each part")

    def length(self, at: int) -> Fraction:
        """The length of the edge that is listed `at` this place."""
        return Fraction(1) if self.lengths is None else self.lengths[at]

    def distances(self, start: int) -> list[int | None]:
        """Edges on a shortest path from the node at place `start` to every other; None where there is no path."""
        found: list[int | None] = [None] * len(self.nodes)
        found[start] = 0
        queue = deque([start])
        while queue:
            here = queue.popleft()
            steps = found[here]
            assert steps is not None
            for there in self.neighbours[here]:
                if found[there] is None:
                    found[there] = steps + 1
                    queue.append(there)
        return found

    @property
    def is_connected(self) -> bool:
        """Whether there is a way between any two nodes."""
        return None not in self.distances(0)

    @property
    def is_path(self) -> bool:
        """Whether it is one line of nodes: what a counting query induces."""
        if len(self.edges) != len(self.nodes) - 1 or not self.is_connected:
            return False
        return all(len(row) <= 2 for row in self.neighbours)

    @property
    def is_line(self) -> bool:
        """Whether each node is beside the next in their own order, one step apart, and nothing else is."""
        return self.lengths is None and self.edges == tuple((at, at + 1) for at in range(len(self.nodes) - 1))

    def cycle(self) -> tuple[Hashable, ...] | None:
        """Some cycle, as its nodes in order; None where there is none."""
        parent: dict[int, int] = {}
        for start in range(len(self.nodes)):
            if start in parent:
                continue
            parent[start] = start
            queue = deque([start])
            while queue:
                here = queue.popleft()
                for there in self.neighbours[here]:
                    if there not in parent:
                        parent[there] = here
                        queue.append(there)
                    elif there != parent[here]:
                        return tuple(self.nodes[at] for at in _joined(parent, here, there))
        return None


def _joined(parent: dict[int, int], a: int, b: int) -> list[int]:
    """The cycle that the edge a - b closes in a tree."""
    up = [a]
    while parent[up[-1]] != up[-1]:
        up.append(parent[up[-1]])
    seen = {node: at for at, node in enumerate(up)}
    down = [b]
    while down[-1] not in seen:
        down.append(parent[down[-1]])
    return up[: seen[down[-1]] + 1] + down[-2::-1] if len(down) > 1 else up[: seen[b] + 1]
