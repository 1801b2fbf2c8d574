"""Which inputs count as neighbours: a graph on the answers of a query, or on anything.

epsilon-DP on a connected graph is the same as P(z | y) <= e^(epsilon d(y, y')) P(z | y') for the distance d in the graph
(go along a shortest path: each step costs a factor e^epsilon; the other way round take d = 1). So only edges need be
looked at, and a graph, or a metric, stands for the whole requirement.

A query f on databases of n records *induces* a graph on its answers: y ~ y' when f(x) = y and f(x') = y' for some
x, x' that differ in one record. For a count this is a path; for an average it has cycles.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import Any, SupportsIndex

from dither.channels.labels import check_callable, check_hashable, plain, read_labels
from dither.errors import DataError, SizeError
from dither.numeric.number import NumberLike, integer, rational

__all__ = ["Graph", "complete", "databases", "grid", "hamming", "induced", "metric", "of", "path"]

MOST_DATABASES = 2_000_000
Edge = tuple[int, int]


@dataclass(frozen=True)
class Graph:
    """Named nodes and the edges between them, each with a length (1 unless it is a metric)."""

    nodes: tuple[Hashable, ...]
    edges: tuple[Edge, ...]  # places of the nodes, smaller first, each once
    lengths: tuple[Fraction, ...] | None = None  # of the edges; None: all are 1

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
        """Where a node stands."""
        return {node: at for at, node in enumerate(self.nodes)}

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """The neighbours of each node."""
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
        """Of an edge."""
        return Fraction(1) if self.lengths is None else self.lengths[at]

    def distances(self, start: int) -> list[int | None]:
        """Steps from a node to every other; None where there is no way."""
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


# -- kinds -------------------------------------------------------------------------------------------------------------


def of(nodes: Iterable[Hashable], pairs: Iterable[tuple[Hashable, Hashable]]) -> Graph:
    """Any graph: its nodes, and which of them are beside each other."""
    listed = read_labels(nodes, "nodes")
    place = {node: at for at, node in enumerate(listed)}
    if not isinstance(pairs, Iterable):
        raise DataError("pairs", pairs, "it lists pairs of nodes", f"[{listed[:2]}]")
    edges = set()
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise DataError("pairs", pair, "an edge joins two nodes", f"{listed[:2]}")
        for end in pair:
            check_hashable(end, "pairs")
        if pair[0] == pair[1] or not all(end in place for end in pair):
            raise DataError("pairs", pair, "an edge joins two nodes of the graph", f"{listed[:2]}")
        a, b = sorted(place[end] for end in pair)
        edges.add((a, b))
    return Graph(listed, tuple(sorted(edges)))


def path(nodes: Iterable[Hashable]) -> Graph:
    """Each node beside the next: the answers of a counting query."""
    listed = read_labels(nodes, "nodes")
    return Graph(listed, tuple((at, at + 1) for at in range(len(listed) - 1)))


def complete(nodes: Iterable[Hashable]) -> Graph:
    """All nodes beside each other: one person's value, in local privacy."""
    listed = read_labels(nodes, "nodes")
    return Graph(listed, tuple(combinations(range(len(listed)), 2)))


def grid(rows: SupportsIndex, columns: SupportsIndex) -> Graph:
    """Cells of a map, each beside the next in its row and in its column."""
    height, width = integer(rows, name="rows", least=1), integer(columns, name="columns", least=1)
    nodes = [(r, c) for r in range(height) for c in range(width)]
    edges = [(r * width + c, r * width + c + 1) for r in range(height) for c in range(width - 1)]
    edges += [(r * width + c, (r + 1) * width + c) for r in range(height - 1) for c in range(width)]
    return Graph(tuple(nodes), tuple(sorted(edges)))


def metric(nodes: Iterable[Hashable], distance: Callable[[Any, Any], NumberLike]) -> Graph:
    """All nodes beside each other at given distances: d-privacy."""
    listed = read_labels(nodes, "nodes")
    edges = tuple(combinations(range(len(listed)), 2))
    check_callable(distance, "distance")
    lengths = tuple(rational(distance(listed[a], listed[b]), name="distance", positive=True) for a, b in edges)
    return Graph(listed, edges, lengths)


def hamming(one: Sequence[object], other: Sequence[object]) -> int:
    """In how many places two databases of one size differ."""
    if not isinstance(one, Sequence) or not isinstance(other, Sequence):
        raise DataError("one, other", (one, other), "databases are lists of records", "(0, 1, 1), (0, 0, 1)")
    if len(one) != len(other):
        raise SizeError("other", len(other), f"the first has {len(one)} records", "databases of one size")
    return sum(a != b for a, b in zip(one, other, strict=True))


def databases(universe: Iterable[Hashable], records: SupportsIndex) -> Graph:
    """All databases of n records over a universe, beside each other when they differ in one record."""
    values, size = read_labels(universe, "universe"), integer(records, name="records", least=1)
    _check_size(len(values), size)
    nodes = list(product(values, repeat=size))
    place = {node: at for at, node in enumerate(nodes)}
    edges = {(at, place[other]) for at, node in enumerate(nodes) for other in _changed(node, values) if at < place[other]}
    return Graph(tuple(nodes), tuple(sorted(edges)))


def induced(query: Callable[[Any], Hashable], universe: Iterable[Hashable], records: SupportsIndex) -> Graph:
    """The graph that a query induces on its answers."""
    values, size = read_labels(universe, "universe"), integer(records, name="records", least=1)
    _check_size(len(values), size)
    check_callable(query, "query")
    answers = {node: plain(query(node)) for node in product(values, repeat=size)}
    for answer in answers.values():
        check_hashable(answer, "query")
    nodes = list(dict.fromkeys(answers.values()))
    with suppress(TypeError):  # labels that have no order stay as they were found
        nodes = sorted(nodes)
    place = {node: at for at, node in enumerate(nodes)}
    edges = set()
    for node, answer in answers.items():
        for other in _changed(node, values):
            a, b = place[answer], place[answers[other]]
            if a < b:
                edges.add((a, b))
    return Graph(tuple(nodes), tuple(sorted(edges)))


def _changed(node: tuple[Hashable, ...], values: Sequence[Hashable]) -> Iterator[tuple[Hashable, ...]]:
    for at, old in enumerate(node):
        for new in values:
            if new != old:
                yield (*node[:at], new, *node[at + 1 :])


def _check_size(values: int, records: int) -> None:
    if values**records > MOST_DATABASES:
        why = f"there are {values}^{records} databases"
        raise SizeError("records", records, why, f"at most {MOST_DATABASES} databases: fewer records, or a smaller universe")
