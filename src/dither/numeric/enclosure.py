"""Outward-rounded numbers: every result is a pair (lower, upper) with the truth between.

Balls (a midpoint and a radius) come from python-flint; they stay correct at any working precision, and more
precision only makes them smaller. `certify` raises the precision until the pair is as tight as floats allow.
"""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from flint import arb, ctx, fmpq

from dither.errors import NumberError, PrecisionError
from dither.numeric.number import Number, exact

MOST_BITS = 1 << 14  # beyond this the question is refused, not estimated
MOST_EXPONENT = 1 << 20  # of a ball whose ends are written out as fractions

# The working precision of flint is one for the whole process, so one thread works at a time. The lock is held
# over a fork: the child must not inherit it in the hands of a thread that it does not have.
_lock = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


class Enclosure(NamedTuple):
    """Two floats with the exact value between them."""

    lower: float
    upper: float

    @property
    def width(self) -> float:
        return self.upper - self.lower

    def __contains__(self, value: object) -> bool:
        point = Number(value)
        return _below(self.lower, point) and _below(-self.upper, -point)


def _below(end: float, point: Number) -> bool:
    if math.isinf(end):
        return end < 0
    return point >= Fraction(end)


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work with balls of this many bits inside the block."""
    with _lock:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before


def to_ball(value: int | Fraction | Number) -> arb:
    """A ball around an exact value at the present precision."""
    if isinstance(value, Number):
        return value.ball()
    if isinstance(value, int):
        return arb(value)
    return arb(fmpq(value.numerator, value.denominator))


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
    return arb((1, exponent))  # exact at any precision


def floor_scaled(ball: arb, bits: int) -> int:
    """An integer n with n <= 2^bits * x < n + 2 for every x in the ball; refused if the ball is too wide for one."""
    floor = (ball * _power_of_two(bits)).floor().unique_fmpz()
    if floor is not None:  # one floor for every x; most balls come this way, which is the faster one
        return int(floor)
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


def round_down(value: Fraction) -> float:
    """The largest float that is not above the value."""
    try:
        result = value.numerator / value.denominator
    except OverflowError:
        result = math.inf if value > 0 else -math.inf
    if result == math.inf or (math.isfinite(result) and Fraction(result) > value):
        return math.nextafter(result, -math.inf)
    return result


def round_up(value: Fraction) -> float:
    """The smallest float that is not below the value."""
    return -round_down(-value)


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


def enclose(ball: arb) -> Enclosure:
    """The ball as a pair of floats, rounded outwards; (-inf, inf) when nothing is known."""
    if not ball.is_finite():
        return Enclosure(-math.inf, math.inf)
    return Enclosure(_float_below(ball.lower()), -_float_below(-ball.upper()))


def certify(compute: Callable[[], arb], *, bits: int = 96) -> Enclosure:
    """Evaluate at growing precision until at most one float lies between the ends, or more bits do not help."""
    before = math.inf
    while True:
        with precision(bits):
            result = enclose(compute())
        if math.nextafter(math.nextafter(result.lower, math.inf), math.inf) >= result.upper:
            return result
        if before > result.width >= before / 2 or bits >= MOST_BITS:
            if math.isinf(result.width):
                raise PrecisionError("result", result, "no finite bound was found", "less extreme parameters")
            return result
        before, bits = result.width, bits * 2


def exp(value: object) -> Enclosure:
    """e^x."""
    x = exact(value, name="x")
    return certify(lambda: x.ball().exp())


def log(value: object) -> Enclosure:
    """The natural logarithm."""
    x = exact(value, name="x", positive=True)
    return certify(lambda: x.ball().log())


def erfc(value: object) -> Enclosure:
    """The complementary error function 2/sqrt(pi) * integral of exp(-t^2) from x to infinity."""
    x = exact(value, name="x")
    return certify(lambda: x.ball().erfc())


def normal_tail(value: object) -> Enclosure:
    """P(Z > x) for a standard normal Z; tight also where the tail is far below the smallest gap around 1."""
    x = exact(value, name="x")
    return certify(lambda: (x.ball() / arb(2).sqrt()).erfc() / 2)


def total(values: Iterable[object]) -> Enclosure:
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
