"""The region of coefficients and its intervals: coverage, extents, the chi-square quantile."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import dither
from dither.learn import LinearRegression
from dither.learn.linear import coefficient_region
from dither.learn.linear.chi_square import chi_square_quantile
from dither.learn.moments import second_moments
from dither.testing import seeded
from tests.learn import coverage
from tests.learn.test_linear_regression import BOUNDS, people
from tests.seeds import examples

pytestmark = pytest.mark.filterwarnings("ignore:NOT PRIVATE")


def test_the_region_covers_as_often_as_it_states():
    """0.95 exactly, whatever the data: the number of misses is binomial. One false alarm in a million seeds."""
    each = examples(40, 1000)
    held = sum(coverage.region_coverage(name, each) for name in coverage.SETS)
    total = each * len(coverage.SETS)
    low, high = stats.binom.ppf([5e-7, 1 - 5e-7], total, 0.95)
    assert low <= held <= high


def test_a_region_for_half_the_noise_is_found(monkeypatch):
    """The bug: a variance off by 2. The same harness sees it."""
    monkeypatch.setattr(coverage.LinearRegression, "region", half_the_noise(LinearRegression.region))
    held = coverage.region_coverage("heavy tails", 100)
    assert held < stats.binom.ppf(5e-7, 100, 0.95)


def test_the_region_of_ridge_is_about_its_penalty(monkeypatch):
    """Ridge regression without noise is held as often as stated; by a region that forgets the penalty, nearly never."""
    each = examples(40, 1000)
    low, high = stats.binom.ppf([5e-7, 1 - 5e-7], each, 0.95)
    assert low <= coverage.region_coverage("jobs", each, alpha=5000.0) <= high
    monkeypatch.setattr(coefficient_region, "slope_penalty", lambda size, _: np.zeros((size, size)))
    assert coverage.region_coverage("jobs", 20, alpha=5000.0) < 5


def half_the_noise(region):
    def wrong(self, confidence="0.95"):
        found = region(self, confidence)
        s = found.moments.deviation
        object.__setattr__(
            found,
            "moments",
            second_moments.SecondMoments(
                found.moments.matrix, s / 2, found.moments.width, found.moments.constant, found.moments.steps
            ),
        )
        return found

    return wrong


def test_the_region_lies_within_the_extents():
    X, y = people()
    rng = np.random.default_rng(3)
    with seeded(2):
        region = LinearRegression(epsilon=1, delta="1e-6", **BOUNDS).fit(X, y).region("0.95")
    extents = region.extents()
    assert not any(one.unbounded for one in extents)
    middle = np.array([(one.low + one.high) / 2 for one in extents])
    half = np.array([(one.high - one.low) / 2 for one in extents])
    held = 0
    for _ in range(3000):
        given = middle + half * rng.uniform(-1.5, 1.5, 3)
        if region.holds(given):
            held += 1
            assert (np.abs(given - middle) <= half).all()
    assert held > 30


def test_intervals_of_the_population_are_wider_where_rows_are_few():
    X, y = people()
    with seeded(2):
        model = LinearRegression(guarantee=dither.gdp(100), **BOUNDS).fit(X[:200], y[:200])
    noise, population = model.intervals(), model.intervals(kind="population")
    for one, other in zip(noise, population, strict=True):
        assert other.high - other.low > one.high - one.low
        assert other.low < one.low < one.high < other.high


@pytest.mark.parametrize("degrees", [1, 2, 11, 200])
@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.999999"])
def test_the_quantile_is_that_of_the_chi_square_law(degrees, confidence):
    found = chi_square_quantile(Fraction(confidence), degrees)
    assert found == pytest.approx(stats.chi2.ppf(float(confidence), degrees), rel=1e-9)
