"""Intervals hold: quantiles beside exact sums of the law, coverage by going through all noise, and by seeded releases."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb

from dither.density import Covariance, Moments, PairSummary, Summary
from dither.density.moments.ratio_intervals import (
    CounterNoise,
    interval,
    quantile,
    ratio_interval,
)
from dither.density.moments.variance_intervals import FOR_MEAN, FOR_SIZE, square_range, variance_interval
from dither.errors import NotPrivateWarning, NumberError
from dither.noise import DiscreteLaplace
from dither.numeric.balls import precision
from dither.testing import seeded

COME, REPLACE = "add/remove one person", "replace one person"


# -- the quantile ------------------------------------------------------------------------------------------------------


def beyond(weights, scale):
    """P(|sum of weights times noise| > k) for k = 0, 1, ... and whole weights: convolved in doubles, tails of 2^-60 left."""
    reach = math.ceil(42 * scale)
    q = math.exp(-1 / scale)
    single = (1 - q) / (1 + q) * q ** np.abs(np.arange(-reach, reach + 1))
    size = 2 * reach * sum(weights) + 1
    law = np.ones(size // 2 + 1, dtype=complex)
    for weight in weights:
        spread = np.zeros(2 * reach * weight + 1)
        spread[::weight] = single
        law *= np.fft.rfft(spread, size)
    masses = np.fft.irfft(law, size)
    sides = masses[size // 2 + 1 :] + masses[: size // 2][::-1]  # at 1, 2, ... from the middle
    return np.append(np.cumsum(sides[::-1])[::-1], 0.0)


@pytest.mark.parametrize("weights", [(1,), (1, 1), (1, 3), (2, 3), (1, 1, 1), (1, 2, 4), (1, 1, 2, 3), (1, 1, 1, 1), (0, 5)])
def test_a_quantile_holds_and_is_hardly_wider_than_it_must_be(weights):
    for scale, wider in ((1, None), (20, 0.8), (80, 0.93)):
        tail = beyond([w for w in weights if w], scale)
        for level in (0.5, 0.95, 0.999):
            found = float(quantile(np.array([weights], dtype=float), CounterNoise(scale, 1.0), -math.log(1 - level))[0])
            assert tail[math.floor(found)] <= 1 - level
            if wider and level > 0.9:
                assert tail[math.floor(wider * found)] > 1 - level


def test_a_quantile_of_one_number_is_exact_up_to_a_step():
    for scale in (3, 1000, 2**30):
        law = DiscreteLaplace(scale)
        found = float(quantile(np.array([[1.0]]), CounterNoise(scale, 1.0), -math.log(0.05))[0])
        with precision(128):
            assert 2 * law.above(math.floor(found)) <= Fraction(1, 20).numerator / arb(20)
            assert found <= scale * math.log(20) * 1.00001 + 1


def test_quantiles_grow_with_weights_scale_and_confidence():
    noise = CounterNoise(10.0, 1.0)
    rows = np.array([[0.5, 0.5], [0.5, 0.6], [0.6, 0.6], [0.0, 1.0], [1.0, 1.0]])
    found = quantile(rows, noise, 3.0)
    assert found[0] < found[1] < found[2] < found[4]
    assert found[3] < found[4]
    assert (quantile(rows, noise, 4.0) > found).all()
    assert (quantile(rows, CounterNoise(11.0, 1.0), 3.0) > found).all()
    assert np.isfinite(quantile(rows, noise, 700.0)).all()
    assert np.allclose(quantile(rows[:, ::-1], noise, 3.0), found)


def test_a_square_is_least_and_most_at_ends_or_where_it_turns():
    rng = np.random.default_rng(2)
    points = np.linspace(0, 1, 201)
    for two, one, none in [*rng.normal(size=(50, 3)), (0.0, 1.0, 2.0), (0.0, 0.0, 3.0)]:
        for low, high in ((0.0, 1.0), (0.2, 0.3), (0.5, 0.5)):
            p = low + (high - low) * points
            values = two * p * p - 2 * one * p + none
            least, most = square_range(*(np.array(x) for x in (two, one, none, low, high)))
            assert least <= values.min() + 1e-12
            assert most >= values.max() - 1e-12
            assert least >= values.min() - 1e-4
            assert most <= values.max() + 1e-4


# -- the set -------------------------------------------------------------------------------------------------------------


def test_a_set_is_found_as_finely_as_a_search_finds_it():
    """Beside every p of a fine list: |S - p N| within its quantile."""
    noise, odds = CounterNoise(1.0, 2.0**-20), -math.log(0.05)
    of_total, of_sum = np.array([1.0, 1.0]), np.array([0.0, 1.0])
    p = np.linspace(0, 1, 20001)
    room = quantile(np.abs(of_sum - p[:, None] * of_total), noise, odds)
    for total, sum_ in ((20.0, 3.0), (100.0, 50.0), (40.0, 0.5), (7.0, 6.0), (1000.0, 999.5)):
        inside = p[np.abs(sum_ - p * total) <= room]
        low, high = ratio_interval(total, sum_, of_total, of_sum, noise, odds)
        assert low <= inside[0]
        assert high >= inside[-1]
        wide = inside[-1] - inside[0]
        assert high - low <= 1.02 * wide + 2e-4


@pytest.mark.parametrize(("unit", "scale"), [(COME, 1), (REPLACE, 2)])
@pytest.mark.parametrize("records", [(4, 3, 6), (9, 1, 5), (1, 1, 12), (30, 30, 30), (3, 0, 3)], ids=str)
def test_a_variance_is_found_as_finely_as_a_search_finds_it(records, unit, scale):
    """Beside fine lists of means p, from their own set, and of variances v."""
    mechanism = Moments(epsilon=2, low=0, high=1, degree=2, steps=2**12, unit=unit)
    summary = Summary(mechanism, tuple(x * mechanism.one for x in mechanism.truth(records)))
    n, s1, s2 = sum(records), records[1] / 2 + records[2], records[2]
    of = np.array([[1, 1, 1], [0, 0.5, 1], [0, 0, 1]] if unit == COME else [[1, 0, 0], [0.5, 0.5, 0], [0.5, 0.5, -0.5]])
    noise, odds = CounterNoise(scale / 2, 2.0**-24), math.log(10)
    low, high = ratio_interval(n, s1, of[0], of[1], noise, odds + math.log(FOR_MEAN))
    p = np.linspace(low, high, 101)[:, None, None]
    v = np.linspace(0, 0.25, 201)[:, None]
    room = quantile(
        np.abs(of[2] - 2 * p * of[1] + (p * p - v) * of[0]), noise, odds - math.log1p(-1 / FOR_MEAN - 2 / FOR_SIZE)
    )
    fits = np.abs(s2 - 2 * p[..., 0] * s1 + (p[..., 0] ** 2 - v[:, 0]) * n) <= room
    fits &= v[:, 0] <= (p * (1 - p)).max()  # no variance of shares is more
    inside = v[fits.any(axis=0), 0]
    found = summary.variance_interval("0.9")
    assert found[0] <= inside[0] + 1e-9
    assert found[1] >= inside[-1] - 1e-9
    assert found[1] - found[0] <= 1.1 * (inside[-1] - inside[0]) + 0.004


@pytest.mark.parametrize("records", [(6, 1, 2, 5), (1, 2, 20, 3), (2, 9, 2, 20), (40, 10, 10, 40), (9, 0, 0, 3)], ids=str)
def test_a_covariance_is_found_as_finely_as_a_search_finds_it(records):
    mechanism = Covariance(epsilon=2, first=(0, 1), second=(0, 1), steps=2**12)
    summary = PairSummary(mechanism, tuple(x * mechanism.one for x in records))
    n, noise, odds = sum(records), CounterNoise(0.5, 2.0**-24), math.log(10)
    s1, s2, both = records[2] + records[3], records[1] + records[3], records[3]
    sets = []
    for sum_, weights in ((s1, [0, 0, 1, 1]), (s2, [0, 1, 0, 1])):
        low, high = ratio_interval(n, sum_, np.ones(4), np.array(weights, dtype=float), noise, odds + math.log(16))
        sets.append(np.linspace(low, high, 25))
    p, r = sets[0][:, None, None], sets[1][None, :, None]
    c = np.linspace(-0.25, 0.25, 161)[None, None, :]
    weights = np.stack(np.broadcast_arrays(p * r - c, -p * (1 - r) - c, -(1 - p) * r - c, (1 - p) * (1 - r) - c), axis=-1)
    room = quantile(np.abs(weights), noise, odds + math.log(16 / 14))
    fits = np.abs(both - p * s2 - r * s1 + (p * r - c) * n) <= room
    inside = c[0, 0, fits.any(axis=(0, 1))]
    found = summary.covariance_interval("0.9")
    assert found[0] <= inside[0] + 1e-9
    assert found[1] >= inside[-1] - 1e-9
    assert found[1] - found[0] <= 1.15 * (inside[-1] - inside[0]) + 0.01


def test_a_total_that_does_not_stand_out_says_nothing():
    noise, odds = CounterNoise(10.0, 2.0**-20), -math.log(0.05)
    of_total, of_sum = np.array([1.0, 1.0]), np.array([0.0, 1.0])
    for total, sum_ in ((5.0, 2.0), (0.0, 0.0), (-300.0, -100.0), (0.5, 0.2), (1.0, 1000.0)):
        assert ratio_interval(total, sum_, of_total, of_sum, noise, odds) == (0.0, 1.0)
    empty = interval(10.0, (0.0, 1.0), lambda low, high: _far(low), noise, odds)
    assert empty == (0.0, 1.0)


def _far(low):
    from dither.density.moments.ratio_intervals import Pivot

    return Pivot(np.zeros((len(low), 1)), np.full(len(low), 1e9), np.full(len(low), 1e9))


# -- coverage, exactly -----------------------------------------------------------------------------------------------------


def covered(mechanism, summary, counters, holds, *, least):
    """A lower bound of the probability that a release holds: every noise that is likelier than `least`."""
    law, found, seen = mechanism.noise.law, 0.0, 0.0
    truth = mechanism.truth(counters)
    with precision(64):
        masses = {k: float(law.mass(k)) for k in range(-40, 41)}
    likely = [k for k, mass in masses.items() if mass > least]
    for noise in product(likely, repeat=len(truth)):
        chance = math.prod(masses[k] for k in noise)
        if chance > least:
            seen += chance
            if holds(summary(mechanism, tuple(x + k for x, k in zip(truth, noise, strict=True)))):
                found += chance
    return found, seen


@pytest.mark.parametrize("values", [[0, 1, 1], [0.5] * 6, [1] * 9, [0, 0.5]], ids=str)
@pytest.mark.parametrize(("unit", "rows"), [(COME, False), (REPLACE, False), (REPLACE, True)])
def test_means_and_counts_are_covered_on_all_noise(values, unit, rows):
    mechanism = Moments(epsilon=4, low=0, high=1, steps=2, unit=unit, rows=len(values) if rows else None)
    mean = float(np.mean(values))

    def holds(summary):
        (low, high), (least, most) = summary.mean_interval("0.8"), summary.count_interval("0.8")
        return np.array([low <= mean <= high, least <= len(values) <= most])

    found, seen = covered(mechanism, Summary, mechanism.count(values), lambda s: holds(s)[0], least=1e-4)
    assert seen > 0.98
    assert found >= 0.8
    found, _ = covered(mechanism, Summary, mechanism.count(values), lambda s: holds(s)[1], least=1e-3)
    assert found >= 0.8


@pytest.mark.parametrize(("unit", "epsilon"), [(COME, 8), (REPLACE, 16)])
@pytest.mark.parametrize("values", [[0, 0.5, 1, 1, 1], [0] * 6 + [1] * 6], ids=["five", "twelve"])
def test_variances_are_covered_on_all_noise(values, unit, epsilon):
    mechanism = Moments(epsilon=epsilon, low=0, high=1, steps=2, degree=2, unit=unit)
    variance = float(np.var(values))

    def holds(summary):
        low, high = summary.variance_interval("0.7")
        return low <= variance <= high

    found, seen = covered(mechanism, Summary, mechanism.count(values), holds, least=1e-3)
    assert seen > 0.85
    assert found >= 0.7


def test_covariances_are_covered_on_all_noise():
    mechanism = Covariance(epsilon=10, first=(0, 1), second=(0, 1), steps=2)
    counters = mechanism.count([0, 1, 1, 0.5, 1], [0, 1, 0.5, 0, 1])
    covariance = float(np.cov([0, 1, 1, 0.5, 1], [0, 1, 0.5, 0, 1], bias=True)[0, 1])

    def holds(summary):
        low, high = summary.covariance_interval("0.7")
        return low <= covariance <= high

    found, seen = covered(mechanism, PairSummary, counters, holds, least=1e-3)
    assert seen > 0.8
    assert found >= 0.7


# -- coverage, as data come --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unit", "rows", "shape"), [(COME, None, "uniform"), (COME, None, "low"), (REPLACE, None, "low"), (REPLACE, 300, "low")]
)
def test_intervals_cover_as_often_as_they_say(unit, rows, shape):
    """100 releases at 90%: 70 or fewer would be a chance of 1e-8, and all of them needlessly wide."""
    rng = np.random.default_rng(8)
    values = rng.random(300) if shape == "uniform" else rng.beta(2, 20, 300)
    mechanism = Moments(epsilon="1/2", low=0, high=1, degree=2, unit=unit, rows=rows)
    counters = mechanism.count(values)
    truths = len(values), values.mean(), values.var(), values.std()
    held = np.zeros(4)
    with pytest.warns(NotPrivateWarning), seeded(21):
        releases = [mechanism.release(counters) for _ in range(100)]
    for s in releases:
        kinds = (s.count_interval, s.mean_interval, s.variance_interval, s.deviation_interval)
        found = [ask("0.9") for ask in kinds]
        held += [low <= truth <= high for (low, high), truth in zip(found, truths, strict=True)]
    assert (held > 70).all()
    assert held[1] < 100
    assert held[3] == held[2]


def test_covariances_cover_as_often_as_they_say():
    rng = np.random.default_rng(9)
    x = 20 * rng.random(2000)
    y = np.clip(x / 4 + rng.normal(size=2000), -3, 7)
    mechanism = Covariance(epsilon=1, first=(0, 20), second=(-3, 7))
    counters = mechanism.count(x, y)
    truth, held = np.cov(x, y, bias=True)[0, 1], np.zeros(3)
    with pytest.warns(NotPrivateWarning), seeded(22):
        releases = [mechanism.release(counters) for _ in range(100)]
    for s in releases:
        found = [s.covariance_interval("0.9"), *s.mean_intervals("0.9")]
        held += [low <= t <= high for (low, high), t in zip(found, (truth, x.mean(), y.mean()), strict=True)]
    assert (held > 70).all()
    assert (held[1:] < 100).all()


def test_an_interval_is_about_as_wide_as_the_noise():
    """At mean 1/2 it is the quantile of (L - L')/2 over n: (1 + x/2) e^-x = 0.05 at x = 4.1128."""
    n, mechanism = 10**5, Moments(epsilon=1, low=0, high=1)
    counters = mechanism.from_sums(n, n * 2**19)
    low, high = Summary(mechanism, tuple(counters)).mean_interval("0.95")
    assert (high - low) / 2 * n == pytest.approx(4.1128 / 2 + float(mechanism.quantisation.rounding) * n, rel=0.01)
    public = Moments(epsilon=1, low=0, high=1, rows=n, unit=REPLACE)
    low, high = Summary(public, (-4 * n * 2**20 // 5,)).mean_interval("0.95")  # one number of scale 2, halved: ln 20
    assert (high - low) / 2 * n == pytest.approx(math.log(20) + float(public.quantisation.rounding) * n, rel=0.01)


def test_an_interval_of_a_count_never_runs_backwards():
    """Noise that falls between two whole numbers, and is surely smaller than that: the nearest number stands for both."""
    moments = Moments(low=0, high=1, epsilon=10**4, steps=16)
    for extra, nearest in ((6, 3), (10, 4)):
        summary = Summary(moments, (16 * 3 + extra, 0))
        assert summary.count_interval("0.5") == (nearest, nearest)


def test_bounds_whose_square_no_double_holds_are_refused_for_a_variance():
    with pytest.raises(NumberError, match="largest double"):
        Moments(low=-1e300, high=1e300, degree=2, epsilon=1)
    for wide in (Moments(low=-1e300, high=1e300, epsilon=1), Moments(low=0, high=1e154, degree=2, epsilon=1)):
        summary = wide.release([0, 0, 0][: wide.degree + 1])
        assert all(map(math.isfinite, summary.mean_interval("0.95")))
        if wide.degree == 2:
            assert all(map(math.isfinite, (summary.variance, *summary.variance_interval("0.95"))))


def test_the_quantile_of_normal_noise_is_that_of_a_normal_sum():
    rows = np.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [3.0, 4.0, 12.0]])
    for odds in (1.0, 3.0, 25.0):
        tail = math.exp(-odds)
        found = quantile(rows, CounterNoise(2.0, 0.0, normal=True), odds)
        for width, length in zip(found, (1.0, 1.0, 13.0), strict=True):
            assert math.erfc(width / (2.0 * length) / math.sqrt(2)) <= tail
            assert math.erfc(width / (2.0 * length) / math.sqrt(2)) > tail * 0.999
    assert np.isfinite(quantile(rows, CounterNoise(2.0, 0.5, normal=True), 1000.0)).all()
    assert np.allclose(
        quantile(rows, CounterNoise(2.0, 0.5, normal=True), 3.0),
        quantile(rows, CounterNoise(2.0, 0.0, True), 3.0) + rows.sum(1) / 2,
    )


@pytest.mark.parametrize("normal", [False, True])
@pytest.mark.parametrize("sample", [False, True])
def test_all_groups_at_once_are_each_by_itself(normal, sample):
    rng = np.random.default_rng(3)
    noise, odds = CounterNoise(2.0, 2.0**-10, normal), math.log(20)
    weights = tuple(np.array(row) for row in ((1.0, 1.0, 1.0), (1.0, 0.5, 0.0), (1.0, 0.0, 0.0)))
    counters = np.concatenate(
        [rng.normal(0, 3, (6, 3)), rng.uniform(0, 500, (20, 3)), [[50.0, 0, 0], [0, 0, 900.0], [0, 0, 0]]]
    )
    sums = tuple(counters @ row for row in weights)
    low, high = variance_interval(sums, weights, noise, odds, sample=sample)
    assert ((low >= 0) & (low <= high) & (high <= (0.5 if sample else 0.25))).all()
    for place in range(len(counters)):
        alone = variance_interval(tuple(part[place] for part in sums), weights, noise, odds, sample=sample)
        assert (float(alone[0]), float(alone[1])) == (low[place], high[place])
    assert (low[-1], high[-1]) == (0.0, 0.5 if sample else 0.25)
