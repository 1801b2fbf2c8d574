"""One mechanism for every prior: counts have it, other queries do not."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dither import Channel, Geometric, ln
from dither.channels import graph, universal
from dither.errors import InputError

HALF = ["1/2", "1/2", 0]


def test_one_record_with_three_values_has_no_universally_optimal_mechanism():
    found = universal.joint(range(3), epsilon=ln(2), priors=["uniform", HALF])
    for bounds, value in zip((*found.separate, found.together, found.lost), ("1/2", "2/3", "9/8", "1/24"), strict=True):
        assert bounds.lower <= Fraction(value) <= bounds.upper
        assert bounds.width < 1e-9
    assert found.impossible
    one = universal.joint(range(3), epsilon=1, priors=["uniform", HALF])
    assert one.lost.lower == pytest.approx(0.04897, abs=1e-5)
    # E/(E+2) and E/(E+1): the largest sums that a prior of its own reaches
    assert one.separate[0].upper == pytest.approx(math.e / (math.e + 2))
    assert one.separate[1].upper == pytest.approx(math.e / (math.e + 1))


@pytest.mark.parametrize("epsilon", ["0.1", "3"])
def test_cycles_on_which_two_priors_exclude_it(epsilon):
    ring = graph.of(range(4), [(0, 1), (1, 2), (2, 3), (3, 0)])
    opposite = [["1/2", 0, "1/2", 0], [0, "1/2", 0, "1/2"]]
    assert universal.joint(range(4), epsilon=epsilon, priors=opposite, graph=ring).lost.lower > 0.04
    average = graph.induced(sum, [0, 1, 2], 2)  # twice an average
    assert average.cycle() is not None
    found = universal.witness(average.nodes, epsilon=epsilon, graph=average)
    assert found.impossible
    again = universal.joint(average.nodes, epsilon=epsilon, priors=found.priors, graph=average)
    assert again.lost.lower == pytest.approx(found.lost.lower, abs=1e-9)


RINGS = [  # how many answers, and where two priors are uniform
    (4, (0, 2), (1, 3), (0, 2), (1, 3)),
    (5, (0, 1), (0, 1, 3), (0, 1), (0, 1, 3)),
    (6, (0, 2), (1, 4), (0, 2), (1, 4)),
    (7, (0, 1), (0, 2, 5), (0, 1), (0, 3, 6)),
]


@pytest.mark.parametrize("ring", RINGS, ids=lambda ring: f"ring of {ring[0]}")
def test_on_rings_two_priors_exclude_it(ring):
    """Proved margins, for each ring at two epsilons. Of all epsilons, and of longer rings, this says nothing."""
    size = ring[0]
    edges = graph.of(range(size), [(at, (at + 1) % size) for at in range(size)])
    for epsilon, places in (("0.5", ring[1:3]), ("3", ring[3:5])):
        priors = [[Fraction(at in some, len(some)) for at in range(size)] for some in places]
        found = universal.joint(range(size), epsilon=epsilon, priors=priors, graph=edges)
        assert found.impossible
        assert found.lost.lower > 1e-6 > 1e6 * found.lost.width


def test_on_a_path_no_witness_is_found():
    assert universal.witness(range(4), epsilon=1, graph="path") is None
    control = universal.joint(range(4), epsilon=1, priors=[["1/2", 0, "1/2", 0], [0, "1/2", 0, "1/2"]], graph="path")
    assert not control.impossible
    assert abs(control.lost.upper) < 1e-9


def test_the_geometric_mechanism_stays_behind_nothing():
    channel = Geometric(epsilon=ln(2), sensitivity=1, bounds=(0, 5)).channel()
    cases = [("uniform", gain) for gain in ("identity", "absolute", "squared", ("threshold", 2))]
    cases += [(["1/3", 0, 0, "1/3", 0, "1/3"], gain) for gain in ("identity", "absolute")]
    found = universal.shortfall(channel, graph.path(range(6)), ln(2), cases)
    assert all(abs(case.behind) < 1e-12 for case in found)
    behind = universal.shortfall(channel, graph.path(range(6)), ln(2), [("uniform", lambda w, x: (w - x) % 2)])
    assert behind[0].behind > 0.05


def test_bad_input_is_refused_with_words():
    loud = Channel([["9/10", "1/10"], ["1/10", "9/10"]])
    for bad in (
        lambda: universal.joint(range(3), epsilon=1, priors=["uniform"]),
        lambda: universal.joint(range(3), epsilon=1, priors="uniform"),
        lambda: universal.joint(range(3), epsilon=0, priors=["uniform", HALF]),
        lambda: universal.witness(range(30), epsilon=1),
        lambda: universal.joint(range(12), epsilon=1, priors=["uniform"] * 6),
        lambda: universal.shortfall(loud, graph.path(range(2)), 3, 5),
        lambda: universal.shortfall(loud, graph.path(range(2)), 3, [5]),
        lambda: universal.shortfall("x", graph.path(range(2)), 3, []),
        lambda: universal.shortfall(loud, graph.path(range(2)), 1, [("uniform", "identity")]),
    ):
        with pytest.raises(InputError, match="is refused"):
            bad()
