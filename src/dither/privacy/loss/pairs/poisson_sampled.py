"""Poisson sampling: each person takes part with probability q, on her own, unseen.

If (P, Q) dominates a mechanism for removing a person (P with her, Q without), then for the mechanism on a sample

    removing:  R = (1 - q) Q + q P  against  Q         adding:  Q  against  R

(Zhu, Dong and Wang 2022: whoever else is sampled, she is in with probability q; hockey-stick divergences are jointly
convex.) The losses are log(1 - q + q e^L) and its negative. Where P is alone, R is alone with q of it; where Q is
alone, the loss is log(1 - q). This is about people who come or go; the sample's size must not be shown, and for
people who are replaced nothing is claimed.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from flint import arb

from dither.numeric.balls import ends, precision
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number
from dither.privacy.loss.pairs.pair import LossAtom, Pair
from dither.privacy.records import stored_fraction
from dither.privacy.text import four_digits


@dataclass(frozen=True)
class PoissonSampledPair(Pair):
    """A pair on a sample of rate 0 < q < 1: R against Q, or turned, Q against R."""

    kind: ClassVar[str] = "sampled"
    base: Pair
    rate: Fraction
    turned: bool = False

    def reverse(self) -> Pair:
        return type(self)(self.base, self.rate, not self.turned)

    @property
    def endless(self) -> bool:
        return self.base.endless

    def lost(self) -> Fraction:
        return Fraction(0) if self.turned else self.rate * self.base.lost()

    def largest_loss(self) -> Number | None:
        # log(1 - q + q e^e) outweighs -log(1 - q + q e^-e): their arguments multiply to at least 1
        most = self.base.largest_loss()
        if most is None:
            return None
        with precision(128):
            found = ends(self._loss(most.ball()))[1]
            if self.base.reverse().lost():  # Q alone: log(1 - q), in the other order
                found = max(found, ends(-to_ball(1 - self.rate).log())[1])
        return Number(found)

    def highest_loss(self) -> Number | None:
        most = self.largest_loss()
        if not self.turned:
            return most
        with precision(128):  # Q is at most 1 / (1 - q) times R
            other = Number(ends(-to_ball(1 - self.rate).log())[1])
        return other if most is None or other < most else most

    def _loss(self, loss: arb) -> arb:
        return (to_ball(self.rate) * loss.expm1()).log1p()

    def atoms(self, small: Fraction) -> list[LossAtom]:
        q = to_ball(self.rate)
        found = [LossAtom(self._loss(a.loss), (1 - q) * a.q + q * a.p, a.q) for a in self.base.atoms(small)]
        alone = self.base.reverse().lost()
        if alone:
            found.append(LossAtom((1 - q).log(), (1 - q) * to_ball(alone), to_ball(alone)))
        return [LossAtom(-a.loss, a.q, a.p) for a in reversed(found)] if self.turned else found

    def above(self, loss: arb) -> tuple[arb, arb]:
        q = to_ball(self.rate)
        whole = self.base.whole()
        x = 1 + (-loss if self.turned else loss).expm1() / q  # e^L of the base
        if x <= 0:
            p, r = whole
        elif x > 0:
            p, r = self.base.above(x.log())
        else:  # at log(1 - q): between nothing and what lies below the upper end
            p, r = (a.union(b) for a, b in zip(whole, self.base.above(x.upper().log()), strict=True))
        if self.turned:
            return whole[1] - r, (1 - q) * (whole[1] - r) + q * (whole[0] - p)
        return (1 - q) * r + q * p, r

    def whole(self) -> tuple[arb, arb]:
        q = to_ball(self.rate)
        p, r = self.base.whole()
        mixed = (1 - q) * r + q * p
        return (r, mixed) if self.turned else (mixed, r)

    def span(self, small: Fraction) -> tuple[Fraction, Fraction]:
        # under Q large losses of the base are less likely still than under P; small ones, as seen in the other order
        high = max(self.base.span(small)[1], Fraction(0))
        other = self.base.reverse()
        low = -max(other.span(small)[1], Fraction(0))
        with precision(64):
            most, least = ends(self._loss(to_ball(high)))[1], ends(self._loss(to_ball(low)))[0]
            if other.lost():
                least = ends(to_ball(1 - self.rate).log())[0]
        return (-most, -least) if self.turned else (least, most)

    def describe(self) -> str:
        return f"{self.base.describe()}, on a sample of {four_digits(self.rate)}"

    def to_json(self) -> dict[str, object]:
        return {
            "base": {"kind": self.base.kind, **self.base.to_json()},
            "rate": str(self.rate),
            "turned": self.turned,
        }

    @classmethod
    def from_json(cls, stored: dict[str, object]) -> Self:
        base, rate, turned = stored["base"], stored_fraction(stored["rate"]), stored["turned"]
        if not isinstance(base, Pair) or not 0 < rate < 1 or type(turned) is not bool:
            raise ValueError("a sample")
        return cls(base, rate, turned)
