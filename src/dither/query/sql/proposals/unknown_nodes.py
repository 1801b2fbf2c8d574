"""What is not read of a row: why, and what would be."""

from __future__ import annotations

from sqlglot import exp

from dither.errors import QuestionError
from dither.query.sql.dates.refusals import instead_of
from dither.query.sql.person_windows.refusals import instead_of_window
from dither.query.sql.proposals.aggregates import instead_of_aggregate
from dither.query.sql.proposals.row_expressions import (
    instead_of_expression,
    instead_of_null,
    instead_of_tuple,
    name_as_number,
)
from dither.query.sql.syntax import refuse, shown

ABSENT = "for those who are not there: UNION ALL, then GROUP BY the person"


def unknown_node(node: exp.Expr) -> QuestionError:
    """Why a node is not read, and what would be."""
    if isinstance(node, (exp.Subquery, exp.Select, exp.Exists, exp.Any, exp.All)):
        return within_a_condition(node)
    if isinstance(node, exp.Window):
        return refuse(node, "windows show single rows", instead_of_window(node))
    if isinstance(node, exp.Null):
        return refuse(node, "NULL is no value", *instead_of_null(node))
    if isinstance(node, exp.ILike):
        why = "ILIKE is answered for patterns of ASCII that are written out: of other letters no two engines agree"
        return refuse(node, why, f"LOWER({shown(node.this)}) LIKE 'a%'")
    if isinstance(node, exp.Tuple) and node.expressions:
        why = "several values at once are compared by IN, in WHERE and CASE; under NOT engines differ where one is NULL"
        return refuse(node, why, *instead_of_tuple(node))
    dates = instead_of(node)
    if dates is not None:
        return refuse(node, *dates, name_as_number(node))
    if isinstance(node, exp.AggFunc):
        return refuse(node, "this aggregate is not answered here", *instead_of_aggregate(node))
    name = node.name if isinstance(node, exp.Anonymous) else type(node).__name__
    allowed = "comparisons, AND, OR, NOT, IN, BETWEEN, LIKE, IS NULL, CASE, + - * and some functions: see the manual"
    why = f"{name} is not on the list of what may be computed from a row"
    near = instead_of_expression(node)
    return refuse(node, why, near or f"{_as_name(node)}{allowed}")


def _as_name(node: exp.Expr) -> str:
    """A column called "Kosten (EUR)" reads as a function without quotes."""
    inner = node.expressions[0] if isinstance(node, exp.Anonymous) and len(node.expressions) == 1 else None
    if not isinstance(inner, exp.Column):
        return ""
    return f'"{node.name} ({inner.name})" in double quotes, if a column is called so; '


def within_a_condition(node: exp.Expr) -> QuestionError:
    """Why a question within a condition is not read."""
    word = "" if isinstance(node, (exp.Subquery, exp.Select)) else f"{type(node).__name__.upper()} with "
    why = f"{word}a question within a condition would keep or drop a row because of other people's rows"
    return refuse(node, why, f"JOIN with an inner question on the person; {ABSENT}")
