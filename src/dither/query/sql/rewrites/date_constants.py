"""Dates and timestamps that are written out in a question, beside columns of either kind.

day <= TIMESTAMP '2024-01-31 12:00:00'    day <= 2024-01-31: a day is compared as its midnight
day <= '2024-01-31T12:00:00'              likewise as the text of a day, of which engines drop the time
moment >= DATE '2024-01-31'               moment >= 2024-01-31 00:00:00
"""

from __future__ import annotations

import datetime
import re

from dither.query.plan.expressions import Comparison, Value
from dither.query.policy.column import Type

DAY = r"\d{4}-\d{2}-\d{2}"
MOMENT = rf"({DAY}([ T]\d{{2}}:\d{{2}}(:\d{{2}}(\.\d{{1,6}})?)?)?)Z?"  # Z is UTC, in which rows are read
MIDNIGHT = datetime.time()


def read_constant(text: str, kind: Type) -> datetime.date | None:
    """A date or a timestamp in ISO 8601; None where the text is none. Of a date the time is dropped, as engines do."""
    found = re.fullmatch(MOMENT, text, re.ASCII)
    if found is None:
        return None
    try:
        moment = datetime.datetime.fromisoformat(found[1])
    except ValueError:
        return None  # there is no such day
    return moment.date() if kind is Type.DATE else moment


def as_kind(value: Value, kind: Type) -> datetime.date | None:
    """A constant of one kind as one of the other; None where it is none, or has a time that a date does not have."""
    if isinstance(value, datetime.datetime):
        return value.date() if kind is Type.DATE and value.time() == MIDNIGHT else None
    if isinstance(value, datetime.date) and kind is Type.TIMESTAMP:
        return datetime.datetime.combine(value, MIDNIGHT)
    return None


def whole_days(sign: Comparison, value: Value) -> tuple[Comparison, datetime.date] | None:
    """The comparison with a day that says of every day what this one with a moment says; None where there is none.

    With t within day d, a day is at or after t if it is after d, and before t if it is d or before. NULL stays NULL.
    """
    if not isinstance(value, datetime.datetime):
        return None
    if value.time() == MIDNIGHT:
        return sign, value.date()
    signs: dict[Comparison, Comparison] = {">": ">", ">=": ">", "<": "<=", "<=": "<="}
    return (signs[sign], value.date()) if sign in signs else None
