"""Exact rationals as short text: a finite decimal where it is short, a fraction otherwise."""

from __future__ import annotations

import math
from fractions import Fraction

from dither.numeric.parse import LARGEST_BITS


def integer_text(value: int) -> str:
    """Decimal digits; hexadecimal ones where the decimal conversion would take long."""
    return str(value) if value.bit_length() <= LARGEST_BITS else hex(value)


def rational_text(value: Fraction) -> str:
    """The shortest exact text: 0.1 where the decimal ends soon, 1/3 where it does not."""
    denominator, digits = value.denominator, 0
    while digits <= 12 and denominator != 1:
        denominator //= math.gcd(denominator, 10)
        digits += 1
    if denominator == 1 and 0 < digits <= 12 and value.numerator.bit_length() <= 128:
        scaled = str(abs(value.numerator) * 10**digits // value.denominator).rjust(digits + 1, "0")
        return ("-" if value < 0 else "") + f"{scaled[:-digits]}.{scaled[-digits:]}"
    if value.denominator == 1:
        return integer_text(value.numerator)
    return f"{integer_text(value.numerator)}/{integer_text(value.denominator)}"
