"""Covariances from four counters: the exact change that one person makes, the law, estimates, and what is refused."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import dither
from dither.density import Covariance, PairSummary
from dither.errors import InputError, NumberError, SizeError
from dither.mechanisms import sensitivity
from dither.testing.enumerate import outcomes
from tests.density.exact import check_all_but_the_promise

COME, REPLACE = "add/remove one person", "replace one person"


def tiny(unit=COME, epsilon=1, steps=2):
    return Covariance(epsilon=epsilon, first=(0, 1), second=(0, 1), steps=steps, unit=unit)


def columns(data):
    return [list(column) for column in zip(*data, strict=True)] or [[], []]


@pytest.mark.parametrize("unit", [COME, REPLACE])
@pytest.mark.parametrize("steps", [2, 4])
def test_the_sensitivity_is_the_exact_change_over_all_data_sets(unit, steps):
    mechanism = tiny(unit, steps=steps)
    places = [None, *(Fraction(q, steps) for q in range(steps + 1))]
    universe = [(x, y) for x in places for y in places]
    found = sensitivity.of(
        lambda data: mechanism.truth(mechanism.count(*columns(data))), universe=universe, rows=2 - (steps > 2), unit=unit
    )
    assert found.l1 == mechanism.noise.sensitivity == steps**2 * (2 if unit == REPLACE else 1)
    assert mechanism.guarantee.without_own_rho() == dither.pure(1, unit=unit)


@pytest.mark.parametrize(("unit", "epsilon"), [(COME, 16), (REPLACE, 32)])
def test_conforms(unit, epsilon):
    """Error, refusals, saturation. The promise at so large an epsilon is proved by the two tests that follow."""
    mechanism = tiny(unit, epsilon)
    check_all_but_the_promise(mechanism, cutoff="1e-5")


@pytest.mark.parametrize("unit", [COME, REPLACE])
def test_the_law_is_independent_noise(unit):
    """Each output has the product of the four masses: with the exact change above, that is `Geometric`'s theorem."""
    mechanism = tiny(unit, epsilon=8)
    one, other = mechanism.count([1], [1]), mechanism.count([0], [0]) if unit == REPLACE else [0] * 4
    law = mechanism.noise.law
    laws = [outcomes(mechanism.release, counters, cutoff="1e-4") for counters in (one, other)]
    for found, counters in zip(laws, (one, other), strict=True):
        assert len(found.masses) > 100
        for key, mass in found.masses.items():
            moved = [x - y for x, y in zip(found.outputs[key].released, counters, strict=True)]
            assert float(mass) == pytest.approx(math.prod(float(law.mass(k)) for k in moved), rel=1e-9)
    shared = laws[0].masses.keys() & laws[1].masses.keys()
    ratios = [abs(math.log(float(laws[0].masses[key]) / float(laws[1].masses[key]))) for key in shared]
    assert max(ratios) <= 8 * (1 + 1e-9)
    assert unit == REPLACE or max(ratios) == pytest.approx(8)  # at scale 1 the worst outputs are below the cutoff


def test_counters_are_products_and_missing_values_add_nothing():
    mechanism = tiny(steps=4)
    found = mechanism.count([0.25, None, 1, 5, math.nan], [0.5, 1, 1, -2, 1])
    # places (1, 2), (4, 4), (4, 0)
    assert found == [3 * 2, 3 * 2, 1 * 2 + 4 * 4, 1 * 2 + 4 * 4]
    assert found == mechanism.from_sums(3, 9, 6, 18)
    assert sum(found) == 3 * mechanism.one
    assert mechanism.count([], []) == [0, 0, 0, 0]
    assert mechanism.truth([10**400, 1, 2, -(10**400)])[1:3] == [1, 2]


@pytest.mark.parametrize("unit", [COME, REPLACE])
def test_without_noise_a_summary_is_the_plain_one(unit):
    x, y = [1.5, 2, 3, 9.5], [-1, 0.5, 0.5, 3]
    mechanism = Covariance(epsilon=1, first=(-6, 10), second=(-1, 3), steps=32, unit=unit)
    summary = PairSummary(mechanism, tuple(mechanism.truth(mechanism.count(x, y))))
    assert summary.count == 4
    assert summary.means == (np.mean(x), np.mean(y))
    assert summary.covariance == pytest.approx(np.cov(x, y, bias=True)[0, 1], abs=1e-12)


def test_estimates_are_possible_whatever_the_noise():
    rng = np.random.default_rng(3)
    for released in [tuple(row) for row in rng.integers(-100, 100, (60, 4)).tolist()] + [(0,) * 4, (-(2**220),) * 4]:
        summary = PairSummary(tiny(), released)
        low, high = summary.covariance_interval("0.9")
        assert -0.25 <= low <= high <= 0.25
        p, r = summary.means
        assert max(0, p + r - 1) - p * r - 1e-12 <= summary.covariance <= min(p, r) - p * r + 1e-12
        assert summary.count >= 0
        assert all(0 <= low <= high <= 1 for low, high in summary.mean_intervals("0.9"))


def test_pairs_share_the_budget():
    pairs = Covariance.pairs([(0, 1), (0, 2), (5, 9)], epsilon="0.6", unit=REPLACE)
    assert list(pairs) == [(0, 1), (0, 2), (1, 2)]
    assert {pair.epsilon for pair in pairs.values()} == {dither.Number("0.2")}
    assert pairs[1, 2].first == (0, 2)
    assert pairs[1, 2].second == (5, 9)
    assert dither.Together(mechanisms=list(pairs.values())).guarantee.within(dither.pure("0.6", unit=REPLACE))
    for columns, many in ((2, 1), (4, 6), (5, 10)):
        more = Covariance.pairs([(0, 1)] * columns, epsilon=1)
        assert len(more) == many
        assert {pair.epsilon for pair in more.values()} == {dither.Number(1) / many}
        assert dither.Together(mechanisms=list(more.values())).guarantee.within(dither.pure(1))
    for bad in ([(0, 1)], 5, None, []):
        with pytest.raises(SizeError):
            Covariance.pairs(bad, epsilon=1)


def test_refusals():
    for first in ((1, 0), (0, 0), 5, (0, math.inf), (0, 1, 2), "01", None):
        with pytest.raises(NumberError):
            Covariance(epsilon=1, first=first, second=(0, 1))
    with pytest.raises(SizeError, match="first column has 2"):
        tiny().count([1, 2], [1])
    for bad in ([1, 2, 3], [1.5] * 4, None, [None] * 4):
        with pytest.raises(InputError):
            tiny().release(bad)
    with pytest.raises(NumberError, match="confidence"):
        PairSummary(tiny(), (1, 2, 3, 4)).covariance_interval(2)


def test_plain_things():
    mechanism = tiny()
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    summary = mechanism.release([400, 100, 100, 400])
    assert pickle.loads(pickle.dumps(summary)) == summary
    assert summary.tolist() == list(summary.released)
    assert "covariance" in str(summary)
    assert mechanism.error("0.95") > 0
    assert mechanism.loss().epsilon(0) == pytest.approx(1)


def test_bounds_whose_product_no_double_holds_are_refused():
    with pytest.raises(NumberError, match="largest double"):
        Covariance(first=(0, 1e200), second=(0, 1e200), epsilon=1)
    wide = Covariance(first=(0, 1e150), second=(0, 1e150), epsilon=1)
    assert all(math.isfinite(end) for end in wide.release([0] * 4).covariance_interval("0.95"))
