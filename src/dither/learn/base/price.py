"""The price of a fit: an epsilon of pure differential privacy, or a mu of Gaussian differential privacy, exactly.

(epsilon, delta) buys Gaussian noise: the largest mu whose exact curve passes below it, rounded down. A fit then releases
integer statistics with shares of mu^2 that add up to at most 1. rho-zCDP buys mu = sqrt(2 rho).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, TypeAlias

from attrs import frozen

from dither.errors import GuaranteeError, NumberError, stated
from dither.numeric.number import Number, NumberLike, exact
from dither.privacy import calibrate
from dither.privacy.guarantee.approx import Approx
from dither.privacy.guarantee.definitions import gdp, pure
from dither.privacy.guarantee.gaussian import Gdp
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.guarantee.zcdp import Zcdp
from dither.privacy.records import read_delta
from dither.privacy.unit import Unit, UnitLike, read_unit

Kind: TypeAlias = Literal["pure", "gaussian"]
LEAST, MOST = Fraction(1, 10**9), Fraction(10**9)  # epsilon, and mu: beyond it noise is all there is, or none at all
WAYS = "epsilon=1, delta='1e-6', or guarantee=dither.zcdp('0.1')"


@frozen
class Price:
    """What a fit costs, and in which noise it is spent."""

    guarantee: Guarantee  # what is charged
    words: str  # as it was stated
    mu2: Fraction | None  # mu^2, where noise is Gaussian
    epsilon: Fraction | None  # where noise is geometric

    @property
    def kind(self) -> Kind:
        """The noise."""
        return "gaussian" if self.epsilon is None else "pure"

    @property
    def unit(self) -> Unit:
        """Whom it protects."""
        return self.guarantee.unit

    @property
    def replacement(self) -> int:
        """How many removals and additions of one person's rows a neighbour is away: one, or two where she is replaced."""
        return 2 if self.unit.replacement is self.unit else 1

    @property
    def mu(self) -> float:
        """How well neighbours can be told apart, for rules of thumb: mu, or the epsilon of geometric noise."""
        return float(self.mu2) ** 0.5 if self.mu2 is not None else float(self.epsilon or 0)


def read_price(
    epsilon: NumberLike | None,
    delta: NumberLike | None,
    guarantee: Guarantee | None,
    unit: UnitLike,
    kinds: tuple[Kind, ...],
) -> Price:
    """The price as stated. `kinds` are those of the estimator; a stronger promise than was asked for is charged as such."""
    if (epsilon is None) == (guarantee is None):
        came = stated(epsilon=epsilon, guarantee=guarantee)
        raise NumberError("price", came, "it is stated in exactly one way", WAYS)
    if guarantee is not None:
        return _from_guarantee(guarantee, delta, kinds)
    assert epsilon is not None
    whom, target = read_unit(unit), exact(epsilon, name="epsilon", positive=True)
    lost = Fraction(0) if delta is None else read_delta(delta)
    return _price(target, lost, whom, kinds)


def _from_guarantee(guarantee: Guarantee, delta: NumberLike | None, kinds: tuple[Kind, ...]) -> Price:
    if not isinstance(guarantee, Guarantee):
        raise GuaranteeError("guarantee", guarantee, "it is not a guarantee", WAYS)
    if delta is not None:
        raise NumberError("delta", delta, "the guarantee says it already", "no delta")
    part = guarantee.parts[0] if len(guarantee.parts) == 1 else None
    if isinstance(part, (Gdp, Zcdp)) and not part.charged_delta() and part.charged_rho() is not None:
        mu2 = 2 * Fraction(part.charged_rho() or 0)
        return _gaussian(mu2, guarantee.unit, kinds, str(guarantee))
    if isinstance(part, Approx):
        charge = guarantee.charge()
        assert charge.epsilon is not None
        return _price(Number(charge.epsilon), charge.delta, guarantee.unit, kinds)
    why = "an estimator spends pure epsilon, (epsilon, delta), zCDP or Gaussian DP"
    raise GuaranteeError("guarantee", str(guarantee), why, WAYS)


def _price(epsilon: Number, delta: Fraction, unit: Unit, kinds: tuple[Kind, ...]) -> Price:
    if delta > 0 and "gaussian" in kinds:
        words = f"(ε = {epsilon}, δ = {float(delta):.6g}) ({unit})"
        return _gaussian(1 / calibrate.gaussian(epsilon, delta) ** 2, unit, kinds, words)
    if "pure" not in kinds:
        why = "its noise is Gaussian, which has no epsilon without a delta"
        raise GuaranteeError("delta", float(delta), why, "delta='1e-6', or guarantee=dither.zcdp('0.1')")
    if not epsilon.is_rational:
        raise NumberError("epsilon", str(epsilon), "the noise of a fit has a rational scale", "a decimal such as '1.0986'")
    _within(epsilon.fraction(), "epsilon")
    promise = pure(epsilon, unit=unit)
    return Price(promise, str(promise), None, epsilon.fraction())


def _gaussian(mu2: Fraction, unit: Unit, kinds: tuple[Kind, ...], came: str) -> Price:
    if "gaussian" not in kinds:
        raise GuaranteeError("guarantee", came, "the noise of this estimator is geometric: pure epsilon", "epsilon=1")
    _within(mu2, "guarantee", squared=True)
    return Price(gdp(mu2=mu2, unit=unit), came, mu2, None)


def _within(amount: Fraction, where: str, *, squared: bool = False) -> None:
    """Refuse a price at which floats of the model would overflow."""
    power = 2 if squared else 1
    if not LEAST**power <= amount <= MOST**power:
        raise GuaranteeError(where, "a price out of range", "epsilon, or mu, of a fit lies between 1e-9 and 1e9", WAYS)
