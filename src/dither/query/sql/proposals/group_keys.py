"""What would work in place of a key that cannot be grouped by: buckets within bounds, labels, dates between two days."""

from __future__ import annotations

from sqlglot import exp

from dither.query.plan.base import Expression
from dither.query.plan.expressions import columns_of
from dither.query.policy.column import Type
from dither.query.sql.proposals.row_expressions import LABELS, as_text
from dither.query.sql.proposals.whole_question import DIALECT, edited, never_fails

FIRST, LAST = "2020-01-01", "2029-12-31"


@never_fails((LABELS, None))
def instead_of_key(by: Expression, node: exp.Expr) -> tuple[str, str | None]:
    """A text that can be grouped by, and the whole question where it needs a condition beside it."""
    written, facts = str(node.sql(DIALECT)), by.facts
    if isinstance(node, exp.Case):
        return as_text(node), None
    dates = [column for column in columns_of(by) if column.type.is_date]
    if len(dates) == 1:
        between = f"{exp.to_identifier(dates[0].name).sql(DIALECT)} BETWEEN DATE '{FIRST}' AND DATE '{LAST}'"
        told = f"WHERE {between}, so that all its values are known"
        return told, edited(node, lambda mine: _kept(mine, between))
    if facts.type.is_number and facts.is_bounded and facts.lower != facts.upper:
        return buckets(by, written), None
    if facts.type.is_number:
        return f"CASE WHEN {written} < 10 THEN 'low' ELSE 'high' END", None
    if facts.type is Type.TEXT:
        return f"CASE WHEN {written} = 'A' THEN 'A' ELSE 'other' END", None
    return LABELS, None


def buckets(by: Expression, written: str) -> str:
    """Ten ranges of one width, from one bound to the other."""
    ends = ", ".join(f"{float(end or 0):.15g}" for end in (by.facts.lower, by.facts.upper))
    return f"WIDTH_BUCKET({written}, {ends}, 10)"


def ungrouped(node: exp.Expr, counted: str = "COUNT(*)") -> str | None:
    """The whole question without a column of GROUP BY, which is not shown either; `counted` where nothing else is asked."""

    def drop(mine: exp.Expr) -> None:
        select = mine.parent_select if mine.parent is not None else None
        if select is None:
            return
        same = mine.copy()
        shown = [item for item in select.expressions if item.unalias() != same and item.alias_or_name != same.name]
        group = select.args.get("group")
        rest = [] if group is None else [part for part in group.expressions if part != same and part.name not in ("1",)]
        rest = [part for part in rest if not _names(part, same, select)]
        asked = any(item.find(exp.AggFunc) for item in shown) and counted == "COUNT(*)"
        select.set("expressions", shown if asked else [*shown, *exp.select(counted, dialect=DIALECT).expressions])
        select.set("group", exp.Group(expressions=rest) if rest else None)

    return edited(node, drop)


def _names(part: exp.Expr, same: exp.Expr, select: exp.Select) -> bool:
    """Whether a part of GROUP BY is the name of the column that is left out."""
    return any(item.alias == part.name and item.unalias() == same for item in select.expressions if item.alias)


def _kept(mine: exp.Expr, condition: str) -> None:
    """One more condition on the rows of the SELECT around a node."""
    select = mine.parent_select
    if select is not None:
        select.where(condition, dialect=DIALECT, copy=False)
