"""Exact numbers for privacy parameters: r + c1 ln b1 + c2 ln b2 + ..., with rational r and c.

A privacy parameter is never a float: 0.1 means one tenth, and the coin flip of randomized response has
epsilon = ln 3 exactly. Sums, differences and rational multiples stay exact, so a budget of ln 3 can be
halved and put together again without losing anything. Arithmetic and order are those of `log_sum.py`, which proves that
comparison is decidable; here is how numbers are read, bounded by floats and stored.

`Enclosure` stands here as well: a number gives its bounds as one, and one is asked whether a number is in it.
"""

from __future__ import annotations

import math
import numbers
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple, SupportsIndex, TypeAlias, Union

from dither.arguments import argument_errors
from dither.errors import NumberError
from dither.numeric.balls import sharpen
from dither.numeric.log_sum import LogSum
from dither.numeric.logarithms import insert
from dither.numeric.parse import from_object, from_stored, from_text

# What a parameter of a mechanism or a guarantee is read from, and what a private value may be (no text there). Truth
# values are integers for a type checker, and are refused when they come; numpy's integers have an index.
RealLike: TypeAlias = SupportsIndex | float | Fraction | Decimal
NumberLike: TypeAlias = Union["Number", RealLike, str]


class Number(LogSum):
    """An exact real number: a rational plus rational multiples of logarithms. Floats count at their printed decimal.

    Args:
        value: an integer, a Fraction, a Decimal, a float, a Number, or text such as '0.1', '1/3', '1e-6', '1/2 + 2*ln(3)'.
        name: how an error calls it.

    Raises:
        NumberError: it is no number, a truth value, not finite, a float of less than 64 bits, or text beyond the limits.

    Example:
        >>> from dither import Number
        >>> Number(0.1) + Number("ln(3)") / 2
        Number('0.1 + 0.5*ln(3)')
        >>> Number("ln(9)") == 2 * Number("ln(3)")
        True
    """

    __slots__ = ()

    def __new__(cls, value: NumberLike, *, name: str = "number") -> Number:
        if isinstance(value, Number):
            return value
        if not isinstance(value, str):
            return cls._make(from_object(value, name), {})
        rational_part, logarithms = from_text(value, name)
        logs: dict[int, Fraction] = {}
        for argument, coefficient in logarithms:
            insert(logs, argument.numerator, coefficient)
            insert(logs, argument.denominator, -coefficient)
        return cls._make(rational_part, logs)

    def fraction(self, name: str = "number") -> Fraction:
        """The value as a Fraction; refused, under this name, when it has a logarithm in it."""
        if self._logs:
            raise NumberError(name, self, "only a rational number has a place here", "'0.5' or Fraction(1, 3)")
        return self._rational

    def bounds(self) -> Enclosure:
        """The tightest floats below and above the value."""
        return sharpen(self.ball, Enclosure)

    def to_json(self) -> object:
        """Text for a rational; otherwise [rational, [[base, coefficient], ...]]. Exact, and read by `from_json`."""
        if self.is_rational:
            return str(self._rational)
        return [str(self._rational), [[str(base), str(coefficient)] for base, coefficient in self._logs]]

    @classmethod
    def from_json(cls, stored: object) -> Number:
        """The number that `to_json` wrote, from its stored form; its size is not limited, since dither wrote it."""
        try:
            rational_part, logarithms = from_stored(stored)
        except (TypeError, ValueError, ZeroDivisionError) as error:
            raise NumberError("stored number", stored, "dither did not write this", "what Number.to_json gave") from error
        logs: dict[int, Fraction] = {}
        for base, coefficient in logarithms:
            insert(logs, base, coefficient)
        return cls._make(rational_part, logs)

    def __repr__(self) -> str:
        return f"Number('{self}')"


class Enclosure(NamedTuple):
    """An interval with float ends that contains the exact value: outward rounding.

    Args:
        lower: a float that is not above the value.
        upper: a float that is not below the value.

    Raises:
        NumberError: `x in enclosure` was asked of something that is no number.

    Example:
        >>> from dither import Number
        >>> bounds = Number("ln(3)").bounds()
        >>> "ln(3)" in bounds, bounds.width < 1e-15
        (True, True)
    """

    lower: float
    upper: float

    @property
    def width(self) -> float:
        """upper - lower, as a float."""
        return self.upper - self.lower

    def __contains__(self, value: object) -> bool:
        point = Number(value)  # type: ignore[arg-type]  # `in` takes anything; what is no number is refused
        return _below(self.lower, point) and _below(-self.upper, -point)


def _below(end: float, point: Number) -> bool:
    if math.isinf(end):
        return end < 0
    return point >= Fraction(end)


@argument_errors
def ln(value: NumberLike) -> Number:
    """The natural logarithm of a positive rational, exactly.

    Args:
        value: the rational, above 0.

    Raises:
        NumberError: it is no number, not above 0, or not rational.

    Example:
        >>> from dither import ln
        >>> ln(3)  # the epsilon of randomized response with a fair coin
        Number('ln(3)')
        >>> ln("1/9") == -2 * ln(3)
        True
    """
    argument = rational(value, name="ln", positive=True)
    logs: dict[int, Fraction] = {}
    for base, coefficient in ((argument.numerator, 1), (argument.denominator, -1)):
        insert(logs, base, Fraction(coefficient))
    return Number._make(Fraction(0), logs)


def exact(value: NumberLike, *, name: str, positive: bool = False, nonnegative: bool = False) -> Number:
    """A parameter as an argument: an exact number, above zero or not below it where asked."""
    result = Number(value, name=name)
    if positive and result.sign() <= 0:
        raise NumberError(name, value, "it must be above zero", "a positive number such as '0.5'")
    if nonnegative and result.sign() < 0:
        raise NumberError(name, value, "it must not be below zero", "zero or a positive number such as '0.5'")
    return result


def rational(value: NumberLike, *, name: str, positive: bool = False, nonnegative: bool = False) -> Fraction:
    """A parameter that must be rational, as an argument."""
    return exact(value, name=name, positive=positive, nonnegative=nonnegative).fraction(name)


def integer(value: SupportsIndex, *, name: str, least: int | None = None) -> int:
    """A whole number as an argument; 3.0 and '3' are refused, since they hide a mistake more often than not."""
    if type(value).__name__ in ("bool", "bool_") or not isinstance(value, numbers.Integral):
        raise NumberError(name, value, "it must be a whole number", "an int such as 3")
    result = int(value)
    if least is not None and result < least:
        raise NumberError(name, value, f"it must be at least {least}", f"an int such as {max(least, 1)}")
    return result
