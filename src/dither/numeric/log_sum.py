"""Exact real arithmetic on r + c1 ln b1 + c2 ln b2 + ..., with rational r and c: sums, rational multiples, exact order.

Theorem. Comparison is decidable.

Proof. The bases b are pairwise coprime integers above 1, so their logarithms are linearly independent over the rationals
(`logarithms.py`). Hence the logarithmic part is zero only when it has no terms; and a rational plus a non-empty logarithmic
part is never zero, since e^r is irrational for every rational r other than 0 (Lambert). So a number is zero exactly when it
is written as zero, and in every other case balls of growing precision separate it from zero after finitely many steps.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Self, TypeAlias, Union

from dither.errors import NumberError
from dither.numeric.balls import ends, nearest_float, precision
from dither.numeric.decimal_text import integer_text, rational_text
from dither.numeric.logarithms import insert, root
from dither.numeric.parse import LARGEST_BITS

if TYPE_CHECKING:
    from flint import arb

Operand: TypeAlias = Union["LogSum", int, Fraction]  # what stands on the other side of an operator


class LogSum:
    """A rational plus rational multiples of logarithms; it does not change. `Number` is the one that is read and shown."""

    __slots__ = ("_logs", "_rational")
    _rational: Fraction
    _logs: tuple[tuple[int, Fraction], ...]

    @classmethod
    def _make(cls, rational: Fraction, logs: dict[int, Fraction]) -> Self:
        self = object.__new__(cls)
        object.__setattr__(self, "_rational", rational)
        object.__setattr__(self, "_logs", tuple(sorted((b, c) for b, c in logs.items() if c)) if logs else ())
        return self

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Number does not change")

    def __reduce__(self) -> tuple[object, tuple[Fraction, dict[int, Fraction]]]:
        return type(self)._make, (self._rational, dict(self._logs))

    # -- reading ---------------------------------------------------------------------------------------------

    @property
    def is_rational(self) -> bool:
        """Whether it has no logarithm."""
        return not self._logs

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
        roots = ((*root(base, c.denominator), c) for base, c in self._logs)
        return math.prod((Fraction(base) ** int(c * times) for base, times, c in roots), start=Fraction(1))

    def root_degree(self) -> int:
        """The least q for which e to q times the logarithms is rational: 1 for ln(9) / 2, which is ln 3."""
        return math.lcm(*(c.denominator // root(base, c.denominator)[1] for base, c in self._logs))

    def sign(self) -> int:
        """-1, 0 or 1, exactly (the head of the module says why this always ends)."""
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

    def __add__(self, other: Operand) -> Self:
        right = self._operand(other)
        if right is None:
            return NotImplemented
        if not right:
            return self
        logs: dict[int, Fraction] = dict(self._logs) if self._logs else {}
        for base, coefficient in right._logs:
            insert(logs, base, coefficient)
        return self._make(self._rational + right._rational, logs)

    __radd__ = __add__

    def __mul__(self, factor: Operand) -> Self:
        if isinstance(factor, LogSum) and factor.is_rational:
            factor = factor._rational
        if isinstance(factor, bool) or not isinstance(factor, (int, Fraction)):
            return NotImplemented
        return self._make(self._rational * factor, {b: c * factor for b, c in self._logs})

    __rmul__ = __mul__

    def __truediv__(self, divisor: Operand) -> Self:
        if isinstance(divisor, LogSum) and divisor.is_rational:
            divisor = divisor._rational
        if isinstance(divisor, bool) or not isinstance(divisor, (int, Fraction)):
            return NotImplemented
        if divisor == 0:
            raise NumberError("divisor", 0, "nothing can be divided by zero", "a divisor other than zero")
        return self * (1 / Fraction(divisor))

    def __neg__(self) -> Self:
        return self * -1

    def __sub__(self, other: Operand) -> Self:
        right = self._operand(other)
        return NotImplemented if right is None else self + -right

    def __rsub__(self, other: Operand) -> Self:
        left = self._operand(other)
        return NotImplemented if left is None else left + -self

    # -- order -----------------------------------------------------------------------------------------------

    def _compare(self, other: object) -> int | None:
        right = self._operand(other)
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

    def __lt__(self, other: Operand) -> bool:
        order = self._compare(other)
        return NotImplemented if order is None else order < 0

    def __le__(self, other: Operand) -> bool:
        order = self._compare(other)
        return NotImplemented if order is None else order <= 0

    def __gt__(self, other: Operand) -> bool:
        order = self._compare(other)
        return NotImplemented if order is None else order > 0

    def __ge__(self, other: Operand) -> bool:
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
            return nearest_float(self._rational)
        bits = 128
        while True:
            with precision(bits):
                lower, upper = (nearest_float(end) for end in ends(self.ball()))
            if lower == upper:
                return lower
            bits *= 2

    # -- writing ---------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        terms = [rational_text(self._rational)] if self._rational or not self._logs else []
        for base, coefficient in self._logs:
            factor = "" if abs(coefficient) == 1 else f"{rational_text(abs(coefficient))}*"
            term = f"{factor}ln({integer_text(base)})"
            if not terms:
                terms.append(term if coefficient > 0 else f"-{term}")
            else:
                terms.append(("+ " if coefficient > 0 else "- ") + term)
        return " ".join(terms)

    @classmethod
    def _operand(cls, value: object) -> Self | None:
        """The other side of an operator; None where there is no exact arithmetic with it."""
        if isinstance(value, cls):
            return value
        if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
            return cls._make(value if type(value) is Fraction else Fraction(value), {})
        return None
