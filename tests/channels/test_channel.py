"""Channels: exact rows, what is made of them, and how private they are."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dither import Channel, Flat, Geometric, Number, RandomizedResponse, ln
from dither.channels import graph, privacy
from dither.errors import InputError
from dither.numeric.balls import precision

COIN = Channel([["3/4", "1/4"], ["1/4", "3/4"]], ["yes", "no"], ["yes", "no"])
BOTH = graph.complete(["yes", "no"])


def rows(height, width, zero=True):
    entries = st.lists(st.integers(0 if zero else 1, 6), min_size=width, max_size=width).filter(any)
    return st.lists(entries, min_size=height, max_size=height).map(
        lambda found: [[Fraction(x, sum(row)) for x in row] for row in found]
    )


# -- what it is made of ------------------------------------------------------------------------------------------------


@given(a=rows(3, 4), b=rows(4, 2), prior=rows(1, 3))
def test_products_are_those_of_matrices(a, b, prior):
    first, second = Channel(a), Channel(b)
    both = first.then(second)
    for i in range(3):
        for k in range(2):
            assert both.rows[i][k] == sum(a[i][j] * b[j][k] for j in range(4))
    pushed = first.push(prior[0])
    assert [pushed[j] for j in range(4)] == [sum(prior[0][i] * a[i][j] for i in range(3)) for j in range(4)]
    for j, chances in first.posterior(prior[0]).items():
        assert sum(chances.values()) == 1
        assert all(chances[i] * pushed[j] == prior[0][i] * a[i][j] for i in range(3))
    assert set(first.posterior(prior[0])) == {j for j in range(4) if pushed[j]}
    twice = first.product(first)
    assert all(twice.row(i)[j, k] == a[i][j] * a[i][k] for i in range(3) for j in range(4) for k in range(4))
    floats = Channel(np.array(a, dtype=float))
    assert np.allclose(floats.then(second).matrix, both.matrix)
    assert np.allclose(floats.product(floats).matrix, twice.matrix)
    assert np.allclose(list(floats.push(prior[0]).values()), [float(x) for x in pushed.values()])


def test_a_mix_is_the_average_of_rows():
    noise = Channel([["1/2", "1/2"], ["1/2", "1/2"]], COIN.inputs, COIN.outputs)
    mixed = COIN.mix(noise, "1/2")
    assert mixed.rows == ((Fraction(5, 8), Fraction(3, 8)), (Fraction(3, 8), Fraction(5, 8)))
    assert np.allclose(Channel(COIN.matrix, COIN.inputs, COIN.outputs).mix(noise, "1/2").matrix, mixed.matrix)
    assert Channel.identity(COIN.inputs).then(COIN) == COIN
    assert mixed != COIN


def test_functions_of_e_add_up_exactly():
    channel = Geometric(epsilon=1, sensitivity=1, bounds=(0, 4)).channel()
    again = Channel(channel.rows, channel.inputs, channel.outputs)  # the sums are checked anew
    assert again == channel
    twice = channel.then(channel)
    assert twice.is_exact
    assert float(sum(twice.rows[2][1:], start=twice.rows[2][0])) == 1.0
    assert channel.push("uniform")[0] + channel.push("uniform")[1] > Fraction(1, 3)


# -- how private it is -------------------------------------------------------------------------------------------------


def brute(channel, found):
    """The largest log ratio over edges, by going through everything."""
    worst = 0.0
    for at, edge in enumerate(found.edges):
        for x, y in (edge, edge[::-1]):
            for a, b in zip(channel.matrix[x], channel.matrix[y], strict=True):
                if a > 0:
                    worst = max(worst, math.inf if b == 0 else math.log(a / b) / float(found.length(at)))
    return worst


@given(matrix=rows(4, 3), lengths=st.booleans())
def test_epsilon_is_the_largest_ratio_on_an_edge(matrix, lengths):
    channel = Channel(matrix)
    found = graph.metric(range(4), lambda a, b: Fraction(abs(a - b), 2)) if lengths else graph.path(range(4))
    leak = channel.epsilon(found)
    assert leak.epsilon == pytest.approx(brute(channel, found), abs=1e-12)
    floats = Channel(channel.matrix).epsilon(found)
    assert floats.epsilon == pytest.approx(leak.epsilon, abs=1e-9)
    if leak.pair is not None and math.isfinite(leak.epsilon):
        x, y = leak.pair
        ratio = matrix[x][leak.output] / matrix[y][leak.output]
        at = found.edges.index(tuple(sorted((x, y))))
        assert leak.exact == ln(ratio) / found.length(at)


@given(
    st.lists(st.lists(st.floats(0.01, 1), min_size=3, max_size=3), min_size=4, max_size=4),
    st.lists(st.sampled_from([1.0, 1.0 + 2**-52, 1 - 2**-53, 2.0, 0.5]), min_size=12, max_size=12),
)
def test_epsilon_of_floats_is_that_of_their_exact_values(matrix, nudges):
    # rows that are nearly the same, so that quotients are equal as floats and not as numbers
    array = np.array([matrix[0]] * 4) * np.array(nudges).reshape(4, 3)
    array /= array.sum(axis=1, keepdims=True)
    channel = Channel(array)
    found = graph.complete(range(4))
    ratios = [
        Fraction(a) / Fraction(b)
        for x in range(4)
        for y in range(4)
        for a, b in zip(array[x].tolist(), array[y].tolist(), strict=True)
    ]
    assert channel.epsilon(found).exact == ln(max(ratios))


@pytest.mark.parametrize("scale", [1.0, 1e-290])
def test_of_equal_quotients_the_largest_ratio_is_found(scale):
    """Also of numbers so small that what a quotient lacks is lost."""
    rng = random.Random(5)
    several = 0
    for _ in range(50):
        low = np.array([rng.uniform(1, 2) for _ in range(60)]) * scale
        high = np.nextafter(low * 1.7, rng.choice([0, 9]))
        ratios = [Fraction(a) / Fraction(b) for a, b in zip(high.tolist(), low.tolist(), strict=True)]
        found = privacy._largest(high[None], low[None])
        assert found is not None
        assert found[0] == ratios[found[2]] == max(ratios)
        several += len(np.unique(high / low)) < len(set(ratios))
    assert several == 50


@given(st.floats(0.001, 1), st.floats(0.001, 1), st.sampled_from([1.0, 2.0**-800, 1e-100]))
def test_what_a_quotient_lacks_is_exact(a, b, scale):
    a, b = a * scale, b * scale
    quotient = a / b
    rest = privacy.remainder(np.array([a]), np.array([b]), quotient)[0]
    assert Fraction(rest) == Fraction(a) - Fraction(quotient) * Fraction(b)


def test_lengths_are_weighed_the_right_way_round():
    assert not privacy.larger(Fraction(4), Fraction(2), Fraction(2), Fraction(1))
    assert privacy.larger(Fraction(4), Fraction(2), Fraction(2) - Fraction(1, 2**200), Fraction(1))
    assert not privacy.larger(Fraction(4), Fraction(2), Fraction(2) + Fraction(1, 2**200), Fraction(1))


def test_extreme_floats():
    tiny = 5e-324
    channel = Channel(np.array([[1.0, tiny], [tiny, 1.0]]))
    leak = channel.epsilon(graph.path(range(2)))
    assert leak.exact == ln(Fraction(1) / Fraction(tiny))
    assert leak.epsilon == pytest.approx(1074 * math.log(2))
    same = Channel(np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]])).epsilon(graph.path(range(2)))
    assert (same.epsilon, same.pair, same.exact) == (0.0, None, Number(0))
    lost = Channel(np.array([[1.0, 0.0], [0.5, 0.5]])).epsilon(graph.path(range(2)))
    assert (lost.epsilon, lost.pair, lost.output) == (math.inf, (1, 0), 1)
    assert Channel([[1, 0], ["1/2", "1/2"]]).epsilon(graph.path(range(2))).epsilon == math.inf


def test_known_epsilons():
    assert COIN.epsilon(BOTH).exact == ln(3)
    assert str(COIN.epsilon(BOTH)) == "ε = ln(3), attained by 'yes' against 'no' at 'yes'"
    assert Flat(["a", "b", "c"], epsilon="0.3").channel().epsilon(graph.complete(["a", "b", "c"])).exact == Number("0.3")
    for epsilon in (Number(1), ln(3) / 2, ln(2) + 1):
        channel = Geometric(epsilon=epsilon, sensitivity=2, bounds=(0, 5)).channel()
        assert channel.epsilon(graph.path(range(6))).exact == epsilon / 2
        assert RandomizedResponse(epsilon=epsilon).channel().epsilon(graph.complete([True, False])).exact == epsilon
    # d-privacy: the same noise, on numbers at their distances
    line = graph.metric(range(6), lambda a, b: abs(a - b))
    assert Geometric(epsilon=1, sensitivity=1, bounds=(0, 5)).channel().epsilon(line).exact == 1


@given(a=rows(3, 3), b=rows(3, 2), c=rows(3, 3))
def test_what_happens_to_epsilon(a, b, c):
    found = graph.complete(range(3))
    first, after, other = Channel(a), Channel(b), Channel(c)
    assert first.then(after).epsilon(found).epsilon <= first.epsilon(found).epsilon * (1 + 1e-12)
    together = first.product(other).epsilon(found).epsilon
    assert together <= (first.epsilon(found).epsilon + other.epsilon(found).epsilon) * (1 + 1e-12)
    worst = max(first.epsilon(found).epsilon, other.epsilon(found).epsilon)
    assert first.mix(other, "1/3").epsilon(found).epsilon <= worst * (1 + 1e-12)


@given(matrix=rows(3, 4))
def test_delta_is_the_largest_excess(matrix):
    found = graph.path(range(3))
    for growth in (1, 2, Fraction(3, 2)):
        truth = max(
            sum(max(Fraction(0), a - growth * b) for a, b in zip(matrix[x], matrix[y], strict=True))
            for one in found.edges
            for x, y in (one, one[::-1])
        )
        for channel in (Channel(matrix), Channel(np.array(matrix, dtype=float))):
            delta = channel.delta(found, ln(growth))
            assert delta == pytest.approx(float(truth), abs=1e-12)
            if channel.is_exact:
                assert Fraction(delta) >= truth
    leak = Channel(matrix).epsilon(found)
    if leak.exact is not None:
        assert Channel(matrix).delta(found, leak.exact) <= 1e-20


def test_ties_between_lengths_are_settled_exactly():
    """ln 4 over 2 and ln 2 over 1 are the same: whichever comes first is attained; a little more of either wins."""
    line = graph.metric([0, 1, 3], lambda a, b: abs(a - b))

    def found(near, far):
        rows = [[Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 2) / near, 1 - Fraction(1, 2) / near]]
        top = 1 - rows[1][1] / far
        return Channel([*rows, [top, 1 - top]], [0, 1, 3])

    for near, far in ((2, 4), (Fraction(21, 10), 4), (2, Fraction(41, 10))):
        for channel in (found(near, far), Channel(found(near, far).matrix, [0, 1, 3])):
            leak = channel.epsilon(line)
            ratios = [
                (ln(Fraction(a) / Fraction(b)) / length)
                for (x, y), length in zip(line.edges, line.lengths, strict=True)
                for one, other in (((x, y)), (y, x))
                for a, b in zip(channel.entries(one), channel.entries(other), strict=True)
            ]
            assert leak.exact == max(ratios)


def test_numpy_labels_become_python_numbers():
    channel = Channel([[1], [1]], np.arange(2, dtype=np.uint8))
    assert [type(label) for label in channel.inputs] == [int, int]
    assert channel.posterior(iter(["1/2", "1/2"]))[0] == {0: Fraction(1, 2), 1: Fraction(1, 2)}


def test_channels_of_different_epsilons_are_different():
    assert RandomizedResponse(epsilon=1).channel() != RandomizedResponse(epsilon=2).channel()
    assert RandomizedResponse(epsilon=ln(4) / 2).channel() == Channel([["2/3", "1/3"], ["1/3", "2/3"]], *[(True, False)] * 2)
    assert RandomizedResponse(epsilon=ln(4) / 2).channel().utility(["2/3", "1/3"], "identity").value == Fraction(2, 3)


def test_delta_of_functions_of_e():
    channel = RandomizedResponse(epsilon=1).channel()
    with precision(96):
        e = math.e
        assert channel.delta(graph.complete([True, False]), "1/2") == pytest.approx((e - math.exp(0.5)) / (1 + e))


# -- refusals ----------------------------------------------------------------------------------------------------------


def test_bad_matrices_are_refused_with_words():
    nan = float("nan")
    for bad, why in (
        ([["1/2", "1/3"]], "adds up to"),
        ([[0.5, 0.4]], "adds up to"),
        ([["3/2", "-1/2"]], "below zero"),
        ([[1.5, -0.5]], "below zero"),
        ([[nan, 1.0]], "is a number"),
        ([[float("inf"), 1.0]], "is a number"),
        ([], "at least one row"),
        ([[]], "one length"),
        ([[1], ["1/2", "1/2"]], "one length"),
        ("ab", "at least one row"),
        (None, "at least one row"),
        ([["x", "y"]], "refused"),
        ([["x", 0.5]], "refused"),
        ([[0.5, 0.5j]], "refused"),
        ([[0.5, [1]]], "refused"),
        ([[0.5, None]], "refused"),
        (np.zeros((0, 2)), "at least one row"),
        (np.array([0.5, 0.5]), "at least one row"),
    ):
        with pytest.raises(InputError, match=why):
            Channel(bad)
    assert Channel([["1/2", 0.5]]).matrix.tolist() == [[0.5, 0.5]]
    assert Channel([[0.1 + 0.2, 0.7]]).is_exact is False  # off by a few 1e-17, which floats may be


def test_other_bad_input_is_refused_with_words():
    for bad in (
        lambda: Channel([[1]], ["a", "b"]),
        lambda: Channel([["1/2", "1/2"]], None, ["a", "a"]),
        lambda: COIN.row("maybe"),
        lambda: COIN.place("maybe", output=True),
        lambda: COIN.then(Channel([[1], [1]])),
        lambda: COIN.then("x"),
        lambda: Channel([[1]], 5),
        lambda: Channel([[1]], [[1]]),
        lambda: Channel([[1], [1]], [float("nan"), float("nan")]),
        lambda: Channel.identity(5),
        lambda: COIN.push({"1/2", "1/4"}),
        lambda: COIN.product(Channel([[1], [1]])),
        lambda: COIN.product("x"),
        lambda: COIN.mix(COIN, 2),
        lambda: COIN.mix(Channel([[1], [1]], COIN.inputs), "1/2"),
        lambda: COIN.push(["1/2"]),
        lambda: COIN.push(["1/2", "1/3"]),
        lambda: COIN.push({"yes": 1, "maybe": 0}),
        lambda: COIN.push("uniformly"),
        lambda: COIN.push(["3/2", "-1/2"]),
        lambda: COIN.push([float("nan"), 1]),
        lambda: COIN.epsilon("path"),
        lambda: COIN.epsilon(graph.path(range(2))),
        lambda: COIN.epsilon(graph.of(["yes", "no"], [])),
        lambda: COIN.delta(BOTH, -1),
        lambda: COIN.delta(BOTH, float("nan")),
    ):
        with pytest.raises(InputError, match="is refused"):
            bad()
