"""Dates and timestamps that a question writes out, and values beside them."""

from __future__ import annotations

import re
from fractions import Fraction

from sqlglot import exp

from dither.query.plan.base import Expression
from dither.query.plan.expressions import Constant
from dither.query.plan.facts import a
from dither.query.policy.column import Type
from dither.query.sql.dates.date_functions import CASTS, of_one_type
from dither.query.sql.rewrites.date_constants import as_kind, read_constant
from dither.query.sql.syntax import refuse

WHOLE, DECIMAL = (re.compile(text, re.ASCII) for text in (r"-?[0-9]{1,18}", r"-?[0-9]{1,18}(\.[0-9]{1,18})?"))


def alike(first: exp.Expr, left: Expression, second: exp.Expr, right: Expression) -> tuple[Expression, Expression]:
    """Two values that can be compared, or why they cannot."""
    left, right = of_one_type([_dated(left, right, first, second), _dated(right, left, second, first)])
    ours, theirs = left.facts.type, right.facts.type
    if ours is theirs or (ours.is_number and theirs.is_number):
        return left, right
    literal = any(isinstance(node.unnest(), (exp.Literal, exp.Boolean)) for node in (first, second))
    instead = f"{a(ours)} on both sides{': texts stand in single quotes, numbers in none' if literal else ''}"
    raise refuse(second.parent or second, f"{a(ours)} is compared with {a(theirs)}", instead)


def as_compared(value: Expression, beside: Expression) -> Expression:
    """A constant beside a value of another type, as engines read it there: '1' beside numbers, 0 and 1 beside conditions."""
    found, kind = (value.value if isinstance(value, Constant) else None), beside.facts.type
    if isinstance(beside, Constant):
        return value
    if isinstance(found, str) and kind.is_number:
        number = WHOLE if kind is Type.INTEGER else DECIMAL
        return Constant(Fraction(found)) if number.fullmatch(found) else value
    if isinstance(found, str) and kind is Type.BOOLEAN and found.lower() in ("true", "false"):
        return Constant(found.lower() == "true")
    if isinstance(found, Fraction) and kind is Type.BOOLEAN and found in (0, 1):
        return Constant(found == 1)
    return value


def written_date(node: exp.Cast) -> Constant:
    """DATE '2026-01-31' and TIMESTAMP '...': written out, so read by us."""
    kind = CASTS.get(node.to.this)
    if kind is None or not isinstance(node.this, exp.Literal) or not node.this.is_string:
        raise refuse(node, "values are not cast; the policy says what a column is", "a day as text: DATE '<day>'")
    return _read_date(str(node.this.this), kind, node)


def _dated(value: Expression, beside: Expression, node: exp.Expr, other: exp.Expr) -> Expression:
    kind = beside.facts.type
    if not isinstance(value, Constant) or kind not in CASTS.values():
        return value
    if isinstance(value.value, str):
        day = _read_date(value.value, kind, node)
        midnight = as_kind(day.value, Type.TIMESTAMP)  # None for a moment
        if midnight is not None and midnight != read_constant(value.value, Type.TIMESTAMP) and _has_start(other):
            why = "of a text beside a day engines drop the time, and of one beside DATE_TRUNC some do not"
            raise refuse(node, why, "a day without a time")
        return day
    moved = as_kind(value.value, kind)
    return value if moved is None else Constant(moved)


def _has_start(node: exp.Expr) -> bool:
    """Whether DATE_TRUNC is in it, also of constants, of which engines make a day or a timestamp."""
    return node.find(exp.DateTrunc, exp.TimestampTrunc) is not None


def _read_date(text: str, kind: Type, node: exp.Expr) -> Constant:
    found = read_constant(text, kind)
    if found is not None:
        return Constant(found)
    form = "'<yyyy>-<mm>-<dd>'" if kind is Type.DATE else "'<yyyy>-<mm>-<dd> <hh>:<mm>:<ss>'"
    raise refuse(node, f"it does not read as {a(kind)}", f"a text of the form {form}")
