"""Numbers that are found once: half-widths, conversions, mechanisms of quantiles. A hit is what a miss computes."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dither
from dither.mechanisms.additive import additive
from dither.noise.gaussian import RoundedGaussian
from dither.noise.laplace import DiscreteLaplace
from dither.numeric.number import Number
from dither.privacy import calibrate
from dither.query.pricing import spend
from dither.query.pricing.fingerprint import question
from dither.query.statistics import quantiles
from tests.query.clinics import clinic

LEVEL = Fraction(19, 20)


@pytest.mark.parametrize(
    "law", [RoundedGaussian(sigma2=Fraction(77, 3)), DiscreteLaplace(rate=Number("ln(3)")), DiscreteLaplace(rate="0.01")]
)
def test_half_widths(law):
    for level in (LEVEL, Fraction(9, 10)):
        for dimension in (1, 5):
            given = law, level, dimension
            assert additive.half_width(*given) == additive.half_width(*given) == additive.half_width.__wrapped__(*given)
    assert additive.half_width(law, LEVEL, 1) > additive.half_width(law, Fraction(9, 10), 1)
    assert additive.half_width(law, LEVEL, 1) < additive.half_width(law, LEVEL, 5)


def test_half_widths_of_other_laws():
    """Equal numbers are no equal laws."""
    laws = RoundedGaussian(sigma2=4), DiscreteLaplace(rate=4), RoundedGaussian(sigma2=400)
    found = [additive.half_width(law, LEVEL, 1) for law in laws]
    assert found == [additive.half_width.__wrapped__(law, LEVEL, 1) for law in laws]
    assert len(set(found)) == 3


@pytest.mark.parametrize("epsilon", ["0.5", "ln(3)", "0.5*ln(9)"])
def test_the_largest_rho(epsilon):
    number, delta = Number(epsilon), Fraction(1, 10**6)
    calibrate._largest_rho.cache_clear()
    first = calibrate.largest_rho(number, delta)
    assert calibrate.largest_rho(number, delta) == first
    assert calibrate._largest_rho.cache_info().hits == 1
    assert calibrate._largest_rho.__wrapped__(number, delta, "") == first
    assert calibrate.largest_rho(number, delta / 10) < first


def test_the_largest_rho_of_equal_numbers():
    """They are kept apart: what one of them gives never hangs on who came first."""
    calibrate._largest_rho.cache_clear()
    for epsilon in ("ln(3)", "0.5*ln(9)", "1/2*ln(9)"):
        calibrate.largest_rho(Number(epsilon), Fraction(1, 10**6))
    assert calibrate._largest_rho.cache_info().misses == 2


def test_whether_a_promise_is_kept():
    target = dither.approx(1, "1e-6")
    spend.keeps.cache_clear()
    for promise in (
        dither.gdp("0.1"),
        dither.gdp(1),
        dither.pure(1),
        dither.pure("1.01"),
        dither.zcdp("0.01"),
        dither.zcdp(1),
    ):
        assert spend.keeps(promise, target) == spend.keeps(promise, target) == promise.within(target)
        assert not spend.keeps(promise, dither.approx("0.001", "1e-9"))
        assert not spend.keeps(promise, dither.approx(1, "1e-6", unit="replace one person"))


@pytest.mark.parametrize("epsilon", ["1", "0.05", "ln(9)", "2*ln(3)"])
def test_mechanisms_of_quantiles(tmp_path, epsilon):
    """Whatever the rows are, they are the same; the spelling of the price is the question's own."""
    asked = ["MEDIAN(cost) AS m", "QUANTILE(cost, 0.25) AS a, QUANTILE(cost, 0.5) AS b, QUANTILE(cost, 0.75) AS c"]
    data = clinic(tmp_path)
    for columns in asked:
        quantiles._mechanisms.cache_clear()
        first = question(data.quote(f"SELECT {columns} FROM visits", epsilon=epsilon).offer)
        misses = quantiles._mechanisms.cache_info().misses
        other = "2*ln(3)" if epsilon == "ln(9)" else "ln(9)" if epsilon == "2*ln(3)" else "0.7"
        data.quote(f"SELECT {columns} FROM visits WHERE age > 4", epsilon=epsilon)
        assert quantiles._mechanisms.cache_info().misses == misses
        quantiles._mechanisms.cache_clear()
        data.quote(f"SELECT {columns} FROM visits", epsilon=other)
        again = question(clinic(tmp_path).quote(f"SELECT {columns} FROM visits", epsilon=epsilon).offer)
        assert repr(again) == repr(first)
