"""The epsilon of a profile: floats choose where to look, balls decide."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Protocol

from flint import arb

from dither.numeric.enclosure import to_ball
from dither.numeric.number import Enclosure

BLURRED = 0.05  # a ball wider than this, relatively, says nothing about where the answer is


class Profile(Protocol):
    """delta as a function of epsilon >= 0, as a ball around the truth."""

    def delta(self, eps: arb) -> arb: ...


def solve(profile: Profile, delta: Fraction, guess: float, slope: float = 1.0) -> Enclosure:
    """Floats around the smallest epsilon >= 0 with delta(epsilon) <= delta: the upper surely meets, the lower does not.

    A profile may be sharp near the guess only. So the search starts there, with about this slope of -ln delta.
    """
    target, log_target = to_ball(delta), log_of(delta)

    def look(x: float) -> tuple[bool | None, float, float]:
        """(surely met, ln of delta(x) over the target, how unsure that is)."""
        ball = profile.delta(to_ball(Fraction(x)))
        met = True if ball <= target else False if ball > target else None
        middle = float(ball.mid())
        if not middle > 0:
            return met, -math.inf if middle == middle else math.nan, math.inf
        return met, math.log(middle) - log_target, float(ball.rad()) / middle

    low, high, f_low, f_high = -1.0, math.inf, math.inf, -math.inf  # low < 0: nothing is known yet
    x = guess if 0 < guess < math.inf else 1.0
    last, unsure, spread, stride = x, None, 0.0, 0.0
    for step in range(200):
        met, height, spread = look(x)
        if met is None:
            if spread <= BLURRED:
                unsure = x
                break
            if x == last or abs(x - last) < 1e-9 * last:
                break  # not sharp anywhere near
            x = (x + last) / 2
            continue
        last = x
        if met:
            high, f_high = x, height
        else:
            low, f_low = x, height
        if high == 0:
            return Enclosure(0.0, 0.0)
        if low >= 0 and high < math.inf:
            if high - low <= 4e-16 * high:
                return Enclosure(low, high)
            x = _between_points(low, high, f_low, f_high, step)
        elif met:  # strides double, as delta may hardly change for long beside what is lost
            stride = max(2 * stride, -1.05 * height / slope + 1e-12 * x if math.isfinite(height) else x / 2)
            x = 0.0 if x - stride < 1e-9 * guess or step > 60 else x - stride
        else:
            stride = max(2 * stride, 1.05 * height / slope + 1e-12 * x)
            x = min(x + stride, 2 * x + 1.0)
            if x > 1e18:
                break
    if unsure is None:
        return Enclosure(max(low, 0.0), high)
    # around a point that cannot be told: outwards by what the ball's width is worth, doubled until it can
    steep = (f_low - f_high) / (high - low) if math.isfinite(f_high - f_low) and low >= 0 and high > low else slope
    reach = max(2 * spread / max(steep, 1e-12), 4e-16 * unsure)
    for sign in (1.0, -1.0):
        width = reach
        for _ in range(80):
            x = unsure + sign * width
            if x <= max(low, 0.0) or x >= high:
                break
            met, _, _ = look(x)
            if met is (sign > 0):
                low, high = (low, x) if sign > 0 else (x, high)
                break
            width *= 2
    return Enclosure(max(low, 0.0), high)


def _between_points(low: float, high: float, f_low: float, f_high: float, step: int) -> float:
    """The next point to look at: where a straight line crosses, or the middle from time to time."""
    if step % 4 != 3 and math.isfinite(f_high) and math.isfinite(f_low) and f_low > f_high:
        x = low + (high - low) * f_low / (f_low - f_high)
        edge = (high - low) * 1e-3
        x = min(max(x, low + min(edge, 1e-9)), high - min(edge, 1e-9))
        if low < x < high:
            return x
    return (low + high) / 2


def log_of(value: Fraction) -> float:
    """ln of a positive fraction, also below the smallest float."""
    shift = value.denominator.bit_length() - value.numerator.bit_length()
    return math.log(float(value * 2**shift) if shift >= 0 else float(value / 2**-shift)) - shift * math.log(2)
