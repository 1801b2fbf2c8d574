"""Intervals that are written out in a question: whole months, days and microseconds, which are added in this order."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from dither.query.sql.syntax import refuse

MOST_MONTHS = 120_000  # ten thousand years, of each of the three
MOST_DAYS = 3_660_000
MOST_MICROSECONDS = 320_000_000_000_000_000
SECOND = 10**6
UNITS: dict[str, tuple[int, int, int]] = {
    **{"year": (12, 0, 0), "quarter": (3, 0, 0), "month": (1, 0, 0), "mon": (1, 0, 0), "week": (0, 7, 0), "day": (0, 1, 0)},
    **{"hour": (0, 0, 3600 * SECOND), "minute": (0, 0, 60 * SECOND), "min": (0, 0, 60 * SECOND)},
    **{"second": (0, 0, SECOND), "sec": (0, 0, SECOND), "millisecond": (0, 0, 1000), "microsecond": (0, 0, 1)},
}
PART = re.compile(r"\s*([+-]?\d{1,18})\s*([a-z]+)\s*", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Interval:
    """So many months, then days, then microseconds."""

    months: int = 0
    days: int = 0
    microseconds: int = 0

    def times(self, factor: int) -> Interval:
        return Interval(factor * self.months, factor * self.days, factor * self.microseconds)

    @property
    def is_short(self) -> bool:
        """Whether no timestamp of the years 1 to 9999 leaves, with it, those that engines have."""
        return (
            abs(self.months) <= MOST_MONTHS and abs(self.days) <= MOST_DAYS and abs(self.microseconds) <= MOST_MICROSECONDS
        )


def read_interval(node: exp.Interval) -> Interval:
    """INTERVAL '3 days', INTERVAL 3 DAY, INTERVAL '1 month 3 days'; whole numbers of units with a name."""
    value, unit = node.this, node.args.get("unit")
    inner = None if value is None else value.unnest()
    negative = isinstance(inner, exp.Neg)
    inner = inner.this.unnest() if isinstance(inner, exp.Neg) else inner
    text = f"{'-' if negative else ''}{inner.this}" if isinstance(inner, exp.Literal) else ""
    if unit is not None:
        text = f"{text} {unit.name}"
    found, place = Interval(), 0
    while place < len(text):
        part = PART.match(text, place)
        size = None if part is None else UNITS.get(part[2].lower().removesuffix("s"))
        if part is None or size is None:
            found, place = Interval(), 0
            break
        times = int(part[1])
        found = Interval(*(a + times * b for a, b in zip((found.months, found.days, found.microseconds), size, strict=True)))
        place = part.end()
    if not place:
        why = f"an interval is whole numbers of {', '.join(unit for unit in UNITS if unit not in ('mon', 'min', 'sec'))}s"
        raise refuse(node, why, "numbers with one of these units, such as three days")
    if not found.is_short:
        raise refuse(node, "it is longer than ten thousand years", "a shorter interval")
    return found
