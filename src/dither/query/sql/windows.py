"""The one window that is answered: SUM(COUNT(*)) OVER (PARTITION BY others ORDER BY key), the rows up to each key."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dither.query.plan.aggregates import Aggregate, RunningCount
from dither.query.plan.base import Expression
from dither.query.plan.question import Group
from dither.query.sql.syntax import refuse

RUNNING = "the running sum SUM(COUNT(*)) OVER (ORDER BY <key>), or what is computed after the answer has come"


def window_keys(node: exp.Window) -> list[exp.Expr]:
    """By what it is ordered, then by what it is divided."""
    order = node.args.get("order")
    return [*(item.this for item in ([] if order is None else order.expressions)), *(node.args.get("partition_by") or [])]


def read_window(node: exp.Window, meanings: Sequence[Expression | None], groups: Sequence[Group], name: str) -> Aggregate:
    """A running sum, or why it is none; `meanings` are those of its keys."""
    _check_sum(node)
    order = node.args.get("order")
    if order is None:
        why = "without ORDER BY it is the total of all groups, in every row"
        raise refuse(node, why, "a question without GROUP BY, for the number of all rows")
    if len(order.expressions) != 1 or order.expressions[0].args.get("desc"):
        raise refuse(node, "a running sum goes up one key, from its first value to its last", "one key, without DESC")
    by, *divided = meanings
    ordered = next((group for group in groups if group.meaning == by), None)
    if ordered is None:
        raise refuse(node, "a running sum is ordered by a key of GROUP BY", "ORDER BY a column of GROUP BY")
    unknown = next((group for group in groups if group.keys is None), None)
    if unknown is not None:
        why = f"a running sum goes through all keys, and the policy declares none for {unknown.name}"
        raise refuse(node, why, "columns with declared keys in GROUP BY")
    others = [group for group in groups if group is not ordered]
    if len(divided) != len(others) or any(group.meaning not in divided for group in others):
        why = "a running sum is taken within each combination of the other columns of GROUP BY"
        raise refuse(node, why, "PARTITION BY all columns of GROUP BY but the one that it is ordered by")
    return RunningCount(name, ordered.by)


def _check_sum(node: exp.Window) -> None:
    inner = node.this
    if isinstance(inner, (exp.CumeDist, exp.PercentRank)):
        why = "it ranks single rows; as a share of the total, a running sum is divided after the answer has come"
        raise refuse(node, why, RUNNING)
    counted = inner.this if isinstance(inner, exp.Sum) else None
    if isinstance(counted, exp.Count) and isinstance(counted.this, exp.Distinct):
        raise refuse(node, "one who is in several groups would be counted in each of them", RUNNING)
    if not isinstance(counted, exp.Count) or not isinstance(counted.this, exp.Star):
        why = "of windows (OVER), only the running sum of COUNT(*) is answered"
        raise refuse(node, why, RUNNING)
