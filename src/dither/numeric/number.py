"""Exact numbers for privacy parameters: r + c1 ln b1 + c2 ln b2 + ..., with rational r and c.

A privacy parameter is never a float: 0.1 means one tenth, and the coin flip of randomized response has
epsilon = ln 3 exactly. Sums, differences and rational multiples stay exact, so a budget of ln 3 can be
halved and put together again without losing anything.

Why comparison is decidable. The bases b are kept as integers above 1 with no common factor between any two,
so their logarithms are linearly independent over the rationals (unique factorisation). Hence the logarithmic
part is zero only when it has no terms; and a rational plus a non-empty logarithmic part is never zero, since
e^r is irrational for every rational r other than 0 (Lambert). So a number is zero exactly when it is written
as zero, and in every other case balls of growing precision separate it from zero after finitely many steps.

`Enclosure` stands here as well: a number gives its bounds as one, and one is asked whether a number is in it.
"""

from __future__ import annotations

import math
import numbers
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, SupportsIndex, TypeAlias, Union

from dither.errors import NumberError
from dither.numeric.balls import ends, precision, sharpen
from dither.numeric.parse import LARGEST_BITS, from_object, from_text

if TYPE_CHECKING:
    from flint import arb

DIGITS = frozenset("-/0123456789")

# What a parameter of a mechanism or a guarantee is read from, and what a private value may be (no text there). Truth
# values are integers for a type checker, and are refused when they come; numpy's integers have an index.
RealLike: TypeAlias = SupportsIndex | float | Fraction | Decimal
NumberLike: TypeAlias = Union["Number", RealLike, str]


