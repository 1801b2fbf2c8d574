"""The definitions of differential privacy, each as a guarantee: pure, approximate, bounded range, zCDP, Rényi, Gaussian."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeVar

from dither.arguments import argument_errors
from dither.errors import GuaranteeError, NumberError, stated
from dither.numeric.number import Number, NumberLike, exact, rational
from dither.privacy.guarantee.approx import Approx
from dither.privacy.guarantee.bounded_range import BoundedRange
from dither.privacy.guarantee.gaussian import Gdp
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.guarantee.renyi import Renyi
from dither.privacy.guarantee.zcdp import Zcdp
from dither.privacy.records import read_delta
from dither.privacy.unit import Unit, UnitLike, read_unit

RenyiOrder = TypeVar("RenyiOrder", bound=NumberLike)  # keys of a mapping are invariant: {2: ...} is one from int


@argument_errors
def pure(epsilon: NumberLike, *, rho: NumberLike | None = None, unit: UnitLike = Unit.ADD_REMOVE) -> Guarantee:
    """epsilon-differential privacy. In zCDP every such mechanism has rho = epsilon tanh(epsilon/2).

    Args:
        epsilon: the largest loss, at least 0.
        rho: a smaller rho, where one is proved for this mechanism; rational, at least 0.
        unit: the neighbouring relation.

    Raises:
        NumberError: epsilon or rho is no number, or below 0.
        UnitError: the unit names no neighbouring relation.

    Example:
        >>> from dither import pure
        >>> (3 * pure("0.25")).epsilon()
        0.75
        >>> round(pure(1).rho(), 4)
        0.4621
    """
    own = None if rho is None else rational(rho, name="rho", nonnegative=True)
    part = Approx.of(exact(epsilon, name="epsilon", nonnegative=True), Fraction(0), own)
    return Guarantee(read_unit(unit), (part,))


@argument_errors
def bounded_range(epsilon: NumberLike, *, unit: UnitLike = Unit.ADD_REMOVE) -> Guarantee:
    """epsilon-differential privacy of bounded range: the promise of the exponential mechanism, with rho = epsilon^2/8.

    Args:
        epsilon: the length of the interval in which the loss lies, at least 0.
        unit: the neighbouring relation.

    Raises:
        NumberError: epsilon is no number, or below 0.
        UnitError: the unit names no neighbouring relation.

    Example:
        >>> from dither import bounded_range, pure
        >>> bounded_range(1).rho(), round(pure(1).rho(), 3)
        (0.125, 0.462)
    """
    part = BoundedRange(((exact(epsilon, name="epsilon", nonnegative=True), 1),))
    return Guarantee(read_unit(unit), (part,))


@argument_errors
def approx(epsilon: NumberLike, delta: NumberLike, *, unit: UnitLike = Unit.ADD_REMOVE) -> Guarantee:
    """(epsilon, delta)-differential privacy.

    Args:
        epsilon: at least 0.
        delta: rational, at least 0 and below 1.
        unit: the neighbouring relation.

    Raises:
        NumberError: epsilon or delta is no number, or outside its range.
        UnitError: the unit names no neighbouring relation.

    Example:
        >>> from dither import approx
        >>> print(approx(1, "1e-6") + approx(2, 0))
        (ε = 3, δ = 1e-06) (add/remove one person)
    """
    part = Approx.of(exact(epsilon, name="epsilon", nonnegative=True), read_delta(delta))
    return Guarantee(read_unit(unit), (part,))


@argument_errors
def zcdp(rho: NumberLike, *, delta: NumberLike = 0, unit: UnitLike = Unit.ADD_REMOVE) -> Guarantee:
    """rho-zero-concentrated differential privacy; with delta, up to an event of that probability.

    Args:
        rho: rational, at least 0.
        delta: the probability with which nothing is promised; rational, at least 0 and below 1.
        unit: the neighbouring relation.

    Raises:
        NumberError: rho or delta is no rational number, or outside its range.
        UnitError: the unit names no neighbouring relation.

    Example:
        >>> from dither import zcdp
        >>> round(zcdp("0.1").epsilon("1e-6"), 2)
        2.14
    """
    part = Zcdp(rational(rho, name="rho", nonnegative=True), read_delta(delta))
    return Guarantee(read_unit(unit), (part,))


@argument_errors
def renyi(
    curve: Mapping[RenyiOrder, NumberLike] | Mapping[NumberLike, NumberLike], *, unit: UnitLike = Unit.ADD_REMOVE
) -> Guarantee:
    """Rényi differential privacy at a list of orders.

    Args:
        curve: {order: epsilon}; orders are rational and above 1, epsilons at least 0.
        unit: the neighbouring relation.

    Raises:
        GuaranteeError: no order is listed, or one of them twice.
        NumberError: an order is not above 1, or an epsilon below 0.
        UnitError: the unit names no neighbouring relation.

    Example:
        >>> from dither import renyi
        >>> renyi({2: "0.1", 8: "0.5"}).renyi(2)
        0.1
    """
    if not isinstance(curve, Mapping) or not curve:
        raise GuaranteeError("curve", curve, "it lists no order", "{2: '0.1', 8: '0.5'}")
    points: list[tuple[Fraction, Number]] = []
    for alpha, epsilon in curve.items():
        order = rational(alpha, name="order")
        if order <= 1:
            raise NumberError("order", alpha, "a Rényi order lies above 1", "2, or '1.5'")
        if any(order == listed for listed, _ in points):
            raise GuaranteeError("order", alpha, "it is listed twice", "each order once")
        points.append((order, exact(epsilon, name="epsilon", nonnegative=True)))
    return Guarantee(read_unit(unit), (Renyi(tuple(sorted(points))),))


@argument_errors
def gdp(mu: NumberLike | None = None, *, mu2: NumberLike | None = None, unit: UnitLike = Unit.ADD_REMOVE) -> Guarantee:
    """mu-Gaussian differential privacy, by mu or by its square: exactly one of them is given.

    Args:
        mu: rational, at least 0.
        mu2: mu squared, where that is the rational one.
        unit: the neighbouring relation.

    Raises:
        NumberError: none or both are given, or what is given is no rational number of at least 0.
        UnitError: the unit names no neighbouring relation.

    Example:
        >>> from dither import gdp
        >>> gdp("0.5") == gdp(mu2="1/4")
        True
        >>> round(gdp(1).epsilon("1e-6"), 2)
        4.89
    """
    if (mu is None) == (mu2 is None):
        raise NumberError("mu, mu2", stated(mu=mu, mu2=mu2), "exactly one of them is needed", "mu='0.5', or mu2='1/4'")
    square = Fraction(0) if mu2 is None else rational(mu2, name="mu2", nonnegative=True)
    if mu is not None:
        square = rational(mu, name="mu", nonnegative=True) ** 2
    return Guarantee(read_unit(unit), (Gdp(square),))
