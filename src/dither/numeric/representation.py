"""The `repr` of records: one line that people read, with numbers as short as they can be.

It is for eyes, and no key of anything: `to_json` is exact, and so is the `repr` of a `Number`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import attrs

from dither.numeric.number import Number

LONGEST_VALUE, LONGEST_LINE = 80, 240  # letters
MOST_PARTS = 4  # of a tuple or a mapping
SMALLEST = 1e-300
SHORT = 14  # letters of a number that is shown exactly


class Record:
    """A record whose `repr` is short; made with `repr=False`."""

    def __repr__(self) -> str:
        return short_repr(self)


def short_repr(record: Any) -> str:
    """A record as its class with its fields: those that are None, and those that say so, are left out.

    Example:
        >>> from dither import Geometric
        >>> Geometric(epsilon="0.5", sensitivity=1)
        Geometric(epsilon=0.5, sensitivity=1, unit='add/remove one person')
    """
    told = ", ".join(f"{name}={value_text(value)}" for name, value in _fields(record) if value is not None)
    return cut(f"{type(record).__name__}({told})", LONGEST_LINE)


def _fields(record: Any) -> Iterator[tuple[str, Any]]:
    kind = type(record)
    several: Any = attrs.fields(kind) if attrs.has(kind) else dataclasses.fields(kind)
    for field in several:
        if field.repr and not field.name.startswith("_"):
            yield field.name, getattr(record, field.name)


def value_text(value: Any) -> str:
    """A value inside of a `repr`: short, and on one line."""
    match value:
        case bool():
            return repr(value)
        case Number() | Fraction() | int():
            return number_text(value)
        case float():
            return f"{value:.6g}"
        case Enum():
            return repr(value.value)
        case tuple() | list():
            shown = [value_text(one) for one in value[:MOST_PARTS]] + ["..."] * (len(value) > MOST_PARTS)
            return cut(f"({', '.join(shown)}{',' * (len(shown) == 1)})", LONGEST_VALUE)
        case Mapping():
            pairs = [f"{value_text(key)}: {value_text(one)}" for key, one in list(value.items())[:MOST_PARTS]]
            return cut(f"{{{', '.join([*pairs, *['...'] * (len(value) > MOST_PARTS)])}}}", LONGEST_VALUE)
    if callable(value) and hasattr(value, "__name__"):
        return str(value.__name__)
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"<array of {' x '.join(map(str, value.shape)) or 'one number'}>"
    return cut(" ".join(repr(value).split()), LONGEST_VALUE)


def number_text(value: Number | Fraction | int) -> str:
    """A number: exactly where that is short, as a decimal, a fraction or a logarithm; else about."""
    exact = str(value)
    try:
        near = float(value)
    except OverflowError:
        return cut(exact, SHORT)
    if isinstance(value, Fraction) and Fraction(decimal := f"{near:.12g}") == value:
        exact = min(exact, decimal, key=len)
    return exact if len(exact) <= SHORT else f"≈{near:.6g}"


def cut(text: str, most: int) -> str:
    """A text with its middle left out where it is longer."""
    return text if len(text) <= most else f"{text[: most // 2]}...{text[len(text) - most // 2 + 3 :]}"


def low_end(value: float, decimals: int) -> str:
    """The low end of an interval as people read it, rounded down: what is shown holds what was computed."""
    return _decimals(value, decimals, ROUND_FLOOR)


def high_end(value: float, decimals: int) -> str:
    """The high end, rounded up."""
    return _decimals(value, decimals, ROUND_CEILING)


def low_digits(value: float) -> str:
    """The low end with six significant digits, rounded down."""
    return _digits(value, ROUND_FLOOR)


def high_digits(value: float) -> str:
    """The high end with six significant digits, rounded up."""
    return _digits(value, ROUND_CEILING)


def _decimals(value: float, decimals: int, rounding: str) -> str:
    if not math.isfinite(value):
        return str(float(value))
    rounded = Decimal(float(value)).quantize(Decimal(1).scaleb(-decimals), rounding, Context(prec=400))
    return f"{rounded if rounded else abs(rounded):f}"  # there is no -0


def _digits(value: float, rounding: str) -> str:
    if not math.isfinite(value) or abs(value) < SMALLEST:  # floats near zero do not have six digits
        return repr(float(value))
    return f"{float(Context(prec=6, rounding=rounding).plus(Decimal(float(value)))):.6g}"
