"""The smallest noise that meets a target: it meets it, and a little less does not."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither import Loss, Number, amplify, calibrate, gdp, ln, pure, zcdp
from dither.errors import GuaranteeError, NumberError, PrecisionError


def test_oracle_job():
    truth = Fraction("133.596076731032122632168866487")
    assert truth <= calibrate.gaussian(1, "1e-6", count=1000) <= truth * (1 + Fraction(1, 10**12))


@settings(max_examples=60)
@given(
    st.fractions(min_value=Fraction(1, 20), max_value=25, max_denominator=20),
    st.sampled_from(["1e-3", "1e-6", "1e-12", "0.2"]),
    st.integers(1, 50),
)
def test_gaussian_noise_is_enough_and_barely(epsilon, delta, count):
    sigma = calibrate.gaussian(epsilon, delta, l2_sensitivity="1.5", count=count)
    mu2 = count * (Fraction(3, 2) / sigma) ** 2
    assert Fraction(gdp(mu2=mu2).delta(epsilon)) <= Fraction(delta) * (1 + Fraction(1, 10**12))
    assert Fraction(gdp(mu2=mu2 * (1 + Fraction(1, 10**9))).delta(epsilon)) > Fraction(delta)


def test_the_classical_formula_only_where_it_is_proved():
    for epsilon in ("0.1", "0.5", "0.99"):
        sigma = calibrate.gaussian_classical(epsilon, "1e-5")
        assert gdp(mu2=1 / sigma**2).delta(epsilon) <= 1e-5
        assert calibrate.gaussian(epsilon, "1e-5") < sigma
    for epsilon in (1, 10, 20):
        with pytest.raises(GuaranteeError, match="below 1"):
            calibrate.gaussian_classical(epsilon, "1e-5")
    false = Fraction(math.sqrt(2 * math.log(1.25e5)) / 20)  # what the formula would say at epsilon = 20
    assert gdp(mu2=1 / false**2).delta(20) == pytest.approx(1.5e-3, rel=0.05)
    assert calibrate.gaussian(20, "1e-5") > false


def test_laplace_and_shares_of_a_budget():
    assert calibrate.laplace("0.5", sensitivity=3) == 6
    assert calibrate.laplace(1, count=10) == 10
    assert calibrate.laplace(ln(3)) == pytest.approx(1 / math.log(3), rel=1e-15)
    assert calibrate.laplace(ln(3)) >= Fraction(10**30) / Fraction("1.098612288668109691395245236922525704e30")
    assert calibrate.epsilon_each(ln(3), count=2) == ln(3) / 2
    each = calibrate.epsilon_each(1, count=100, delta="1e-6")
    assert (100 * pure(each)).delta(1) <= 1e-6
    assert (100 * pure(each * Fraction(1001, 1000))).delta(1) > 1e-6
    assert each > Fraction(1, 100)
    assert calibrate.epsilon_each(1, count=1, delta="1e-6") == 1


def test_variance_for_rho_is_exact():
    assert calibrate.gaussian_for_rho("1/8", l2_sensitivity=3, count=2) == 72
    variance = calibrate.gaussian_for_rho("0.1")
    assert (gdp(mu2=1 / variance)).within(zcdp("0.1"))


def test_extreme_targets_are_refused_not_guessed():
    for call in (
        lambda: calibrate.gaussian(0, "1e-400"),
        lambda: calibrate.laplace("1e400", count=3, delta="1e-6"),
        lambda: calibrate.largest_rho(Number("1e400"), Fraction(1, 10**6)),
    ):
        with pytest.raises(PrecisionError, match="What would work"):
            call()


def test_bad_targets_are_refused():
    with pytest.raises(NumberError, match="delta = 0"):
        calibrate.gaussian(1, 0)
    for bad in ("nan", -1, True, "x"):
        with pytest.raises(NumberError):
            calibrate.gaussian(bad, "1e-6")
        with pytest.raises(NumberError):
            calibrate.gaussian(1, "1e-6", l2_sensitivity=bad)
        with pytest.raises(NumberError):
            calibrate.laplace(bad)
    for count in (0, -1, 1.5):
        with pytest.raises(NumberError):
            calibrate.laplace(1, count=count)
    with pytest.raises(NumberError):
        calibrate.laplace(0)
    with pytest.raises(NumberError):
        calibrate.gaussian_for_rho(0)


def test_sampled_gaussian_noise_is_enough_and_barely():
    sigma = calibrate.sampled_gaussian(1, "1e-6", rate="0.01", count=500, l2_sensitivity=2)

    def epsilon(scale):
        return (500 * Loss.gaussian(scale, sensitivity=2).poisson_subsampled("0.01")).epsilon("1e-6")

    assert 1 - 1e-7 < epsilon(sigma) <= 1
    assert epsilon(sigma * Fraction(9999, 10000)) > 1
    with pytest.raises(NumberError):
        calibrate.sampled_gaussian(1, "1e-6", rate=2)


def test_least_noise_for_any_loss():
    truth = Fraction("133.596076731032122632168866487")
    found = calibrate.least_noise(lambda sigma: 1000 * Loss.gaussian(sigma), 1, "1e-6")
    assert truth <= found <= truth * (1 + Fraction(1, 10**8))
    mixed = calibrate.least_noise(lambda x: 50 * Loss.laplace(x) + 20 * Loss.gaussian(x), 2, "1e-6", start=100)
    assert 2 - 1e-6 < (50 * Loss.laplace(mixed) + 20 * Loss.gaussian(mixed)).epsilon("1e-6") <= 2
    with pytest.raises(NumberError):
        calibrate.least_noise(Loss.gaussian, 1, 0)
    with pytest.raises(GuaranteeError, match="Loss"):
        calibrate.least_noise(lambda sigma: sigma, 1, "1e-6")
    with pytest.raises(PrecisionError):
        calibrate.least_noise(lambda _: Loss.pure(3), 1, "1e-6")


def test_the_largest_epsilon_of_shuffled_reports():
    local = calibrate.largest_shuffled("0.1", "1e-6", people=10_000)
    assert amplify.shuffled(Number(local), 10_000).epsilon("1e-6") <= 0.1
    assert amplify.shuffled(Number(local * Fraction(101, 100)), 10_000).epsilon("1e-6") > 0.1
    assert calibrate.largest_shuffled("0.1", "1e-6", people=100_000) > local
