"""Mechanisms that see a database only through an answer."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dither import Channel, Geometric
from dither.channels import graph
from dither.channels.oblivious import is_oblivious, lift, lower
from dither.errors import InputError


def largest(data):
    return max(data)


@given(
    st.lists(st.lists(st.integers(1, 9), min_size=2, max_size=2), min_size=7, max_size=7), st.sampled_from([sum, max, min])
)
def test_epsilon_on_databases_is_epsilon_on_the_induced_graph(weights, query):
    answers = graph.induced(query, [0, 1, 3], 2)
    channel = Channel([[Fraction(x, a + b) for x in (a, b)] for a, b in weights[: len(answers)]], answers.nodes)
    mechanism = lift(channel, query, [0, 1, 3], 2)
    databases = graph.databases([0, 1, 3], 2)
    assert mechanism.inputs == databases.nodes
    assert mechanism.epsilon(databases).exact == channel.epsilon(answers).exact
    assert is_oblivious(mechanism, query)
    assert lower(mechanism, query) == channel


def test_a_mechanism_that_sees_more_is_not_oblivious():
    noisy = lift(Geometric(epsilon=1, sensitivity=1, bounds=(0, 2)).channel(), sum, [0, 1], 2)
    assert is_oblivious(noisy, sum)
    assert not is_oblivious(noisy, largest)
    first = Channel([["3/4", "1/4"] if data[0] else ["1/4", "3/4"] for data in noisy.inputs], noisy.inputs)
    assert not is_oblivious(first, sum)
    with pytest.raises(InputError, match="looks at more than the answer"):
        lower(first, sum)
    for bad in (
        lambda: lower(first, list),
        lambda: lower(first, 3),
        lambda: lower("x", sum),
        lambda: lift("x", sum, [0], 1),
    ):
        with pytest.raises(InputError, match="is refused"):
            bad()
    with pytest.raises(InputError, match="no such input"):
        lift(Geometric(epsilon=1, sensitivity=1, bounds=(0, 1)).channel(), sum, [0, 1], 2)
    floats = Channel(noisy.matrix, noisy.inputs, noisy.outputs)
    assert is_oblivious(floats, sum)
    assert lower(floats, sum).inputs == (0, 1, 2)


def test_labels_without_an_order():
    channel = Channel([["2/3", "1/3"], ["1/3", "2/3"]], ["many", 0])

    def query(data):
        return "many" if sum(data) > 1 else 0

    mechanism = lift(channel, query, [0, 1], 2)
    assert set(lower(mechanism, query).inputs) == {"many", 0}
