"""Division row by row: quotients of two columns, whole quotients, remainders and signs.

A denominator of zero gives no value. So does one, or a numerator, that is no number or beyond 2^500 in size, and a
denominator below 2^-500; a numerator below that is zero. So the quotient of doubles neither overflows nor underflows on any
engine, and IEEE's division, which is correctly rounded, is the same on all of them. Whole quotients and remainders are of
whole numbers of 64 bits, towards zero and with the sign of what is divided, as in SQL; remainders of decimals are those of
their steps. All nodes of this file are exact on every engine."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import ClassVar

from dither.query.plan.base import Expression
from dither.query.plan.expressions import ColumnValue
from dither.query.plan.facts import Facts
from dither.query.policy.column import Type


@dataclass(frozen=True)
class Quotient(Expression):
    """A number divided by another one of the row; missing where that is zero."""

    code: ClassVar[str] = "quotient"
    exact: ClassVar[bool] = True

    of: Expression
    by: Expression

    @property
    def facts(self) -> Facts:
        of, by = self.of.facts, self.by.facts
        kind = Type.FLOAT if Type.FLOAT in (of.type, by.type) else Type.DECIMAL
        sides = nonzero(by)
        if of.lower is None or of.upper is None or not sides:
            return Facts(kind)
        ends = [end / divisor for end in (of.lower, of.upper) for side in sides for divisor in side]
        return Facts(kind, min(ends), max(ends))


def nonzero(facts: Facts) -> list[tuple[Fraction, Fraction]]:
    """The parts of the bounds of a denominator on either side of zero; none where it can be as small as it likes.

    A whole number that is not zero is one in size at least.
    """
    lower, upper = facts.lower, facts.upper
    if lower is None or upper is None:
        return []
    if facts.type is not Type.INTEGER:
        return [(lower, upper)] if lower > 0 or upper < 0 else []
    one = Fraction(1)
    return [(low, high) for low, high in ((lower, min(upper, -one)), (max(lower, one), upper)) if low <= high]


@dataclass(frozen=True)
class WholeQuotient(Expression):
    """How often a positive whole number is contained in one of the row: towards zero."""

    code: ClassVar[str] = "whole_quotient"
    exact: ClassVar[bool] = True

    of: Expression
    by: int

    @property
    def facts(self) -> Facts:
        of = self.of.facts
        if of.lower is None or of.upper is None:
            return Facts(Type.INTEGER)
        return Facts(Type.INTEGER, Fraction(int(of.lower / self.by)), Fraction(int(of.upper / self.by)))


@dataclass(frozen=True)
class Remainder(Expression):
    """What a division by a positive constant leaves, with the sign of what is divided."""

    code: ClassVar[str] = "remainder"
    exact: ClassVar[bool] = True

    of: Expression
    by: Fraction

    @property
    def scale(self) -> int:
        """One over the step in which both are whole numbers: 1 where what is divided is whole."""
        if not isinstance(self.of, ColumnValue) or self.of.facts.type is Type.INTEGER:
            return self.by.denominator
        column = self.of.column  # its steps are counted from its lower bound
        own = [part.denominator for part in (column.step, column.lower) if part is not None]
        return lcm(self.by.denominator, *own)

    @property
    def facts(self) -> Facts:
        of, most = self.of.facts, self.by - Fraction(1, self.scale)
        if of.lower is not None and of.lower == of.upper:
            left = of.lower - self.by * int(of.lower / self.by)
            return Facts(Type.INTEGER if self.scale == 1 else of.type, left, left)
        lower = -most if of.lower is None else min(Fraction(0), max(of.lower, -most))
        upper = most if of.upper is None else max(Fraction(0), min(of.upper, most))
        return Facts(Type.INTEGER if self.scale == 1 else of.type, lower, upper)


@dataclass(frozen=True)
class Sign(Expression):
    """1 above zero, -1 below, 0 at zero."""

    code: ClassVar[str] = "sign"
    exact: ClassVar[bool] = True

    of: Expression

    @property
    def facts(self) -> Facts:
        of = self.of.facts
        lower = -1 if of.lower is None or of.lower < 0 else int(of.lower > 0)
        upper = 1 if of.upper is None or of.upper > 0 else -int(of.upper < 0)
        return Facts(Type.INTEGER, Fraction(lower), Fraction(upper), of.nullable)
