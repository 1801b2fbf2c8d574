"""The pair of Gaussian noise: N(mu, 1) against N(0, 1). The loss is normal with mean mu^2/2 and variance mu^2.

For an L2 sensitivity D and noise of deviation sigma, mu = D / sigma. k of them are one with mu^2 summed up, as sums
of independent normal losses are normal with added means and variances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from flint import acb, arb

from dither.numeric.enclosure import to_ball
from dither.privacy.formulas.normal import phi
from dither.privacy.loss.pairs.pair import MomentPair
from dither.privacy.records import stored_fraction
from dither.privacy.text import four_digits


@dataclass(frozen=True)
class NormalPair(MomentPair):
    """Gaussian noise, by mu^2 > 0."""

    kind: ClassVar[str] = "normal"
    mu2: Fraction

    def above(self, loss: arb) -> tuple[arb, arb]:
        mu = to_ball(self.mu2).sqrt()
        return phi(mu / 2 - loss / mu), phi(-mu / 2 - loss / mu)

    def span(self, small: Fraction) -> tuple[Fraction, Fraction]:
        # P(|Z| > z) <= exp(-z^2/2)
        reach = Fraction(math.sqrt(2 * _log_inverse(small)) * math.sqrt(self.mu2) * 1.001 + 1e-9)
        return self.mu2 / 2 - reach, self.mu2 / 2 + reach

    def rough(self, c: float) -> float:
        return float(self.mu2) * c * (c + 1) / 2

    def log_moment(self, c: arb) -> arb:
        return to_ball(self.mu2 / 2) * c * (c + 1)

    def on_line(self, c: arb, h: arb, count: int) -> list[acb]:
        half = to_ball(self.mu2 / 2)  # exp(mu^2 ((2c + 1) i u - u^2) / 2) at u = n h
        fall, turn = -half * h * h, half * (2 * c + 1) * h
        return [acb(fall * (n * n), turn * n).exp() for n in range(count)]

    def decay(self, c: arb, u: arb) -> arb:
        return (-to_ball(self.mu2 / 2) * u * u).exp()

    def describe(self) -> str:
        return f"Gaussian, μ² = {four_digits(self.mu2)}"

    def to_json(self) -> dict[str, object]:
        return {"mu2": str(self.mu2)}

    @classmethod
    def from_json(cls, stored: dict[str, object]) -> Self:
        mu2 = stored_fraction(stored["mu2"])
        if mu2 == 0:
            raise ValueError("mu2 above zero")
        return cls(mu2)


def _log_inverse(small: Fraction) -> float:
    """About ln(1/small), also below the smallest float."""
    return math.log(2) * (small.denominator.bit_length() - small.numerator.bit_length() + 1)
