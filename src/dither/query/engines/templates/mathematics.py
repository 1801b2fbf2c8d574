"""Functions of numbers as SQL: a number is compared before anything is computed of it, so that nothing fails or overflows.

What a template gets is SQL of a double, or of a whole number of 64 bits; it may be NULL, NaN or an infinity. NaN is above
every number, and so beyond all ends here: what has no value is NULL, and no template gives NaN.

    quotient    sizes from 2^-500 to 2^500, so that the quotient is within 2^-1000 and 2^1000; a lesser numerator is zero
    logarithm   positive numbers        root    numbers from zero on
    exponential up to e^700; below e^-700 it is zero
    power       sizes within 10^(-300/|c|) and 10^(300/|c|), c being the exponent, so that the power is within 10^-300 and
                10^300; of a lesser size it is zero if c is positive. Negative numbers have one if c is whole
    whole       a double is taken for a whole number of 64 bits, or NULL beyond them; a remainder by a positive constant,
                and a quotient by one, fit into 64 bits
"""

from __future__ import annotations

from fractions import Fraction

from dither.query.engines.words import Words
from dither.query.plan.mathematics.elementary import LARGEST_EXPONENT, PRODUCTS, ElementaryName

LEAST, MOST = 2.0**-500, 2.0**500
SMALLEST, LARGEST = 5e-324, 1.7976931348623157e308  # doubles above zero
FARTHEST = 300  # powers of ten


def quotient(words: Words, e: str, by: str) -> str:
    """A double divided by another one."""
    least, most, zero = words.number(LEAST), words.number(MOST), words.number(0.0)
    inside = f"CASE WHEN abs({e}) BETWEEN {least} AND {most} THEN {e} / {by} WHEN abs({e}) < {least} THEN {zero} END"
    return f"(CASE WHEN abs({by}) BETWEEN {least} AND {most} THEN {inside} END)"


def elementary(words: Words, name: ElementaryName, e: str) -> str:
    """A logarithm, a root or an exponential of a double."""
    value, most = words.elementary(name, e), words.number(LARGEST)
    if name == "exp":
        low, high = words.number(-float(LARGEST_EXPONENT)), words.number(float(LARGEST_EXPONENT))
        return f"(CASE WHEN {e} < {low} THEN {words.number(0.0)} WHEN {e} <= {high} THEN {value} END)"
    least = words.number(0.0 if name == "sqrt" else SMALLEST)
    return f"(CASE WHEN {e} BETWEEN {least} AND {most} THEN {value} END)"


def power(words: Words, e: str, exponent: Fraction) -> str:
    """A double to the power of a constant."""
    size = abs(exponent)
    farthest = min(Fraction(FARTHEST), FARTHEST / size)
    least, most = words.number(10.0 ** -float(farthest)), words.number(10.0 ** float(farthest))
    value = " * ".join([e] * int(exponent)) if exponent in PRODUCTS else words.power(e, exponent)
    of = f"abs({e})" if exponent.denominator == 1 else e
    small = f" WHEN {of} BETWEEN {words.number(0.0)} AND {least} THEN {words.number(0.0)}" if exponent > 0 else ""
    return f"(CASE WHEN {of} BETWEEN {least} AND {most} THEN {value}{small} END)"


def scaled(words: Words, e: str, scale: int) -> str:
    """A double in whole steps, the nearest; NULL beyond 64 bits."""
    if scale == 1:  # it is whole
        return words.whole(e)
    return words.whole(words.floor(f"({e} * {words.number(Fraction(scale))} + {words.number(0.5)})"))


def remainder(words: Words, k: str, by: Fraction, scale: int) -> str:
    """What a constant leaves of whole steps of 64 bits: a whole number, or a double where a step is less than one."""
    left = words.remainder(f"({k})", words.integer(int(by * scale)))
    return left if scale == 1 else f"({words.double(left)} / {words.number(Fraction(scale))})"


def sign(words: Words, e: str) -> str:
    """The sign of a double, as a whole number."""
    zero, (minus, none, plus) = words.number(0.0), (words.integer(value) for value in (-1, 0, 1))
    return f"(CASE WHEN {e} < {zero} THEN {minus} WHEN {e} = {zero} THEN {none} WHEN {words.is_real(e)} THEN {plus} END)"
