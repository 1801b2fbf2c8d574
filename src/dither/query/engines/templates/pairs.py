"""Sides of joins as SQL (`plan/joins/pairs.py`): rows of people who have few enough of them to be paired.

Rows are counted by a window, which no engine moves behind the join that comes next: that one would make all their pairs.
"""

from __future__ import annotations

from dither.query.engines.words import Words
from dither.query.plan.joins.pairs import Most
from dither.query.policy.column import Column
from dither.query.policy.owner import OURS
from dither.query.policy.table import Table

HOW_MANY = f"how many rows{OURS}"  # a column that no question can name
LEFT, RIGHT = f"left side{OURS}", f"right side{OURS}"  # relations that no question can name
Side = tuple[str, Table]  # a SELECT, and what it gives as a table


def few_rows(words: Words, rows: str, table: Table, most: int | None) -> str:
    """The rows of people who have at most so many: two long lists of one person would meet in all their pairs."""
    if most is None:
        return rows
    assert table.person is not None
    many, whose = words.name(HOW_MANY), words.name(table.person)
    counted_rows = f"SELECT *, count(*) OVER (PARTITION BY {whose}) AS {many} FROM ({rows}) AS q"
    shown = ", ".join(words.name(column.name) for column in table.columns)
    return f"SELECT {shown} FROM ({counted_rows}) AS c WHERE {many} <= {most}"


def few_pairs(words: Words, left: Side, right: Side, most: Most, *, keeps_right: bool) -> tuple[str, str, str]:
    """Both sides without people who have too many rows on one of them, and the WITH that stands before the join.

    A side that is looked at twice is written once, or nested joins would grow as 2^n. Where rows of the right are not kept
    by themselves, those of people who are left out of the left are in no pair, and may stay.
    """
    if most == (None, None):
        return "", left[0], right[0]
    named, heads = [], []
    for name, (rows, table), twice in ((LEFT, left, keeps_right), (RIGHT, right, True)):
        named.append((f"SELECT * FROM {words.name(name)}" if twice else rows, table))
        heads += [f"{words.name(name)} AS ({rows})"] if twice else []
    lefts = _without_many(words, few_rows(words, *named[0], most[0]), left[1], named[1], most[1])
    rights = few_rows(words, *named[1], most[1])
    if keeps_right:
        rights = _without_many(words, rights, right[1], named[0], most[0])
    return f"WITH {', '.join(heads)} ", lefts, rights


def _without_many(words: Words, rows: str, table: Table, other: Side, most: int | None) -> str:
    """Rows without those of people who have more than so many on the other side; None: whatever they have."""
    if most is None:
        return rows
    looked, there = other
    assert table.person is not None
    assert there.person is not None
    whose = words.name(there.person)
    counts = f"SELECT {whose} AS p FROM ({looked}) AS q GROUP BY {whose} HAVING count(*) > {most}"
    many = f"SELECT 1 FROM ({counts}) AS m WHERE m.p = f.{words.name(table.person)}"
    return f"SELECT * FROM ({rows}) AS f WHERE NOT EXISTS ({many})"


def renamed(words: Words, columns: tuple[tuple[Column, Column], ...]) -> str:
    """The columns of a side under their names in the join, so that no name is meant twice."""
    return ", ".join(f"{words.name(there.name)} AS {words.name(here.name)}" for here, there in columns)
