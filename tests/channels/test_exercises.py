"""Exercises on oblivious mechanisms, utility and optimality, each with its number."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dither import Channel, Flat, Geometric, Laplace, Number, ln, optimal, sensitivity
from dither.channels import graph, leakage, oblivious, universal
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball


def test_1_laplace_density_of_a_percentage():
    """The percentage of people with a property, among 1000 at least: one person moves it by 100/1000, so c = 5 epsilon.

    The density is (epsilon / (2 D)) exp(-epsilon |z - y| / D) with D = 1/10: 5 epsilon exp(-10 epsilon |z - y|).
    """
    moved = sensitivity.mean(0, 100, rows=1000)
    assert moved.l1 == Fraction(1, 10)
    # one added: no more than 100/1001
    assert sensitivity.mean(0, 100, rows=1000, unit="add/remove one person").l1 == Fraction(100, 1001)
    mechanism = Laplace(epsilon=1, sensitivity=moved)
    step = mechanism.lattice.step
    for z in (Fraction(1, 20), Fraction(1, 2), Fraction(1)):
        k = round(z / step)
        density = (mechanism.law.tail(k - 1).lower - mechanism.law.tail(k).upper) / float(step)
        assert density == pytest.approx(5 * math.exp(-10 * k * float(step)), rel=2e-3)


def test_2_the_truncated_geometric_mechanism_on_0_to_100():
    """P(z | y) = (1-a)/(1+a) a^|z-y| inside, a^|z-y| / (1+a) at 0 and 100."""
    channel = Geometric(epsilon=ln(2), sensitivity=1, bounds=(0, 100)).channel()
    a = Fraction(1, 2)
    for y in (0, 1, 50, 100):
        row = channel.row(y)
        assert sum(row.values()) == 1
        for z in range(101):
            scale = 1 / (1 + a) if z in (0, 100) else (1 - a) / (1 + a)
            assert row[z] == scale * a ** abs(z - y)
    leak = channel.epsilon(graph.path(range(101)))
    assert leak.exact == ln(2)


def test_3_neighbours_or_any_distance():
    """epsilon for neighbours is epsilon h for databases at Hamming distance h: the graph distance says the same."""
    databases = graph.databases([0, 1], 3)
    mechanism = oblivious.lift(Geometric(epsilon=ln(2), sensitivity=1, bounds=(0, 3)).channel(), sum, [0, 1], 3)
    assert mechanism.epsilon(databases).exact == ln(2)
    apart = graph.metric(databases.nodes, graph.hamming)
    assert mechanism.epsilon(apart).exact == ln(2)


def test_4_utility_of_the_geometric_mechanism():
    """Uniform prior on 0..100, identity gain: U = (101 - 99 a) / (101 (1 + a))."""
    exact = Geometric(epsilon=ln(2), sensitivity=1, bounds=(0, 100)).channel()
    worth = sum(max(column) for column in zip(*exact.rows, strict=True)) / 101  # identity gain, uniform prior
    assert worth == Fraction(103, 303)
    small = Geometric(epsilon=ln(2), sensitivity=1, bounds=(0, 10)).channel()
    assert small.utility("uniform", "identity").value == (11 - 9 * Fraction(1, 2)) / (11 * Fraction(3, 2))
    table = {
        "0.1": (0.0593647, 0.0109309, 5.9958),
        "ln(2)": (0.3399340, 0.0196078, 34.333),
        "1": (0.4674427, 0.0264635, 47.212),
    }
    for epsilon, (best, flat, capacity) in table.items():
        found = optimal(range(101), epsilon=epsilon)
        with precision(128):
            a = (-Number(epsilon).ball()).exp()
            formula = (101 - 99 * a) / (101 * (1 + a))
            assert to_ball(Fraction(found.utility)) <= formula.upper()
            assert to_ball(Fraction(found.utility) + Fraction(found.gap)) >= formula.lower()
        assert found.utility == pytest.approx(best, abs=5e-8)
        assert 101 * found.utility == pytest.approx(capacity, abs=5e-4)
        e = math.exp(float(Number(epsilon)))
        assert e / (e + 100) == pytest.approx(flat, abs=5e-8)
    assert leakage.bayes_capacity(exact) == Fraction(103, 3)
    # for every epsilon at once: the formula as a function of E, n = 4
    channel = Geometric(epsilon=1, sensitivity=1, bounds=(0, 4)).channel()
    e = channel.rows[0][0] / channel.rows[1][0]  # E itself
    assert channel.utility("uniform", "identity").value == (5 * e - 3) / (5 * (e + 1))


def test_5_post_processing_can_lower_utility():
    """It can: rounding to even numbers forgets something, and no remap brings it back. It never raises it."""
    channel = Geometric(epsilon=ln(2), sensitivity=1, bounds=(0, 4)).channel()
    rounding = Channel([[Fraction(int(z - z % 2 == w)) for w in (0, 2, 4)] for z in range(5)], range(5), (0, 2, 4))
    coarse = channel.then(rounding)
    before, after = (c.utility("uniform", "identity").value for c in (channel, coarse))
    assert (before, after) == (Fraction(7, 15), Fraction(2, 5))
    assert coarse.epsilon(graph.path(range(5))).exact <= ln(2)


def test_6_equal_privacy_and_lower_utility():
    """The flat mechanism on the same answers: epsilon = ln 2 too, and worth less."""
    answers = graph.path(range(11))
    geometric = Geometric(epsilon=ln(2), sensitivity=1, bounds=(0, 10)).channel()
    flat = Flat(list(range(11)), epsilon=ln(2)).channel()
    assert geometric.epsilon(answers).exact == flat.epsilon(answers).exact == ln(2)
    assert flat.utility("uniform", "identity").value == Fraction(1, 6)
    assert geometric.utility("uniform", "identity").value == Fraction(13, 33)


def test_7_the_graph_of_the_average_has_cycles():
    """Two people of age 0, 1 or 2: averages 0, 1/2, 1, and 0 ~ 1/2 ~ 1 ~ 0."""
    found = graph.induced(lambda data: Fraction(sum(data), len(data)), [0, 1, 2], 2)
    cycle = found.cycle()
    assert len(cycle) >= 3
    edges = {frozenset(found.nodes[at] for at in edge) for edge in found.edges}
    assert all(frozenset(pair) in edges for pair in zip(cycle, (*cycle[1:], cycle[0]), strict=True))
    assert {frozenset(pair) for pair in ((0, Fraction(1, 2)), (Fraction(1, 2), 1), (0, 1))} <= edges
    assert graph.induced(sum, [0, 1], 6).cycle() is None  # a count: no cycles


def test_8_brenner_and_nissim():
    """Two priors on three values with different optimal mechanisms: 1/2 + 2/3 apart, 9/8 together, 1/24 lost."""
    found = universal.joint(range(3), epsilon=ln(2), priors=["uniform", ["1/2", "1/2", 0]])
    assert found.impossible
    assert found.lost.lower <= Fraction(1, 24) <= found.lost.upper
    assert found.lost.width < 1e-9


def test_9_the_sensitivity_of_a_count_is_one():
    for unit in ("add/remove one person", "replace one person"):
        assert sensitivity.count(unit=unit).l1 == 1
        assert sensitivity.of(sum, universe=[0, 1], rows=4, unit=unit).l1 == 1
    assert graph.induced(sum, [0, 1], 4).is_line
