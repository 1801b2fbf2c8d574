"""Sides of joins as SQL (`plan/joins/pairs.py`): rows of people who have few enough of them to be paired.

Rows are counted by a window, which no engine moves behind the join that comes next: that one would make all their pairs.
"""

from __future__ import annotations

from dither.query.engines.words import Words
from dither.query.policy.column import Column
from dither.query.policy.owner import OURS
from dither.query.policy.table import Table

HOW_MANY = f"how many rows{OURS}"  # a column that no question can name
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


def few_pairs(words: Words, side: Side, most: int | None, other: Side, others: int | None) -> str:
    """The rows of one side, of people who have few enough on both."""
    rows, table = side
    if most is None or others is None:
        return rows
    looked, there = other
    assert table.person is not None
    assert there.person is not None
    whose = words.name(there.person)
    counts = f"SELECT {whose} AS p FROM ({looked}) AS q GROUP BY {whose} HAVING count(*) > {others}"
    many = f"SELECT 1 FROM ({counts}) AS m WHERE m.p = f.{words.name(table.person)}"
    return f"SELECT * FROM ({few_rows(words, rows, table, most)}) AS f WHERE NOT EXISTS ({many})"


def renamed(words: Words, columns: tuple[tuple[Column, Column], ...]) -> str:
    """The columns of a side under their names in the join, so that no name is meant twice."""
    return ", ".join(f"{words.name(there.name)} AS {words.name(here.name)}" for here, there in columns)
