"""Finite pairs of distributions in rationals: the truth that every promise is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from flint import arb, fmpq

from dither.numeric.balls import ends, precision

Pair = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]


def ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def response(odds: int | Fraction) -> Pair:
    """Randomized response with epsilon = ln(odds)."""
    yes = Fraction(odds) / (1 + odds)
    return (yes, 1 - yes), (1 - yes, yes)


def flip(pair: Pair) -> Pair:
    return pair[1], pair[0]


def fold(*pairs: Pair) -> Pair:
    """All of them, independently."""
    p, q = [], []
    for choice in product(*(range(len(pair[0])) for pair in pairs)):
        chance, other = Fraction(1), Fraction(1)
        for pair, outcome in zip(pairs, choice, strict=True):
            chance, other = chance * pair[0][outcome], other * pair[1][outcome]
        p.append(chance)
        q.append(other)
    return tuple(p), tuple(q)


def delta(pair: Pair, odds: Fraction) -> Fraction:
    """The exact delta at epsilon = ln(odds), the larger of both directions."""
    return max(
        sum((max(Fraction(0), p - odds * q) for p, q in zip(*side, strict=True)), start=Fraction(0))
        for side in (pair, flip(pair))
    )


def ratio(pair: Pair) -> Fraction:
    """e^epsilon: the largest ratio, exactly (no outcome may have probability zero on one side only)."""
    return max(max(p / q, q / p) for p, q in zip(*pair, strict=True) if p or q)


def divergence(pair: Pair, alpha: Fraction) -> arb:
    """The larger of the two Rényi divergences of order alpha."""
    values = []
    for p, q in (pair, flip(pair)):
        total = sum(
            (ball(a) ** ball(alpha) * ball(b) ** ball(1 - alpha) for a, b in zip(p, q, strict=True) if a), start=arb(0)
        )
        values.append(total.log() / ball(alpha - 1))
    return values[0].max(values[1])


def divergence_up(pair: Pair, alpha: Fraction) -> Fraction:
    with precision(200):
        return max(Fraction(0), ends(divergence(pair, alpha))[1])


def power(pair: Pair, level: Fraction) -> Fraction:
    """The power of the best test (Neyman and Pearson), exactly, the larger of both directions."""
    best = Fraction(0)
    for p, q in (pair, flip(pair)):
        left, found = level, Fraction(0)
        for a, b in sorted(zip(p, q, strict=True), key=lambda ab: ab[0] / ab[1] if ab[1] else Fraction(10**9), reverse=True):
            share = Fraction(1) if b <= left else left / b
            found, left = found + share * a, left - share * b
        best = max(best, found)
    return best


def from_weights(weights: Sequence[int]) -> tuple[Fraction, ...]:
    total = sum(weights)
    return tuple(Fraction(w, total) for w in weights)
