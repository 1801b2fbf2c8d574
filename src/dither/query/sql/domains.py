"""The domain of a column: all values that it can have in the rows of a question, by the policy and the question alone.

    declared keys                             those
    WHERE k IN (...), k = ..., with OR        those that are listed: other rows are not in the question
    a boolean                                 false and true
    whole numbers, dates between two ends     all between them; an end is of WHERE, or a bound of the policy
    x // k, x % k, SIGN(x)                    the whole numbers that they can be (`number_domain`)

A row beyond a bound of the policy counts at that bound (`Clamp`), so that no row with a value is lost. Nothing is moved to
an end of WHERE: rows beyond it are not in the question. Missing values are in no domain.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

from sqlglot import exp

from dither.query.plan.base import Expression
from dither.query.plan.calendar_periods import DAY, LAST_MOMENT, MIDNIGHT, moment
from dither.query.plan.dates import DateCast
from dither.query.plan.describe import words
from dither.query.plan.expression_parts import may_be_clamped
from dither.query.plan.expressions import ColumnValue, Compare, Constant, InList, Logic, columns_of
from dither.query.plan.functions import Clamp
from dither.query.plan.joins.outer_join import OuterJoin
from dither.query.plan.joins.semi_join import SemiJoin
from dither.query.plan.mathematics.division import Remainder, Sign, WholeQuotient
from dither.query.plan.relations import (
    FilterRows,
    GroupByPerson,
    JoinOnPerson,
    JoinPublic,
    Project,
    Relation,
    WindowByPerson,
)
from dither.query.policy.column import MOST_KEYS, Column, Key, Type
from dither.query.policy.table import Table
from dither.query.sql.syntax import refuse

LARGEST = 2**53  # whole numbers below are doubles
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
TICK: dict[Type, Any] = {
    Type.DATE: DAY,
    Type.TIMESTAMP: datetime.timedelta(microseconds=1),
    Type.INTEGER: 1,
}
LISTED: dict[Type, type] = {Type.TEXT: str, Type.BOOLEAN: bool, Type.DATE: datetime.date}  # what a list of WHERE can name


@dataclass(frozen=True)
class Span:
    """The first and the last value that a column can have; and on which sides rows beyond are moved to the end."""

    first: Any  # a whole number, a date or a timestamp; None where it is not known
    last: Any
    below: bool = False
    above: bool = False

    @property
    def is_known(self) -> bool:
        return self.first is not None and self.last is not None

    def clamp(self, of: Expression) -> Expression:
        """A value within the span, for every row that has one."""
        if not self.below and not self.above:
            return of
        whole = isinstance(self.first, int)
        return Clamp(of, Fraction(self.first), Fraction(self.last)) if whole else Clamp(of, self.first, self.last)


@dataclass(frozen=True)
class Domain:
    """All values of an expression, and at which of them rows stand that were moved there."""

    by: Expression  # what rows are sorted by: the expression, or what is clamped of it
    keys: tuple[Key, ...]
    below: bool = False  # whether rows below the first key may have been moved to it
    above: bool = False


def column_domain(column: Column, where: Expression | None, relation: Relation, node: exp.Expr) -> Domain | None:
    """The domain of a column in rows that meet a condition; None where it is not known."""
    by = ColumnValue(column)
    if column.keys is not None:
        if not column.clamped:
            return Domain(by, column.keys)
        span = Span(column.keys[0], column.keys[-1], below=True, above=True)
        return Domain(span.clamp(by), column.keys, below=True, above=True)
    span = column_span(column, where, relation)
    listed = listed_values(column, where, relation)
    if listed is not None and column.type in (Type.INTEGER, *LISTED):
        keys = sorted(_as_key(value, column, node) for value in listed)
        asked = Span(*_asked_ends(column, where, relation))
        if column.type in TICK:
            keys = [key for key in keys if _is_inside(key, asked)]
        if not keys:
            raise refuse(node, "WHERE leaves no value for it", "values that can all be met")
        return Domain(by, tuple(keys))
    if column.type is Type.BOOLEAN:
        return Domain(by, (False, True))
    if not span.is_known or column.type is Type.TIMESTAMP:
        return None
    check_span(span, node)
    if (span.last - span.first) // TICK[column.type] >= MOST_KEYS or not _is_narrow(span):
        return None
    size = (span.last - span.first) // TICK[column.type] + 1
    keys = [span.first + at * TICK[column.type] for at in range(size)]
    hard = f"bounds.{column.name}" in relation.table.hard
    return Domain(span.clamp(by), tuple(keys), span.below and not hard, span.above and not hard)


def listed_values(column: Column, where: Expression | None, relation: Relation) -> frozenset[Any] | None:
    """The values that the conditions of a question leave to a column; None where they do not list them."""
    found = [_listed(here, condition) for here, condition in _conditions(column, where, relation)]
    known = [values for values in found if values is not None]
    return frozenset.intersection(*known) if known else None


def number_domain(by: WholeQuotient | Remainder | Sign, table: Table) -> Domain | None:
    """The domain of whole quotients, of remainders and of signs; None where it is not known, or too large.

    Nothing is moved where all values are listed. Of a number that is never negative, by its bounds, remainders are listed
    from zero on: those of a row below the bounds are moved to zero.
    """
    lower, upper = by.of.facts.lower, by.of.facts.upper
    if by.facts.type is not Type.INTEGER or all(column.keys is not None for column in columns_of(by)):
        return None
    if isinstance(by, Sign):
        return Domain(by, (-1, 0, 1))
    beyond = may_be_clamped(by.of, table)
    if isinstance(by, Remainder):
        most = int(by.by) - 1
        first = 0 if lower is not None and lower >= 0 else -most
        if most - first >= MOST_KEYS:
            return None
        clamped = by if first else Clamp(by, Fraction(0), Fraction(most))
        return Domain(clamped, tuple(range(first, most + 1)), below=beyond and not first)
    if lower is None or upper is None or max(abs(lower), abs(upper)) >= LARGEST or (upper - lower) / by.by >= MOST_KEYS:
        return None
    keys = tuple(range(int(lower / by.by), int(upper / by.by) + 1))
    return Domain(replace(by, of=Clamp(by.of, lower, upper)), keys, beyond, beyond)


def check_span(span: Span, node: exp.Expr) -> None:
    """Refuse a span in which nothing lies."""
    if span.is_known and span.first > span.last:
        what = "value" if isinstance(span.first, int) else "day"
        raise refuse(node, f"WHERE leaves no {what} for it that is within its bounds", f"a first {what} before the last")


def column_span(column: Column, where: Expression | None, relation: Relation) -> Span:
    """The first and the last value of a column of whole numbers or dates, by WHERE and by the bounds of the policy."""
    if column.type not in TICK:
        return Span(None, None)
    first, last = _asked_ends(column, where, relation)
    lower: Any = column.first if column.lower is None else int(column.lower)
    upper: Any = column.last if column.upper is None else int(column.upper)
    below = lower is not None and (first is None or first < lower)
    above = upper is not None and (last is None or last > upper)
    return Span(lower if below else first, upper if above else last, below, above)


def _asked_ends(column: Column, where: Expression | None, relation: Relation) -> tuple[Any, Any]:
    """The first and the last value of a column in rows that meet the conditions of a question."""
    ends = [_ends(here, condition) for here, condition in _conditions(column, where, relation)]
    return _narrowest(ends)


def _conditions(column: Column, where: Expression | None, relation: Relation) -> Iterator[tuple[Column, Expression]]:
    """The conditions that all rows have met, each with the column as it was called there."""
    if where is not None:
        yield column, where
    match relation:
        case FilterRows(of, condition):
            yield from _conditions(column, condition, of)
        case Project(of, columns, _) | GroupByPerson(of, columns, _, _):
            by = next((by for here, by in columns if here == column), None)
            if isinstance(by, ColumnValue):
                yield from _conditions(by.column, None, of)
        case JoinPublic(of) | JoinOnPerson(of) | SemiJoin(of) | OuterJoin(of) if column in of.table.columns:
            yield from _conditions(column, None, of)
        case WindowByPerson(of, _) if column in of.table.columns:
            yield from _conditions(column, None, of)


def _listed(column: Column, condition: Expression) -> frozenset[Any] | None:
    """The values that a condition leaves to a column; None where it does not list them."""
    match condition:
        case InList(ColumnValue(here), options) if here == column:
            return frozenset(option.value for option in options)
        case Compare("=", ColumnValue(here), Constant(value)) | Compare("=", Constant(value), ColumnValue(here)):
            return frozenset([value]) if here == column else None
        case Logic(every, parts):
            found = [_listed(column, part) for part in parts]
            known = [values for values in found if values is not None]
            if not known or (not every and len(known) < len(found)):
                return None
            return frozenset.intersection(*known) if every else frozenset.union(*known)
    return None


def _as_key(value: object, column: Column, node: exp.Expr) -> Any:
    """A listed value as one of the column's type, to which the engine compares it; refused where it is none."""
    if column.type is Type.INTEGER:
        assert isinstance(value, Fraction)  # the reader compares numbers with numbers
        if value.denominator != 1 or not -(2**63) <= value < 2**63:
            told = words(Constant(value))
            why = f"{column.name} holds whole numbers of 64 bits, and {told} of WHERE, which lists its values, is none"
            raise refuse(node, why, f"whole numbers instead of {told}")
        return int(value)
    assert type(value) is LISTED[column.type]
    return value


