"""Going through every draw gives the law that the draws have."""

from __future__ import annotations

import copy
import dataclasses
import random
import secrets
from fractions import Fraction

import attrs
import numpy as np
import pytest

from dither.errors import DataError, InputError, SizeError
from dither.noise import (
    Bernoulli,
    Categorical,
    DiscreteLaplace,
    DiscreteStaircase,
    OneSidedGeometric,
    choose,
    permutation,
    uniform,
)
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.numeric.number import ln
from dither.testing import outcomes
from dither.testing.enumerate import as_key


def law_of(draw, cutoff="1e-30"):
    return outcomes(lambda _: draw(), None, cutoff=cutoff)


def assert_mass(law, output, expected):
    low, high = law.probability(output)
    assert low - 1e-15 <= float(expected) <= high + 1e-15


def test_a_law_gives_its_own_probabilities_and_leaves_little_out():
    noise = DiscreteLaplace(rate=ln(3))
    law = law_of(noise.sample)
    for k in range(-20, 21):
        assert_mass(law, k, Fraction(1, 2) / 3 ** abs(k))
    assert float(law.missing.upper()) < 1e-29
    assert min(law.outputs.values()) < -55  # 3^-60 is below the cutoff, 3^-55 is not
    assert law.draws == 1


def test_coins_choices_and_orders():
    assert_mass(law_of(Bernoulli("1/3").sample), True, Fraction(1, 3))
    assert_mass(law_of(Bernoulli.exp(ln(4)).sample), True, Fraction(1, 4))
    assert set(law_of(Bernoulli(1).sample).outputs.values()) == {True}
    assert_mass(law_of(Categorical([0, 1, 1], rate=ln(2)).sample), 0, Fraction(1, 5))
    assert_mass(law_of(Categorical([0, 1, 1], rate=ln(2)).sample), 2, Fraction(2, 5))
    assert_mass(law_of(lambda: uniform(6)), 5, Fraction(1, 6))
    assert_mass(law_of(lambda: permutation(3)), np.array([2, 0, 1]), Fraction(1, 6))
    assert_mass(law_of(lambda: choose(4, 2)), np.array([3, 1]), Fraction(1, 12))
    assert len(law_of(lambda: choose(4, 2)).masses) == 12


def test_arrays_are_independent_draws_of_the_usual_type():
    seen = []
    law = law_of(lambda: seen.append(Bernoulli("1/4").sample((2, 1))) or seen[-1])
    assert {array.dtype for array in seen} == {np.dtype(bool)}
    assert {array.shape for array in seen} == {(2, 1)}
    assert_mass(law, np.array([[True], [True]]), Fraction(1, 16))
    assert law.draws == 2
    one_sided = law_of(lambda: OneSidedGeometric(rate=ln(2)).sample(2), cutoff="1e-9")
    assert_mass(one_sided, np.array([1, 2]), Fraction(1, 32))
    empty = law_of(lambda: (uniform(2), DiscreteLaplace(1).sample(0).dtype == np.int64))
    assert set(empty.outputs.values()) == {(0, True), (1, True)}


def test_draws_may_depend_on_earlier_draws():
    law = law_of(lambda: 0 if Bernoulli("1/2").sample() else 1 + uniform(3))
    assert_mass(law, 0, Fraction(1, 2))
    assert_mass(law, 3, Fraction(1, 6))


def test_loops_that_draw_again_are_cut_off():
    def until_even():
        while True:
            face = 1 + uniform(6)
            if face % 2 == 0:
                return face

    law = law_of(until_even, cutoff="1e-6")
    assert_mass(law, 4, Fraction(1, 3))
    assert 1e-9 < float(law.missing.upper()) < 0.02


def test_the_staircase_sampler_has_the_staircase_law():
    # The parts that the sampler draws are gone through one by one, and compared with the closed form.
    for rate, width, flat in ((ln(2), 3, 1), (ln(3), 2, 2), (1, 4, 3), ("0.5", 1, 1)):
        noise = DiscreteStaircase(rate=rate, width=width, flat=flat)
        parts = law_of(noise.sampler().propose)
        with precision(128):
            kept = 1 - parts.masses[as_key(None)]  # a round that is thrown away changes nothing
            for k in range(-2 * width - 1, 2 * width + 2):
                assert abs(parts.masses[as_key(k)] / kept - noise.mass(k)) < 1e-25
        zeros = sum(noise.sample() == 0 for _ in range(20_000))
        assert abs(zeros - 20_000 * noise.pmf(0).lower) < 6 * 20_000**0.5


