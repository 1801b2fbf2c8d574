"""The discrete Gaussian mechanism: zCDP, and no more than that."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dither import DiscreteGaussian, sensitivity, zcdp
from dither.errors import InputError
from dither.testing import check_mechanism

CASES = [
    DiscreteGaussian(l2_sensitivity=1, sigma2="0.25"),
    DiscreteGaussian(l2_sensitivity=1, sigma2=1),
    DiscreteGaussian(l2_sensitivity=3, sigma2=4),
    DiscreteGaussian(l2_sensitivity=1, rho="0.02"),
]
VECTORS = [
    DiscreteGaussian(l2_sensitivity=2, sigma2=1, dimension=2),
    DiscreteGaussian(l2_squared=2, sigma2="0.5", dimension=3),
]


@pytest.mark.parametrize("mechanism", CASES, ids=repr)
def test_conforms(mechanism):
    check_mechanism(mechanism)


@pytest.mark.parametrize("mechanism", VECTORS, ids=repr)
def test_vectors_conform(mechanism):
    check_mechanism(mechanism, cutoff="1e-13")


def test_the_promise_is_zcdp_and_exact():
    assert DiscreteGaussian(l2_sensitivity=3, sigma2=4).guarantee == zcdp("9/8")
    assert DiscreteGaussian(l2_sensitivity=3, rho="0.3").guarantee == zcdp("0.3")
    assert DiscreteGaussian(l2_sensitivity=3, sigma=2) == DiscreteGaussian(l2_sensitivity=3, sigma2=4)
    histogram = sensitivity.histogram(unit="replace one person")
    assert DiscreteGaussian(l2_sensitivity=histogram, sigma2=4).guarantee == zcdp("1/4", unit="replace one person")


def test_for_error_has_the_most_noise():
    found = DiscreteGaussian.for_error(5, 0.95, l2_sensitivity=1)
    assert found.error(0.95) <= 5
    assert DiscreteGaussian(l2_sensitivity=1, sigma2=found.sigma2 * Fraction(1001, 1000)).error(0.95) > 5


def test_bad_input_is_refused_with_words():
    for bad in (
        {},
        {"l2_sensitivity": 1},
        {"l2_sensitivity": 1, "sigma2": 0},
        {"l2_sensitivity": 1, "sigma2": 1, "rho": 1},
        {"l2_sensitivity": 0, "sigma2": 1},
        {"l2_sensitivity": 1, "l2_squared": 1, "sigma2": 1},
        {"l2_sensitivity": 1, "rho": -1},
        {"l2_sensitivity": 1, "rho": 1, "dimension": 0},
    ):
        with pytest.raises(InputError, match="is refused"):
            DiscreteGaussian(**bad)
