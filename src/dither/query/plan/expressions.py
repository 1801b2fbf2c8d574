"""The question as dither understands it: a small closed set of nodes. What is not a node cannot be asked.

Expressions are about one row of one person. Each has facts that follow from the policy alone: a type, bounds where it
is a number, and whether it may be missing. Values of numbers are computed row by row in double precision, which
cannot fail (a product that overflows is an infinity, and is clamped); that is safe, since only the integer after the
clamp enters a sum, and accurate, since bounds and constants are small. Missing values follow SQL: an unknown
condition keeps no row.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from dither.query.plan.base import Expression
from dither.query.plan.facts import Facts, around, common_type
from dither.query.policy.column import Column, Type
from dither.query.policy.table import Table

Value = Fraction | str | bool | datetime.date | datetime.datetime
Operator = Literal["+", "-", "*", "/"]
Comparison = Literal["=", "<>", "<", "<=", ">", ">="]
Part = Literal["year", "quarter", "month", "day", "weekday", "hour", "minute", "second", "week", "isodow", "doy", "isoyear"]

PARTS: dict[Part, tuple[int, int]] = {
    **{"year": (1, 9999), "quarter": (1, 4), "month": (1, 12), "day": (1, 31), "weekday": (0, 6), "hour": (0, 23)},
    **{"minute": (0, 59), "second": (0, 59), "week": (1, 53), "isodow": (1, 7), "doy": (1, 366)},
    "isoyear": (1, 9999),  # as the years: of the first a Monday is the first day, of the last a Friday is the last
}


@dataclass(frozen=True)
class ColumnValue(Expression):
    """The cell of a column."""

    code: ClassVar[str] = "column"

    column: Column

    @property
    def facts(self) -> Facts:
        column = self.column
        return Facts(column.type, column.lower, column.upper, column.nullable, column.first, column.last)


@dataclass(frozen=True)
class Constant(Expression):
    """A value that the analyst wrote."""

    code: ClassVar[str] = "literal"

    value: Value

    @property
    def facts(self) -> Facts:
        value = self.value
        if isinstance(value, bool):
            return Facts(Type.BOOLEAN, nullable=False)
        if isinstance(value, Fraction):
            whole = Type.INTEGER if value.denominator == 1 else Type.DECIMAL
            return Facts(whole, value, value, nullable=False)
        if isinstance(value, datetime.datetime):
            return Facts(Type.TIMESTAMP, nullable=False, first=value, last=value)
        if isinstance(value, datetime.date):
            return Facts(Type.DATE, nullable=False, first=value, last=value)
        return Facts(Type.TEXT, nullable=False)


@dataclass(frozen=True)
class ReleasedConstant(Expression):
    """A number that a scalar subquery released before, and arithmetic on it; NULL while nobody knows it, or if it is.

    Its facts do not depend on its value. So nothing does that follows from facts: groups, bounds, noise and prices.
    """

    code: ClassVar[str] = "released_constant"
    spelled_attributes: ClassVar[tuple[str, ...]] = ("of",)  # which constant it is; a question is stored before its value

    of: str  # how it is computed: '#1' is the first subquery
    text: str  # as it was written
    value: Fraction | None

    @property
    def facts(self) -> Facts:
        return Facts(Type.FLOAT)


@dataclass(frozen=True)
class Arithmetic(Expression):
    """Sum, difference, product of two numbers, or a number divided by a constant; bounds follow from theirs."""

    code: ClassVar[str] = "arithmetic"

    operator: Operator
    left: Expression
    right: Expression

    @property
    def facts(self) -> Facts:
        left, right = self.left.facts, self.right.facts
        nullable = left.nullable or right.nullable
        kind = common_type((left, right))
        if self.operator == "/" and kind is Type.INTEGER:
            kind = Type.DECIMAL
        if left.lower is None or left.upper is None or right.lower is None or right.upper is None:
            return Facts(kind, nullable=nullable)
        if self.operator == "*":
            ends = [a * b for a in (left.lower, left.upper) for b in (right.lower, right.upper)]
        elif self.operator == "/":
            assert right.lower == right.upper != 0  # the reader sees to it
            ends = [left.lower / right.lower, left.upper / right.lower]
        elif self.operator == "+":
            ends = [left.lower + right.lower, left.upper + right.upper]
        else:
            ends = [left.lower - right.upper, left.upper - right.lower]
        return Facts(kind, min(ends), max(ends), nullable)


@dataclass(frozen=True)
class DatePart(Expression):
    """The year, month, ... of a date."""

    code: ClassVar[str] = "date_part"

    part: Part
    of: Expression

    @property
    def facts(self) -> Facts:
        lower, upper = PARTS[self.part]
        return Facts(Type.INTEGER, Fraction(lower), Fraction(upper), self.of.facts.nullable)


@dataclass(frozen=True)
class Compare(Expression):
    """A comparison of two values of one kind."""

    code: ClassVar[str] = "compare"

    operator: Comparison
    left: Expression
    right: Expression

    @property
    def facts(self) -> Facts:
        return Facts(Type.BOOLEAN, nullable=self.left.facts.nullable or self.right.facts.nullable)


@dataclass(frozen=True)
class InList(Expression):
    """Whether a value is in a list that the analyst wrote."""

    code: ClassVar[str] = "in_list"

    value: Expression
    options: tuple[Constant, ...]

    @property
    def facts(self) -> Facts:
        return Facts(Type.BOOLEAN, nullable=self.value.facts.nullable)


@dataclass(frozen=True)
class Like(Expression):
    """Whether a text matches a pattern of % and _ that the analyst wrote."""

    code: ClassVar[str] = "like"

    value: Expression
    pattern: str

    @property
    def facts(self) -> Facts:
        return Facts(Type.BOOLEAN, nullable=self.value.facts.nullable)


@dataclass(frozen=True)
class IsNull(Expression):
    """Whether a value is NULL, or no value of its column's type."""

    code: ClassVar[str] = "is_null"

    value: Expression

    @property
    def facts(self) -> Facts:
        return Facts(Type.BOOLEAN, nullable=False)


