"""Calibration to an error: the least epsilon, or the most noise, whose half-width is within what was asked for."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from dither.errors import NumberError
from dither.numeric.lattice import Lattice
from dither.numeric.number import Number, NumberLike, rational
from dither.numeric.search import smallest

HALF = Fraction(1, 2)
T = TypeVar("T")


def read_half_width(value: NumberLike) -> Fraction:
    """How far off a release may be; what `error` gave is a binary number, and is not made smaller by printing it."""
    width = rational(value, name="half_width", nonnegative=True)
    return max(width, Fraction(value)) if isinstance(value, float) else width


def steps_within(half_width: NumberLike, lattice: Lattice | None) -> int:
    """How many steps of noise stay within a half-width, half a step being left for the rounding of a real value."""
    width = read_half_width(half_width)
    if lattice is None:
        return math.floor(width)
    steps = math.floor(width / lattice.step - HALF)
    if steps < 0:
        raise NumberError("half_width", half_width, f"values are rounded to steps of {Number(lattice.step)}", "a finer step")
    return steps


def least_rate(law: Callable[[Fraction], T], meets: Callable[[T], bool], guess: float) -> Fraction:
    """The smallest x, rounded up, for which the law of x meets; larger x must mean less noise."""

    def good(x: Fraction) -> bool:
        return x > 0 and meets(law(max(x, least)))

    least = Fraction(1, 2**59)  # the widest noise that is drawn
    found = max(smallest(good, guess, most=2.0**20).upper, float(least))
    if math.isinf(found):
        raise NumberError("half_width", "too narrow", "no noise that dither draws is that small", "a wider half_width")
    return Fraction(found)
