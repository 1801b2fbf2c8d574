"""Certified inverses: the smallest float at which a decreasing bound meets a target.

A guess comes from plain floats and may be wrong; what is returned was checked with balls. `upper` surely meets the
target, and `lower` surely does not (or is zero, where nothing lies below).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from flint import arb

from dither.numeric.balls import MOST_BITS, precision
from dither.numeric.number import Enclosure

CLOSE = 2.0**-51  # relative width at which the search stops


def surely(compare: Callable[[], arb], *, bits: int = 128, most: int = MOST_BITS) -> bool | None:
    """Whether a ball is at most zero: True or False when certain, None when more bits do not tell."""
    while bits <= most:
        with precision(bits):
            gap = compare()
            if gap <= 0:
                return True
            if gap > 0:
                return False
        bits *= 2
    return None


def smallest(meets: Callable[[Fraction], bool | None], guess: float, *, most: float = math.inf) -> Enclosure:
    """Floats lower <= x <= upper around the smallest x >= 0 that meets; (inf, inf) if nothing up to `most` does."""
    if meets(Fraction(0)):
        return Enclosure(0.0, 0.0)
    guess = guess if 0 < guess < math.inf else 1.0
    step = guess * 2.0**-50
    upper = guess
    while not meets(Fraction(upper)):
        upper, step = upper + step, 4 * step
        if not upper <= most or math.isinf(upper):
            return Enclosure(0.0, math.inf)  # nothing is known of the lower end
    step = upper * 2.0**-50
    lower = max(0.0, min(guess, upper) - step)
    while lower > 0 and meets(Fraction(lower)) is not False:
        step *= 4
        upper = lower if meets(Fraction(lower)) else upper
        lower = max(0.0, lower - step)
    for _ in range(200):
        middle = (lower + upper) / 2
        if upper - lower <= CLOSE * upper or not lower < middle < upper:
            break
        answer = meets(Fraction(middle))
        if answer is None:
            break
        lower, upper = (lower, middle) if answer else (middle, upper)
    return Enclosure(lower, upper)
