"""Statistical tests of the draws. They come second: each has a false-alarm rate of 1e-6, and a planted bug."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dither.errors import NotPrivateWarning
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
)
from dither.noise.samplers.large_scale import StaircaseSampler
from dither.noise.samplers.small_scale import DirectSampler
from dither.noise.samplers.table import CumulativeTable
from dither.numeric.enclosure import to_ball
from dither.testing import seeded

FALSE_ALARM = 1e-6
DRAWS = 400_000


@pytest.fixture(autouse=True)
def _repeatable():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        with seeded(20):
            yield


def fits(draws, law) -> bool:
    """Chi-square over about 60 bins cut at quantiles of the law."""
    cuts = sorted({law.quantile(Fraction(i, 60))[0] for i in range(1, 60)})
    below = [law.tail(cut) for cut in cuts]
    above = np.array([1.0] + [(low + high) / 2 for low, high in below] + [0.0])
    expected = -np.diff(above) * len(draws)
    seen = np.bincount(np.searchsorted(cuts, np.asarray(draws, dtype=float)), minlength=len(cuts) + 1)
    keep = expected > 10
    chi = float(np.sum((seen[keep] - expected[keep]) ** 2 / expected[keep]))
    return chi < stats.chi2.isf(FALSE_ALARM, int(keep.sum()) - 1)


LAWS = [
    kind(scale)
    for kind in (DiscreteLaplace, OneSidedGeometric, RoundedGaussian, lambda s: DiscreteNormal(Fraction(s) ** 2))
    for scale in ("0.4", 1, 10, 100, 1000, 10**6, 2**40)
]


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_arrays_follow_the_law(law):
    assert fits(law.sample(DRAWS), law)


@pytest.mark.parametrize("law", [DiscreteLaplace(2**57), RoundedGaussian(2**60), RoundedGaussian(30)], ids=repr)
def test_single_draws_follow_the_law(law):
    assert fits([law.sample() for _ in range(30_000)], law)


@pytest.mark.parametrize("law", [DiscreteLaplace(1), RoundedGaussian(1), DiscreteNormal(2)], ids=repr)
def test_arrays_with_four_bit_prefixes_follow_the_law(law):
    sampler = DirectSampler(law, 3, prefix_bits=4, word_bits=8)  # most draws are extended, many refined or tails
    draws = sampler.many(20_000)
    assert abs(draws).max() > 3
    assert fits(draws, law)


@pytest.mark.parametrize("law", [DiscreteLaplace(20), RoundedGaussian(20), DiscreteNormal(400)], ids=repr)
def test_staircases_with_short_words_follow_the_law(law):
    draws = StaircaseSampler(law, 3, 4, prefix_bits=4, word_bits=8).many(20_000)
    assert abs(draws).max() > 32
    assert fits(draws, law)


def test_a_shifted_table_fails():
    law = DiscreteLaplace(10)
    sampler = DirectSampler(law, 312)
    sampler.table = CumulativeTable(lambda: [*DirectSampler(law, 312).cumulative()[1:], to_ball(1)], plain=625, offset=312)
    assert not fits(sampler.many(DRAWS), law)


@pytest.mark.parametrize("wrong", [DiscreteLaplace("10.2"), DiscreteLaplace(5)], ids=repr)
def test_a_wrong_scale_fails(wrong):
    assert not fits(wrong.sample(DRAWS), DiscreteLaplace(10))


def test_rounded_and_discrete_gaussian_are_told_apart():
    assert not fits(DiscreteNormal(1).sample(DRAWS), RoundedGaussian(1))


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(1, 2), Fraction(1, 1000), Fraction(255, 256)])
def test_bernoulli_arrays(p):
    n = 1_000_003
    hits = int(Bernoulli(p).sample(n).sum())
    assert stats.binomtest(hits, n, float(p)).pvalue > FALSE_ALARM
    single = Bernoulli(p)
    hits = sum(single.sample() for _ in range(20_000))
    assert stats.binomtest(hits, 20_000, float(p)).pvalue > FALSE_ALARM


@pytest.mark.parametrize("spread", [1, 1000, 10**7])
def test_categorical_arrays(spread):
    # far more different gaps than cells when the spread is large
    scores = np.arange(12) * spread
    rate = Fraction(1, 4 * spread)
    sampler = Categorical(scores, rate=rate)
    weights = np.exp(float(rate) * scores)
    expected = weights / weights.sum()
    for draws in (sampler.sample(100_000), np.array([sampler.sample() for _ in range(5_000)])):
        seen = np.bincount(draws, minlength=12)
        chi = float(np.sum((seen - expected * draws.size) ** 2 / (expected * draws.size)))
        assert chi < stats.chi2.isf(FALSE_ALARM, 11)


def test_categorical_with_a_million_candidates():
    scores = np.arange(10**6) // 1000
    draws = Categorical(scores, rate="0.1").sample(20_000)
    blocks = scores[draws]
    expected = -np.expm1(-0.1) * np.exp(-0.1 * np.arange(60))
    seen = np.bincount(999 - blocks, minlength=60)[:60]
    chi = float(np.sum((seen - expected * 20_000) ** 2 / (expected * 20_000)))
    assert chi < stats.chi2.isf(FALSE_ALARM, 60)
    assert len(np.unique(draws % 1000)) > 990  # inside a block all are equal


def test_uniform_permutation_and_choose_cover_everything_evenly():
    seen = np.bincount(uniform(10, 100_000), minlength=10)
    assert stats.chisquare(seen).pvalue > FALSE_ALARM
    orders: dict[tuple[int, ...], int] = {}
    for _ in range(12_000):
        key = tuple(permutation(4).tolist())
        orders[key] = orders.get(key, 0) + 1
    assert len(orders) == math.factorial(4)
    assert stats.chisquare(list(orders.values())).pvalue > FALSE_ALARM
    pairs: dict[tuple[int, ...], int] = {}
    for _ in range(12_000):
        key = tuple(choose(9, 2).tolist())
        pairs[key] = pairs.get(key, 0) + 1
    assert len(pairs) == 72
    assert stats.chisquare(list(pairs.values())).pvalue > FALSE_ALARM


def test_choose_from_a_large_population():
    drawn = choose(10**12, 5000)
    assert len(np.unique(drawn)) == 5000
    assert stats.kstest(drawn / 10**12, "uniform").pvalue > FALSE_ALARM
