"""Gaussian differential privacy: mu-GDP, with its exact profile (`formulas/normal.py`).

k-fold: mu^2 adds up. Rényi: alpha mu^2 / 2. mu^2 is rational and kept exactly: sums of squares stay rational where sums of
roots would not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from flint import arb

from dither.numeric.enclosure import certify, to_ball
from dither.numeric.number import Enclosure, Number
from dither.privacy.formulas import normal
from dither.privacy.guarantee.currency import Currency
from dither.privacy.loss.pairs.normal import NormalPair
from dither.privacy.records import stored_fraction
from dither.privacy.text import four_digits

if TYPE_CHECKING:
    from dither.privacy.loss.pairs.json import PairTerms


@dataclass(frozen=True)
class Gdp(Currency):
    """mu-GDP, kept by the square of mu."""

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
        return normal.delta_between(self.mu2, epsilon)

    def rest_epsilon(self, delta: Fraction) -> Enclosure:
        return normal.epsilon_between(self.mu2, delta)

    def pairs(self) -> PairTerms:
        return ((NormalPair(self.mu2), 1),) if self.mu2 else ()

    def power(self, level: Fraction) -> float:
        return normal.power(self.mu2, level)

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
