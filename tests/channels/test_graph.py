"""Graphs of answers: paths, grids, metrics, and what a query induces."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dither.channels import graph
from dither.errors import InputError


def test_kinds():
    line = graph.path(range(5))
    assert line.edges == ((0, 1), (1, 2), (2, 3), (3, 4))
    assert line.is_path
    assert line.is_line
    assert line.cycle() is None
    assert len(graph.complete(["a", "b", "c", "d"]).edges) == 6
    square = graph.grid(2, 3)
    assert len(square) == 6
    assert len(square.edges) == 7
    assert not square.is_path
    assert graph.path([7]).is_path
    assert graph.of([1, 2, 3], [(3, 1), (2, 1)]).is_path
    assert not graph.of([1, 2, 3], [(3, 1), (2, 1)]).is_line
    assert graph.hamming("abca", "abba") == 1


def is_cycle(found, cycle):
    nodes = [found.place[node] for node in cycle]
    edges = {frozenset(edge) for edge in found.edges}
    closed = [*nodes, nodes[0]]
    return len(set(nodes)) == len(nodes) >= 3 and all(frozenset(step) in edges for step in pairwise(closed))


@given(
    st.integers(2, 8).flatmap(
        lambda n: st.tuples(st.just(n), st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))))
    )
)
def test_a_cycle_is_found_exactly_where_there_is_one(case):
    count, pairs = case
    found = graph.of(range(count), [(a, b) for a, b in pairs if a != b])
    parts = count
    joined = list(range(count))  # a forest has as many edges as nodes less parts

    def top(x):
        while joined[x] != x:
            x = joined[x]
        return x

    for a, b in found.edges:
        if top(a) != top(b):
            joined[top(a)] = top(b)
            parts -= 1
    cycle = found.cycle()
    if len(found.edges) == count - parts:
        assert cycle is None
    else:
        assert is_cycle(found, cycle)
    assert found.is_connected == (parts == 1)


def test_distance_in_the_graph_of_databases_is_hamming_distance():
    found = graph.databases([0, 1, 2], 3)
    assert len(found) == 27
    for start in (0, 13):
        steps = found.distances(start)
        assert steps == [graph.hamming(found.nodes[start], other) for other in found.nodes]


def test_what_a_query_induces():
    count = graph.induced(sum, [0, 1], 5)
    assert count.nodes == tuple(range(6))
    assert count.is_line
    sums = graph.induced(sum, [0, 1, 2], 2)
    assert not sums.is_path
    assert is_cycle(sums, sums.cycle())
    names = graph.induced(lambda data: "yes" if "a" in data else 0, ["a", "b"], 2)  # labels without an order
    assert set(names.nodes) == {"yes", 0}


def test_a_metric_has_lengths():
    line = graph.metric([0, 2, 5], lambda a, b: abs(a - b))
    assert [line.length(at) for at in range(3)] == [2, 5, 3]
    assert graph.metric(["x", "y"], lambda a, b: Fraction(1, 3)).length(0) == Fraction(1, 3)


def test_bad_input_is_refused_with_words():
    for bad in (
        lambda: graph.path([]),
        lambda: graph.path("abc"),
        lambda: graph.path(3),
        lambda: graph.path([1, 1]),
        lambda: graph.grid(0, 3),
        lambda: graph.grid(2.0, 3),
        lambda: graph.of([1, 2], [(1, 3)]),
        lambda: graph.of([1, 2], [(1, 1)]),
        lambda: graph.metric([1, 2], lambda a, b: 0),
        lambda: graph.databases(range(10), 10),
        lambda: graph.induced(sum, [0, 1], 0),
        lambda: graph.hamming([1], [1, 2]),
        lambda: graph.of([1, 2, 3], [(1, 2)]).require_connected(),
        lambda: graph.path([[1], [2]]),
        lambda: graph.of([1, 2], 5),
        lambda: graph.of([1, 2], [([1], 2)]),
        lambda: graph.of([1, 2], [12]),
        lambda: graph.metric([1, 2], lambda a, b: float("nan")),
        lambda: graph.metric([1, 2], lambda a, b: "x"),
        lambda: graph.metric([1, 2], lambda a, b: None),
        lambda: graph.metric([1, 2], 5),
        lambda: graph.induced(list, [0, 1], 2),
        lambda: graph.induced(3, [0, 1], 2),
        lambda: graph.hamming(1, 2),
        lambda: graph.Graph((0, 1), ((0, 5),)),
        lambda: graph.Graph((0, 1), ((1, 0),)),
        lambda: graph.Graph((0, 1), ((0, 0),)),
        lambda: graph.Graph((0, 1), ((0, 1),), (Fraction(-1),)),
        lambda: graph.Graph((0, 1), ((0, 1),), ()),
    ):
        with pytest.raises(InputError, match="is refused"):
            bad()
