"""Functions of dates and timestamps: nodes of expressions beside those of `plan/functions.py`.

Every date of an expression is within the years 1 to 9999, or missing: cells are read so, constants are so, a start is at
most a year earlier and never before the year 1, and what `DateAdd` would move beyond them is missing.

Theorem. Let the cells of a row be within the bounds of their columns, or missing. Then the value of each node is within its
facts, or missing; it is missing only where they say that it may be.

    first, last    the facts of what a node is of
    n(t)           the number of the year, month, ..., microsecond that t lies in (`calendar_periods.number_of`)
    m(d)           the day d some months later

Proof. Starts, casts and n go up with time, so that their values lie between those of first and last; a difference
n(b) - n(a) lies between n(b.first) - n(a.last) and n(b.last) - n(a.first). Days and microseconds are added alike to every
moment, so that order stays. Months do not keep the order of moments: January 30 at 23:00 and 31 at 1:00 become February 28
at 23:00 and at 1:00. But m goes up with d and the time of day stays: the value is from m(first's day) at 0:00 to m(last's
day) at its last moment, which is what is stated. An end that leaves the calendar is stated as the end of the calendar.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dither.query.plan.base import Expression
from dither.query.plan.calendar_periods import LAST_MOMENT, Period, Unit, later, moment, number_of, start_of
from dither.query.plan.facts import Facts
from dither.query.policy.column import Type


@dataclass(frozen=True)
class DateTrunc(Expression):
    """The start of the year, month, ... that a date lies in; weeks start on Mondays."""

    code: ClassVar[str] = "date_trunc"

    period: Period
    of: Expression

    @property
    def facts(self) -> Facts:
        of = self.of.facts  # missing, too, where an engine has no such date
        if of.first is None or of.last is None:
            return Facts(of.type)
        return Facts(of.type, first=start_of(self.period, of.first), last=start_of(self.period, of.last))


@dataclass(frozen=True)
class DateCast(Expression):
    """The day of a timestamp, or the timestamp at which a day starts."""

    code: ClassVar[str] = "date_cast"

    to: Type
    of: Expression

    @property
    def facts(self) -> Facts:
        of = self.of.facts
        if of.first is None or of.last is None:
            return Facts(self.to, nullable=of.nullable)
        first, last = (moment(end) if self.to is Type.TIMESTAMP else moment(end).date() for end in (of.first, of.last))
        return Facts(self.to, nullable=of.nullable, first=first, last=last)


@dataclass(frozen=True)
class DateAdd(Expression):
    """The timestamp so many months, then days, then microseconds after a date; missing beyond the years 1 to 9999."""

    code: ClassVar[str] = "date_add"

    of: Expression
    months: int
    days: int
    microseconds: int

    @property
    def facts(self) -> Facts:
        of = self.of.facts
        if of.first is None or of.last is None:
            return Facts(Type.TIMESTAMP)
        first, last = moment(of.first), moment(of.last)
        if self.months and of.type is Type.TIMESTAMP:
            first, last = moment(first.date()), moment(last.date(), LAST_MOMENT)
        ends = [later(end, self.months, self.days, self.microseconds) for end in (first, last)]
        return Facts(Type.TIMESTAMP, first=ends[0] or datetime.datetime.min, last=ends[1] or datetime.datetime.max)


@dataclass(frozen=True)
class DateDiff(Expression):
    """How many years, months, days, ... start after one date and up to another; negative if the other is earlier."""

    code: ClassVar[str] = "date_diff"

    unit: Unit
    start: Expression
    end: Expression

    @property
    def facts(self) -> Facts:
        start, end = self.start.facts, self.end.facts
        nullable = start.nullable or end.nullable
        if start.first is None or start.last is None or end.first is None or end.last is None:
            return Facts(Type.INTEGER, nullable=nullable)
        lower = number_of(self.unit, end.first) - number_of(self.unit, start.last)
        upper = number_of(self.unit, end.last) - number_of(self.unit, start.first)
        return Facts(Type.INTEGER, Fraction(lower), Fraction(upper), nullable)


DateFunction = DateTrunc | DateCast | DateAdd | DateDiff
