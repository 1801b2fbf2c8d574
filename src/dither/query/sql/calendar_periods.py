"""The years, months, weeks, ... between two days, as `DATE_TRUNC` names them: by their starts; weeks start on Mondays."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from dither.query.plan.functions import Period

DAY = datetime.timedelta(days=1)


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
        day = day.replace(minute=0, second=0, microsecond=0)
        day = day if period == "hour" else day.replace(hour=0)
    if period == "week":
        return day - day.weekday() * DAY
    if period in ("day", "hour"):
        return day
    month = {"year": 1, "quarter": 3 * ((day.month - 1) // 3) + 1, "month": day.month}[period]
    return day.replace(month=month, day=1)


def _next(period: Period, start: datetime.date) -> datetime.date:
    if period in ("week", "day", "hour"):
        return start + {"week": 7, "day": 1, "hour": 0}[period] * DAY + datetime.timedelta(hours=period == "hour")
    months = start.month - 1 + {"year": 12, "quarter": 3, "month": 1}[period]
    return start.replace(year=start.year + months // 12, month=months % 12 + 1)