class Number:
    """An exact real number. Build it from anything that `EXAMPLES` lists; floats count at their printed decimal."""

    __slots__ = ("_logs", "_rational")
    _rational: Fraction
    _logs: tuple[tuple[int, Fraction], ...]

    def __new__(cls, value: object, *, name: str = "number") -> Number:
        if isinstance(value, Number):
            return value
        if not isinstance(value, str):
            return cls._make(from_object(value, name), {})
        rational_part, logarithms = from_text(value, name)
        logs: dict[int, Fraction] = {}
        for argument, coefficient in logarithms:
            _insert(logs, argument.numerator, coefficient)
            _insert(logs, argument.denominator, -coefficient)
        return cls._make(rational_part, logs)

    @classmethod
    def _make(cls, rational: Fraction, logs: dict[int, Fraction]) -> Number:
        self = object.__new__(cls)
        object.__setattr__(self, "_rational", rational)
        object.__setattr__(self, "_logs", tuple(sorted((b, c) for b, c in logs.items() if c)) if logs else ())
        return self

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Number does not change")

    def __reduce__(self) -> tuple[object, tuple[Fraction, dict[int, Fraction]]]:
        return Number._make, (self._rational, dict(self._logs))

    # -- reading ---------------------------------------------------------------------------------------------

    @property
    def is_rational(self) -> bool:
        return not self._logs

    def fraction(self, name: str = "number") -> Fraction:
        """The value as a Fraction; refused when it has a logarithm in it."""
        if self._logs:
            raise NumberError(name, self, "only a rational number has a place here", "'0.5' or Fraction(1, 3)")
        return self._rational

    def ball(self) -> arb:
        """A ball around the value at the present working precision (see `balls.precision`)."""
        from flint import arb, fmpq

        total = arb(fmpq(self._rational.numerator, self._rational.denominator))
        for base, coefficient in self._logs:
            total += arb(base).log() * arb(fmpq(coefficient.numerator, coefficient.denominator))
        return total

    def size(self) -> int:
        """Bits in its denominators and logarithms: what sums of unlike numbers make grow."""
        return self._rational.denominator.bit_length() + sum(
            base.bit_length() + coefficient.denominator.bit_length() for base, coefficient in self._logs
        )

    def exp_fraction(self) -> Fraction | None:
        """e to this power where that is rational: for logarithms whose coefficients are whole, once roots are taken."""
        if self._rational or self.root_degree() != 1 or any(abs(c) > LARGEST_BITS for _, c in self._logs):
            return None
        roots = ((*_rooted(base, c.denominator), c) for base, c in self._logs)
        return math.prod((Fraction(root) ** int(c * times) for root, times, c in roots), start=Fraction(1))

    def root_degree(self) -> int:
        """The least q for which e to q times the logarithms is rational: 1 for ln(9) / 2, which is ln 3."""
        return math.lcm(*(c.denominator // _rooted(base, c.denominator)[1] for base, c in self._logs))

    def bounds(self) -> Enclosure:
        """Floats below and above the value."""
        return sharpen(self.ball, Enclosure)

    def sign(self) -> int:
        """-1, 0 or 1, exactly (the module's first lines say why this always ends)."""
        if not self._logs:
            return (self._rational > 0) - (self._rational < 0)
        bits = 128
        while True:
            with precision(bits):
                ball = self.ball()
                if ball > 0:
                    return 1
                if ball < 0:
                    return -1
            bits *= 2

    # -- arithmetic ------------------------------------------------------------------------------------------

    def __add__(self, other: object) -> Number:
        right = _operand(other)
        if right is None:
            return NotImplemented
        if not right:
            return self
        logs: dict[int, Fraction] = dict(self._logs) if self._logs else {}
        for base, coefficient in right._logs:
            _insert(logs, base, coefficient)
        return Number._make(self._rational + right._rational, logs)

    __radd__ = __add__

    def __mul__(self, factor: object) -> Number:
        if isinstance(factor, Number) and factor.is_rational:
            factor = factor._rational
        if isinstance(factor, bool) or not isinstance(factor, (int, Fraction)):
            return NotImplemented
        return Number._make(self._rational * factor, {b: c * factor for b, c in self._logs})

    __rmul__ = __mul__

    def __truediv__(self, divisor: object) -> Number:
        if isinstance(divisor, Number) and divisor.is_rational:
            divisor = divisor._rational
        if isinstance(divisor, bool) or not isinstance(divisor, (int, Fraction)):
            return NotImplemented
        if divisor == 0:
            raise NumberError("divisor", 0, "nothing can be divided by zero", "a divisor other than zero")
        return self * (1 / Fraction(divisor))

    def __neg__(self) -> Number:
        return self * -1

    def __sub__(self, other: object) -> Number:
        right = _operand(other)
        return NotImplemented if right is None else self + -right

    def __rsub__(self, other: object) -> Number:
        left = _operand(other)
        return NotImplemented if left is None else left + -self

    # -- order -----------------------------------------------------------------------------------------------

    def _compare(self, other: object) -> int | None:
        right = _operand(other)
        if right is None:
            return None
        if not self._logs and not right._logs:
            left = self._rational.numerator * right._rational.denominator
            over = right._rational.numerator * self._rational.denominator
            return (left > over) - (left < over)
        return (self - right).sign()

    def __eq__(self, other: object) -> bool:
        order = self._compare(other)
        return NotImplemented if order is None else order == 0

    def __lt__(self, other: object) -> bool:
        order = self._compare(other)
        return NotImplemented if order is None else order < 0

    def __le__(self, other: object) -> bool:
        order = self._compare(other)
        return NotImplemented if order is None else order <= 0

    def __gt__(self, other: object) -> bool:
        order = self._compare(other)
        return NotImplemented if order is None else order > 0

    def __ge__(self, other: object) -> bool:
        order = self._compare(other)
        return NotImplemented if order is None else order >= 0

    def __bool__(self) -> bool:
        return bool(self._rational or self._logs)

    def __hash__(self) -> int:
        # Equal numbers can be written with different bases, so an irrational one is hashed by its nearest float.
        return hash(self._rational) if self.is_rational else hash(float(self))

    def __float__(self) -> float:
        """The nearest float: for the eye, never for a guarantee."""
        if self.is_rational:
            return _nearest_float(self._rational)
        bits = 128
        while True:
            with precision(bits):
                lower, upper = (_nearest_float(end) for end in ends(self.ball()))
            if lower == upper:
                return lower
            bits *= 2

    # -- storing ---------------------------------------------------------------------------------------------

    def to_json(self) -> object:
        """Text for a rational; otherwise [rational, [[base, coefficient], ...]]. Exact, and read by `from_json`."""
        if self.is_rational:
            return str(self._rational)
        return [str(self._rational), [[str(base), str(coefficient)] for base, coefficient in self._logs]]

    @classmethod
    def from_json(cls, stored: object) -> Number:
        """The number that `to_json` wrote; its size is not limited, since dither wrote it."""
        try:
            if isinstance(stored, str):
                return cls._make(_stored_rational(stored), {})
            if not isinstance(stored, list) or len(stored) != 2:
                raise ValueError("a rational and a list of logarithms")
            total = cls._make(_stored_rational(stored[0]), {})
            for base, coefficient in stored[1]:
                argument = _stored_rational(base)
                if argument.denominator != 1 or argument <= 1:
                    raise ValueError("a base is a whole number above 1")
                total += cls._make(Fraction(0), {argument.numerator: _stored_rational(coefficient)})
        except (TypeError, ValueError, ZeroDivisionError) as error:
            raise NumberError("stored number", stored, "dither did not write this", "what Number.to_json gave") from error
        return total

    # -- writing ---------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        terms = [_show_rational(self._rational)] if self._rational or not self._logs else []
        for base, coefficient in self._logs:
            factor = "" if abs(coefficient) == 1 else f"{_show_rational(abs(coefficient))}*"
            term = f"{factor}ln({_show_integer(base)})"
            if not terms:
                terms.append(term if coefficient > 0 else f"-{term}")
            else:
                terms.append(("+ " if coefficient > 0 else "- ") + term)
        return " ".join(terms)

    def __repr__(self) -> str:
        return f"Number('{self}')"


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


def ln(value: NumberLike) -> Number:
    """The natural logarithm of a positive rational, exactly: `ln(3)` is the epsilon of a fair coin flip."""
    argument = rational(value, name="ln", positive=True)
    logs: dict[int, Fraction] = {}
    for base, coefficient in ((argument.numerator, 1), (argument.denominator, -1)):
        _insert(logs, base, Fraction(coefficient))
    return Number._make(Fraction(0), logs)


def exact(value: NumberLike, *, name: str, positive: bool = False, nonnegative: bool = False) -> Number:
    """The front door for a parameter: an exact number, above zero or not below it where asked."""
    result = Number(value, name=name)
    if positive and result.sign() <= 0:
        raise NumberError(name, value, "it must be above zero", "a positive number such as '0.5'")
    if nonnegative and result.sign() < 0:
        raise NumberError(name, value, "it must not be below zero", "zero or a positive number such as '0.5'")
    return result


def rational(value: NumberLike, *, name: str, positive: bool = False, nonnegative: bool = False) -> Fraction:
    """The front door for a parameter that must be rational."""
    return exact(value, name=name, positive=positive, nonnegative=nonnegative).fraction(name)


def integer(value: SupportsIndex, *, name: str, least: int | None = None) -> int:
    """The front door for a whole number; 3.0 and '3' are refused, since they hide a mistake more often than not."""
    if type(value).__name__ in ("bool", "bool_") or not isinstance(value, numbers.Integral):
        raise NumberError(name, value, "it must be a whole number", "an int such as 3")
    result = int(value)
    if least is not None and result < least:
        raise NumberError(name, value, f"it must be at least {least}", f"an int such as {max(least, 1)}")
    return result


# -- small things ----------------------------------------------------------------------------------------------


def _stored_rational(text: str) -> Fraction:
    """Digits, or digits/digits: an exponent could ask for any amount of memory."""
    if not isinstance(text, str) or not DIGITS.issuperset(text):
        raise ValueError("a rational")
    return Fraction(text)


def _operand(value: object) -> Number | None:
    if isinstance(value, Number):
        return value
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        return Number._make(value if type(value) is Fraction else Fraction(value), {})
    return None


def _insert(logs: dict[int, Fraction], base: int, coefficient: Fraction) -> None:
    """Add coefficient * ln(base) and keep the bases free of common factors."""
    if base == 1 or coefficient == 0:
        return
    for old in list(logs):
        common = math.gcd(base, old)
        if common == 1:
            continue
        old_coefficient = logs.pop(old)
        times, rest = _multiplicity(base, common)
        old_times, old_rest = _multiplicity(old, common)
        _insert(logs, common, coefficient * times + old_coefficient * old_times)
        _insert(logs, rest, coefficient)
        _insert(logs, old_rest, old_coefficient)
        return
    logs[base] = coefficient


def _multiplicity(number: int, factor: int) -> tuple[int, int]:
    """How often a factor divides a number, and what is left."""
    times = 0
    while number % factor == 0:
        number, times = number // factor, times + 1
    return times, number


def _rooted(base: int, times: int) -> tuple[int, int]:
    """r and t with r^t = base, for the largest t that divides `times`."""
    if times > 1:
        from flint import fmpz

        for t in range(min(times, base.bit_length()), 1, -1):
            root = int(fmpz(base).root(t)) if times % t == 0 else 0
            if root**t == base:
                return root, t
    return base, 1


def _nearest_float(value: Fraction) -> float:
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _show_integer(value: int) -> str:
    return str(value) if value.bit_length() <= LARGEST_BITS else hex(value)


def _show_rational(value: Fraction) -> str:
    """The shortest exact text: 0.1 where the decimal ends soon, 1/3 where it does not."""
    denominator, digits = value.denominator, 0
    while digits <= 12 and denominator != 1:
        denominator //= math.gcd(denominator, 10)
        digits += 1
    if denominator == 1 and 0 < digits <= 12 and value.numerator.bit_length() <= 128:
        scaled = str(abs(value.numerator) * 10**digits // value.denominator).rjust(digits + 1, "0")
        return ("-" if value < 0 else "") + f"{scaled[:-digits]}.{scaled[-digits:]}"
    if value.denominator == 1:
        return _show_integer(value.numerator)
    return f"{_show_integer(value.numerator)}/{_show_integer(value.denominator)}"
