"""Dates and timestamps of a question: casts, parts, differences, and intervals that are constants.

    CAST(ts AS DATE), DATE(ts)          the day of a timestamp
    ts >= DATE '2024-01-01'             a day beside a timestamp is its midnight
    DATE_DIFF('day', a, b), day2 - day1 whole numbers
    EXTRACT(epoch FROM b - a)           seconds; without EXTRACT, the difference of timestamps is an interval: no number
    b - a > INTERVAL '90 minutes'       compared in microseconds, as whole numbers
    ts + INTERVAL '1 month 3 days'      a timestamp: months first, then days, then the rest; of constants, a constant

Weeks are no unit of DATE_DIFF: engines, and versions of one, count Mondays between two days or whole sevens of days.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from fractions import Fraction

from sqlglot import exp

from dither.query.plan.base import Expression
from dither.query.plan.calendar_periods import MIDNIGHT, OF_TIMES, UNITS, later, moment
from dither.query.plan.dates import DateAdd, DateCast, DateDiff
from dither.query.plan.expressions import PARTS, Arithmetic, Compare, Comparison, Constant, DatePart, Part
from dither.query.plan.facts import a
from dither.query.policy.column import Type
from dither.query.sql.dates.intervals import Interval, read_interval
from dither.query.sql.functions import CALLS, OF_DATES, Kind, Reader
from dither.query.sql.syntax import refuse, shown

CASTS = {exp.DataType.Type.DATE: Type.DATE, exp.DataType.Type.TIMESTAMPNTZ: Type.TIMESTAMP}  # how DuckDB's TIMESTAMP is read
DATE_FUNCTIONS: dict[Kind, str] = {
    **{exp.Year: "year", exp.Quarter: "quarter", exp.Month: "month", exp.Day: "day", exp.DayOfMonth: "day"},
    **{exp.DayOfWeek: "dow", exp.DayOfWeekIso: "isodow", exp.DayOfYear: "doy", exp.Week: "week", exp.WeekOfYear: "week"},
    **{exp.Hour: "hour", exp.Minute: "minute", exp.Second: "second", exp.TimeToUnix: "epoch"},
}
NAMED_PARTS = ("date_part", "datepart", "isoyear")  # calls that the parser has no node for
SAME_PART = {"dow": "weekday", "dayofweek": "weekday", "weekofyear": "week", "dayofyear": "doy"}
EPOCH = Constant(datetime.datetime(1970, 1, 1))
MOMENT = "TIMESTAMP '2026-01-31 12:30:00'"
PER_SECOND = Fraction(10**6)


def as_type(to: Type, of: Expression) -> Expression:
    """A date as a timestamp, or the other way round; constants are computed."""
    if of.facts.type is to:
        return of
    if isinstance(of, Constant):
        assert isinstance(of.value, datetime.date)
        midnight = moment(of.value)
        return Constant(midnight if to is Type.TIMESTAMP else midnight.date())
    return DateCast(to, of)


def of_one_type(parts: list[Expression]) -> list[Expression]:
    """Dates beside timestamps as timestamps; but a constant midnight beside days as a day. All else as it is."""
    if {part.facts.type for part in parts} != {Type.DATE, Type.TIMESTAMP}:
        return parts
    midnight = [isinstance(part, Constant) and moment(part.value).time() == MIDNIGHT for part in parts]  # type: ignore[arg-type]
    days = all(fixed or part.facts.type is Type.DATE for fixed, part in zip(midnight, parts, strict=True))
    to = Type.DATE if days and not all(midnight) else Type.TIMESTAMP
    return [as_type(to, part) for part in parts]


# -- casts and parts ---------------------------------------------------------------------------------------------------


def _cast(reader: Reader, node: exp.Expr) -> Expression:
    to = CASTS.get(node.args["to"].this)
    if to is None:
        return CALLS[exp.Cast](reader, node)
    of = reader.value(node.this)
    if not of.facts.type.is_date:
        why = f"values are not cast, and {a(of.facts.type)} is no date; the policy says what a column is"
        raise refuse(node, why, OF_DATES)
    return as_type(to, of)


def _day(reader: Reader, node: exp.Expr) -> Expression:
    """DATE(ts)."""
    of = reader.value(node.this)
    if not of.facts.type.is_date:
        raise refuse(node, f"{a(of.facts.type)} has no day", OF_DATES)
    return as_type(Type.DATE, of)


def date_part(reader: Reader, node: exp.Expr) -> Expression:
    """EXTRACT, and functions such as YEAR."""
    written, inner = _asked_part(node)
    written = SAME_PART.get(written, written)
    if written == "epoch":
        return _seconds(reader, node, inner)
    of = reader.value(inner)
    if not of.facts.type.is_date:
        raise refuse(node, f"{a(of.facts.type)} has no parts", OF_DATES)
    part = _part(written)
    if part is None or (part in OF_TIMES and of.facts.type is Type.DATE):
        kind, names = a(of.facts.type), ", ".join(PARTS)
        why = f"of {kind}, the answered parts are {names}; hours, minutes and seconds are of timestamps"
        raise refuse(node, why, "one of these parts")
    return DatePart(part, of)


def _asked_part(node: exp.Expr) -> tuple[str, exp.Expr]:
    """Which part of what."""
    if isinstance(node, exp.Extract):
        return str(node.this.name).lower(), node.expression
    if not isinstance(node, exp.Anonymous):
        return DATE_FUNCTIONS[type(node)], node.this
    parts = node.expressions
    if node.name.lower() == "isoyear" and len(parts) == 1:
        return "isoyear", parts[0]
    if len(parts) != 2 or not isinstance(parts[0], exp.Literal):
        raise refuse(node, "it takes the name of a part, and a date", "the name of a part in single quotes, and a date")
    return str(parts[0].name).lower(), parts[1]


def _part(written: str) -> Part | None:
    return next((part for part in PARTS if part == written), None)


# -- differences -------------------------------------------------------------------------------------------------------


def _seconds(reader: Reader, node: exp.Expr, inner: exp.Expr) -> Expression:
    """EXTRACT(epoch FROM b - a), also of one moment, since 1970; with microseconds where there are timestamps."""
    taken = inner.unnest()
    if isinstance(taken, exp.Sub) and not isinstance(taken.expression.unnest(), exp.Interval):
        end, start = _dates(reader, taken, taken.this, taken.expression)
        if start.facts.type is Type.DATE:
            why = "the difference of two dates is a number of days"
            raise refuse(node, why, "the difference by itself, or DATE_DIFF with a unit")
        _count_again(reader, taken.this, taken.expression)
    else:
        start, end = EPOCH, reader.value(inner)
        if not end.facts.type.is_date:
            raise refuse(node, f"{a(end.facts.type)} has no parts", OF_DATES)
        if end.facts.type is Type.DATE:
            return DateDiff("second", start, as_type(Type.TIMESTAMP, end))
    return Arithmetic("/", DateDiff("microsecond", start, end), Constant(PER_SECOND))


def _difference(reader: Reader, node: exp.Expr) -> Expression:
    """DATE_DIFF."""
    unit = None if node.args.get("unit") is None else str(node.args["unit"].name).lower()
    found = next((one for one in UNITS if unit in (one, f"{one}s")), None)
    first, last = node.expression, node.this
    if found is None:
        why, instead = f"the answered units are {', '.join(UNITS)}", "one of these units"
        if unit in ("week", "weeks"):
            why = "engines do not agree whether a week is a Monday between, or seven days"
            instead = (
                "of seven days: the number of days, divided by 7; of Mondays: the days between the two weeks that DATE_TRUNC"
            )
            instead += " gives, divided by 7"
        raise refuse(node, why, instead)
    end, start = _dates(reader, node, last, first)
    if found in OF_TIMES:
        start, end = as_type(Type.TIMESTAMP, start), as_type(Type.TIMESTAMP, end)
    _count_again(reader, first, last)
    return DateDiff(found, start, end)


def _count_again(reader: Reader, *written: exp.Expr) -> None:
    """An engine may get these twice, and so they are counted twice."""
    for part in written:
        reader.value(part)


def _dates(reader: Reader, node: exp.Expr, one: exp.Expr, other: exp.Expr) -> tuple[Expression, Expression]:
    """Two dates or timestamps, of one type; a text beside one is read as one."""
    left, right = reader.pair(one, reader.value(one), other)
    for side, found in ((one, left), (other, right)):
        if not found.facts.type.is_date:
            why = f"{shown(side)} is {a(found.facts.type)}, and a difference is of dates"
            raise refuse(node, why, OF_DATES)
    return left, right


# -- intervals ---------------------------------------------------------------------------------------------------------


def interval_arithmetic(reader: Reader, node: exp.Expr) -> Expression | None:
    """A date plus or minus an interval that is written out; None where there is no interval."""
    left, right = node.this.unnest(), node.expression.unnest()
    if isinstance(right, exp.Interval) and isinstance(node, (exp.Add, exp.Sub, exp.DateAdd)):
        return _later(reader, node, node.this, read_interval(right).times(-1 if isinstance(node, exp.Sub) else 1))
    if isinstance(left, exp.Interval) and isinstance(node, exp.Add):
        return _later(reader, node, node.expression, read_interval(left))
    if isinstance(left, exp.Interval) or isinstance(right, exp.Interval):
        raise refuse(node, "an interval is added to a date, or subtracted from one", "a date on the other side")
    return None


def _added(reader: Reader, node: exp.Expr) -> Expression:
    """DATE_ADD(ts, INTERVAL '3 days')."""
    found = interval_arithmetic(reader, node)
    if found is None:
        raise refuse(node, "DATE_ADD takes an interval that is written out", "an interval such as that of three days")
    return found


def _later(reader: Reader, node: exp.Expr, inner: exp.Expr, by: Interval) -> Expression:
    of = reader.value(inner)
    if not of.facts.type.is_date:
        why = f"an interval is added to dates, and this is {a(of.facts.type)}"
        raise refuse(node, why, OF_DATES)
    if isinstance(of, Constant):
        assert isinstance(of.value, datetime.date)
        found = later(moment(of.value), by.months, by.days, by.microseconds)
        if found is None:
            raise refuse(node, "it is beyond the years 1 to 9999", "a shorter interval")
        return Constant(found)
    _count_again(reader, inner)
    return DateAdd(of, by.months, by.days, by.microseconds)


def date_arithmetic(reader: Reader, node: exp.Expr, left: Expression, right: Expression) -> Expression | None:
    """A difference of dates, or a date so many days later; None where no date is on the left or on the right."""
    kinds = (left.facts.type, right.facts.type)
    if not kinds[0].is_date and not (kinds[1].is_date and isinstance(node, exp.Add)):
        return None
    if isinstance(node, exp.Sub) and kinds[1].is_date:
        if kinds == (Type.DATE, Type.DATE):
            _count_again(reader, node.this, node.expression)
            return DateDiff("day", right, left)
        why = "the difference of timestamps is an interval, and no number"
        raise refuse(node, why, f"its seconds, EXTRACT(epoch FROM {shown(node)}), or DATE_DIFF with a unit")
    day, days = (left, right) if kinds[0].is_date else (right, left)
    value = days.value if isinstance(days, Constant) else None
    if isinstance(node, exp.Mul) or day.facts.type is not Type.DATE or not isinstance(value, Fraction):
        raise refuse(
            node,
            f"to {a(day.facts.type)} an interval is added that is written out",
            "an interval such as that of three days",
        )
    if value.denominator != 1:
        raise refuse(node, "a date has no parts of days", "a whole number of days")
    interval = exp.Interval(this=exp.Literal.string(str(value)), unit=exp.var("day"))
    by = read_interval(interval).times(-1 if isinstance(node, exp.Sub) else 1)
    return as_type(Type.DATE, _later(reader, node, node.this if kinds[0].is_date else node.expression, by))


def interval_comparison(reader: Reader, sign: Comparison, one: exp.Expr, other: exp.Expr) -> Expression | None:
    """b - a > INTERVAL '90 minutes'; None where no interval is compared."""
    turned: dict[Comparison, Comparison] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
    if isinstance(one.unnest(), exp.Interval):
        one, other, sign = other, one, turned[sign]
    interval, taken = other.unnest(), one.unnest()
    if not isinstance(interval, exp.Interval):
        return None
    if not isinstance(taken, exp.Sub) or isinstance(taken.expression.unnest(), exp.Interval):
        why = "an interval is compared with the difference of two timestamps"
        raise refuse(other, why, "the difference of two timestamps on the other side")
    end, start = _dates(reader, taken, taken.this, taken.expression)
    if start.facts.type is Type.DATE:
        raise refuse(taken, "the difference of two dates is a number of days", "a number of days beside it")
    by = read_interval(interval)
    if by.months:
        raise refuse(interval, "a month has no fixed length", "an interval of days, hours, minutes or seconds")
    length = by.days * 86_400 * 10**6 + by.microseconds
    _count_again(reader, taken.this, taken.expression)
    return Compare(sign, DateDiff("microsecond", start, end), Constant(Fraction(length)))


DATE_CALLS: dict[Kind, Callable[[Reader, exp.Expr], Expression]] = {
    exp.Cast: _cast,
    exp.Date: _day,
    exp.DateDiff: _difference,
    exp.DateAdd: _added,
    exp.Extract: date_part,
    **dict.fromkeys(DATE_FUNCTIONS, date_part),
}
