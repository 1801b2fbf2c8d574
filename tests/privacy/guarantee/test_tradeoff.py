"""The power of a test, from losses: never below the power of the best test, and hardly above it, down to levels of 1e-12."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np
import pytest
from scipy import stats

from dither import Guarantee, Loss, approx, gdp, ln, pure, zcdp
from dither.numeric.balls import precision
from dither.numeric.enclosure import certify, to_ball
from dither.numeric.number import Number
from dither.privacy.guarantee import power
from dither.privacy.guarantee.tradeoff import power as power_of
from dither.privacy.loss.profile import discretise as cells
from dither.privacy.loss.profile import profile
from dither.privacy.loss.profile.starting_points import grid_tilt

UNIT = "add/remove one person"
LEVELS = ["1e-12", "1e-9", "1e-6", "1e-3", "0.05", "0.1", "0.3", "0.5", "0.9", "0.999"]


def tradeoff(loss: Loss, level: str) -> float:
    return Guarantee.from_loss(loss, unit=UNIT).tradeoff(level)


def check(found: float, low: float, high: float, off: float) -> None:
    """Not below the truth, which lies between low and high, nor above it by more than this part of it."""
    assert low <= found <= high * (1 + off)


# -- closed forms ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
def test_of_one_laplace_answer(level):
    a = Fraction(level)
    for epsilon in ("0.1", "1", "3", "ln(3)"):
        e = Number(epsilon)

        def exactly(e=e):
            if (-e.ball()).exp() / 2 >= to_ball(a):
                return e.ball().exp() * to_ball(a)
            return 1 - (-e.ball()).exp() * (1 / to_ball(4 * a) if a <= Fraction(1, 2) else to_ball(1 - a))

        truth = certify(exactly)
        check(tradeoff(Loss.laplace(1, sensitivity=e), level), truth.lower, truth.upper, 1e-11)


@pytest.mark.parametrize("level", LEVELS)
def test_of_gaussian_noise(level):
    """Alone in closed form, and beside a thousandth of a loss on a line."""
    for sigma in (10, 1, Fraction(1, 5)):
        truth = float(stats.norm.cdf(stats.norm.ppf(float(level)) + float(1 / Fraction(sigma))))
        check(tradeoff(Loss.gaussian(sigma), level), truth * (1 - 1e-12), truth, 1e-12)
        beside = tradeoff(Loss.gaussian(sigma) + Loss.discrete_gaussian(10**8), level)
        wider = float(stats.norm.cdf(stats.norm.ppf(float(level)) + math.hypot(float(1 / Fraction(sigma)), 1e-4)))
        check(beside, wider * (1 - 1e-7), wider, 1e-7)


# -- all losses, one by one --------------------------------------------------------------------------------------------


def neyman_pearson(p, q, level):
    """The best test of two finite laws, outcome by outcome, in rationals."""
    rows = sorted(zip(p, q, strict=True), key=lambda row: row[0] / row[1] if row[1] else math.inf, reverse=True)
    left, found = Fraction(level), Fraction(0)
    for one, other in rows:
        share = min(Fraction(1), left / other) if other else Fraction(1)
        found, left = found + share * one, left - share * other
    return found


def both_ways(p, q, level):
    return max(neyman_pearson(p, q, level), neyman_pearson(q, p, level))


def times(law, count):
    """The law of so many outcomes."""
    return [math.prod(some) for some in product(law, repeat=count)]


TABLES = [
    (["1/2", "1/4", "1/4"], ["1/4", "1/4", "1/2"]),
    (["1/2", "1/4", "1/4", "0"], ["1/4", "1/4", "3/8", "1/8"]),  # not the same both ways, and something is lost
    (["9/10", "1/10"], ["1/1000000", "999999/1000000"]),
    (["1/3", "1/3", "1/3"], ["1/3", "1/3", "1/3"]),
]


@pytest.mark.parametrize("level", ["0", *LEVELS])
def test_of_tables(level):
    for (p, q), count in product(TABLES, (1, 3)):
        one, other = ([Fraction(x) for x in law] for law in (p, q))
        truth = both_ways(times(one, count), times(other, count), level)
        found = tradeoff(count * Loss.from_pair(p, q), level)
        assert truth <= Fraction(found) <= truth * (1 + Fraction(1, 10**8)) + Fraction(1, 10**300)


@pytest.mark.parametrize("level", LEVELS)
def test_of_many_randomized_responses(level):
    """e^epsilon = 3/2: how many of 100 said yes decides."""
    one, other = Fraction(3, 5), Fraction(2, 5)
    laws = [[math.comb(100, k) * x**k * (1 - x) ** (100 - k) for k in range(101)] for x in (one, other)]
    truth, found = both_ways(*laws, level), tradeoff(100 * Loss.pure(ln("3/2")), level)
    assert truth <= Fraction(found) <= truth * (1 + Fraction(1, 10**8))
    alone = min(Fraction(level) * Fraction(3, 2), 1 - Fraction(2, 3) * (1 - Fraction(level)))
    assert alone <= Fraction(tradeoff(Loss.pure(ln("3/2")), level)) <= alone * (1 + Fraction(1, 10**15))


# -- on a line ---------------------------------------------------------------------------------------------------------


@lru_cache
def sums(sigma2, count):
    """Discrete Gaussians: losses are linear in the noise, so the sum of the noise decides. P and Q, from the top down."""
    reach = int(14 * math.sqrt(sigma2))  # what is left out is below 1e-40
    one = np.exp(-(np.arange(-reach, reach + 1).astype(np.longdouble) ** 2) / (2 * sigma2))
    law = np.ones(1, dtype=np.longdouble)
    for _ in range(count):
        law = np.convolve(law, one / one.sum())  # all terms are >= 0: each sum is right to a few of its last places
    return np.append(law[count:], np.zeros(count)), law


def of_a_sum(sigma2, count, level):
    p, q = sums(sigma2, count)
    reached, found = np.cumsum(q), np.cumsum(p)
    at = int(np.searchsorted(reached, np.longdouble(float(level))))
    before = (reached[at - 1], found[at - 1]) if at else (0, 0)
    return float(before[1] + (float(level) - before[0]) * p[at] / q[at])


@pytest.mark.parametrize(("sigma2", "count"), [(4, 1), (4, 20), (100, 20)])
def test_of_discrete_gaussians(sigma2, count):
    for level in LEVELS:
        truth = of_a_sum(sigma2, count, level)
        check(tradeoff(count * Loss.discrete_gaussian(sigma2), level), truth * (1 - 1e-12), truth, 1e-8)


# -- on a grid ---------------------------------------------------------------------------------------------------------


def below(loss, level):
    """Surely not above the power: the lower side of a grid, over all epsilons, interval by interval."""
    orders, found = loss.orders(), []
    for at, terms in enumerate(orders):
        heights = []
        for own, bound in ((terms, power.direct), (orders[-1 - at], power.reverse)):
            log_delta = min(-7.0, math.log(level))
            with precision(profile.BITS):
                side = cells.build(own, profile.lost_of(own)[0], grid_tilt(own, log_delta), log_delta, up=False)
                places = [Fraction(k, 400) for k in range(802)]  # the losses end at 2, and both bounds rise from there on
                deltas = [Fraction(power.delta_at(side, float(place)).lower) for place in places]
            steps = zip(places, deltas[1:], strict=False)  # delta falls, so it is not below what it is at the end
            heights += [bound(level, Number(place), delta) for place, delta in steps]
        found.append(min(heights))
    return max(found)


TWO, SAMPLED = 2 * Loss.laplace(1), 2 * Loss.laplace(2).poisson_subsampled("0.3")


@pytest.mark.parametrize(("loss", "level"), [(TWO, "1e-9"), (TWO, "0.05"), (SAMPLED, "0.01")], ids=str)
def test_on_a_grid(loss, level):
    assert power.first_profile(loss.terms, -3) is None
    low = below(loss, Fraction(level))
    check(tradeoff(loss, level), low * (1 - 1e-12), low, 5e-3)  # an interval of epsilon is 1/400 wide


def test_sums_of_laplace_answers_beside_the_discrete_ones_that_are_near_them():
    """Five Laplace answers of epsilon 1/2 are rounded to steps of 1/50: the discrete ones are listed, and near."""
    for level in ("1e-9", "1e-3", "0.3"):
        near = tradeoff(5 * Loss.discrete_laplace(100, shift=50), level)
        assert tradeoff(5 * Loss.laplace(2), level) == pytest.approx(near, rel=2e-3)


# -- what follows ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
def test_a_loss_is_no_worse_than_what_it_implies(level):
    for loss, implied in (
        (Loss.laplace(1), pure(1)),
        (3 * Loss.laplace(1), pure(3)),
        (Loss.approx(1, "1e-6"), approx(1, "1e-6")),
    ):
        assert tradeoff(loss, level) <= implied.tradeoff(level) * (1 + 1e-12)
    both = Guarantee.from_loss(Loss.laplace(1), unit=UNIT) + gdp(1)
    assert both.tradeoff(level) <= (pure(1) + gdp(1)).tradeoff(level) * (1 + 1e-9)
    curve = Guarantee.from_loss(Loss.laplace(1), unit=UNIT) + zcdp("0.1")  # of which no hardest pair is known
    assert float(level) <= curve.tradeoff(level) <= 1


def test_the_ends():
    assert tradeoff(Loss.laplace(1), "0") == tradeoff(20 * Loss.discrete_gaussian(4), "0") == 0.0
    assert tradeoff(Loss.laplace(1), "1") == 1.0
    assert tradeoff(Loss.approx(1, "1/8"), "0") == 0.125
    assert power.power_of_loss(Loss(()), Fraction(1, 3)) >= Fraction(1, 3)
    assert 1e-300 < tradeoff(20 * Loss.discrete_gaussian(100), "1e-300") < 1e-290
    assert tradeoff(1000 * Loss.pure(1), "1e-3") == 1.0


def test_the_same_whether_asked_before_or_not():
    loss = 20 * Loss.discrete_gaussian(4)
    first = [tradeoff(loss, level) for level in LEVELS]
    for cache in (power.first_profile, power.line_near, power.grid_profile):
        cache.cache_clear()
    assert [tradeoff(loss, level) for level in reversed(LEVELS)] == first[::-1]
    assert power_of(Guarantee.from_loss(loss, unit=UNIT).conversion, "0.05") == first[4]
