"""Parsing exact numbers: what counts as a number, at what value, and what is refused with words.

Nothing here makes a `Number`: text, objects and stored records are taken apart into rationals and logarithms.
"""

from __future__ import annotations

import math
import numbers
import re
from decimal import Decimal
from fractions import Fraction

from dither.errors import NumberError

LONGEST_TEXT = 64
LARGEST_EXPONENT = 400
LARGEST_BITS = 4096  # of a numerator or denominator that somebody states
EXAMPLES = "an integer, a Fraction, a Decimal, a float such as 0.1, or text such as '0.1', '1/3', '1e-6', 'ln(3)'"

_DIGITS = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_RATIONAL = rf"{_DIGITS}(?:\s*/\s*{_DIGITS})?"
_TERM = re.compile(
    rf"(?P<sign>[+-]?)\s*(?:(?:(?P<coefficient>{_RATIONAL})\s*\*\s*)?ln\s*\(\s*(?P<base>{_RATIONAL})\s*\)"
    rf"|(?P<rational>{_RATIONAL}))\s*"
)


def from_object(value: object, name: str) -> Fraction:
    """Integers, Fractions, Decimals, and floats at the decimal that they print."""
    kind = type(value).__name__
    if kind in ("bool", "bool_"):
        raise NumberError(name, value, "a truth value is not a number", "1 or 0, if that is what was meant")
    if isinstance(value, float):  # np.float64 is one too
        if not math.isfinite(value):
            raise NumberError(name, value, "it is not finite", EXAMPLES)
        return Fraction(float.__repr__(value))
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise NumberError(name, value, "it is not finite", EXAMPLES)
        _check_exponent(value.as_tuple().exponent, value, name)
        _check_exponent(value.adjusted(), value, name)
        return _check_size(Fraction(value), value, name)
    if isinstance(value, numbers.Rational):  # int, Fraction, and numpy's integers
        return _check_size(Fraction(int(value.numerator), int(value.denominator)), value, name)
    if kind in ("float16", "float32", "longdouble", "float128"):
        raise NumberError(
            name,
            value,
            f"a {kind} does not print the decimal that was meant",
            "the decimal as text, such as '0.1', or float(x) if its double value is meant",
        )
    raise NumberError(name, value, f"{kind} is not a number", EXAMPLES)


Logarithms = list[tuple[Fraction, Fraction]]  # (argument, coefficient)
_STORED = frozenset("-/0123456789")


def from_text(text: str, name: str) -> tuple[Fraction, Logarithms]:
    """A sum of rationals and multiples of logarithms: '0.1', '1/3', '1e-6', '1/2 + 2*ln(3)'."""
    if len(text) > LONGEST_TEXT:
        raise NumberError(name, text, f"text over {LONGEST_TEXT} characters is not read", EXAMPLES)
    rest, first = text.strip(), True
    rational_part = Fraction(0)
    logarithms: Logarithms = []
    while rest:
        match = _TERM.match(rest)
        if match is None or not (first or match["sign"]):
            raise NumberError(name, text, "it does not read as a number", EXAMPLES)
        sign = -1 if match["sign"] == "-" else 1
        if match["base"] is None:
            rational_part += sign * _read_rational(match["rational"], text, name)
        else:
            base = _read_rational(match["base"], text, name)
            if base <= 0:
                raise NumberError(name, text, "a logarithm needs a positive argument", "'ln(3)'")
            coefficient = sign * _read_rational(match["coefficient"] or "1", text, name)
            logarithms.append((base, coefficient))
        rest, first = rest[match.end() :], False
    if first:
        raise NumberError(name, text, "it is empty", EXAMPLES)
    return rational_part, logarithms


def from_stored(stored: object) -> tuple[Fraction, list[tuple[int, Fraction]]]:
    """The rational and the logarithms, (base, coefficient), of a stored number; ValueError or TypeError where it is none."""
    if isinstance(stored, str):
        return _stored_rational(stored), []
    if not isinstance(stored, list) or len(stored) != 2:
        raise ValueError("a rational and a list of logarithms")
    rational_part, logarithms = _stored_rational(stored[0]), []
    for base, coefficient in stored[1]:
        argument = _stored_rational(base)
        if argument.denominator != 1 or argument <= 1:
            raise ValueError("a base is a whole number above 1")
        logarithms.append((argument.numerator, _stored_rational(coefficient)))
    return rational_part, logarithms


def _stored_rational(text: object) -> Fraction:
    """Digits, or digits/digits: an exponent could ask for any amount of memory."""
    if not isinstance(text, str) or not _STORED.issuperset(text):
        raise ValueError("a rational")
    return Fraction(text)


def _read_rational(text: str, whole: str, name: str) -> Fraction:
    values = []
    for part in text.split("/"):
        exponent = re.split("[eE]", part.strip())[1:]
        _check_exponent(int(exponent[0]) if exponent else 0, whole, name)
        values.append(Fraction(Decimal(part.strip())))
    if len(values) == 1:
        return values[0]
    if values[1] == 0:
        raise NumberError(name, whole, "nothing can be divided by zero", EXAMPLES)
    return values[0] / values[1]


def _check_exponent(exponent: int | str, value: Decimal | str, name: str) -> None:
    if isinstance(exponent, int) and abs(exponent) > LARGEST_EXPONENT:
        raise NumberError(name, value, f"exponents beyond ±{LARGEST_EXPONENT} are not read", "a number that people use")


def _check_size(value: Fraction, came: Decimal | numbers.Rational, name: str) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > LARGEST_BITS:
        raise NumberError(name, came, f"it needs more than {LARGEST_BITS} bits", "a number that people use")
    return value
