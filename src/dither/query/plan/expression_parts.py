"""Parts of expressions: others in their place, the column that a date is of, and whether a whole goes up with a part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, cast

from dither.query.plan.base import Expression
from dither.query.plan.dates import DateAdd, DateCast, DateTrunc
from dither.query.plan.expressions import Arithmetic, ColumnValue, Constant
from dither.query.policy.column import Column


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
