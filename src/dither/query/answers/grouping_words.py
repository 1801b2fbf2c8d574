"""Grouping sets in words: which rows the answer has, what totals are over, and what has noise."""

from __future__ import annotations

from math import prod

from dither.query.plan.describe import set_words
from dither.query.plan.expressions import ColumnValue
from dither.query.plan.question import Question
from dither.query.pricing.offer import Offer
from dither.query.workload.grouping_release import GroupingRelease

MOST_NAMES = 4  # of keys, in a line


def grouping_rows(question: Question) -> str:
    """How many rows the answer has, of each set."""
    sizes = [len(group.listed) for group in question.groups]
    told = [f"{prod(sizes[place] for place in level)} {set_words(question, level)}" for level in question.sets]
    return f"{', '.join(told)}, whether the data has them or not"


def total_words(question: Question) -> list[str]:
    """What totals are over, in a line of an answer."""
    return ["totals are over the keys that are listed, and parts add up to them"] if question.sets else []


def grouping_words(offer: Offer) -> list[str]:
    """What totals are over, and where noise is."""
    question = offer.question
    if not question.sets:
        return []
    keys = "rows whose key is missing or not listed are in no row of the answer"
    lines = [f"Totals     of the keys that are listed, to which parts add up; {keys}"]
    told: dict[str, list[str]] = {}
    for one in offer.counters:
        assert isinstance(one, GroupingRelease)
        names = [name for name, statistic, _ in offer.columns if statistic is one]
        several = zip(one.marginals.levels, one.shares, strict=True)
        where = ", ".join(f"{set_words(question, level)} ({float(share):.2g} of the price)" for level, share in several)
        where = set_words(question, one.marginals.levels[0]) if one.on_finest else where
        told.setdefault(where, []).extend(names)
    return lines + [f"Levels     noise for {', '.join(names)} is put on: {where}" for where, names in told.items()]


def edge_words(question: Question) -> list[str]:
    """Where rows are that are beyond the bounds of a key, or have none; of declared keys nothing is said."""
    lines = []
    for group in question.groups:
        if group.keys is None or (isinstance(group.by, ColumnValue) and group.by.column.keys is not None):
            continue
        if group.asked is not None:
            names = [repr(name) for _, name in group.names]
            told = ", ".join(names[:MOST_NAMES]) + (
                f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
            )
            where = f"is in the group at the edge: {told}" if names else "is impossible, by the word of the owner"
            lines.append(f"Clamped    {group.name}: a row beyond the bounds {where}")
        if group.by.facts.nullable:
            lines.append(f"Missing    {group.name}: a row that has none is in no group")
    return lines
