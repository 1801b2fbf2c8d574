"""Zero-concentrated differential privacy: Rényi divergence of order a at most rho a, for all a > 1.

δ-approximate: with probability `lost` everything is lost, otherwise rho-zCDP (Bun and Steinke 2016). Composition adds
both. A group of k people has k^2 rho; for the approximate kind no such theorem is used here.

From rho to (epsilon, delta), the smaller of two, both proved upper bounds:

    Rényi    ln delta = (a-1)(rho a - epsilon + ln(1 - 1/a)) - ln a, any a > 1     (Canonne, Kamath and Steinke 2020)
    tail     delta = min{ sqrt(pi rho), 1/(1+u), 2/(1 + u + sqrt((1+u)^2 + 4/(pi rho))) } e^(-(epsilon-rho)^2 / (4 rho)),
             u = (epsilon - rho)/(2 rho), epsilon >= rho                           (Bun and Steinke 2016)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from flint import arb

from dither.errors import GuaranteeError
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number
from dither.privacy.guarantee.currency import Askable, Currency
from dither.privacy.records import stored_delta, stored_fraction
from dither.privacy.text import four_digits


def tail_delta(rho: arb, epsilon: arb) -> arb:
    """Bun and Steinke's bound; 1 where it says nothing."""
    gap = epsilon - rho
    if not gap >= 0 or not rho > 0:
        return to_ball(1)
    u = gap / (2 * rho)
    third = 2 / (1 + u + ((1 + u) ** 2 + 4 / (arb.pi() * rho)).sqrt())
    factor = (arb.pi() * rho).sqrt().min(1 / (1 + u)).min(third)
    return factor * (-(gap**2) / (4 * rho)).exp()


@dataclass(frozen=True)
class Zcdp(Currency):
    """rho-zCDP, up to an event of probability `lost`."""

    kind: ClassVar[str] = "zcdp"
    amount: Fraction
    lost: Fraction = Fraction(0)

    def events(self) -> arb:
        return to_ball(self.lost)

    def renyi(self, alpha: Fraction) -> arb:
        return to_ball(alpha * self.amount)

    def largest_loss(self) -> Number | None:
        return Number(0) if self.amount == 0 else None

    def rho(self) -> arb:
        return to_ball(self.amount)

    def charged_delta(self) -> Fraction:
        return self.lost

    def charged_rho(self) -> Fraction:
        return self.amount

    def charged_renyi(self, alpha: Fraction) -> Number:
        return Number(alpha * self.amount)

    def plus(self, other: Self) -> Self:
        return type(self)(self.amount + other.amount, min(Fraction(1), self.lost + other.lost))

    def times(self, count: int) -> Self:
        return type(self)(self.amount * count, min(Fraction(1), self.lost * count))

    def group(self, people: int) -> Self:
        if self.lost and people > 1:
            raise GuaranteeError(
                "group", people, "no group theorem for approximate zCDP is used here", "a guarantee without delta"
            )
        return type(self)(self.amount * people**2)

    def within(self, other: Self) -> bool:
        return self.amount <= other.amount and self.lost <= other.lost

    def follows_from(self, guarantee: Askable) -> bool:
        charge = guarantee.charge()
        return charge.rho is not None and charge.rho <= self.amount and charge.delta <= self.lost

    def describe(self) -> str:
        text = f"ρ = {four_digits(self.amount)} zCDP"
        return text if self.lost == 0 else f"{text} up to δ = {four_digits(self.lost)}"

    def to_json(self) -> dict[str, object]:
        return {"rho": str(self.amount), "delta": str(self.lost)}

    @classmethod
    def from_json(cls, stored: dict[str, object]) -> Self:
        return cls(stored_fraction(stored["rho"]), stored_delta(stored["delta"]))
