"""The pair of discrete Gaussian noise on whole numbers, P(z) ~ exp(-z^2 / (2 sigma^2)), moved by a whole number m.

Its losses lie on the lattice m^2/(2 sigma^2) + (m / sigma^2) Z, so it is not Gaussian DP: between lattice points its
delta is larger than the continuous curve. By Poisson summation, with b = m / sigma and g = 2 pi sigma,

    M(t) = exp(b^2 t (t+1) / 2) * sum over j of exp(-g^2 j^2 / 2 - i g b j t) / sum over j of exp(-g^2 j^2 / 2).

*A larger move dominates a smaller one.* The noise is log-concave, so for every m > 0 the likelihood ratio grows with
the outcome and the best tests are "above a threshold", whatever m is. The same test has more power when the noise is
moved further. (For vectors this fails: the L2 norm of the move does not decide.)

*Decay.* For t = c + iu, |exp(t^2 b^2/2 - g^2 j^2/2 - i g b j t)| = exp(c^2 b^2/2) exp(-(b u - g j)^2 / 2). The sum
over j is a Jacobi theta function of b u with period g; by the triple product it falls from 0 to g/2, half a period.
So |M(c + iv)| / M(c) is at most that sum at u, over the sum above at t = c, for all v from u up to half a period.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from flint import acb, arb, ctx

from dither.errors import PrecisionError
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number
from dither.privacy.loss.pairs.pair import LossAtom, LossLattice, MomentPair
from dither.privacy.records import stored_count, stored_fraction
from dither.privacy.text import four_digits

MOST_ATOMS = 100_000


@dataclass(frozen=True)
class DiscreteGaussianPair(MomentPair):
    """Discrete Gaussian noise, by sigma^2 > 0 and a whole number m >= 1."""

    kind: ClassVar[str] = "discrete_gaussian"
    sigma2: Fraction
    shift: int

    @property
    def endless(self) -> bool:
        return True

    def atoms(self, small: Fraction) -> list[LossAtom]:
        reach = self._reach(small)
        weights = {z: to_ball(-Fraction(z * z) / (2 * self.sigma2)).exp() for z in range(reach + 1)}
        total = self._total()
        step, start = to_ball(self.shift / self.sigma2), to_ball(self.shift**2 / (2 * self.sigma2))
        found = []
        for z in range(reach, -reach - 1, -1):
            loss, p = start + step * z, weights[abs(z)] / total
            found.append(LossAtom(loss, p, p * (-loss).exp()))
        return found

    def _reach(self, small: Fraction) -> int:
        """P(|z| > r) <= 2 exp(-r^2/(2 sigma^2)) (Canonne, Kamath and Steinke 2020); Q is the same, moved."""
        bits = small.denominator.bit_length() - small.numerator.bit_length() + 2
        reach = math.isqrt(math.ceil(2 * self.sigma2 * Fraction(math.log(2)) * bits * Fraction(101, 100))) + 1 + self.shift
        if reach > MOST_ATOMS:
            raise PrecisionError("sigma2", float(self.sigma2), "its losses are too many to list one by one", "Loss.gaussian")
        return reach

    def _total(self) -> arb:
        """Sum over z of exp(-z^2/(2 sigma^2)), by its dual."""
        return (2 * arb.pi() * to_ball(self.sigma2)).sqrt() * self._images(acb(0)).real

    def _images(self, t: acb) -> acb:
        """Sum over j of exp(-g^2 j^2/2 - i g b j t): 1 + 2 * sum over j >= 1 of exp(-g^2 j^2/2) cos(g b j t)."""
        g2 = 4 * arb.pi() ** 2 * to_ball(self.sigma2)
        angle = 2 * arb.pi() * self.shift * t  # g b t
        total = acb(1)
        size = abs(angle.imag)
        j = 1
        while True:
            term = (-g2 * j * j / 2).exp() * 2 * (angle * j).cos()
            total += term
            # the terms after j: each at most 2 exp(-g^2 n^2/2 + n |Im angle|), falling by more than e^-1 from some n on
            ahead = -g2 * (j + 1) ** 2 / 2 + size * (j + 1)
            if g2 * (2 * j + 3) / 2 - size > 1 and ahead + to_ball(ctx.prec) < 0:
                rest = (4 * ahead.exp()).upper()
                return total + acb(arb(0, rest), arb(0, rest))
            j += 1

    def above(self, loss: arb) -> tuple[arb, arb]:
        return to_ball(0), to_ball(0)

    def whole(self) -> tuple[arb, arb]:
        return to_ball(0), to_ball(0)

    def span(self, small: Fraction) -> tuple[Fraction, Fraction]:
        reach = self._reach(small)
        middle = self.shift**2 / (2 * self.sigma2)
        return middle - reach * self.shift / self.sigma2, middle + reach * self.shift / self.sigma2

    def rough(self, c: float) -> float:
        return float(self.shift**2 / self.sigma2) * c * (c + 1) / 2

    def log_moment(self, c: arb) -> arb:
        smooth = to_ball(self.shift**2 / (2 * self.sigma2)) * c * (c + 1)
        return smooth + (self._images(acb(c)).real / self._images(acb(0)).real).log()

    def on_line(self, c: arb, h: arb, count: int) -> list[acb]:
        half = to_ball(self.shift**2 / (2 * self.sigma2))
        most = self._images(acb(c)).real
        values = []
        for n in range(count):
            u = h * n
            values.append(acb(-half * u * u, half * (2 * c + 1) * u).exp() * self._images(acb(c, u)) / most)
        return values

    def decay(self, c: arb, u: arb) -> arb:
        half = to_ball(self.shift**2 / (2 * self.sigma2))
        return (-half * u * u).exp() * self._images(acb(0, u)).real / self._images(acb(c)).real

    def lattice(self) -> LossLattice:
        return LossLattice(Number(self.shift**2 / (2 * self.sigma2)), Number(self.shift / self.sigma2))

    def describe(self) -> str:
        return f"discrete Gaussian, σ² = {four_digits(self.sigma2)}, moved by {self.shift}"

    def to_json(self) -> dict[str, object]:
        return {"sigma2": str(self.sigma2), "shift": self.shift}

    @classmethod
    def from_json(cls, stored: dict[str, object]) -> Self:
        sigma2 = stored_fraction(stored["sigma2"])
        if sigma2 == 0:
            raise ValueError("sigma2 above zero")
        return cls(sigma2, stored_count(stored["shift"]))
