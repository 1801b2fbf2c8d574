"""Laws that a client in any language draws exactly: coins n / d and whole weights, from a stated number of random bits.

A uniform whole number below m is made of as many bits as m - 1 has, and drawn again while it is not below m. A coin n / d
is such a number below d that is below n. Where the probability of a survey is a fraction with d <= 2^120 the coin is that
fraction; otherwise n is rounded to 2^120 parts, in the direction that promises more. `client_law.md` has the theorem for
every survey: the promise of the client is at most epsilon, and its law is that of `randomize`, or nearly (2^-86).

    response(x, c)       1 / (1 + c e^-x), rounded down: the chance of the truth
    exponential(x)       e^-x, rounded down: for coins that do not look at the value
    falling(x, count)    W(0) >= W(1) >= ... with W(k+1) >= e^-x W(k): weights of distances
    geometric(x, count)  M(0), ..., M(G-1) and the tail T(G), likewise, with T(G) >= M(G-1) e^-x / (1 - e^-x)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from dither.numeric.balls import MOST_BITS, ends, precision
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number

if TYPE_CHECKING:
    from flint import arb

PARTS = 2**120  # a coin is rounded to these; d, and sums of weights, stay below 2^128
LARGEST_WEIGHT = 2**108  # of distances: their sum over an axis stays below 2^120


def response(x: Number, c: Fraction | int = 1) -> Fraction:
    """1 / (1 + c e^-x), rounded down: the truth, where all that is not the truth has odds of c e^-x."""
    grown = x.exp_fraction()
    if grown is not None:
        return rounded_down(grown / (grown + c))
    return Fraction(_floor(lambda: PARTS / (1 + to_ball(c) * (-to_ball(x)).exp())), PARTS)


def exponential(x: Number) -> Fraction:
    """e^-x, rounded down."""
    grown = x.exp_fraction()
    if grown is not None:
        return rounded_down(1 / grown)
    return Fraction(_floor(lambda: PARTS * (-to_ball(x)).exp()), PARTS)


def rounded_down(chance: Fraction) -> Fraction:
    """The chance, or the next of 2^120 parts below it where its denominator is larger."""
    return chance if chance.denominator <= PARTS else Fraction(math.floor(chance * PARTS), PARTS)


def rounded_up(chance: Fraction) -> Fraction:
    """The chance, or the next of 2^120 parts above it where its denominator is larger."""
    return 1 - rounded_down(1 - chance)


def falling(x: Number, count: int) -> list[int]:
    """Weights W(0), ..., W(count - 1) for distances: powers of e^-x where these are fractions of a fitting size."""
    grown = x.exp_fraction()
    if grown is not None and max(grown.numerator, grown.denominator) ** (count - 1) <= LARGEST_WEIGHT:
        return [grown.numerator ** (count - 1 - k) * grown.denominator**k for k in range(count)]
    ratio = exponential_above(x)
    weights = [LARGEST_WEIGHT]
    while len(weights) < count:
        weights.append(math.ceil(weights[-1] * ratio))
    return weights


def geometric(x: Number, count: int) -> list[int]:
    """Weights M(0), ..., M(count - 1) of truncated geometric noise, and T(count), that of all from count on."""
    grown = x.exp_fraction()
    if grown is not None and (grown.numerator + grown.denominator) * grown.numerator**count <= PARTS:
        a, b = grown.denominator, grown.numerator  # e^-x = a / b; all is scaled by b^count
        return [*((b - a) * a**k * b ** (count - k) for k in range(count)), b * a**count]
    ratio = exponential_above(x)
    weights = [max(1, math.floor(PARTS * (1 - ratio) / (1 + ratio)))]
    while len(weights) < count:
        weights.append(math.ceil(weights[-1] * ratio))
    return [*weights, math.ceil(weights[-1] * ratio / (1 - ratio))]


def exponential_above(x: Number) -> Fraction:
    """e^-x, the next of 2^120 parts above it: below 1, as x is above 2^-47."""
    grown = x.exp_fraction()
    if grown is not None:
        return Fraction(math.ceil(PARTS / grown), PARTS)
    return Fraction(-_floor(lambda: -PARTS * (-to_ball(x)).exp()), PARTS)


def _floor(compute: Callable[[], arb]) -> int:
    """The floor of an irrational number: certain at some precision; at the last one rounded down once more."""
    bits = 256
    while True:
        with precision(bits):
            low, high = ends(compute())
        if math.floor(low) == math.floor(high) or bits >= MOST_BITS:
            return math.floor(low)
        bits *= 2
