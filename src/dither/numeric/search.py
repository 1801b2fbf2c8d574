"""Root search by doubling, bisection and secants: from where on something is met.

All of them take for granted that what is met stays met further up. Where a question is too close to call it counts as not
met; so the upper end of what is found was seen to meet, and errs upward, never below the true place. Numbers that bound
privacy are read from that end, with `meets` such that more is safer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from flint import arb

from dither.errors import PrecisionError
from dither.numeric.balls import MOST_BITS, precision
from dither.numeric.number import Enclosure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Place = TypeVar("Place", float, Fraction)

CLOSE = 2.0**-51  # relative width at which `smallest` stops
GOLDEN = (math.sqrt(5) - 1) / 2


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


def first_integer(meets: Callable[[int], bool], *, least: int = 0, guess: int = 0) -> int:
    """The smallest whole number from `least` on that meets: it was seen to meet, so it errs upward. Steps from the guess
    (or from `least`, if that is more) double until they pass the place; what they passed over is halved."""
    high, step = max(guess, least), 1
    if not meets(high):
        low, high = high, high + 1
        while not meets(high):
            step *= 2
            low, high = high, high + step
        return halve_integers(meets, low, high)
    low = high - 1
    while low >= least and meets(low):
        step *= 2
        low, high = max(low - step, least - 1), low
    return halve_integers(meets, low, high)


def halve_integers(meets: Callable[[int], bool], low: int, high: int) -> int:
    """The smallest whole number above `low` that meets; errs upward, to `high`, which is taken to meet without a look."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if meets(middle) else (middle, high)
    return high


def halve(
    meets: Callable[[Place], bool],
    low: Place,
    high: Place,
    *,
    times: int = 300,
    enough: Callable[[Place, Place], bool] | None = None,
) -> tuple[Place, Place]:
    """The last (low, high) around the place from which on it meets, after so many halves, or where they are near `enough`,
    or floats with none between them. The first two ends are believed; each later one was seen, `low` not to meet and
    `high` to meet: a caller takes the end on whose side it may err."""
    for _ in range(times):
        middle = (low + high) / 2
        if not low < middle < high or (enough is not None and enough(low, high)):
            break
        low, high = (low, middle) if meets(middle) else (middle, high)
    return low, high


def halve_arrays(meets: Callable[[Floats], NDArray[np.bool_]], low: Floats, high: Floats, *, times: int) -> Floats:
    """As `halve`, for many places at once: the ends that meet, so each errs on that side. `high` may lie below `low`."""
    import numpy as np

    for _ in range(times):
        middle = (low + high) / 2
        met = meets(middle)
        low, high = np.where(met, low, middle), np.where(met, middle, high)
    return high


def smallest(meets: Callable[[Fraction], bool | None], guess: float, *, most: float = math.inf) -> Enclosure:
    """Floats lower <= x <= upper around the smallest x >= 0 that meets: `upper` surely does, `lower` surely does not (or is
    zero, where nothing lies below). (0, inf) if nothing up to `most` does. The guess comes from plain floats and may be
    wrong: it decides how long this takes."""
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


def golden(
    value: Callable[[float], float], low: float, high: float, *, times: int, close: float = 0.0
) -> tuple[tuple[float, float], tuple[float, float]]:
    """About where a function with one valley is lowest: the last two places of golden sections, each behind its value.
    Plain floats, so no proof rests on it: it errs on either side, and what is found there has to hold by itself."""
    x, y = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    f, g = value(x), value(y)
    for _ in range(times):
        if high - low < close:
            break
        if f <= g:
            high, y, g = y, x, f
            x = high - GOLDEN * (high - low)
            f = value(x)
        else:
            low, x, f = x, y, g
            y = low + GOLDEN * (high - low)
            g = value(y)
    return (f, x), (g, y)


def largest(meets: Callable[[Fraction], bool], low: float, high: float) -> Fraction:
    """A number that meets, with nothing that meets more than 2^-32 above it (relatively); `low` is taken to meet."""
    near = halve(lambda x: not meets(Fraction(x)), low, high, enough=lambda low, high: high - low <= low * 2.0**-32)
    return Fraction(near[0])  # below the place from which on too much is spent


def around(excess: Callable[[Fraction], float], start: Fraction) -> tuple[tuple[Fraction, float], tuple[Fraction, float]]:
    """Two numbers with their excess, a factor two apart: the smaller is not enough (above zero), the larger is."""
    x = start
    here = excess(x)
    for _ in range(200):
        following = x / 2 if here <= 0 else 2 * x
        there = excess(following)
        if (here <= 0) != (there <= 0):
            pair = ((following, there), (x, here))
            return pair if here <= 0 else (pair[1], pair[0])
        x, here = following, there
    raise PrecisionError("noise", float(x), "no amount of noise was found", "another target, or another start")


def narrow(excess: Callable[[Fraction], float], low: tuple[Fraction, float], high: tuple[Fraction, float]) -> Fraction:
    """Where the excess falls to zero, from above: secants in ln x, and bisection where they do not help."""
    for step in range(60):
        (a, f), (b, g) = low, high
        width = float(b / a - 1)
        if width < 1e-9:
            break
        share = f / (f - g) if math.isfinite(g) and step % 3 != 2 else 0.5
        share = min(max(share, 1e-3), 1 - 1e-3) if width > 1e-6 else 0.5
        x = a + (b - a) * Fraction(share)
        x = Fraction(float(x))
        if not a < x < b:
            break
        value = excess(x)
        low, high = ((x, value), high) if value > 0 else (low, (x, value))
        # close in from the other side as well: the curve is nearly straight here
        near = 2 * abs(float(x) * value / max(abs(f - g) / math.log1p(width), 1e-9)) if math.isfinite(value) else 0.0
        other = Fraction(float(x) + near if value > 0 else float(x) - near)
        if near and low[0] < other < high[0]:
            value = excess(other)
            low, high = ((other, value), high) if value > 0 else (low, (other, value))
    return high[0]
