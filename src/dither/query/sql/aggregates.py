"""Aggregates of SQL: each function that is answered, the name of its column where none is given, and how it is read.

A new one is a line of READERS. What it is of must be a number with bounds, unless the reader says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from sqlglot import exp

from dither.query.plan.aggregates import (
    Aggregate,
    Correlation,
    CountDistinct,
    CountDistinctValues,
    CountPersons,
    CountRows,
    CountValues,
    Covariance,
    Mean,
    Mode,
    RegressionLine,
    RunningCount,
    Sum,
    Variance,
)
from dither.query.plan.base import Expression
from dither.query.plan.expressions import Case, ColumnValue, Constant, IsNull, Logic, Not
from dither.query.plan.facts import a
from dither.query.plan.question import Group
from dither.query.policy.column import Type
from dither.query.sql.expressions import Reader
from dither.query.sql.functions import beside_zero, number_of
from dither.query.sql.quantiles import SHARED, read_quantile
from dither.query.sql.refusals import CONSTANT, number_words, unbounded
from dither.query.sql.syntax import refuse, shown


class Function(NamedTuple):
    """An aggregate function: the name of its column, and what reads it, given the name that was asked for."""

    name: str
    read: Callable[[Any, Reader, str], Aggregate]


def read_aggregate(node: Any, reader: Reader, name: str) -> Aggregate:
    """The aggregate that a node asks for, or why there is none."""
    return READERS[type(node)].read(node, reader, name)


def _count(node: Any, reader: Reader, name: str) -> Aggregate:
    inner = _argument(node, reader)
    if isinstance(inner, exp.Distinct):
        return _distinct(node, inner, reader, name)
    return CountRows(name) if isinstance(inner, exp.Star) else CountValues(name, reader.value(inner))


def _sum(node: Any, reader: Reader, name: str) -> Aggregate:
    return Sum(name, _bounded(node, _argument(node, reader), reader, conditions=True))


def _mean(node: Any, reader: Reader, name: str) -> Aggregate:
    return Mean(name, _bounded(node, _argument(node, reader), reader, conditions=True))


def _variance(node: Any, reader: Reader, name: str) -> Aggregate:
    of_sample = isinstance(node, (exp.Variance, exp.StddevSamp, exp.Stddev))
    is_root = isinstance(node, (exp.StddevPop, exp.StddevSamp, exp.Stddev))
    return Variance(name, _number(node, reader), of_sample, is_root)


def _pair(node: Any, reader: Reader, name: str) -> Aggregate:
    """Of y and x, in the order of SQL; counts and means of rows that have both are those of CASE."""
    y, x = _bounded(node, node.this, reader), _bounded(node, node.expression, reader)
    match node:
        case exp.CovarPop() | exp.CovarSamp():
            return Covariance(name, x, y, isinstance(node, exp.CovarSamp))
        case exp.Corr() | exp.RegrR2():
            return Correlation(name, x, y, isinstance(node, exp.RegrR2))
    return RegressionLine(name, x, y, isinstance(node, exp.RegrSlope))


def _of_both(node: Any, reader: Reader, name: str) -> Aggregate:
    """REGR_COUNT, REGR_AVGX and REGR_AVGY: what COUNT and AVG are of rows that have both values."""
    y, x = (reader.number(inner) for inner in (node.this, node.expression))
    if isinstance(node, exp.RegrCount):
        both = Logic(True, (Not(IsNull(y)), Not(IsNull(x))))
        return CountValues(name, Case(((both, Constant(Fraction(1))),), None))
    of, other, inner = (x, y, node.expression) if isinstance(node, exp.RegrAvgx) else (y, x, node.this)
    _bounded(node, inner, reader)
    return Mean(name, Case(((Not(IsNull(other)), of),), None))


def _argument(node: Any, reader: Reader) -> Any:
    if node.this is None:
        raise refuse(node, "an aggregate has one argument", "a column, or * for COUNT")
    return node.this


def _number(node: Any, reader: Reader) -> Expression:
    """The numbers with bounds that an aggregate is of."""
    return _bounded(node, _argument(node, reader), reader)


def _bounded(node: Any, inner: Any, reader: Reader, *, conditions: bool = False) -> Expression:
    """Numbers with bounds; where `conditions` are added up too, each counts as the number that SQL casts it to."""
    if isinstance(inner, exp.Distinct):
        raise refuse(node, "DISTINCT is answered in COUNT only", "it without DISTINCT, which is another number")
    of = reader.value(inner)
    if conditions and of.facts.type is Type.BOOLEAN:
        of = number_of(reader, inner, of)
    facts = of.facts
    if not facts.type.is_number:
        raise refuse(node, f"{a(facts.type)} cannot be added up", number_words(facts.type, shown(inner)))
    if not facts.is_bounded:
        raise unbounded(node, inner, of, reader.meaning)
    if facts.lower == facts.upper and conditions and facts.nullable and isinstance(node, exp.Sum) and facts.lower != 0:
        return beside_zero(of)
    if facts.lower == facts.upper:
        raise refuse(node, "it is the same for every row", CONSTANT)
    if facts.is_wide:
        raise refuse(node, "its bounds are beyond 2^500, where doubles end", "the same in a larger unit")
    return of


def _distinct(node: exp.Expr, inner: exp.Distinct, reader: Reader, name: str) -> Aggregate:
    person = reader.scope.table.person
    if len(inner.expressions) != 1:
        why = "COUNT(DISTINCT ...) is of one expression"
        raise refuse(node, why, "one column; combinations of columns with keys are the rows of a GROUP BY")
    only = reader.value(inner.expressions[0])
    if isinstance(only, ColumnValue) and only.column.name == person:
        return CountPersons(name)
    if isinstance(only, ColumnValue) and only.column.keys is not None:
        return CountDistinct(name, only)
    if isinstance(only, Constant):
        raise refuse(node, "it is the same for every row", CONSTANT)
    condition = None if person is None else _met_by(only, person)
    return CountDistinctValues(name, only) if condition is None else CountPersons(name, condition)


def _met_by(value: Expression, person: str) -> Expression | None:
    """The condition of a CASE that gives the person where it is met, and nothing otherwise; None for all other values."""
    if not isinstance(value, Case) or value.otherwise is not None:
        return None
    conditions = [met for met, given in value.branches if isinstance(given, ColumnValue) and given.column.name == person]
    if len(conditions) < len(value.branches):
        return None
    return conditions[0] if len(conditions) == 1 else Logic(False, tuple(conditions))


def _mode(node: Any, reader: Reader, name: str) -> Aggregate:
    """Of a column with declared keys: only they can be shown."""
    inner, example = node.this, "a column with declared keys, by its name"
    if not isinstance(inner, exp.Expr) or isinstance(inner, exp.Star) or node.args.get("deterministic") is not None:
        raise refuse(node, "MODE has one argument, a column", example)
    if isinstance(inner, exp.Distinct):
        why = "of different values each is there once, and none is the most frequent"
        raise refuse(node, why, "it without DISTINCT, which is another value")
    of = reader.value(inner)
    if not isinstance(of, ColumnValue):
        raise refuse(node, "MODE is of a column as it is: what is shown is one of the keys that its owner declared", example)
    if of.column.keys is None and of.column.name == reader.scope.table.person:
        raise refuse(
            node, "it says whose a row is", "the number of people, COUNT(DISTINCT <person>), which is another question"
        )
    if of.column.keys is None:
        why = "the policy declares no keys for it, and none are taken from the data; the owner adds keys = [...]"
        raise refuse(node, why, "a column with declared keys, or GROUP BY with COUNT(*): its largest groups are released")
    return Mode(name, of)


def _within_group(node: Any, reader: Reader, name: str) -> Aggregate:
    """A percentile."""
    if isinstance(node.this, exp.Mode):
        raise refuse(node, "a mode is of one column", "MODE, with one column in its parentheses")
    return read_quantile(node, reader, name)


# -- the one window that is answered: SUM(COUNT(*)) OVER (PARTITION BY others ORDER BY key), the rows up to each key

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


PAIRS: dict[type[Any], str] = {
    **{exp.CovarPop: "covar_pop", exp.CovarSamp: "covar_samp", exp.Corr: "corr", exp.RegrR2: "regr_r2"},
    **{exp.RegrSlope: "regr_slope", exp.RegrIntercept: "regr_intercept"},
}
READERS: dict[type[Any], Function] = {
    exp.Count: Function("count", _count),
    exp.Sum: Function("sum", _sum),
    exp.Avg: Function("avg", _mean),
    exp.VariancePop: Function("var_pop", _variance),
    exp.Variance: Function("var_samp", _variance),
    exp.StddevPop: Function("stddev_pop", _variance),
    exp.StddevSamp: Function("stddev_samp", _variance),
    exp.Stddev: Function("stddev_samp", _variance),
    **{kind: Function(name, read_quantile) for kind, name in SHARED.items()},
    exp.WithinGroup: Function("quantile", _within_group),
    exp.Mode: Function("mode", _mode),
    **{kind: Function(name, _pair) for kind, name in PAIRS.items()},
    exp.RegrCount: Function("regr_count", _of_both),
    exp.RegrAvgx: Function("regr_avgx", _of_both),
    exp.RegrAvgy: Function("regr_avgy", _of_both),
}