def _ends(column: Column, condition: Expression) -> tuple[Any, Any]:
    """The first and the last value that a condition leaves."""
    if isinstance(condition, Logic) and condition.every:
        return _narrowest([_ends(column, part) for part in condition.parts])
    if not isinstance(condition, Compare) or condition.operator == "<>" or column.type not in TICK:
        return (None, None)
    sign: str = condition.operator
    left, right = condition.left, condition.right
    if isinstance(left, Constant):
        sign, left, right = TURNED[sign], right, left
    if not isinstance(right, Constant):
        return (None, None)
    if isinstance(left, DateCast) and left.of == ColumnValue(column):
        return _cast_ends(sign, cast(datetime.date, right.value))
    if left != ColumnValue(column):
        return (None, None)
    value: Any = right.value
    if isinstance(value, Fraction):
        if value.denominator != 1 or not abs(value) < 2**53:
            return (None, None)  # compared as doubles, which may round: nothing is concluded
        value = int(value)
    try:
        first = value + TICK[column.type] if sign == ">" else value if sign in (">=", "=") else None
        last = value - TICK[column.type] if sign == "<" else value if sign in ("<=", "=") else None
    except OverflowError:
        return (None, None)  # no day is left that Python has: nothing is concluded
    return first, last


def _cast_ends(sign: str, value: datetime.date) -> tuple[Any, Any]:
    """The first and the last day whose start meets a comparison with a moment, or the moments whose day meets one."""
    if isinstance(value, datetime.datetime):
        day, sharp = value.date(), value.time() == MIDNIGHT
        first = day if sharp and sign != ">" else _day_beside(day, 1)
        last = _day_beside(day, -1) if sharp and sign == "<" else day
    else:
        first, last = _day_beside(value, 1) if sign == ">" else value, _day_beside(value, -1) if sign == "<" else value
        first, last = first and moment(first), last and moment(last, LAST_MOMENT)
    return (first if sign in (">", ">=", "=") else None, last if sign in ("<", "<=", "=") else None)


def _day_beside(day: datetime.date, by: int) -> datetime.date | None:
    """The next day, or the one before; None where there is none: nothing is concluded."""
    try:
        return day + by * DAY
    except OverflowError:
        return None


def _narrowest(ends: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    firsts, lasts = [first for first, _ in ends if first is not None], [last for _, last in ends if last is not None]
    return max(firsts, default=None), min(lasts, default=None)


def _is_inside(key: Any, span: Span) -> bool:
    return (span.first is None or key >= span.first) and (span.last is None or key <= span.last)


def _is_narrow(span: Span) -> bool:
    """Whether its whole numbers are of 64 bits; days are."""
    return not isinstance(span.first, int) or (span.first >= -(2**63) and span.last < 2**63)