def test_the_staircase_law_is_a_law():
    for rate, width, flat in ((ln(2), 3, 1), (1, 5, 5)):
        noise = DiscreteStaircase(rate=rate, width=width, flat=flat)
        with precision(128):
            for k in range(20):
                assert abs(noise.above(k) - (noise.above(k + 1) + noise.mass(k + 1))) < 1e-30
            assert abs(2 * noise.above(0) + noise.mass(0) - 1) < 1e-30
            ratio = noise.mass(2) / noise.mass(2 + width)
            assert abs(ratio - to_ball(noise.rate).exp()) < 1e-25
    assert DiscreteStaircase(rate=2, width=1, flat=1).pmf(3) == DiscreteLaplace(rate=2).pmf(3)


def test_staircase_vectors_follow_the_law():
    noise = DiscreteStaircase(rate=ln(3), width=3, flat=1)
    draws = noise.sample(200_000)
    for k in range(-5, 6):
        expected = float(noise.pmf(k).lower) * draws.size
        assert abs(np.sum(draws == k) - expected) < 6 * expected**0.5 + 10  # one in 10^8 for each
    assert noise.sample((2, 3)).shape == (2, 3)
    assert noise.sample(0).dtype == np.int64
    wide = DiscreteStaircase(rate="1e-18", width=2**40, flat=1).sample(50)
    assert wide.dtype == object
    assert max(abs(x) for x in wide) > 2**63


def test_bad_staircases_are_refused():
    for rate, width, flat in ((0, 1, 1), (1, 0, 1), (1, 2, 3), (1, 2, 0), (1, 2**41, 1), (1, "x", 1), ("nan", 1, 1)):
        with pytest.raises(InputError):
            DiscreteStaircase(rate=rate, width=width, flat=flat)


def test_outcomes_refuse_what_they_cannot_go_through(monkeypatch):
    monkeypatch.setattr("dither.testing.enumerate.MOST_RUNS", 1000)
    with pytest.raises(SizeError, match="coarser"):
        law_of(DiscreteLaplace(10**4).sample, cutoff="1e-300")
    with pytest.raises(DataError, match="drew nothing"):
        law_of(lambda: 7)
    with pytest.raises(InputError, match="cutoff"):
        law_of(DiscreteLaplace(1).sample, cutoff=0)


def test_nothing_is_rehearsed_afterwards():
    law_of(DiscreteLaplace(1).sample)
    with pytest.raises(ZeroDivisionError):
        law_of(lambda: DiscreteLaplace(1).sample() / 0)
    assert len({DiscreteLaplace(10**6).sample() for _ in range(20)}) > 10


@dataclasses.dataclass
class Hidden:
    secret: int = dataclasses.field(repr=False)


@attrs.define
class AlsoHidden:
    secret: int = attrs.field(repr=False)


def test_keys_tell_apart_what_anyone_can():
    different = [
        *((1, 1.0), (1, True), (0.0, -0.0), ("1", 1), ([1], [1, 1]), ({"a": 1}, {"a": 2}), ([1], (1,))),
        *((np.float64(1), 1.0), (np.zeros((0, 3)), np.zeros(0)), (np.array([1]), [1]), (frozenset([1]), frozenset([1.0]))),
        *((Hidden(1), Hidden(2)), (AlsoHidden(1), AlsoHidden(2)), (np.array([1]), np.array([1.0])), (None, "None")),
    ]
    for one, other in different:
        assert as_key(one) != as_key(other)
        assert as_key(one) == as_key(copy.deepcopy(one))
    with pytest.raises(DataError, match="cannot be compared"):
        as_key(object())
    assert as_key(float("nan")) == as_key(float("nan"))


def test_other_randomness_is_noticed():
    law = DiscreteLaplace(1)
    with pytest.raises(DataError, match=r"draws from random or numpy\.random"):
        law_of(lambda: law.sample() + random.random())
    with pytest.raises(DataError, match="two outputs"):
        law_of(lambda: law.sample() + secrets.randbelow(10))
    with pytest.raises(DataError, match=r"past dither\.noise"):
        law_of(lambda: law.sample() + law.sampler().one())
    turns = iter(range(10**9))
    with pytest.raises(DataError, match=r"run to run|two outputs"):
        law_of(lambda: law.sample() if next(turns) % 7 else (law.sample(), law.sample()))
