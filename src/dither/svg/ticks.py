"""Axes: which part of the number line is shown, round ticks on it, and where a number stands.

All in fractions: 1e300 and 1e-300 are numbers like others, nothing overflows, and no machine rounds in another way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from dither.svg.labels import text_width

MOST_TICKS, LEAST_TICKS = 8, 3
GAP = 12.0  # between the labels of two ticks
MARGIN, LABEL = 16.0, 10.0  # at both ends of an axis: free room, and how much of it labels take
LONG = 10**15  # from here on, and below its inverse, numbers have an exponent


@dataclass(frozen=True)
class Tick:
    """A round number and its label."""

    value: Fraction
    label: str


@dataclass(frozen=True)
class Axis:
    """A part of the number line, drawn over a length."""

    low: Fraction
    high: Fraction
    length: float
    ticks: tuple[Tick, ...]

    def place(self, value: Fraction) -> float:
        """How far a number stands from the low end."""
        return float((value - self.low) / (self.high - self.low) * Fraction(self.length))

    def label_place(self, tick: Tick, size: float) -> float:
        """Where the middle of a label stands: at its tick, or as near as the margins of the picture allow."""
        half = text_width(tick.label, size) / 2
        return max(half - LABEL, min(self.place(tick.value), self.length + LABEL - half))


def real(value: float | Fraction | None) -> Fraction | None:
    """A number that can be drawn; None where there is none, or where it is infinite or no number."""
    return None if value is None or (isinstance(value, float) and not math.isfinite(value)) else Fraction(value)


def axis_of(values: Iterable[Fraction], length: float, size: float, *, whole: bool = False, upright: bool = False) -> Axis:
    """The axis for these numbers, with labels that do not touch each other.

    Args:
        values: all that is drawn on it.
        length: of the axis.
        size: of the letters.
        whole: they are whole numbers, such as counts: ticks are too, and zero is shown from further away.
        upright: the axis goes up, so that labels are as long as a line is high.
    """
    low, high = _extent(list(values), whole=whole)
    ticks: Sequence[Tick] = ()
    for wanted in range(MOST_TICKS, LEAST_TICKS - 1, -1):
        ticks = _ticks(low, high, wanted, whole=whole)
        axis = Axis(low, high, length, tuple(ticks))
        if not _collide(axis, size, upright=upright):
            return axis
    while _collide(axis := Axis(low, high, length, tuple(ticks)), size, upright=upright):
        ticks = ticks[::2] if len(ticks) > 2 else ticks[:1]
    return axis


def _extent(values: list[Fraction], *, whole: bool) -> tuple[Fraction, Fraction]:
    """The numbers with some room around them, and with zero where it is near."""
    low, high = min(values, default=Fraction(0)), max(values, default=Fraction(0))
    if low == high:
        low, high = (Fraction(-1), Fraction(1)) if low == 0 else (min(2 * low, Fraction(0)), max(2 * low, Fraction(0)))
    near = (high - low) * (3 if whole else 1)
    low, high = (Fraction(0) if 0 < low <= near else low), (Fraction(0) if -near <= high < 0 else high)
    room = (high - low) / 25
    return low - room * (low != 0), high + room * (high != 0)


def _ticks(low: Fraction, high: Fraction, wanted: int, *, whole: bool) -> list[Tick]:
    """Multiples of 1, 2 or 5 times a power of ten; at least one, since the step is less than what is shown."""
    least = (high - low) / wanted
    power = _power(least)
    factor, power = next((f, power + p) for f, p in ((1, 0), (2, 0), (5, 0), (1, 1)) if f * _ten(power + p) >= least)
    if whole and power < 0:
        factor, power = 1, 0
    step = factor * _ten(power)
    found = range(math.ceil(low / step), math.floor(high / step) + 1)
    largest = max(abs(low), abs(high))
    return [Tick(at * step, _label(at * factor, power, largest)) for at in found]


def _ten(power: int) -> Fraction:
    return Fraction(10) ** power


def _power(value: Fraction) -> int:
    """The largest power of ten that is at most the value."""
    guess = len(str(value.numerator)) - len(str(value.denominator))
    return guess if _ten(guess) <= value else guess - 1


def _label(units: int, power: int, largest: Fraction) -> str:
    """A number of units of a power of ten, in full where it is not too long."""
    if units == 0:
        return "0"
    sign, digits = "-" * (units < 0), str(abs(units))
    if largest >= LONG or largest * LONG <= 1 or power < -9:
        rest = digits[1:].rstrip("0")
        return f"{sign}{digits[0]}{'.' * bool(rest)}{rest}e{power + len(digits) - 1}"
    if power >= 0:
        return f"{units * 10**power:,}"
    digits = digits.rjust(1 - power, "0")
    return f"{sign}{int(digits[:power]):,}.{digits[power:]}"


def _collide(axis: Axis, size: float, *, upright: bool) -> bool:
    ends = []
    for tick in axis.ticks:
        half = size * 0.7 if upright else (text_width(tick.label, size) + GAP) / 2
        middle = axis.place(tick.value) if upright else axis.label_place(tick, size)
        ends.append((middle - half, middle + half))
    return any(one[1] > other[0] for one, other in pairwise(ends))
