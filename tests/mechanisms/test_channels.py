"""The exact matrix of a mechanism is the law of its releases."""

from __future__ import annotations

import pytest

from dither import Exponential, Flat, Geometric, LocationResponse, NoisyMax, PermuteAndFlip, RandomizedResponse, ln, optimal
from dither.channels import graph
from dither.errors import InputError
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.testing import outcomes
from dither.testing.enumerate import as_key

SCORES = [(0, 0, 0), (3, 1, 3), (5, 0, 1)]
CASES = [
    RandomizedResponse(p="3/4"),
    RandomizedResponse(p="1/3"),
    RandomizedResponse(epsilon=1),
    Flat(["a", "b", "c"], epsilon=1),
    Flat([1, 2, 3, 4], epsilon=ln(3)),
    Geometric(epsilon=1, sensitivity=1, bounds=(-2, 3)),
    Geometric(epsilon=ln(2), sensitivity=3, bounds=(0, 2)),
    LocationResponse(epsilon=1, width=3, height=2),
    optimal(range(5), epsilon=1, gain="absolute", prior=["1/2", 0, 0, 0, "1/2"]),
    optimal(["a", "b", "c"], epsilon=1, graph="complete"),
    optimal(range(4), epsilon=ln(2), gain=lambda w, x: int((w - x) % 2 == 0)),
]
CHOICES = [
    Exponential(epsilon=1, sensitivity=1, candidates=["a", "b", "c"], integers=True),
    Exponential(epsilon=ln(9), sensitivity=1, candidates=3, integers=True, monotone=True),
    PermuteAndFlip(epsilon=1, sensitivity=1, candidates=3, integers=True),
    PermuteAndFlip(epsilon=ln(9), sensitivity=2, candidates=3, integers=True),
]


def agrees(mechanism, channel, value, label):
    law = outcomes(mechanism.release, value)
    row = channel.row(label)
    with precision(200):
        for output, chance in row.items():
            exact = to_ball(chance) if not hasattr(chance, "ball") else chance.ball()
            assert abs(law.masses.get(as_key(output), to_ball(0)) - exact) < 1e-20


@pytest.mark.parametrize("mechanism", CASES, ids=repr)
def test_rows_are_the_laws_of_releases(mechanism):
    channel = mechanism.channel()
    for label in channel.inputs:
        agrees(mechanism, channel, label, label)


@pytest.mark.parametrize("mechanism", CHOICES, ids=repr)
def test_rows_of_choices(mechanism):
    channel = mechanism.channel(SCORES)
    for scores in SCORES:
        agrees(mechanism, channel, list(scores), scores)


def test_the_matrix_keeps_the_promise_and_no_more():
    for mechanism in CASES[:4] + CASES[5:8]:
        channel = mechanism.channel()
        nodes = graph.path(channel.inputs) if isinstance(mechanism, Geometric) else graph.complete(channel.inputs)
        if mechanism.guarantee.epsilon(0) and not (isinstance(mechanism, Geometric) and mechanism.sensitivity > 1):
            assert channel.epsilon(nodes).exact == mechanism.epsilon


def test_what_is_not_finite_is_refused():
    for bad in (
        lambda: Geometric(epsilon=1, sensitivity=1).channel(),
        lambda: Geometric(epsilon=1, sensitivity=1, bounds=(0, 2), dimension=2).channel(),
        lambda: NoisyMax(epsilon=1, sensitivity=1, candidates=2).channel([(0, 1)]),
        lambda: Exponential(epsilon=1, sensitivity=1, candidates=2).channel([(0, 1, 2)]),
        lambda: Exponential(epsilon=1, sensitivity=1, candidates=2).channel(5),
        lambda: Geometric(epsilon=1, sensitivity=1, bounds=(0, 10**7)).channel(),
    ):
        with pytest.raises(InputError, match="is refused"):
            bad()
