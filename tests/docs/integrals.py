"""Integrals of the continuous Laplace density, as balls: what the notes claim of it is compared with these."""

from __future__ import annotations

from fractions import Fraction

from flint import acb, arb, fmpq

FAR = 120  # scales; what lies beyond weighs less than e^-100 in every integral taken here


def ball(value: Fraction | int) -> arb:
    exact = Fraction(value)
    return arb(fmpq(exact.numerator, exact.denominator))


def laplace(scale: Fraction | int, *, power: int = 0, start: Fraction | int = 0) -> arb:
    """The integral of |x|^power exp(-|x|/scale) / (2 scale) over all |x| > start."""
    s = acb(ball(scale))
    inside = acb.integral(lambda x, _: x**power * (-x / s).exp() / (2 * s), ball(start), ball(FAR * Fraction(scale)))
    return 2 * inside.real + arb(0, 1e-40)
