"""The quantile of the chi-square law, certified in balls and rounded up: a region that rests on it covers no less."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from flint import arb

from dither.numeric.enclosure import to_ball
from dither.numeric.search import surely


@lru_cache(maxsize=256)
def chi_square_quantile(confidence: Fraction, degrees: int) -> float:
    """A number that a chi-square variable stays below with at least this probability; the smallest, to 40 bits.

    Its distribution function is P(degrees / 2, x / 2), the regularised lower incomplete gamma function.
    """

    def reached(x: float) -> bool:
        return surely(lambda: to_ball(confidence) - (arb(x) / 2).gamma_lower(arb(degrees) / 2, 1)) is True

    high = 1.0
    while not reached(high):
        high *= 2
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return math.nextafter(high, math.inf)
