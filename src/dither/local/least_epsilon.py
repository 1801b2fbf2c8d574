"""Calibration of a survey: the least epsilon whose error is small enough, by doubling and then bisection."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dither.errors import NumberError
from dither.numeric.number import NumberLike
from dither.numeric.search import halve

MOST_EPSILON = 64
LEAST = Fraction(1, 2**29)
FINENESS = 2**16  # how close to the least epsilon, in parts of it


def least_epsilon(error: Callable[[Fraction], float], wanted: Fraction, half_width: NumberLike) -> Fraction:
    """The least epsilon, rounded up, whose error is within what is wanted; more epsilon must mean less error."""
    low, high = Fraction(0), Fraction(1)
    while error(high) > wanted:
        low, high = high, 2 * high
        if high > MOST_EPSILON:
            why = f"no epsilon up to {MOST_EPSILON} has an error that small with so few people"
            raise NumberError("half_width", half_width, why, "more people, or a larger half-width")
    near = halve(lambda x: error(x) <= wanted, low, high, enough=lambda low, high: high - low <= max(high / FINENESS, LEAST))
    return near[1]
