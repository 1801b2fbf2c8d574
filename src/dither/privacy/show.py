"""Numbers for the eye: four digits, rounded up, so that what is read is never less than what is meant."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from dither.numeric.number import Number

FOUR = Context(prec=4, rounding=ROUND_CEILING)


def four_digits(value: Number | Fraction | float) -> str:
    """At most four digits, not below the value; exact numbers that have four digits or fewer stay as they are."""
    if isinstance(value, Number):
        value = value.fraction() if value.is_rational else value.bounds().upper
    if isinstance(value, float):
        if not math.isfinite(value):
            return "∞"
        value = Fraction(value)
    short = FOUR.divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{float(short):.4g}" if abs(short.adjusted()) < 300 else str(short)
