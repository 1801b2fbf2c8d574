"""Concentrated differential privacy, zCDP, and the other definitions: theorems that `dither.theorems` shows by name."""

from __future__ import annotations

from typing import SupportsIndex

from dither.arguments import argument_errors
from dither.errors import NumberError
from dither.numeric.enclosure import certify, to_ball
from dither.numeric.number import NumberLike, exact, integer, rational
from dither.privacy.formulas import discrete_laplace, randomized_response
from dither.privacy.records import read_delta


@argument_errors
def pure_to_zcdp(epsilon: NumberLike) -> float:
    """The classical rho of epsilon-DP: every such mechanism is epsilon^2/2-zCDP (Bun and Steinke 2016).

    `pure_to_zcdp_tight` is smaller, and what `Guarantee` uses.

    Args:
        epsilon: at least 0.

    Raises:
        NumberError: a parameter is no number, or outside its range.

    Example:
        >>> from dither import theorems
        >>> theorems.pure_to_zcdp(1)
        0.5
    """
    e = exact(epsilon, name="epsilon", nonnegative=True)
    return certify(lambda: e.ball() ** 2 / 2).upper


@argument_errors
def pure_to_zcdp_tight(epsilon: NumberLike) -> float:
    """The least rho of epsilon-DP: every such mechanism is epsilon tanh(epsilon/2)-zCDP (Harrison and Manurangsi 2025).

    Randomized response has no smaller one. The proof is in `privacy/formulas/randomized_response.py`.

    Args:
        epsilon: at least 0.

    Raises:
        NumberError: a parameter is no number, or outside its range.

    Example:
        >>> from dither import theorems
        >>> round(theorems.pure_to_zcdp_tight(1), 4)
        0.4621
    """
    e = exact(epsilon, name="epsilon", nonnegative=True)
    return certify(lambda: randomized_response.rho(e)).upper


@argument_errors
def geometric_to_zcdp(epsilon: NumberLike, sensitivity: SupportsIndex) -> float:
    """The least rho of geometric noise: epsilon - (1 - e^-epsilon) r / sinh(r), r = epsilon / sensitivity.

    At sensitivity 1 it is that of every epsilon-DP mechanism; as the sensitivity grows it falls to that of Laplace noise,
    epsilon + e^-epsilon - 1. The proof is in `privacy/formulas/discrete_laplace.py`.

    Args:
        epsilon: of the mechanism, above 0.
        sensitivity: the largest change of the value in L1 norm, a whole number of at least 1.

    Raises:
        NumberError: a parameter is no number, or outside its range.

    Example:
        >>> from dither import theorems
        >>> [round(theorems.geometric_to_zcdp(1, moved), 4) for moved in (1, 2, 6)]
        [0.4621, 0.3935, 0.3708]
    """
    e, moved = exact(epsilon, name="epsilon", positive=True), integer(sensitivity, name="sensitivity", least=1)
    return certify(lambda: discrete_laplace.rho(e, e / moved)).upper


@argument_errors
def zcdp_to_approx(rho: NumberLike, delta: NumberLike) -> float:
    """rho-zCDP is (rho + 2 sqrt(rho ln 1/delta), delta)-DP for every delta > 0: simple, and never the best.

    Args:
        rho: at least 0.
        delta: above 0 and below 1.

    Raises:
        NumberError: a parameter is no number, or outside its range.

    Example:
        >>> from dither import theorems
        >>> round(theorems.zcdp_to_approx("0.1", "1e-6"), 2)
        2.45
    """
    amount, d = rational(rho, name="rho", nonnegative=True), read_delta(delta)
    if d == 0:
        raise NumberError("delta", delta, "zCDP has no epsilon with delta = 0", "a small probability such as '1e-6'")
    return certify(lambda: to_ball(amount) + 2 * (-to_ball(amount) * to_ball(d).log()).sqrt()).upper


@argument_errors
def gaussian_for_zcdp(l2_sensitivity: NumberLike, rho: NumberLike) -> float:
    """The sigma of Gaussian noise that is rho-zCDP: sensitivity / sqrt(2 rho).

    Args:
        l2_sensitivity: the L2 norm by which the true answer moves between neighbours, above 0.
        rho: the target, above 0.

    Raises:
        NumberError: a parameter is no number, or outside its range.

    Example:
        >>> from dither import theorems
        >>> theorems.gaussian_for_zcdp(1, "0.5")
        1.0
    """
    reach, amount = rational(l2_sensitivity, name="l2_sensitivity", positive=True), rational(rho, name="rho", positive=True)
    return certify(lambda: to_ball(reach) / to_ball(2 * amount).sqrt()).upper
