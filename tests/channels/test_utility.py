"""Utility with the best remap, and what a channel leaks."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given

from dither import Channel, Flat, Geometric, ln
from dither.channels import leakage
from dither.channels.channel import deterministic
from dither.errors import InputError
from tests.channels.test_channel import COIN, rows

GAINS = ["identity", "absolute", "squared", ("threshold", 1), lambda w, x: Fraction(w * x, 3)]
FUNCTIONS = [
    lambda w, x: int(w == x),
    lambda w, x: -abs(w - x),
    lambda w, x: -((w - x) ** 2),
    lambda w, x: int(abs(w - x) <= 1),
    lambda w, x: Fraction(w * x, 3),
]


@given(matrix=rows(3, 3), prior=rows(1, 3))
def test_the_best_remap_is_the_best_of_all(matrix, prior):
    for gain, function in zip(GAINS, FUNCTIONS, strict=True):
        channel = Channel(matrix)
        found = channel.utility(prior[0], gain)
        every = [
            sum(prior[0][x] * matrix[x][z] * function(remap[z], x) for x in range(3) for z in range(3))
            for remap in product(range(3), repeat=3)
        ]
        assert found.value == max(every)
        taken = sum(prior[0][x] * matrix[x][z] * function(found.remap[z], x) for x in range(3) for z in range(3))
        assert taken == max(every)
        assert float(Channel(channel.matrix).utility(prior[0], gain)) == pytest.approx(float(max(every)), abs=1e-12)
        table = [[function(w, x) for x in range(3)] for w in range(3)]
        assert channel.utility(prior[0], table).value == max(every)


@given(matrix=rows(3, 3), after=rows(3, 2), prior=rows(1, 3))
def test_post_processing_never_helps_and_a_lossless_one_keeps_all(matrix, after, prior):
    channel = Channel(matrix)
    for gain in GAINS[:4]:
        assert channel.then(Channel(after)).utility(prior[0], gain).value <= channel.utility(prior[0], gain).value
    renamed = channel.then(deterministic(channel.outputs, {0: "b", 1: "c", 2: "a"}))
    assert renamed.utility(prior[0], "squared").value == channel.utility(prior[0], "squared").value


def test_guesses_may_be_anything():
    channel = Geometric(epsilon=ln(2), sensitivity=1, bounds=(0, 2)).channel()
    halves = [Fraction(k, 2) for k in range(5)]
    finer = channel.utility("uniform", "squared", halves)
    assert finer.value >= channel.utility("uniform", "squared").value
    assert set(finer.remap.values()) <= set(halves)


def numbers_of(found):
    return found.value


def test_leakage_of_known_channels():
    assert leakage.prior_vulnerability(COIN, "uniform") == Fraction(1, 2)
    assert leakage.posterior_vulnerability(COIN, "uniform") == Fraction(3, 4)
    assert leakage.multiplicative(COIN, "uniform") == Fraction(3, 2)
    assert leakage.bayes_capacity(COIN) == Fraction(3, 2)
    assert Fraction(leakage.min_capacity(COIN).upper) > 0
    assert leakage.min_capacity(COIN).upper == pytest.approx(math.log(1.5))
    expected = math.log(2) - (-0.75 * math.log(0.75) - 0.25 * math.log(0.25))
    assert leakage.mutual_information(COIN, "uniform").upper == pytest.approx(expected)
    floats = Channel(COIN.matrix, COIN.inputs, COIN.outputs)
    assert leakage.mutual_information(floats, "uniform").upper == pytest.approx(expected)
    assert leakage.min_capacity(floats).upper == pytest.approx(math.log(1.5))
    assert leakage.multiplicative(floats, "uniform") == pytest.approx(1.5)
    assert leakage.mutual_information(floats, "uniform").width < 1e-15
    assert leakage.multiplicative(COIN, iter(["1/2", "1/2"]), "identity", iter(["yes", "no"])) == Fraction(3, 2)
    rough = Channel(np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3]]))
    assert leakage.mutual_information(rough, "uniform").lower >= 0.20503802928608555
    assert numbers_of(COIN.utility("uniform", [np.array([1, 0]), np.array([0, 1])], ["yes", "no"])) == Fraction(3, 4)
    known = Channel.identity(range(5))
    assert leakage.bayes_capacity(known) == 5
    assert leakage.mutual_information(known, "uniform").upper == pytest.approx(math.log(5))
    for epsilon in (1, ln(4)):
        flat = Flat(list(range(5)), epsilon=epsilon).channel()
        e = math.exp(float(ln(4)) if epsilon != 1 else 1)
        assert float(leakage.bayes_capacity(flat)) == pytest.approx(5 * e / (e + 4))
        assert leakage.mutual_information(flat, "uniform").upper <= leakage.min_capacity(flat).upper


@given(matrix=rows(3, 3), prior=rows(1, 3))
def test_no_prior_leaks_more_than_the_capacity(matrix, prior):
    channel = Channel(matrix)
    assert leakage.multiplicative(channel, prior[0]) <= leakage.bayes_capacity(channel)
    assert leakage.multiplicative(channel, "uniform") == leakage.bayes_capacity(channel)
    information = leakage.mutual_information(channel, prior[0])
    assert information.upper >= 0
    joint = np.array([float(p) for p in prior[0]])[:, None] * channel.matrix
    outside = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    seen = joint > 0
    assert information.upper == pytest.approx(float((joint[seen] * np.log(joint[seen] / outside[seen])).sum()), abs=1e-9)


def test_bad_input_is_refused_with_words():
    numbers = Channel(COIN.rows)
    for bad in (
        lambda: COIN.utility("uniform", "closest"),
        lambda: COIN.utility("uniform", "absolute"),  # these labels have no distance
        lambda: COIN.utility("uniform", None),
        lambda: numbers.utility("uniform", [[1, 0]]),
        lambda: numbers.utility("uniform", [[1, 0], [0]]),
        lambda: numbers.utility("uniform", [[1, 0], [0, float("nan")]]),
        lambda: numbers.utility("uniform", ("threshold", -1)),
        lambda: numbers.utility("uniform", "identity", []),
        lambda: numbers.utility("uniform", "identity", [0, 0]),
        lambda: leakage.multiplicative(numbers, "uniform", "squared"),
        lambda: deterministic([0, 1], {0: "a"}),
        lambda: numbers.utility("uniform", "identity", 5),
        lambda: numbers.utility("uniform", "identity", [[1]]),
        lambda: leakage.bayes_capacity("x"),
        lambda: leakage.min_capacity("x"),
        lambda: leakage.mutual_information("x", "uniform"),
        lambda: leakage.multiplicative("x", "uniform"),
    ):
        with pytest.raises(InputError, match="is refused"):
            bad()
