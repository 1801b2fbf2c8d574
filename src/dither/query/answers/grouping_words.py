"""Grouping sets in words: which rows the answer has, what totals are over, and what has noise."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod

from dither.query.answers.record import Column
from dither.query.plan.describe import set_words
from dither.query.plan.expressions import ColumnValue
from dither.query.plan.question import Group, Question
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
            names = [key.text for key in group.open_keys]
            where = f"is in the group at the edge: {_listed(names)}" if names else "is impossible, by the word of the owner"
            lines.append(f"Clamped    {group.name}: a row beyond the bounds {where}")
        if group.by.facts.nullable:
            lines.append(f"Missing    {group.name}: a row that has none is in no group")
    return lines


def open_key_rows(groups: Sequence[Group], columns: Mapping[str, Column]) -> dict[str, dict[str, list[int]]]:
    """The rows of a table whose groups also hold rows beyond the bounds, by key column and side."""
    found: dict[str, dict[str, list[int]]] = {}
    for group in groups:
        sides = dict(group.open_keys)
        for row, cell in enumerate(columns.get(group.name, []) if sides else []):
            if cell in sides:
                found.setdefault(group.name, {}).setdefault(sides[cell], []).append(row)
    return found


def open_key_words(groups: Sequence[Group], rows: Mapping[str, Collection[str]]) -> list[str]:
    """Which groups of a table also hold rows beyond the bounds, a line for each key column that has such groups."""
    lines = []
    for group in groups:
        names = [key.text for key in group.open_keys if key.side in rows.get(group.name, ())]
        lines += [f"open groups of {group.name}: {_listed(names)} (rows beyond the bounds count there)"] if names else []
    return lines


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"{', '.join(names[:MOST_NAMES])}{more}"
