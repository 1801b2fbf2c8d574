"""Independent answers: hockey-stick divergences in one order, and of Laplace noise in closed form."""

from __future__ import annotations

from fractions import Fraction
from math import comb

from flint import arb, arb_poly, fmpq

from tests.privacy.pairs import Pair


def divergence(pair: Pair, ratio: Fraction) -> Fraction:
    """The largest P(S) - ratio Q(S), in this order."""
    return sum((max(a - ratio * b, Fraction(0)) for a, b in zip(*pair, strict=True)), start=Fraction(0))


def laplace_delta(e: Fraction, count: int, eps: Fraction) -> arb:
    """delta(eps) of `count` Laplace mechanisms: residues of the integral in `line.py`, with s = t + 1/2.

    M = e^(-k e/2) sum over m of C(k, m) ((2s+1)/(4s))^(k-m) ((2s-1)/(4s))^m e^(s e (k-2m)), and
    t (t+1) = s^2 - 1/4. Closing the line to the
    left where d = e (k-2m) - eps > 0: a pole at s = 1/2 for m = 0, one of order k at s = 0, none that counts at -1/2.
    """
    total = arb(0)
    for m in range(count + 1):
        d = e * (count - 2 * m) - eps
        if d <= 0:
            break
        ball = arb(fmpq(d.numerator, d.denominator))
        plus, minus = arb_poly([1, 2]) ** (count - m), arb_poly([-1, 2]) ** m
        exponential, power = [], arb(1)
        for i in range(count):
            exponential.append(power)
            power = power * ball / (i + 1)
        kernel = [-4 * arb(4) ** (i // 2) if i % 2 == 0 else arb(0) for i in range(count)]
        series = (plus * minus * arb_poly(exponential) * arb_poly(kernel)).coeffs()
        residue = series[count - 1] / arb(4) ** count
        if m == 0:
            residue += (ball / 2).exp()
        total += comb(count, m) * residue
    shift = eps / 2 - count * e / 2
    return total * arb(fmpq(shift.numerator, shift.denominator)).exp()
