"""The Gaussian mechanism: rounded noise, and the whole Gaussian curve."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from scipy.special import ndtr

from dither import Gaussian, Unit, gdp, sensitivity
from dither.errors import InputError, NumberError
from dither.mechanisms.additive.lattice_step import SPARE
from dither.noise import DiscreteNormal
from dither.testing import check_mechanism

CASES = [
    Gaussian(l2_sensitivity=1, sigma="0.3", integers=True),
    Gaussian(l2_sensitivity=1, sigma=1, integers=True),
    Gaussian(l2_sensitivity=3, sigma=5, integers=True),
    Gaussian(l2_sensitivity=1, rho="0.5", step="0.5"),
    Gaussian(l2_sensitivity="0.7", sigma="0.4", step="0.25"),
    Gaussian(l2_sensitivity=1, epsilon=1, delta="1e-3", integers=True),
    Gaussian(l2_squared=2, sigma=1, step=1),
]
VECTORS = [
    Gaussian(l2_sensitivity=2, sigma=1, integers=True, dimension=2),
    Gaussian(l2_squared=3, sigma="0.5", integers=True, dimension=3),
    Gaussian(l2_sensitivity=1, sigma=1, step=1, dimension=2),
]


@pytest.mark.parametrize("mechanism", CASES, ids=repr)
def test_conforms(mechanism):
    check_mechanism(mechanism)


@pytest.mark.parametrize("mechanism", VECTORS, ids=repr)
def test_vectors_conform(mechanism):
    check_mechanism(mechanism, cutoff="1e-12")


# -- the whole curve, in up to four dimensions -----------------------------------------------------------------------
# delta at 10^4 values of epsilon, for all whole shifts of L2 norm up to 2 (up to order and sign), against the curve of
# mu = norm / sigma. In plain floats, whose error is far below the tolerance. Above sigma = 2 losses of three and four
# coordinates are rounded down to a grid, which gives a lower bound of delta: a violation by more than the grid would show.

SHIFTS = [(1,), (2,), (1, 1), (1, 1, 1), (1, 1, 1, 1)]
POINTS = 10_000
TOLERANCE = 1e-13


def rounded(sigma, shift):
    """Probabilities of all outputs from 0 that matter, and their log ratios to those from `shift`."""
    reach = int(8.5 * sigma) + 6
    k = np.arange(-reach, reach + shift + 1)
    p, q = (_mass(sigma, k), _mass(sigma, k - shift))
    solid = (p > 1e-300) & (q > 1e-300)
    return p[solid], np.log(p[solid] / q[solid])


def _mass(sigma, k):
    k = np.abs(k)  # in the tail, where floats are dense
    return ndtr(-(k - 0.5) / sigma) - ndtr(-(k + 0.5) / sigma)


def discrete(sigma, shift):
    """The same for the discrete Gaussian, as a control that must fail."""
    k = np.arange(-int(8.5 * sigma) - 6, int(8.5 * sigma) + 7 + shift)
    weight = np.exp(-(k**2) / (2 * sigma**2))
    return weight / weight.sum(), (shift**2 - 2 * k * shift) / (2 * sigma**2)


def both(one, other):
    return np.outer(one[0], other[0]).ravel(), np.add.outer(one[1], other[1]).ravel()


def on_a_grid(pair, step):
    """Losses rounded down to a grid: fewer, and never more private than the truth."""
    places = np.floor(pair[1] / step).astype(np.int64)
    low = places.min()
    masses = np.bincount(places - low, weights=pair[0])
    used = masses > 0
    return masses[used], ((np.flatnonzero(used)) + low) * step


def deltas(pair, epsilons):
    """sum of P (1 - e^(epsilon - loss)) over losses above epsilon, for many epsilon at once."""
    order = np.argsort(pair[1])[::-1]
    p, loss = pair[0][order], pair[1][order]
    tops, bottoms = np.cumsum(p), np.cumsum(p * np.exp(-loss))
    inside = np.searchsorted(-loss, -epsilons)
    tops, bottoms = np.concatenate([[0.0], tops]), np.concatenate([[0.0], bottoms])
    return tops[inside] - np.exp(epsilons) * bottoms[inside]


def curve(mu, epsilons):
    return ndtr(mu / 2 - epsilons / mu) - np.exp(epsilons) * ndtr(-mu / 2 - epsilons / mu)


def excess(make, sigma, shift):
    """The largest delta above the Gaussian curve."""
    coordinates = [make(sigma, s) for s in shift]
    if sigma > 2 and len(shift) > 2:
        half = on_a_grid(both(*coordinates[:2]), 0.002 / sigma)
        rest = coordinates[2] if len(shift) == 3 else half
        pair = both(half, on_a_grid(rest, 0.002 / sigma) if len(shift) == 3 else rest)
    else:
        pair = reduce(both, coordinates)
    mu = float(np.sqrt(sum(s * s for s in shift))) / sigma
    epsilons = np.linspace(0, min(6 * mu + mu * mu / 2, 60), POINTS)
    return float(np.max(deltas(pair, epsilons) - curve(mu, epsilons)))


@pytest.mark.parametrize("sigma", [0.3, 0.5, 0.8, 1, 2, 5, 20, 50])
@pytest.mark.parametrize("shift", SHIFTS, ids=str)
def test_no_delta_lies_above_the_curve(sigma, shift):
    assert excess(rounded, sigma, shift) <= TOLERANCE


@pytest.mark.parametrize(("sigma", "shift"), [(0.5, (1,)), (1, (1,)), (5, (1,)), (1, (1, 1, 1, 1)), (2, (1, 1))])
def test_the_discrete_gaussian_does_lie_above_it(sigma, shift):
    assert excess(discrete, sigma, shift) > 1e-5
    law = DiscreteNormal(Fraction(sigma) ** 2)
    assert abs(law.pmf(1).lower - discrete(sigma, 0)[0][int(8.5 * sigma) + 7]) < 1e-12  # the control is what it says


# -- ways to state the noise -----------------------------------------------------------------------------------------


def test_ways_to_state_the_noise():
    assert Gaussian(l2_sensitivity=1, sigma=2, integers=True).guarantee == gdp("1/2")
    assert Gaussian(l2_sensitivity=1, sigma2=4, integers=True) == Gaussian(l2_sensitivity=1, sigma=2, integers=True)
    assert Gaussian(l2_sensitivity=3, rho="0.1").guarantee == gdp(mu2="0.2")
    assert Gaussian(l2_sensitivity=3, rho="0.1", dimension=7).guarantee == gdp(mu2="0.2")
    for extra in ({}, {"dimension": 5}, {"dimension": 5, "integers": True}):
        both_given = Gaussian(l2_sensitivity=2, epsilon=1, delta="1e-6", **extra)
        assert both_given.guarantee.delta(1) <= 1e-6
        less = Gaussian(l2_sensitivity=2, sigma2=both_given.sigma2 * Fraction(999_999, 10**6), **extra)
        assert less.guarantee.delta(1) > 1e-6
    assert 4.22 < float(Gaussian(l2_sensitivity=1, epsilon=1, delta="1e-6").sigma2) ** 0.5 < 4.23


def test_rounding_costs_what_it_costs():
    whole = Gaussian(l2_sensitivity=1, sigma=1, dimension=100, integers=True)
    fine = Gaussian(l2_sensitivity=1, sigma=1, dimension=100)
    coarse = Gaussian(l2_sensitivity=1, sigma=1, dimension=100, step=1)
    assert whole.guarantee == gdp(1)
    assert gdp(1).within(fine.guarantee)
    assert fine.guarantee.within(gdp("1.001"))
    assert gdp(11).within(coarse.guarantee)
    assert coarse.guarantee.within(gdp("11.01"))


def test_sensitivities_with_roots():
    histogram = sensitivity.histogram(unit=Unit.REPLACE_ONE)
    mechanism = Gaussian(l2_sensitivity=histogram, sigma=2, dimension=3, integers=True)
    assert mechanism.guarantee == gdp(mu2="1/2", unit=Unit.REPLACE_ONE)
    assert 1.4142135623730950 <= mechanism.l2_sensitivity <= 1.4142135623730952
    one = Gaussian(l2_squared=2, sigma=1, step="0.5")
    assert one.reach2 == 9  # ceil(2 sqrt 2) = 3 steps
    barely = Gaussian(l2_squared=(2 - SPARE) ** 2 + Fraction(1, 2**200), step=1, rho=1)
    assert barely.reach2 == 9  # a root just above 2 steps is not rounded down
    wide = Gaussian(l2_squared=3, step=1, sigma=1, dimension=2)
    with localcontext(prec=60):  # not below the root of three plus the root of two, and not by a float too little
        assert wide.reach2 >= Fraction((Decimal(3).sqrt() + Decimal(2).sqrt() + Decimal(1) / 1024 - Decimal("1e-50")) ** 2)
    for squared in range(1, 60):
        again = Gaussian(l2_sensitivity=sensitivity.Sensitivity(l1=1, l2_squared=squared, unit=Unit.ADD_REMOVE).l2, sigma=1)
        assert again.l2_squared >= squared  # a rounded root that is read back is not below the root


def test_the_error_is_that_of_the_normal_law():
    mechanism = Gaussian(l2_sensitivity=1, sigma=1)
    assert abs(mechanism.error(0.95) - 1.959964) < 1e-3
    vector = Gaussian(l2_sensitivity=1, sigma=1, dimension=50)
    expected = -1.0 * _inverse(0.5 * (1 - 0.95 ** (1 / 50)))
    assert abs(vector.error(0.95) - expected) < 1e-3


def _inverse(p):
    from scipy.special import ndtri

    return float(ndtri(p))


def test_for_error_has_the_most_noise():
    for width, extra in ((3, {}), (5, {"integers": True}), (5, {"dimension": 4})):
        found = Gaussian.for_error(width, 0.95, l2_sensitivity=1, **extra)
        assert found.error(0.95) <= width
        more = Gaussian(l2_sensitivity=1, sigma2=found.sigma2 * Fraction(1001, 1000), **extra)
        assert more.error(0.95) > width


def test_bad_input_is_refused_with_words():
    for bad in (
        {},
        {"sigma": 1, "rho": 1},
        {"epsilon": 1},
        {"delta": "1e-6"},
        {"epsilon": 1, "delta": 0},
        {"epsilon": 1, "delta": "1e-6", "sigma": 1},
        {"sigma": 0},
        {"sigma": -1},
        {"sigma2": float("inf")},
        {"rho": 0},
        {"sigma": 1, "dimension": 0},
        {"sigma": 1, "step": 0},
        {"sigma": "1e-30"},
        {"sigma": 1, "integers": True, "step": 2},
        {"sigma": 1, "integers": "no"},
        {"sigma": 1, "delta": "1e-6"},
        {"rho": 1, "delta": "1e-6"},
        {"rho": 1, "step": "1e-320"},
        {"rho": 1, "step": "1e320"},
    ):
        with pytest.raises(InputError, match="is refused"):
            Gaussian(**{"l2_sensitivity": 1, **bad})
    for reach in ({"l2_sensitivity": 0}, {"l2_sensitivity": 1, "l2_squared": 1}, {}, {"l2_squared": -1}):
        with pytest.raises(NumberError):
            Gaussian(sigma=1, **reach)
    with pytest.raises(InputError):
        Gaussian(l2_sensitivity=1, sigma=1, integers=True).release(0.5)