@dataclass(frozen=True)
class Logic(Expression):
    """All of several conditions, or any of them; NULL as in SQL."""

    code: ClassVar[str] = "logic"

    every: bool
    parts: tuple[Expression, ...]

    @property
    def facts(self) -> Facts:
        return Facts(Type.BOOLEAN, nullable=any(part.facts.nullable for part in self.parts))


@dataclass(frozen=True)
class Not(Expression):
    """The opposite of a condition."""

    code: ClassVar[str] = "not"

    condition: Expression

    @property
    def facts(self) -> Facts:
        return Facts(Type.BOOLEAN, nullable=self.condition.facts.nullable)


@dataclass(frozen=True)
class Case(Expression):
    """The value of the first condition that holds; otherwise another one, or NULL."""

    code: ClassVar[str] = "case"

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None

    @property
    def facts(self) -> Facts:
        found = [value.facts for _, value in self.branches] + ([] if self.otherwise is None else [self.otherwise.facts])
        return around(found, nullable=self.otherwise is None or any(facts.nullable for facts in found))


@dataclass(frozen=True)
class Bucket(Expression):
    """In which of several intervals of equal width, counted from 0, a bounded number lies after clamping; ours alone."""

    code: ClassVar[str] = "bucket"

    of: Expression
    step: Fraction  # of the lattice on which the number stands
    width: int  # steps of an interval
    size: int  # how many intervals there are

    @property
    def facts(self) -> Facts:
        return Facts(Type.INTEGER, Fraction(0), Fraction(self.size - 1), self.of.facts.nullable)


# What has no expression in it: facts of the policy, and plain values. A policy has more of them than a question has nodes.
LEAVES = {Table, Column, Fraction, str, int, bool, float, type(None), datetime.date, datetime.datetime}


def constants_of(node: object) -> set[ReleasedConstant]:
    """The released constants in an expression, or in anything that is made of some."""
    if type(node) in LEAVES:
        return set()
    if isinstance(node, ReleasedConstant):
        return {node}
    if isinstance(node, tuple):
        return {constant for part in node for constant in constants_of(part)}
    if hasattr(node, "__dataclass_fields__"):
        return {constant for field in node.__dataclass_fields__ for constant in constants_of(getattr(node, field))}
    return set()


def columns_of(node: object) -> set[Column]:
    """The columns that an expression is about."""
    if isinstance(node, ColumnValue):
        return {node.column}
    if isinstance(node, tuple):
        return {column for part in node for column in columns_of(part)}
    if hasattr(node, "__dataclass_fields__"):
        return {column for field in node.__dataclass_fields__ for column in columns_of(getattr(node, field))}
    return set()
