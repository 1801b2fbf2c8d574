"""Probabilities, tails and quantiles: pairs with the truth between them; and everything that is refused."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dither import ln
from dither.errors import DataError, DitherError, NumberError, SizeError
from dither.noise import (
    Bernoulli,
    Categorical,
    DiscreteLaplace,
    DiscreteNormal,
    OneSidedGeometric,
    RoundedGaussian,
    choose,
    permutation,
    uniform,
    weighted,
)
from dither.noise import gaussian as gaussian_file
from dither.numeric.balls import MOST_BITS, precision
from tests.noise import exact

EVERY = [
    (DiscreteLaplace, exact.laplace),
    (OneSidedGeometric, exact.geometric),
    (lambda s: RoundedGaussian(sigma2=s), exact.rounded),
    (DiscreteNormal, exact.gaussian),
]


@pytest.mark.parametrize(("kind", "truth"), EVERY)
@given(parameter=st.fractions(min_value=Fraction(1, 50), max_value=40), k=st.integers(0, 60))
def test_pmf_encloses_the_law(kind, truth, parameter, k):
    law = kind(parameter)
    for point in (k, -k) if law.two_sided else (k,):
        low, high = exact.exactly(lambda x=point: truth(parameter)(x))
        found = law.pmf(point)
        assert Fraction(found.lower) <= high
        assert low <= Fraction(found.upper)
        assert found.width <= 4 * math.ulp(found.upper)


@pytest.mark.parametrize(("kind", "truth"), EVERY)
@pytest.mark.parametrize("parameter", [Fraction(1, 3), Fraction(2), Fraction(30)])
def test_tail_is_the_sum_of_what_lies_beyond(kind, truth, parameter):
    law, mass = kind(parameter), truth(parameter)
    masses = {x: exact.exactly(lambda x=x: mass(x)) for x in range(-300 if law.two_sided else 0, 2000)}
    for k in (-7, -1, 0, 1, 5, 40):
        low, high = (sum(end) for end in zip(*(pair for x, pair in masses.items() if x > k), strict=True))
        found = law.tail(k)
        assert Fraction(found.lower) <= high + Fraction(1, 2**80)  # what lies beyond 2000
        assert low <= Fraction(found.upper)


@pytest.mark.parametrize("law", [DiscreteLaplace(7), OneSidedGeometric(7), RoundedGaussian(7), DiscreteNormal(50)])
@given(p=st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(999, 1000)))
def test_quantile_is_the_first_that_reaches(law, p):
    lower, upper = law.quantile(p)
    assert lower == upper
    assert Fraction(law.tail(upper).lower) <= 1 - p
    assert Fraction(law.tail(lower - 1).upper) > 1 - p


def test_quantile_on_a_step_admits_doubt_or_decides():
    law = DiscreteLaplace(rate=ln(3))  # P(X <= -1) is exactly 1/4
    assert law.quantile("1/4") in {(-1, -1), (-1, 0)}
    assert law.quantile("0.2501") == (0, 0)


@pytest.mark.parametrize("sigma2", [400, 2**15 + 1, 10**6])
def test_the_two_ways_to_sum_a_discrete_tail_agree(sigma2, monkeypatch):
    law, sigma = DiscreteNormal(sigma2), math.isqrt(sigma2)
    for k in (0, sigma // 2, sigma, 3 * sigma, 6 * sigma):
        with precision(200):
            monkeypatch.setattr(gaussian_file, "LARGEST_SUMMED", 2**60)
            summed = law.sum_above(k)
            monkeypatch.setattr(gaussian_file, "LARGEST_SUMMED", 1)
            enclosed = law.sum_above(k)
            assert enclosed.contains(summed.mid())
            assert enclosed.rad() < summed * 1e-9


def test_the_two_ways_to_normalise_agree():
    for variance in (Fraction(1), Fraction(3, 2), Fraction(7), Fraction(5000)):
        law = DiscreteNormal(variance)
        with precision(128):
            assert law.normaliser().overlaps(1 + 2 * law.series(1, 1))


EXTREMES = [
    DiscreteLaplace(Fraction(1, 2**20)),
    DiscreteLaplace(2**60),
    OneSidedGeometric(Fraction(1, 2**20)),
    OneSidedGeometric(2**60),
    RoundedGaussian(Fraction(1, 2**20)),
    RoundedGaussian(2**60),
    DiscreteNormal(Fraction(1, 2**40)),
    DiscreteNormal(2**120),
    DiscreteLaplace(rate=ln(3)),
    DiscreteLaplace(rate=ln(3) / 2**40),
]


@pytest.mark.parametrize("law", EXTREMES, ids=repr)
def test_the_ends_of_the_range_work(law):
    draws = law.sample((3, 5))
    assert draws.shape == (3, 5)
    assert isinstance(law.sample(), int)
    for k in (0, 1, -1, 10**6, -(10**25), 10**25):
        low, high = law.pmf(k)
        assert 0 <= low <= high <= 1
        low, high = law.tail(k)
        assert 0 <= low <= high <= 1
    assert law.quantile("0.9")[0] <= law.quantile("0.99")[1]
    assert law.quantile("0.5")[0] in (0, -1) or not law.two_sided


def test_large_draws_do_not_wrap():
    draws = DiscreteLaplace(2**60).sample(3000)
    assert draws.dtype == object
    assert max(abs(x) for x in draws) > 2**62
    assert DiscreteLaplace(2**50).sample(3000).dtype == np.int64


def test_a_draw_beyond_64_bits_widens_the_array(monkeypatch):
    from dither.noise.samplers.small_scale import put

    assert put(np.arange(3), {1: 2**62}).dtype == np.int64
    wide = put(np.arange(3), {1: 2**70})
    assert wide.tolist() == [0, 2**70, 2]


def test_laws_are_values():
    assert DiscreteLaplace(2) == DiscreteLaplace("2.0") == DiscreteLaplace(rate="1/2")
    assert DiscreteLaplace(2) != OneSidedGeometric(2)
    assert RoundedGaussian(3) == RoundedGaussian(sigma2=9) != DiscreteNormal(9)
    assert len({DiscreteLaplace(2), DiscreteLaplace(rate=Fraction(1, 2)), DiscreteLaplace(3)}) == 2
    for law in (*EXTREMES, Bernoulli("1/3"), Bernoulli.exp(ln(2)), Bernoulli.response(1, 5)):
        again = pickle.loads(pickle.dumps(law))
        assert repr(again) == repr(law)
        again.sample(2)


def test_equal_laws_share_one_table():
    assert DiscreteLaplace(77).sampler() is DiscreteLaplace("77").sampler()


BAD_NUMBERS = [0, -1, "nan", float("nan"), float("inf"), "inf", True, np.bool_(True), "1e999999999", None, "", [], "x",
               np.float32(1), 1j, "1/0", 2**61, Fraction(1, 2**21), "9" * 65]  # fmt: skip


@pytest.mark.parametrize("bad", BAD_NUMBERS, ids=lambda bad: f"{type(bad).__name__}-{str(bad)[:12]}")
@pytest.mark.parametrize("kind", [DiscreteLaplace, OneSidedGeometric, RoundedGaussian])
def test_bad_scales_are_refused_with_words(kind, bad):
    with pytest.raises(NumberError) as caught:
        kind(bad)
    assert "What would work" in str(caught.value)


@pytest.mark.parametrize("bad", [0, -1, "nan", float("inf"), True, "1e999999999", 2**121, Fraction(1, 2**41), ln(3)])
def test_bad_variances_are_refused_with_words(bad):
    for build in (DiscreteNormal, lambda value: RoundedGaussian(sigma2=value)):
        with pytest.raises(NumberError, match="What would work"):
            build(bad)


@pytest.mark.parametrize("size", [-1, 2.0, "3", True, (2, -1), (2, 1.5), [3], 2**50, (2**62, 0), (1,) * 70])
def test_bad_sizes_are_refused_with_words(size):
    for law in (DiscreteLaplace(1), RoundedGaussian(10**6), Bernoulli("1/3"), Categorical([1, 2])):
        with pytest.raises(SizeError, match="What would work"):
            law.sample(size)


def test_empty_samples():
    for law in (DiscreteLaplace(1), RoundedGaussian(10**6), DiscreteLaplace(2**60), Bernoulli("1/3")):
        assert law.sample(0).shape == (0,)
        assert law.sample((4, 0)).shape == (4, 0)
        assert law.sample(()).shape == ()
    assert permutation(0).shape == choose(0, 0).shape == uniform(5, 0).shape == (0,)


def test_other_refusals():
    cases = [
        lambda: DiscreteLaplace(1, rate=1),
        lambda: DiscreteLaplace(),
        lambda: RoundedGaussian(),
        lambda: RoundedGaussian(1, sigma2=1),
        lambda: DiscreteLaplace(rate=0),
        lambda: DiscreteLaplace(rate=2**21),
        lambda: DiscreteLaplace(1).pmf(0.5),
        lambda: DiscreteLaplace(1).tail("3"),
        lambda: DiscreteLaplace(1).quantile(0),
        lambda: DiscreteLaplace(1).quantile(1),
        lambda: DiscreteLaplace(1).quantile("nan"),
        lambda: Bernoulli(2),
        lambda: Bernoulli("-0.1"),
        lambda: Bernoulli.exp(-1),
        lambda: Bernoulli.response(-1),
        lambda: Bernoulli.response(1, 0),
        lambda: uniform(0),
        lambda: uniform(-3, 5),
        lambda: uniform(2**64, 3),
        lambda: uniform(2.5),
        lambda: weighted([1, -1]),
        lambda: weighted([1.5]),
        lambda: permutation(-1),
        lambda: choose(3, 4),
        lambda: Categorical([1, 2], rate=-1),
        lambda: Categorical([1, 2], rate="nan"),
    ]
    for case in cases:
        with pytest.raises(NumberError, match="What would work"):
            case()
    for scores in ([], [[1, 2]], [0.5, 1.0], ["a"], np.zeros(0, dtype=int), [1, None], [True, False], 7, [[1, 2], [3]]):
        with pytest.raises(DataError, match="What would work"):
            Categorical(scores)
    for empty in ([], [0, 0]):
        with pytest.raises(DataError, match="What would work"):
            weighted(empty)
    for weights in (5, "12", None, np.array([1, 2])):
        with pytest.raises(DataError, match="What would work"):
            Categorical.from_weights(weights)
    with pytest.raises(NumberError, match="population"):
        choose(2**64, 3)
    assert issubclass(NumberError, DitherError)
    assert issubclass(NumberError, ValueError)


def test_certain_and_extreme_choices():
    assert Bernoulli(1).sample()
    assert not Bernoulli(0).sample()
    assert Bernoulli(1).sample(5).all()
    assert not Bernoulli(0).sample(5).any()
    assert Bernoulli.exp(0).sample()
    assert Bernoulli.response(1, 1).sample()
    assert not Bernoulli.exp(10**6).sample(1000).any()
    assert Bernoulli("1e-300").p.upper > 0
    assert uniform(1) == 0
    assert uniform(1, 4).tolist() == [0] * 4
    assert uniform(2**63, 3).min() >= 0
    assert Categorical([5]).sample() == 0
    assert Categorical([3, 2**63 - 1, -(2**63)]).sample(20).tolist() == [1] * 20
    assert Categorical(np.array([0, 2**64 - 1], dtype=np.uint64)).sample() == 1
    assert Categorical([10**40, 0, 5]).sample(4).tolist() == [0] * 4
    assert set(Categorical([10**40, 0, 5], rate=0).sample(200).tolist()) == {0, 1, 2}
    assert set(Categorical([0, 10**30], rate="1e-30").sample(200).tolist()) == {0, 1}
    assert set(Categorical.from_weights(["1/3", "0.25", 0]).sample(200).tolist()) == {0, 1, 2}
    assert Categorical([0, 1], rate="1e400").sample() == 1
    assert Categorical([2**63, 0]).sample() == 0
    assert Categorical.from_weights([2**63, -1]).sample() == 0
    assert repr(Bernoulli.response(1, 10**5000)) == "Bernoulli(response(1, <int>))"
    assert MOST_BITS >= 4096
