"""Numbers for the eye: four digits, rounded up, so that what is read is never less than what is meant."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from dither.numeric.number import Number

FOUR_UP = Context(prec=4, rounding=ROUND_CEILING)
THREE_UP = Context(prec=3, rounding=ROUND_CEILING)
THREE_DOWN = Context(prec=3, rounding=ROUND_FLOOR)
FOUR_DOWN = Context(prec=4, rounding=ROUND_FLOOR)


def four_digits(value: Number | Fraction | float) -> str:
    """At most four digits, not below the value; exact numbers that have four digits or fewer stay as they are."""
    if isinstance(value, Number):
        value = value.fraction() if value.is_rational else value.bounds().upper
    return _digits(value, FOUR_UP)


def four_digits_down(value: Number | Fraction | float) -> str:
    """At most four digits, not above the value: for what is left of something."""
    if isinstance(value, Number):
        value = value.fraction() if value.is_rational else value.bounds().lower
    return _digits(value, FOUR_DOWN)


def four_digits_proved(value: float, is_proved: Callable[[str], bool]) -> str:
    """At most four digits of a bound: rounded down where that is proved as well, otherwise up.

    A bound that a search in floats found may be one step above 0.2 where 0.2 is true; rounded up it would read 0.2001.
    """
    short = four_digits_down(value)
    return short if math.isfinite(value) and is_proved(short) else four_digits(value)


def percent(part: Fraction) -> str:
    """A part of a whole in percent, three digits, not below it: for what something takes."""
    return _percent(part, THREE_UP)


def percent_down(part: Fraction) -> str:
    """A part of a whole in percent, three digits, not above it: for what is left."""
    return _percent(part, THREE_DOWN)


def _percent(part: Fraction, context: Context) -> str:
    short = context.divide(Decimal(100 * part.numerator), Decimal(part.denominator))
    text = f"{short:,f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}%"


def _digits(value: Fraction | float, context: Context) -> str:
    if isinstance(value, float):
        if not math.isfinite(value):
            return "∞"
        value = Fraction(value)
    short = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{float(short):.4g}" if abs(short.adjusted()) < 300 else str(short)
