"""Interval arithmetic with outward rounding: every result is a pair (lower, upper) with the truth between.

`certify` raises the working precision of balls (`balls.py`) until the pair is as tight as floats allow. The pair itself,
`Enclosure`, stands beside `Number`: each of the two is asked about the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

from flint import arb, fmpq

from dither.errors import NumberError
from dither.numeric.balls import MOST_BITS, ends, float_ends, precision, sharpen
from dither.numeric.number import Enclosure, Number, NumberLike, exact


def to_ball(value: int | Fraction | Number) -> arb:
    """A ball around an exact value at the present precision."""
    if isinstance(value, Number):
        return value.ball()
    if isinstance(value, int):
        return arb(value)
    return arb(fmpq(value.numerator, value.denominator))


def enclose(ball: arb) -> Enclosure:
    """The ball as a pair of floats, rounded outwards; (-inf, inf) when nothing is known."""
    return Enclosure(*float_ends(ball))


def certify(compute: Callable[[], arb], *, bits: int = 96) -> Enclosure:
    """Evaluate at growing precision until at most one float lies between the ends, or more bits do not help."""
    return sharpen(compute, Enclosure, bits)


def upper_fraction(compute: Callable[[], arb], *, digits: int = 64) -> Fraction:
    """A value of at least zero, rounded up to a fraction of at most so many binary digits.

    The ball is far narrower than the last digit, so that the same fraction comes out wherever and however it is computed.
    """
    bits = 2 * digits
    while True:
        with precision(bits):
            low, high = ends(compute())
        if high - low <= high / (1 << digits + 32) or bits >= MOST_BITS:
            break
        bits *= 2
    if high <= 0:
        return Fraction(0)
    last = high.numerator.bit_length() - high.denominator.bit_length() - digits + 1  # of the last digit, as a power of two
    unit = Fraction(2) ** last
    return math.ceil(high / unit) * unit


def exp(value: NumberLike) -> Enclosure:
    """e^x, enclosed."""
    x = exact(value, name="x")
    return certify(lambda: x.ball().exp())


def log(value: NumberLike) -> Enclosure:
    """The natural logarithm of x > 0, enclosed."""
    x = exact(value, name="x", positive=True)
    return certify(lambda: x.ball().log())


def erfc(value: NumberLike) -> Enclosure:
    """The complementary error function 2/sqrt(pi) * integral of exp(-t^2) from x to infinity."""
    x = exact(value, name="x")
    return certify(lambda: x.ball().erfc())


def normal_tail(value: NumberLike) -> Enclosure:
    """P(Z > x) for a standard normal Z; tight also where the tail is far below the smallest gap around 1."""
    x = exact(value, name="x")
    return certify(lambda: (x.ball() / arb(2).sqrt()).erfc() / 2)


def total(values: Iterable[NumberLike | Enclosure]) -> Enclosure:
    """The sum of exact numbers or of enclosures; no order of summation changes it."""
    lower, upper = Number(0), Number(0)
    for value in values:
        if isinstance(value, Enclosure):
            if not (math.isfinite(value.lower) and math.isfinite(value.upper)):
                raise NumberError("sum", value, "it is not finite", "finite terms")
            lower, upper = lower + Fraction(value.lower), upper + Fraction(value.upper)
        else:
            point = exact(value, name="sum")
            lower, upper = lower + point, upper + point
    return Enclosure(lower.bounds().lower, upper.bounds().upper)
