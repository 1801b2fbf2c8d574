"""Sampling without replacement: exactly m of n people take part, n is public, people are replaced.

If (P, Q) dominates a mechanism when one of its people is replaced, and g = m/n, then on a sample, for alpha = e^eps
>= 1,

    H_alpha <= H_alpha((1-g) Q + g P || Q)                     (Balle, Barthe and Gaboardi 2018, Theorem 9)

and for alpha < 1 the same with both neighbours exchanged, as H_alpha(A || B) = 1 - alpha + alpha H_(1/alpha)(B || A).
The curve made of the two is convex in alpha (its slopes at 1 differ by P(L<0) + Q(L>0) + g TV <= 1), so it is the
curve of a pair: above 0 the losses of the sample, below 0 those of the sample of the other order, and the rest at 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from flint import arb

from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number
from dither.privacy.loss.pairs.pair import LossAtom, Pair
from dither.privacy.loss.pairs.poisson_sampled import PoissonSampledPair
from dither.privacy.records import stored_fraction
from dither.privacy.text import four_digits


@dataclass(frozen=True)
class FixedSizeSampledPair(Pair):
    """A pair on a sample of a fixed size, m of n people: rate = m/n < 1."""

    kind: ClassVar[str] = "swapped"
    base: Pair
    rate: Fraction

    @property
    def _up(self) -> PoissonSampledPair:
        return PoissonSampledPair(self.base, self.rate)

    @property
    def _down(self) -> PoissonSampledPair:
        return PoissonSampledPair(self.base.reverse(), self.rate, turned=True)

    def reverse(self) -> Pair:
        other = self.base.reverse()
        return self if other is self.base else FixedSizeSampledPair(other, self.rate)

    @property
    def endless(self) -> bool:
        return self.base.endless

    def lost(self) -> Fraction:
        return self._up.lost()

    def largest_loss(self) -> Number | None:
        # the losses of both orders are at most log(1 - g + g e^e)
        return self._up.largest_loss()

    def atoms(self, small: Fraction) -> list[LossAtom]:
        zero = to_ball(0)
        above = [atom for atom in self._up.atoms(small / 2) if atom.loss > 0]
        below = [atom for atom in self._down.atoms(small / 2) if atom.loss < 0]
        higher, lower = self._up.above(zero), self._down.above(zero)
        whole = self._down.whole()
        rest = []
        for i, parts in enumerate(zip(*((a.p, a.q) for a in above + below), strict=True) if above + below else ((), ())):
            kept = 1 - (to_ball(self.lost()) if i == 0 else to_ball(self._down.reverse().lost()))
            rest.append(kept - sum(parts, start=to_ball(0)) - higher[i] - (whole[i] - lower[i]))
        # both are the same number, as the loss is 0
        return [*above, LossAtom(zero, rest[0], rest[1]), *below]

    def above(self, loss: arb) -> tuple[arb, arb]:
        zero = to_ball(0)
        if loss >= 0:
            return self._up.above(loss)
        low, start = self._down.above(loss.min(zero)), self._down.above(zero)
        high = self._up.above(loss.max(zero))
        return high[0] + low[0] - start[0], high[1] + low[1] - start[1]

    def whole(self) -> tuple[arb, arb]:
        zero = to_ball(0)
        high, low, whole = self._up.above(zero), self._down.above(zero), self._down.whole()
        return high[0] + whole[0] - low[0], high[1] + whole[1] - low[1]

    def span(self, small: Fraction) -> tuple[Fraction, Fraction]:
        return self._down.span(small / 2)[0], self._up.span(small / 2)[1]

    def describe(self) -> str:
        return f"{self.base.describe()}, on {four_digits(self.rate)} of the people"

    def to_json(self) -> dict[str, object]:
        return {"base": {"kind": self.base.kind, **self.base.to_json()}, "rate": str(self.rate)}

    @classmethod
    def from_json(cls, stored: dict[str, object]) -> Self:
        base, rate = stored["base"], stored_fraction(stored["rate"])
        if not isinstance(base, Pair) or not 0 < rate < 1:
            raise ValueError("a sample")
        return cls(base, rate)
