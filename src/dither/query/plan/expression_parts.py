"""Parts of expressions: others in their place, the column that a date is of, whether a whole goes up with a part, and
whether values may lie beyond the bounds, between the steps or outside the keys that follow from those of the columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, cast

from dither.query.plan.base import Expression
from dither.query.plan.dates import DateAdd, DateCast, DateDiff, DateTrunc
from dither.query.plan.expressions import Arithmetic, Case, ColumnValue, Constant, DatePart, columns_of
from dither.query.plan.functions import Coalesce, GreatestLeast, Length, WidthBucket
from dither.query.plan.lattice import choices_of, divisor_of, step_of
from dither.query.policy.column import Column, Type
from dither.query.policy.table import Table


def exchanged(node: Any, parts: Mapping[Expression, Expression]) -> Any:
    """An expression with others in the place of its parts."""
    if isinstance(node, tuple):
        return tuple(exchanged(part, parts) for part in node)
    if not isinstance(node, Expression) or isinstance(node, (ColumnValue, Constant)):
        return parts.get(node, node) if isinstance(node, Expression) else node
    if node in parts:
        return parts[node]
    kept = {field.name: exchanged(getattr(node, field.name), parts) for field in fields(cast(Any, node))}
    return replace(cast(Any, node), **kept)


def dated_column(of: Expression) -> Column | None:
    """The column of dates that an expression is of, some time later or as another type; None for all others."""
    while isinstance(of, (DateAdd, DateCast)):
        of = of.of
    return of.column if isinstance(of, ColumnValue) else None


def is_monotone(by: Expression, part: Expression) -> bool:
    """Whether it is the part, cut or moved as a date, or with constants added, subtracted and multiplied: it goes up, or
    down, everywhere."""
    if by == part:
        return True
    if isinstance(by, (DateTrunc, DateCast)) or (isinstance(by, DateAdd) and not by.months):
        return is_monotone(by.of, part)
    if not isinstance(by, Arithmetic):
        return False
    sides = [side for side in (by.left, by.right) if not isinstance(side, Constant)]
    return len(sides) == 1 and is_monotone(sides[0], part)


def may_be_clamped(of: Expression | None, table: Table) -> bool:
    """Whether values may lie beyond the bounds that they are clamped to: those of some column are not hard.

    An expression has the bounds that follow from those of its columns. Conditions compare values as they are.
    """
    if of is None or of.facts.type is Type.BOOLEAN:
        return False
    if isinstance(of, DatePart):  # its bounds are those of the calendar
        return False
    if isinstance(of, DateDiff):
        ranges = {column.name for column in columns_of(of) if column.first is not None}
        return any(f"bounds.{name}" not in table.hard for name in ranges)
    if isinstance(of, Length):  # of a long text, the beginning is read
        return True
    if isinstance(of, ColumnValue):
        return of.column.lower is not None and f"bounds.{of.column.name}" not in table.hard
    return any(may_be_clamped(part, table) for part in _parts(of))


def may_be_rounded(of: Expression | None, table: Table) -> bool:
    """Return whether values may lie between the steps in which they are counted, from the lower bound on.

    Whole numbers, also those that rounding gives, are counted as they are. Others lie on steps where the owner says that
    all values of a column are multiples of its step (`steps.COLUMN` is hard); of a choice among several, each part decides.
    """
    if of is None or not of.facts.type.is_number or of.facts.lower is None or of.facts.lower == of.facts.upper:
        return False
    step, divisor = step_of(of), divisor_of(of)
    if divisor is None or divisor % step or of.facts.lower % step:
        return True
    return _between_steps(of, table)


def _between_steps(of: Expression, table: Table) -> bool:
    """Return whether a value may be no multiple of its divisor: a column's, where nobody says that all are."""
    if isinstance(of, ColumnValue):
        whole = of.column.type is Type.INTEGER and of.column.step in (None, 1)
        return not whole and f"steps.{of.column.name}" not in table.hard
    return isinstance(of, (Case, Coalesce, GreatestLeast)) and any(_between_steps(part, table) for part in choices_of(of))


def may_be_changed(of: Expression | None, table: Table) -> bool:
    """Return whether values may be clamped or rounded before they are counted: then a number of them is not of all values
    as they are."""
    return may_be_clamped(of, table) or may_be_rounded(of, table)


def hard_facts(column: Column, of: Expression, table: Table) -> set[str]:
    """Return what is hard of a column that holds the values of an expression: within its bounds, on its steps, of its keys.

    Bounds, steps and keys of the column are those that follow from the expression (`plan/base.py`). So nothing lies beyond
    where nothing lies beyond those of the columns that it is made of.
    """
    ends = {one.name for one in columns_of(of) if one.first is not None or one.lower is not None}
    inside = {f"bounds.{name}" for name in ends} <= table.hard if of.facts.type.is_date else not may_be_clamped(of, table)
    found = {f"bounds.{column.name}"} if inside and (column.first is not None or column.lower is not None) else set()
    found |= {f"steps.{column.name}"} if column.step is not None and not may_be_rounded(of, table) else set()
    return found | ({f"keys.{column.name}"} if column.keys is not None and not unlisted_columns(of, table) else set())


def unlisted_columns(of: Expression, table: Table, *, within: bool = False) -> set[Column]:
    """Return the columns whose value may be none of the keys that their owner lists, so that an expression may have a value
    that is not listed either.

    That is so where keys are what the listed values of columns lead to (`sql/group_keys.py`), also by a condition: another
    value may meet one that no listed value meets. Values that were moved to the nearest key are listed.

    Args:
        of: what rows are sorted by.
        table: the rows.
        within: whether it is a part of that: there, keys are those of its columns if all of them have some.
    """
    if isinstance(of, ColumnValue):
        column = of.column
        is_listed = column.keys is None or column.clamped or f"keys.{column.name}" in table.hard
        both = column.type is Type.BOOLEAN and len(column.keys or ()) == len((False, True))
        return set() if is_listed or both else {column}
    has_others = any(column.keys is None for column in columns_of(of))
    if (not within or has_others) and _lists_all(of, within=within):
        return set()
    return {one for part in _parts(of) for one in unlisted_columns(part, table, within=True)}


def _lists_all(of: Expression, *, within: bool) -> bool:
    """Return whether the keys of an expression are all values that it can have, whatever its columns hold."""
    if isinstance(of, Case):
        return not within and of.otherwise is not None and all(isinstance(label, Constant) for label in choices_of(of))
    if isinstance(of, DatePart):
        return of.part not in ("year", "isoyear")
    return of.facts.type is Type.BOOLEAN or isinstance(of, WidthBucket)


def value_columns(of: Expression | None) -> set[Column]:
    """Return the columns whose numbers a value is made of; those that conditions compare, as they are, are none of them."""
    if of is None or of.facts.type is Type.BOOLEAN:
        return set()
    return {of.column} if isinstance(of, ColumnValue) else {one for part in _parts(of) for one in value_columns(part)}


def _parts(of: Expression) -> list[Expression]:
    """The expressions that an expression is made of."""
    found: list[Expression] = []
    stack: list[object] = [getattr(of, field.name) for field in fields(of)]  # type: ignore[arg-type]
    while stack:
        part = stack.pop()
        if isinstance(part, Expression):
            found.append(part)
        elif isinstance(part, (tuple, list)):
            stack += part
    return found
