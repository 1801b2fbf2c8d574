"""What would work in place of an aggregate that stands where none is answered."""

from __future__ import annotations

from sqlglot import exp

from dither.query.sql.proposals.group_keys import ungrouped
from dither.query.sql.proposals.whole_question import DIALECT, edited, never_fails

ANSWERED = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median, exp.Stddev, exp.StddevPop, exp.StddevSamp)
WORDS: dict[type[exp.Expr], str] = {
    exp.ApproxDistinct: "COUNT(DISTINCT {})",
    exp.GroupConcat: "COUNT({})",
    exp.ArrayAgg: "COUNT({})",
}
GENERAL = "COUNT, SUM or AVG, in SELECT"


@never_fails((GENERAL, None))
def instead_of_aggregate(node: exp.Expr) -> tuple[str, str | None]:
    """Of an aggregate in WHERE, HAVING; of one within another, what it is of; of one that is not known, the average."""
    around = node.find_ancestor(exp.Where, exp.AggFunc, exp.Group, exp.Select)
    if isinstance(around, exp.Where) and isinstance(node, ANSWERED):
        condition: exp.Expr = node
        while condition.parent is not None and not isinstance(condition.parent, (exp.And, exp.Where)):
            condition = condition.parent
        return f"HAVING {condition.sql(DIALECT)}", edited(condition, _later)
    if isinstance(around, exp.AggFunc) and isinstance(node.this, exp.Expr):
        return str(node.this.sql(DIALECT)), None
    if isinstance(around, exp.Select) and isinstance(node.this, exp.Expr) and not isinstance(node, ANSWERED):
        of = node.this.this if isinstance(node.this, exp.Order) else node.this
        return WORDS.get(type(node), "AVG({})").format(of.sql(DIALECT)), None
    return GENERAL, ungrouped(node)


def _later(mine: exp.Expr) -> None:
    """A condition of WHERE as one of HAVING."""
    select, where = mine.parent_select, mine.find_ancestor(exp.Where)
    text = mine.sql(DIALECT)
    if select is None or where is None:
        return
    if mine.parent is where:
        select.set("where", None)
    elif isinstance(mine.parent, exp.And):
        both = mine.parent
        both.replace(both.expression if both.this is mine else both.this)
    select.having(text, dialect=DIALECT, copy=False)
