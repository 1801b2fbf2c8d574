"""Functions of dates that are not answered: why, and what is."""

from __future__ import annotations

import re

from sqlglot import exp

from dither.query.sql.syntax import shown

CLOCK = (exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentTime, exp.Localtimestamp)
CLOCK_CALLS = ("now", "today", "getdate", "transaction_timestamp")


def instead_of(node: exp.Expr) -> tuple[str, str] | None:
    """Why a function of dates that is not answered is not, and what would be."""
    named = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    parts = [shown(part) for part in node.expressions] if named else [shown(node.this)] if node.this else []
    if named in CLOCK_CALLS or isinstance(node, CLOCK):
        return "an answer does not depend on the clock", "DATE '2026-01-31'"
    if isinstance(node, exp.Interval):
        return "an interval is no value by itself", "day + INTERVAL '3 days'"
    if named == "age" and len(parts) == 2:
        return "years, months and days together are no number", f"DATE_DIFF('day', {parts[1]}, {parts[0]})"
    if named in ("date_sub", "datesub") and len(parts) == 3 and re.fullmatch(r"'\w+'", parts[0]):
        return "whole periods are not counted, but starts of periods", f"DATE_DIFF({', '.join(parts)})"
    if isinstance(node, exp.TimeToStr):
        return "dates are not written as texts", f"DATE_TRUNC('month', {parts[0]})"
    if isinstance(node, (exp.Dayname, exp.Monthname)):
        part = "isodow" if isinstance(node, exp.Dayname) else "month"
        return "names of days and months are not written", f"EXTRACT({part} FROM {parts[0]})"
    if isinstance(node, exp.DateBin):
        return "times are cut at periods of the calendar", f"DATE_TRUNC('week', {shown(node.expression)})"
    if isinstance(node, exp.LastDay):
        return "of a month the first day is answered", f"DATE_TRUNC('month', {parts[0]})"
    if isinstance(node, exp.AtTimeZone):
        return "timestamps have no zone", f"{parts[0]} + INTERVAL '2 hours'"
    return None
