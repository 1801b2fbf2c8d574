"""Ball arithmetic, midpoint and radius, from python-flint: its working precision, and ends of balls rounded outwards.

Balls stay correct at any working precision, and more precision only makes them smaller. Exact numbers stand above this
file: it knows whole numbers, fractions and floats. Flint is imported where it works: rational numbers do without it.
"""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from dither.errors import PrecisionError

if TYPE_CHECKING:
    from flint import arb

MOST_BITS = 1 << 14  # beyond this the question is refused, not estimated
MOST_EXPONENT = 1 << 20  # of a ball whose ends are written out as fractions

# The working precision of flint is one for the whole process, so one thread works at a time. The lock is held
# over a fork: the child must not inherit it in the hands of a thread that it does not have.
_lock = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)

FloatPair = TypeVar("FloatPair", bound=tuple[float, float])


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work with balls of this many bits inside the block."""
    from flint import ctx

    with _lock:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before


def ends(ball: arb) -> tuple[Fraction, Fraction]:
    """The two ends of a ball, as exact dyadic fractions; refused where writing them out would fill the memory."""
    pair = []
    for point in (ball.lower(), ball.upper()):
        mantissa, exponent = _parts(point)
        if abs(exponent) > MOST_EXPONENT:
            raise PrecisionError("ball", ball, "it is too large or too small to write out", "less extreme parameters")
        pair.append(_dyadic(mantissa, exponent))
    return pair[0], pair[1]


def _parts(point: arb) -> tuple[int, int]:
    if not point.is_finite():
        raise PrecisionError("ball", point, "it is not finite", "less extreme parameters")
    mantissa, exponent = point.man_exp()
    return int(mantissa), int(exponent)


def _dyadic(mantissa: int, exponent: int) -> Fraction:
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


@lru_cache
def _power_of_two(exponent: int) -> arb:
    from flint import arb

    return arb((1, exponent))  # exact at any precision


def floor_scaled(ball: arb, bits: int) -> int:
    """An integer n with n <= 2^bits * x < n + 2 for every x in the ball; refused if the ball is too wide for one."""
    floor = (ball * _power_of_two(bits)).floor().unique_fmpz()
    if floor is not None:  # one floor for every x; most balls come this way, which is the faster one
        return int(floor)
    from flint import arb

    mantissa, exponent = _parts(ball.lower())
    shift = exponent + bits
    low = mantissa << shift if shift >= 0 else mantissa >> -shift
    if not ball < arb((low + 2, -bits)):
        raise PrecisionError("ball", ball, f"it is wider than 2^-{bits}", "a higher working precision")
    return low


def ceil_of(ball: arb) -> int:
    """An integer that is not below the ball."""
    mantissa, exponent = _parts(ball.upper())
    if exponent > MOST_EXPONENT:
        raise PrecisionError("ball", ball, "it is too large to write out", "less extreme parameters")
    return mantissa << exponent if exponent >= 0 else -(-mantissa >> -exponent)


def nearest_float(value: Fraction) -> float:
    """The float nearest to the value; infinite where it is beyond the largest one."""
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def round_down(value: Fraction) -> float:
    """The largest float that is not above the value."""
    result = nearest_float(value)
    if result == math.inf or (math.isfinite(result) and Fraction(result) > value):
        return math.nextafter(result, -math.inf)
    return result


def round_up(value: Fraction) -> float:
    """The smallest float that is not below the value."""
    return 0.0 - round_down(-value)  # a zero without a sign


def _float_below(point: arb) -> float:
    """Like `round_down` for an exact ball, also where its exponent is astronomical."""
    mantissa, exponent = _parts(point)
    if mantissa == 0:
        return 0.0
    top = abs(mantissa).bit_length() + exponent
    if top > 1100:
        return sys.float_info.max if mantissa > 0 else -math.inf
    if top < -1100:
        return 0.0 if mantissa > 0 else -math.ulp(0.0)
    return round_down(_dyadic(mantissa, exponent))


def float_ends(ball: arb) -> tuple[float, float]:
    """Two floats around the ball, rounded outwards; -inf and inf when nothing is known."""
    if not ball.is_finite():
        return -math.inf, math.inf
    return _float_below(ball.lower()), 0.0 - _float_below(-ball.upper())  # a zero without a sign


def sharpen(compute: Callable[[], arb], pair: Callable[[float, float], FloatPair], bits: int = 96) -> FloatPair:
    """The two ends as a pair, at growing precision until at most one float lies between them, or more bits do not help."""
    before = math.inf
    while True:
        with precision(bits):
            lower, upper = float_ends(compute())
        width = upper - lower
        if math.nextafter(math.nextafter(lower, math.inf), math.inf) >= upper:
            return pair(lower, upper)
        if before > width >= before / 2 or bits >= MOST_BITS:
            if math.isinf(width):
                raise PrecisionError("result", pair(lower, upper), "no finite bound was found", "less extreme parameters")
            return pair(lower, upper)
        before, bits = width, bits * 2
