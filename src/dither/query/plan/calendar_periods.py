"""The calendar of the years 1 to 9999, as engines have it: starts of periods, which period a moment lies in, and moments
some months, days and microseconds later. Weeks start on Mondays. What lies beyond those years is missing everywhere.
"""

from __future__ import annotations

import datetime
from calendar import monthrange
from collections.abc import Iterator
from typing import Literal

Period = Literal["year", "quarter", "month", "week", "day", "hour", "minute", "second"]
Unit = Literal["year", "quarter", "month", "day", "hour", "minute", "second", "microsecond"]

PERIODS: tuple[Period, ...] = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
UNITS: tuple[Unit, ...] = ("year", "quarter", "month", "day", "hour", "minute", "second", "microsecond")
OF_TIMES: dict[str, datetime.timedelta] = {  # periods that days do not have
    "hour": datetime.timedelta(hours=1),
    "minute": datetime.timedelta(minutes=1),
    "second": datetime.timedelta(seconds=1),
    "microsecond": datetime.timedelta(microseconds=1),
}
DAY = datetime.timedelta(days=1)
MIDNIGHT, LAST_MOMENT = datetime.time.min, datetime.time.max


def moment(day: datetime.date, time: datetime.time = MIDNIGHT) -> datetime.datetime:
    """A day at a time; a moment as it is."""
    return day if isinstance(day, datetime.datetime) else datetime.datetime.combine(day, time)


def starts(period: Period, first: datetime.date, last: datetime.date) -> Iterator[datetime.date]:
    """The starts of all periods that some day, or moment, from the first to the last lies in."""
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
        if period in OF_TIMES:
            return day - (day - datetime.datetime.min) % OF_TIMES[period]
        day = day.replace(hour=0, minute=0, second=0, microsecond=0)
    if period == "week":
        return day - day.weekday() * DAY
    if period == "day" or period in OF_TIMES:
        return day
    month = {"year": 1, "quarter": 3 * ((day.month - 1) // 3) + 1, "month": day.month}[period]
    return day.replace(month=month, day=1)


def _next(period: Period, start: datetime.date) -> datetime.date:
    if period in ("week", "day"):
        return start + (7 if period == "week" else 1) * DAY
    if period in OF_TIMES:
        return start + OF_TIMES[period]
    months = start.month - 1 + {"year": 12, "quarter": 3, "month": 1}[period]
    return start.replace(year=start.year + months // 12, month=months % 12 + 1)


def number_of(unit: Unit, day: datetime.date) -> int:
    """The number of the year, month, ... that a day or a moment lies in: it goes up with time, by one at each start."""
    if unit in OF_TIMES:
        return (moment(day) - datetime.datetime.min) // OF_TIMES[unit]
    return {
        "year": day.year,
        "quarter": 4 * day.year + (day.month - 1) // 3,
        "month": 12 * day.year + day.month,
        "day": day.toordinal(),
    }[unit]


def later(at: datetime.datetime, months: int, days: int, microseconds: int) -> datetime.datetime | None:
    """A moment so many months, then days, then microseconds later; a month that is too short ends with its last day. None
    where a step leaves the years 1 to 9999."""
    year, month = divmod(12 * at.year + at.month - 1 + months, 12)
    if not datetime.MINYEAR <= year <= datetime.MAXYEAR:
        return None
    try:
        moved = at.replace(year=year, month=month + 1, day=min(at.day, monthrange(year, month + 1)[1]))
        return moved + datetime.timedelta(days=days) + datetime.timedelta(microseconds=microseconds)
    except OverflowError:
        return None


def part_of(part: str, day: datetime.date) -> int:
    """The year, the month, ... of a day or a moment, as EXTRACT counts them."""
    at, (year, week, weekday) = moment(day), day.isocalendar()
    return {
        **{"year": at.year, "quarter": (at.month + 2) // 3, "month": at.month, "day": at.day, "hour": at.hour},
        **{"minute": at.minute, "second": at.second, "week": week, "isoyear": year, "isodow": weekday},
        **{"weekday": weekday % 7, "doy": at.timetuple().tm_yday},
    }[part]
