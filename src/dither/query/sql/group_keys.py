"""All values that a group can have, known without looking at data: from the policy, or from the question itself.

a column                          its declared keys
CASE with labels                  the labels
parts of dates, buckets, floors   the whole numbers between their bounds
a condition                       true and false
dates in WHERE between two days   the months (years, ...) between them
any function of keyed columns     what the engine makes of the declared keys, which are public
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from fractions import Fraction
from math import prod
from typing import cast

from sqlglot import exp

from dither.query.engines.duckdb.key_images import images
from dither.query.plan.base import Expression
from dither.query.plan.expressions import Case, ColumnValue, Compare, Constant, DatePart, Logic, columns_of
from dither.query.plan.facts import Facts, a
from dither.query.plan.functions import DateTrunc, Period, Rounding, WidthBucket
from dither.query.plan.relations import FilterRows, JoinOnPerson, JoinPublic, Project, Relation
from dither.query.policy.column import MOST_KEYS, Column, Key, Type
from dither.query.sql.syntax import refuse, shown

KEYED = (Type.TEXT, Type.INTEGER, Type.BOOLEAN, Type.DATE)  # whose values can be keys without being declared
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
TICK = {Type.DATE: datetime.timedelta(days=1), Type.TIMESTAMP: datetime.timedelta(microseconds=1)}
Ends = tuple[datetime.date | None, datetime.date | None]  # the first and the last day that a condition leaves
MONTHS: dict[Period, int] = {"year": 12, "quarter": 3, "month": 1}
LENGTHS: dict[Period, datetime.timedelta] = {
    "week": datetime.timedelta(weeks=1),
    "day": datetime.timedelta(days=1),
    "hour": datetime.timedelta(hours=1),
}


def possible_keys(by: Expression, node: exp.Expr, where: Expression | None, relation: Relation) -> tuple[Key, ...] | None:
    """The keys of an expression about the rows of a relation that meet a condition; None for a column that declares none."""
    if isinstance(by, ColumnValue):
        if by.column.keys is None:
            _check_unknown(by.column, node, relation)
        return by.column.keys
    columns = sorted(columns_of(by), key=lambda column: column.name)
    keyed = len(columns) > 0 and all(column.keys is not None for column in columns)
    if isinstance(by, Case):
        labels = [value for _, value in by.branches] + ([] if by.otherwise is None else [by.otherwise])
        if by.otherwise is not None and all(isinstance(label, Constant) for label in labels):
            return tuple(sorted({_as_key(cast(Constant, label).value, node) for label in labels}))
        if not keyed:
            example = "CASE WHEN ... THEN 'some' ELSE 'others' END"
            raise refuse(node, "a CASE to group by gives constants, and has an ELSE", example)
    if by.facts.type is Type.BOOLEAN:
        return (False, True)
    found: list[Key] | None = None
    if isinstance(by, (DatePart, DateTrunc)) and isinstance(by.of, ColumnValue):
        found = _between(by, span(by.of.column, where, relation), node)
    if found is None and (isinstance(by, (WidthBucket, Rounding)) or (isinstance(by, DatePart) and by.part != "year")):
        found = _whole(by.facts, node, 10 ** max(0, -by.digits) if isinstance(by, Rounding) else 1)
    if found is None and keyed:
        found = _images(by, columns, node)
    if not found:
        why = "its possible values are not known beforehand"
        raise refuse(node, why, "a column with declared keys, a CASE with labels, or dates between two days of WHERE")
    return tuple(found)


def _check_unknown(column: Column, node: exp.Expr, relation: Relation) -> None:
    """Refuse what can be no key, and what is nobody's but one person's. Of others, a private release chooses some."""
    if column.name == relation.table.person:
        why = "it says whose a row is: each group would be about one person"
        raise refuse(node, why, f"COUNT(DISTINCT {shown(node)})")
    if column.type not in KEYED:
        why = f"the policy declares no keys for it, and {a(column.type)} is none: nearly every row has one of its own"
        raise refuse(node, why, "a column of text, whole numbers or dates; or CASE WHEN ... THEN 'label' ELSE 'other' END")


def span(column: Column, where: Expression | None, relation: Relation) -> Ends:
    """The first and the last day of a column in rows that meet a condition, by the question alone."""
    ends = _ends(column, where)
    match relation:
        case FilterRows(of, condition):
            return _narrower(ends, span(column, condition, of))
        case Project(of, columns, _):
            by = next((by for here, by in columns if here == column), None)
            return _narrower(ends, span(by.column, None, of)) if isinstance(by, ColumnValue) else ends
        case JoinPublic(of, _, _, _, _) | JoinOnPerson(of, _, _, _) if column in of.table.columns:
            return _narrower(ends, span(column, None, of))
    return ends


def _ends(column: Column, condition: Expression | None) -> Ends:
    if isinstance(condition, Logic) and condition.every:
        ends: Ends = (None, None)
        for part in condition.parts:
            ends = _narrower(ends, _ends(column, part))
        return ends
    if not isinstance(condition, Compare) or condition.operator == "<>" or column.type not in TICK:
        return (None, None)
    sign, left, right = condition.operator, condition.left, condition.right
    if isinstance(left, Constant):
        sign, left, right = TURNED[sign], right, left  # type: ignore[assignment]
    if left != ColumnValue(column) or not isinstance(right, Constant):
        return (None, None)
    day, tick = cast(datetime.date, right.value), TICK[column.type]
    try:
        first = day + tick if sign == ">" else day if sign in (">=", "=") else None
        last = day - tick if sign == "<" else day if sign in ("<=", "=") else None
    except OverflowError:
        return (None, None)  # no day is left that Python has: nothing is concluded
    return first, last


def _narrower(one: Ends, other: Ends) -> Ends:
    firsts = [end[0] for end in (one, other) if end[0] is not None]
    lasts = [end[1] for end in (one, other) if end[1] is not None]
    return max(firsts, default=None), min(lasts, default=None)


def _between(by: DatePart | DateTrunc, ends: Ends, node: exp.Expr) -> list[Key] | None:
    first, last = ends
    if first is None or last is None or (isinstance(by, DatePart) and by.part != "year"):
        return None
    if first > last:
        raise refuse(node, "WHERE leaves no day for it", "a first day before the last")
    if isinstance(by, DatePart):
        return list(range(first.year, last.year + 1))
    found: list[Key] = []
    for start in _starts(by.period, first, last):
        found.append(start)
        if len(found) > MOST_KEYS:
            raise refuse(node, f"there are more than {MOST_KEYS} between {first} and {last}", "fewer days in WHERE")
    return found


def _starts(period: Period, first: datetime.date, last: datetime.date) -> Iterator[datetime.date]:
    at = start_of(period, first)
    while at <= last:
        yield at
        try:
            at = _next(period, at)
        except (OverflowError, ValueError):
            return  # the year 9999 has ended


def start_of(period: Period, day: datetime.date) -> datetime.date:
    """The start of its year, month, ...; a time for a time, a day for a day."""
    if isinstance(day, datetime.datetime):
        day = day.replace(minute=0, second=0, microsecond=0)
        day = day if period == "hour" else day.replace(hour=0)
    if period in MONTHS:
        before = day.month - 1
        return day.replace(month=before - before % MONTHS[period] + 1, day=1)
    return day - datetime.timedelta(days=day.weekday()) if period == "week" else day


def _next(period: Period, start: datetime.date) -> datetime.date:
    if period in LENGTHS:
        return start + LENGTHS[period]
    months = start.month - 1 + MONTHS[period]
    return start.replace(year=start.year + months // 12, month=months % 12 + 1)


def _whole(facts: Facts, node: exp.Expr, step: int) -> list[Key] | None:
    """The whole numbers between bounds, which are multiples of the step as all of them are."""
    if facts.type is not Type.INTEGER or facts.lower is None or facts.upper is None:
        return None
    if (facts.upper - facts.lower) / step >= MOST_KEYS:
        raise refuse(node, f"it has more than {MOST_KEYS} possible values", "WIDTH_BUCKET with fewer of them")
    return list(range(int(facts.lower), int(facts.upper) + 1, step))


def _images(by: Expression, columns: list[Column], node: exp.Expr) -> list[Key]:
    if prod(len(column.keys or ()) + 1 for column in columns) > MOST_KEYS:
        raise refuse(node, f"its columns have more than {MOST_KEYS} combinations of keys", "fewer columns")
    found = images(by, columns)
    if found is None:
        raise refuse(node, "keys are texts, dates or whole numbers", "ROUND, or a CASE with labels")
    return found


def _as_key(value: object, node: exp.Expr) -> Key:
    if isinstance(value, Fraction) and value.denominator == 1 and -(2**63) <= value < 2**63:
        return int(value)
    if isinstance(value, (Fraction, datetime.datetime)):
        raise refuse(node, "labels are texts, dates or whole numbers of 64 bits", "labels such as 'low' and 'high'")
    assert isinstance(value, (str, bool, datetime.date))
    return value
