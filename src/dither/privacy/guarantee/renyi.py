"""Rényi differential privacy: a bound on the divergence at each of a list of orders.

Between two listed orders the bound is interpolated: (a - 1) D_a is a cumulant generating function of the loss, hence
convex in a and zero at a = 1, so the chord between neighbouring orders lies above it. Beyond the last order nothing is
known. From orders to (epsilon, delta), at any order a > 1 (Canonne, Kamath and Steinke 2020; Balle et al. 2020):

    epsilon = D_a + ln(1 - 1/a) - (ln delta + ln a) / (a - 1)
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar, Self

from flint import arb

from dither.errors import GuaranteeError
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number
from dither.privacy.guarantee.currency import Askable, Currency
from dither.privacy.records import stored_fraction, stored_list, stored_number
from dither.privacy.text import four_digits


def epsilon_at(alpha: Fraction, divergence: arb, delta: arb) -> arb:
    """The epsilon that order alpha gives."""
    a = to_ball(alpha)
    return divergence + (1 - 1 / a).log() - (delta.log() + a.log()) / (a - 1)


def log_delta_at(alpha: Fraction, divergence: arb, epsilon: arb) -> arb:
    """The logarithm of the delta that order alpha gives."""
    a = to_ball(alpha)
    return (a - 1) * (divergence - epsilon + (1 - 1 / a).log()) - a.log()


@dataclass(frozen=True)
class Renyi(Currency):
    """D_a <= epsilon_a for the listed orders a."""

    kind: ClassVar[str] = "renyi"
    curve: tuple[tuple[Fraction, Number], ...]  # by increasing order

    def renyi(self, alpha: Fraction) -> arb | None:
        return self._at(alpha).ball() if alpha <= self.curve[-1][0] else None

    def charged_renyi(self, alpha: Fraction) -> Number | None:
        return self._at(alpha) if alpha <= self.curve[-1][0] else None

    def largest_loss(self) -> Number | None:
        return Number(0) if all(bound == 0 for _, bound in self.curve) else None

    def plus(self, other: Self) -> Self:
        """At the orders that both list or cover."""
        orders = sorted({a for a, _ in self.curve} | {a for a, _ in other.curve})
        last = min(self.curve[-1][0], other.curve[-1][0])
        return type(self)(tuple((a, self._at(a) + other._at(a)) for a in orders if a <= last))

    def _at(self, alpha: Fraction) -> Number:
        """The bound at an order that need not be listed, exactly: the chord has rational weights."""
        at = bisect_left(self.curve, alpha, key=lambda point: point[0])
        upper, bound = self.curve[at]
        if upper == alpha or at == 0:
            return bound
        lower, before = self.curve[at - 1]
        share = (alpha - lower) / (upper - lower)
        return (before * ((lower - 1) * (1 - share)) + bound * ((upper - 1) * share)) / (alpha - 1)

    def times(self, count: int) -> Self:
        return type(self)(tuple((a, bound * count) for a, bound in self.curve))

    def group(self, people: int) -> Self:
        if people == 1:
            return self
        raise GuaranteeError(
            "group", people, "no group theorem for single Rényi orders is used here", "a pure, zCDP or GDP guarantee"
        )

    def within(self, other: Self) -> bool:
        return all(a <= self.curve[-1][0] and self._at(a) <= bound for a, bound in other.curve)

    def follows_from(self, guarantee: Askable) -> bool:
        bounds = [(guarantee.charged_renyi(order), bound) for order, bound in self.curve]
        return guarantee.charge().delta == 0 and all(mine is not None and mine <= bound for mine, bound in bounds)

    def describe(self) -> str:
        points = ", ".join(f"D_{four_digits(a)} = {four_digits(b)}" for a, b in self.curve[:3])
        return f"Rényi ({points}{', ...' if len(self.curve) > 3 else ''})"

    def to_json(self) -> dict[str, object]:
        return {"curve": [[str(a), bound.to_json()] for a, bound in self.curve]}

    @classmethod
    def from_json(cls, stored: dict[str, object]) -> Self:
        curve = tuple((stored_fraction(a), stored_number(bound)) for a, bound in stored_list(stored["curve"]))
        if not all(before < after for before, after in pairwise([Fraction(1), *(a for a, _ in curve)])):
            raise ValueError("orders rise, from above 1")
        return cls(curve)
