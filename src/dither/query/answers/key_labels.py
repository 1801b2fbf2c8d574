"""The keys of groups as labels of a chart: groups that differ have names that differ."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from dither.svg.labels import COMMA, visible
from dither.svg.ticks import real

MIDNIGHT = datetime.time()
STEPS = {"date", "timestamp"}  # keys that are always in order
DAY = 86_400 * 10**6  # microseconds


def group_names(keys: Sequence[tuple[Any, ...]]) -> list[str]:
    """A name for each group: its keys, with commas between them."""
    return [COMMA.join(group) for group in key_texts(keys)]


def key_texts(keys: Sequence[tuple[Any, ...]]) -> list[tuple[str, ...]]:
    """The keys of each group as visible texts, in quotes where they would read like those of another group."""
    texts = [tuple(_text(key) for key in group) for group in keys]
    names = [COMMA.join(group) for group in texts]
    often = Counter(name for name, _ in {(name, repr(group)) for name, group in zip(names, keys, strict=True)})
    several = zip(names, texts, keys, strict=True)
    return [tuple(map(visible, text if often[name] == 1 else map(repr, group))) for name, text, group in several]


def _text(key: Any) -> str:
    if isinstance(key, datetime.datetime) and key.time() == MIDNIGHT and key.tzinfo is None:
        return key.date().isoformat()
    return str(key) if key != "" else repr(key)


def places(keys: Sequence[tuple[Any, ...]], kinds: Sequence[str]) -> list[Fraction] | None:
    """Where groups stand on an axis of time or of numbers; None where they are no series.

    A series has one key, which rises or falls from row to row: dates, timestamps, or numbers at equal steps, such as months.
    Rows in another order were sorted by somebody who wants to see that order.
    """
    if len(kinds) != 1 or len(keys) < 2 or kinds[0] not in {*STEPS, "whole", "number"}:
        return None
    found = [_place(key) for (key,) in keys]
    known = [one for one in found if one is not None]
    steps = {other - one for one, other in pairwise(known)}
    if len(known) < len(found) or not (all(step > 0 for step in steps) or all(step < 0 for step in steps)):
        return None
    return known if kinds[0] in STEPS or (len(known) > 2 and len(steps) == 1) else None


def _place(key: Any) -> Fraction | None:
    if isinstance(key, datetime.datetime):
        offset = key.utcoffset() or datetime.timedelta()
        seconds = (key.hour * 60 + key.minute) * 60 + key.second
        return Fraction(
            key.toordinal() * DAY + seconds * 10**6 + key.microsecond - offset // datetime.timedelta(microseconds=1)
        )
    if isinstance(key, datetime.date):
        return Fraction(key.toordinal() * DAY)
    return None if isinstance(key, bool) else real(key)


def short_names(keys: Sequence[tuple[Any, ...]], names: Sequence[str]) -> list[str]:
    """The names of a series: months as 2024-05 and years as 2024 where all begin at their first day."""
    days = [_text(key) for (key,) in keys if isinstance(key, datetime.date)]
    if len(days) < len(names) or not all(len(day) == 10 and day.endswith("-01") for day in days):
        return list(names)
    return [day[:4] if all(one.endswith("-01-01") for one in days) else day[:7] for day in days]
