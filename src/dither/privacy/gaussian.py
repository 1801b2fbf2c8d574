"""Gaussian differential privacy: mu-GDP, with its exact profile.

    delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)       (Balle and Wang 2018)

The hardest pair of a mu-GDP mechanism is N(0, 1) against N(mu, 1); the formula is its hockey-stick divergence, found by
integrating the density difference over the half-line where the loss mu x - mu^2/2 exceeds epsilon. k-fold: mu^2 adds up.
Rényi: alpha mu^2 / 2. The most powerful test at level a has power Phi(Phi^-1(a) + mu).

mu^2 is rational and kept exactly: sums of squares stay rational where sums of roots would not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from flint import arb

from dither.numeric.balls import precision
from dither.numeric.enclosure import certify, to_ball
from dither.numeric.number import Enclosure, Number
from dither.privacy.currency import Currency, stored_fraction
from dither.privacy.show import four_digits
from dither.privacy.solve import smallest, surely

if TYPE_CHECKING:
    from dither.privacy.pairs.record import Terms


def phi(x: arb) -> arb:
    """The standard normal distribution function; relative precision in the lower tail."""
    return (-x / arb(2).sqrt()).erfc() / 2


def profile(mu: arb, epsilon: arb) -> arb:
    """delta(epsilon) of mu-GDP."""
    return phi(mu / 2 - epsilon / mu) - epsilon.exp() * phi(-mu / 2 - epsilon / mu)


@dataclass(frozen=True)
class GaussianPart(Currency):
    """mu-GDP."""

    kind: ClassVar[str] = "gdp"
    mu2: Fraction

    def mu(self) -> arb:
        return to_ball(self.mu2).sqrt()

    def renyi(self, alpha: Fraction) -> arb:
        return to_ball(alpha * self.mu2 / 2)

    def largest_loss(self) -> Number | None:
        return Number(0) if self.mu2 == 0 else None

    def rho(self) -> arb:
        return to_ball(self.mu2 / 2)

    def charged_rho(self) -> Fraction:
        return self.mu2 / 2

    def charged_renyi(self, alpha: Fraction) -> Number:
        return Number(alpha * self.mu2 / 2)

    def rest_delta(self, epsilon: Number) -> Enclosure:
        if self.mu2 == 0:
            return Enclosure(0.0, 0.0)
        return certify(lambda: profile(self.mu(), epsilon.ball()), bits=128)

    def rest_epsilon(self, delta: Fraction) -> Enclosure:
        if self.mu2 == 0:
            return Enclosure(0.0, 0.0)
        return smallest(lambda x: self._meets(x, delta), _guess(self.mu2, delta))

    def _meets(self, epsilon: Fraction, delta: Fraction) -> bool | None:
        return surely(lambda: profile(self.mu(), to_ball(epsilon)) - to_ball(delta))

    def pairs(self) -> Terms:
        from dither.privacy.pairs.normal import Normal

        return ((Normal(self.mu2), 1),) if self.mu2 else ()

    def power(self, level: Fraction) -> float:
        """Phi(Phi^-1(level) + mu), by solving Phi(-z) = level for z from below."""
        if level == 0:
            return 0.0

        def meets(x: Fraction) -> bool | None:  # whether Phi(40 - x) <= level, that is z <= x - 40
            return surely(lambda: phi(to_ball(40 - x)) - to_ball(level), most=2048)

        z = Fraction(smallest(meets, 40.0, most=200.0).lower) - 40  # not above the true z, so the power is not below
        return min(1.0, certify(lambda: phi(self.mu() - to_ball(z))).upper)

    def plus(self, other: Self) -> Self:
        return type(self)(self.mu2 + other.mu2)

    def times(self, count: int) -> Self:
        return type(self)(self.mu2 * count)

    def group(self, people: int) -> Self:
        return type(self)(self.mu2 * people**2)

    def within(self, other: Self) -> bool:
        return self.mu2 <= other.mu2

    def describe(self) -> str:
        top, bottom = math.isqrt(self.mu2.numerator), math.isqrt(self.mu2.denominator)
        exactly = Fraction(top, bottom) if Fraction(top, bottom) ** 2 == self.mu2 else certify(self.mu).upper
        return f"μ = {four_digits(exactly)} Gaussian DP"

    def to_json(self) -> dict[str, object]:
        return {"mu2": str(self.mu2)}

    @classmethod
    def from_json(cls, stored: dict[str, object]) -> Self:
        return cls(stored_fraction(stored["mu2"]))


def _guess(mu2: Fraction, delta: Fraction) -> float:
    """Newton on ln delta in 96-bit balls' midpoints: close, and checked by whoever asked."""
    with precision(96):
        mu, target = to_ball(mu2).sqrt().mid(), to_ball(delta).log().mid()
        epsilon = mu * mu / 2 + mu * (-2 * target).sqrt()  # the simple zCDP bound: above the answer
        for _ in range(40):
            tail = (epsilon.exp() * phi(-mu / 2 - epsilon / mu)).mid()
            value = (phi(mu / 2 - epsilon / mu) - tail).mid()
            if not value > 0:
                break
            change = ((value.log() - target) * value / tail).mid()
            following = (epsilon + change).mid()
            if not following > 0:  # overshot: the answer is close to zero or is zero
                following = (epsilon / 4).mid()
            epsilon = following
            if abs(change) < epsilon * arb((1, -62)):
                break
        return float(epsilon)
