"""Neighbour graphs: which inputs a mechanism must make hard to tell apart, answers of a query or anything else.

epsilon-DP on a connected graph is the same as P(z | y) <= e^(epsilon d(y, y')) P(z | y') for the distance d in the graph
(go along a shortest path: each step costs a factor e^epsilon; the other way round take d = 1). So only edges need be
looked at, and a graph, or a metric, stands for the whole requirement.

A query f on databases of n records *induces* a graph on its answers: y ~ y' when f(x) = y and f(x') = y' for some
x, x' that differ in one record. For a count this is a path; for an average it has cycles.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import combinations, product
from typing import Any, Literal, SupportsIndex, TypeAlias

from dither.arguments import argument_errors
from dither.channels.labels import check_callable, check_hashable, plain, read_labels
from dither.channels.neighbour_graph import Graph
from dither.errors import DataError, SizeError
from dither.numeric.number import NumberLike, integer, rational

__all__ = ["Graph", "complete", "databases", "grid", "hamming", "induced", "metric", "of", "path"]

MOST_DATABASES = 2_000_000
GraphLike: TypeAlias = Graph | Literal["path", "complete"]


@argument_errors
def of(nodes: Iterable[Hashable], pairs: Iterable[tuple[Hashable, Hashable]]) -> Graph:
    """Any graph, by its nodes and its edges.

    Args:
        nodes: The labels of the inputs, each once.
        pairs: Pairs of nodes that are neighbours, in any order.

    Raises:
        DataError: A label is there twice or not hashable, or a pair does not join two of the nodes.

    Example:
        >>> from dither.channels import graph
        >>> ring = graph.of(range(4), [(0, 1), (1, 2), (2, 3), (3, 0)])
        >>> ring.is_connected, ring.is_path
        (True, False)
    """
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


@argument_errors
def path(nodes: Iterable[Hashable]) -> Graph:
    """A path: each node beside the next, as the answers of a counting query are.

    Args:
        nodes: The labels of the inputs, each once, in their order.

    Raises:
        DataError: A label is there twice or not hashable, or there is none.

    Example:
        >>> from dither.channels import graph
        >>> graph.path(range(4)).edges
        ((0, 1), (1, 2), (2, 3))
    """
    listed = read_labels(nodes, "nodes")
    return Graph(listed, tuple((at, at + 1) for at in range(len(listed) - 1)))


@argument_errors
def complete(nodes: Iterable[Hashable]) -> Graph:
    """A complete graph: all nodes beside each other, as the values of one person are in local privacy.

    Args:
        nodes: The labels of the inputs, each once.

    Raises:
        DataError: A label is there twice or not hashable, or there is none.

    Example:
        >>> from dither.channels import graph
        >>> graph.complete(["a", "b", "c"]).edges
        ((0, 1), (0, 2), (1, 2))
    """
    listed = read_labels(nodes, "nodes")
    return Graph(listed, tuple(combinations(range(len(listed)), 2)))


@argument_errors
def grid(rows: SupportsIndex, columns: SupportsIndex) -> Graph:
    """The cells of a map, each beside the next in its row and in its column.

    Args:
        rows: How many rows the map has.
        columns: How many columns it has.

    Raises:
        NumberError: One of the two is no whole number above zero.

    Example:
        >>> from dither.channels import graph
        >>> len(graph.grid(3, 4)), len(graph.grid(3, 4).edges)
        (12, 17)
    """
    height, width = integer(rows, name="rows", least=1), integer(columns, name="columns", least=1)
    nodes = [(r, c) for r in range(height) for c in range(width)]
    edges = [(r * width + c, r * width + c + 1) for r in range(height) for c in range(width - 1)]
    edges += [(r * width + c, (r + 1) * width + c) for r in range(height - 1) for c in range(width)]
    return Graph(tuple(nodes), tuple(sorted(edges)))


@argument_errors
def metric(nodes: Iterable[Hashable], distance: Callable[[Any, Any], NumberLike]) -> Graph:
    """All nodes beside each other at given distances: the requirement of d-privacy (metric privacy).

    Args:
        nodes: The labels of the inputs, each once.
        distance: A function of two labels; an exact rational number above zero.

    Raises:
        DataError: A label is there twice or not hashable, or `distance` is no function.
        NumberError: A distance is not rational, or not above zero.

    Example:
        >>> from dither.channels import graph
        >>> graph.metric([0, 1, 3], lambda a, b: abs(a - b)).length(1)
        Fraction(3, 1)
    """
    listed = read_labels(nodes, "nodes")
    edges = tuple(combinations(range(len(listed)), 2))
    check_callable(distance, "distance")
    lengths = tuple(rational(distance(listed[a], listed[b]), name="distance", positive=True) for a, b in edges)
    return Graph(listed, edges, lengths)


@argument_errors
def hamming(one: Sequence[object], other: Sequence[object]) -> int:
    """The Hamming distance: in how many records two databases of one size differ.

    Args:
        one: A list of records.
        other: Another one of the same length.

    Raises:
        DataError: One of them is no list.
        SizeError: Their lengths differ.

    Example:
        >>> from dither.channels import graph
        >>> graph.hamming((0, 1, 1), (0, 0, 1))
        1
    """
    if not isinstance(one, Sequence) or not isinstance(other, Sequence):
        raise DataError("one, other", (one, other), "databases are lists of records", "(0, 1, 1), (0, 0, 1)")
    if len(one) != len(other):
        raise SizeError("other", len(other), f"the first has {len(one)} records", "databases of one size")
    return sum(a != b for a, b in zip(one, other, strict=True))


@argument_errors
def databases(universe: Iterable[Hashable], records: SupportsIndex) -> Graph:
    """All databases of n records over a universe, neighbours when they differ in one record.

    Args:
        universe: The values that a record can have, each once.
        records: How many records a database has, at least 1.

    Raises:
        DataError: A value is there twice or not hashable.
        NumberError: `records` is no whole number above zero.
        SizeError: There are more than two million databases.

    Example:
        >>> from dither.channels import graph
        >>> graph.databases("no yes".split(), 2).neighbours[0]
        (1, 2)
    """
    values, size = read_labels(universe, "universe"), integer(records, name="records", least=1)
    _check_size(len(values), size)
    nodes = list(product(values, repeat=size))
    place = {node: at for at, node in enumerate(nodes)}
    edges = {(at, place[other]) for at, node in enumerate(nodes) for other in _changed(node, values) if at < place[other]}
    return Graph(tuple(nodes), tuple(sorted(edges)))


@argument_errors
def induced(query: Callable[[Any], Hashable], universe: Iterable[Hashable], records: SupportsIndex) -> Graph:
    """The graph that a query induces on its answers: neighbours are answers for databases that differ in one record.

    Args:
        query: A function of a tuple of records; its answers are hashable.
        universe: The values that a record can have, each once.
        records: How many records a database has, at least 1.

    Raises:
        DataError: A value is there twice, or `query` is no function or gives what is not hashable.
        NumberError: `records` is no whole number above zero.
        SizeError: There are more than two million databases.

    Example:
        >>> from dither.channels import graph
        >>> graph.induced(sum, [0, 1], 3).is_path
        True
        >>> graph.induced(max, [0, 1, 2], 2).cycle()
        (1, 0, 2)
    """
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


def read_graph(graph: GraphLike, inputs: Iterable[Hashable]) -> Graph:
    """A graph by name or as it is, on these inputs and connected."""
    if isinstance(graph, str) and graph in ("path", "complete"):
        found = path(inputs) if graph == "path" else complete(inputs)
    elif isinstance(graph, Graph):
        found = graph
        listed = read_labels(inputs, "inputs")
        if listed != graph.nodes:
            raise DataError("graph", graph.nodes[:4], "its nodes are not the inputs, in their order", str(listed[:4]))
    else:
        raise DataError("graph", graph, "it names no graph", "'path', 'complete', or graph.grid(3, 4)")
    if len(found) < 2:
        raise SizeError("inputs", len(found), "where only one answer is possible there is nothing to hide", "range(11)")
    found.require_connected()
    return found


def _changed(node: tuple[Hashable, ...], values: Sequence[Hashable]) -> Iterator[tuple[Hashable, ...]]:
    for at, old in enumerate(node):
        for new in values:
            if new != old:
                yield (*node[:at], new, *node[at + 1 :])


def _check_size(values: int, records: int) -> None:
    if values**records > MOST_DATABASES:
        why = f"there are {values}^{records} databases"
        raise SizeError("records", records, why, f"at most {MOST_DATABASES} databases: fewer records, or a smaller universe")
