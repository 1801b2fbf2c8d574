"""The pair of Laplace noise, e = sensitivity / scale: Lap(0) against Lap(e), in units of the scale.

Left of both the loss is e, right of both -e, and at x between it is e - 2x. Under P the ends have 1/2 and e^-e / 2.
With s = t + 1/2,

    M(t) = e^(-e/2) (cosh(s e) + sinh(s e) / (2 s)).

*Decay.* Write s = r + iu, C = cosh(r e), S = sinh(r e). Then |cosh(s e)| = sqrt(C^2 - sin^2(u e)) <= C - sin^2 /
(2C), |sinh(s e)| = sqrt(S^2 + sin^2) <= S + |sin|, |2 s| >= 2u, and |sin| / (2u) <= sin^2 / (8C) + C / (2 u^2). Hence

    |M(c + iu)| / M(c) <= a (1 + S / (2 u C) + 1 / (2 u^2) - (3/8) sin^2(u e) / C^2),    a = C / (C + S / (2r)) < 1,

and 1 + x <= e^x. The atoms make |M| come back whenever u e is a multiple of pi, but not above a times a little.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from flint import acb, arb

from dither.numeric.balls import ends
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number
from dither.privacy.loss.pairs.pair import LossAtom, MomentPair, Oscillation
from dither.privacy.loss.pairs.rotations import turns
from dither.privacy.records import stored_number
from dither.privacy.text import four_digits


@dataclass(frozen=True)
class LaplacePair(MomentPair):
    """Laplace noise, by e > 0."""

    kind: ClassVar[str] = "laplace"
    e: Number

    def largest_loss(self) -> Number:
        return self.e

    def atoms(self, small: Fraction) -> list[LossAtom]:
        e = self.e.ball()
        half, less = to_ball(Fraction(1, 2)), (-e).exp() / 2
        return [LossAtom(e, half, less), LossAtom(-e, less, half)]

    def above(self, loss: arb) -> tuple[arb, arb]:
        e = self.e.ball()
        way = (e - loss.max(-e).min(e)) / 2  # x runs from 0 to this
        return -(-way).expm1() / 2, (-e).exp() * way.expm1() / 2

    def whole(self) -> tuple[arb, arb]:
        rest = -(-self.e.ball()).expm1() / 2
        return rest, rest

    def span(self, small: Fraction) -> tuple[Fraction, Fraction]:
        most = ends(self.e.ball())[1]
        return -most, most

    def rough(self, c: float) -> float:
        r, e = c + 0.5, float(self.e)
        x = math.exp(-2 * r * e)
        return r * e - e / 2 + math.log((1 + x) / 2 + (1 - x) / (4 * r))

    def log_moment(self, c: arb) -> arb:
        r, e = c + to_ball(1) / 2, self.e.ball()
        return ((r * e).cosh() + (r * e).sinh() / (2 * r)).log() - e / 2

    def on_line(self, c: arb, h: arb, count: int) -> list[acb]:
        r, e = c + to_ball(1) / 2, self.e.ball()
        bottom = 2 * ((r * e).cosh() + (r * e).sinh() / (2 * r))
        up, down = (r * e).exp() / bottom, (-r * e).exp() / bottom
        values = []
        for n, turn in enumerate(turns(h * e, count)):
            left, right = turn * up, turn.conjugate() * down  # e^(s e) and e^(-s e)
            values.append(left + right + (left - right) / acb(2 * r, 2 * h * n))
        return values

    def decay(self, c: arb, u: arb) -> arb:
        r, e = c + to_ball(1) / 2, self.e.ball()
        cosh, sinh = (r * e).cosh(), (r * e).sinh()
        return cosh / (cosh + sinh / (2 * r)) * (sinh / (2 * u * cosh) + 1 / (2 * u * u)).exp()

    def wave(self, c: arb) -> Oscillation:
        e = self.e.ball()
        return Oscillation(e, to_ball(Fraction(3, 8)) / ((c + to_ball(1) / 2) * e).cosh() ** 2)

    def describe(self) -> str:
        return f"Laplace, ε = {four_digits(self.e)}"

    def to_json(self) -> dict[str, object]:
        return {"e": self.e.to_json()}

    @classmethod
    def from_json(cls, stored: dict[str, object]) -> Self:
        e = stored_number(stored["e"])
        if e == 0:
            raise ValueError("e above zero")
        return cls(e)
