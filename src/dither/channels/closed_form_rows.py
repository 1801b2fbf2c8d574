"""Exact rows of mechanisms that are known in closed form, in powers of E = e^rate.

Fractions where E is one (rate = ln 2), and otherwise rational functions of E (`rational_function.py`).

    flat(size, rate)               k-ary randomized response: the truth e^rate times as likely as each other value
    truncated(place, size, rate)   two-sided geometric noise, what lies beyond an end staying at it
    exponential(gaps, rate)        weights E^-gap
    flips(gaps, rate)              permute-and-flip: each passes with probability E^-gap, one of those that pass is chosen
                                   equally likely; P(i) = E^-gap(i) times the mean of 1 / (1 + how many others pass)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dither.channels.matrix import MatrixEntry
from dither.channels.rational_function import Ratio
from dither.numeric.number import Number


def power(rate: Number, exponent: int) -> Any:
    """E^exponent: a fraction where E is one."""
    plain = rate.exp_fraction()
    return Ratio.power(rate, exponent) if plain is None else plain**exponent


def flat(size: int, rate: Number) -> list[list[MatrixEntry]]:
    """All rows of k-ary randomized response."""
    grown = power(rate, 1)
    other = 1 / (grown + (size - 1))
    return [[grown * other if i == j else other for j in range(size)] for i in range(size)]


def truncated(place: int, size: int, rate: Number) -> list[MatrixEntry]:
    """The row of a place of the truncated geometric mechanism on 0..size - 1."""
    if size == 1:
        return [Fraction(1)]
    grown = power(rate, 1)
    inside, end = (grown - 1) / (grown + 1), grown / (grown + 1)
    return [power(rate, -abs(place - o)) * (inside if 0 < o < size - 1 else end) for o in range(size)]


def exponential(gaps: Sequence[int], rate: Number) -> list[MatrixEntry]:
    """The row of the exponential mechanism, for scores so many steps below the best."""
    weights = [power(rate, -gap) for gap in gaps]
    whole = sum(weights, start=Fraction(0))
    return [weight / whole for weight in weights]


def flips(gaps: Sequence[int], rate: Number) -> list[MatrixEntry]:
    """The row of permute-and-flip, for scores so many steps below the best."""
    chances = [power(rate, -gap) for gap in gaps]
    return [chance * _share(chances[:i] + chances[i + 1 :]) for i, chance in enumerate(chances)]


def _share(others: Sequence[Any]) -> Any:
    """The mean of 1 / (1 + how many pass)."""
    counts: list[Any] = [Fraction(1)]  # how likely it is that so many pass
    for chance in others:
        stays, moves = [c * (1 - chance) for c in counts], [c * chance for c in counts]
        counts = [a + b for a, b in zip([*stays, Fraction(0)], [Fraction(0), *moves], strict=True)]
    return sum((c * Fraction(1, 1 + k) for k, c in enumerate(counts)), start=Fraction(0))
