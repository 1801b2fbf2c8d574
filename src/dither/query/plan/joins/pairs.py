"""Pairs of rows of one person: what a join is made of, how many rows of a person may be paired, and the limits of pairs.

Whoever has more rows on a side than may be paired there is left out of the whole join, on both sides: so it is a function of
her rows alone, and no pair of long lists can take the time, or the room, that all others need.

Limits. A pair table has the product of both sides' limits: max_rows of the one times max_rows of the other, and so for
groups and for rows in each of them.
Theorem. Whoever is within the limits of rows of both sides, a on the left and b on the right, has at most
    a b           pairs
    a b           rows of a LEFT JOIN
    max(ab, a+b)  rows of a FULL JOIN with conditions beside the person
    a             rows of a LEFT JOIN that are in no pair.
Proof. Let her have x <= a and y <= b rows. There are x y pairs of them. In a LEFT JOIN each row of the left is there once,
or with its pairs, so x max(y, 1) <= a b. In a FULL JOIN with u rows of the left and v of the right in pairs there are at
most u v + (x - u) + (y - v) rows. That is linear in u and in v, so largest at a corner: x y, or x + y where nothing meets.
Without conditions all her rows meet, or one side has none: x y, x or y.
So limits that are hard on both sides are hard for the pairs. Privacy does not rest on it: the bounding of the question is
last, and enforces the product whatever the tables hold, also where an owner's hard limit is exceeded.
A limit is at most MOST, as in a policy: of a larger product nothing is hard.

A hard limit of groups, or of rows in each, is the owner's word about columns of that table. It remains hard beside a side
that is hard at one row a person, for groups by those columns (`limits_groups` in `plan/relations.py`). Otherwise rows fall
into other groups by a column of the other side, and of hard limits only those of rows in all groups together remain
(`Table.hard_by_rows`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

from dither.query.policy.column import Column
from dither.query.policy.table import MOST, Table

MOST_PAIRED = 1000  # rows of a person on a side of a join, unless the owner's limits allow for more
Most = tuple[int | None, int | None]  # rows of a person on each side; None: as many as she has
VALUES = ("bounds.", "steps.", "keys.")  # facts of the values of a column, however often its rows are paired
Beside = tuple[tuple[Column, Column], ...]  # columns of the right: as they are called here, and there


class Rows(Protocol):
    """A relation, as a join sees it."""

    @property
    def table(self) -> Table:
        """The relation as a table."""

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables that are read."""


def most_paired(left: Table, right: Table) -> Most:
    """Return how many rows a person may have on each side: without limit beside a side where she has one row.

    Where the owner says that it is one, whoever has two is left out. So nobody has more pairs than rows.
    """
    if left.alone or right.alone:
        return None, None
    if right.hard_rows == 1:
        return None, 1
    if left.hard_rows == 1:
        return 1, None
    return max(MOST_PAIRED, left.most_rows), max(MOST_PAIRED, right.most_rows)


def leaves_out(left: Table, right: Table, most: Most) -> bool:
    """Return whether somebody may have more rows on a side than are paired; nobody has, if hard limits say so."""
    sides = zip((left.hard_rows, right.hard_rows), most, strict=True)
    return any(paired is not None and (hard is None or hard > paired) for hard, paired in sides)


def pair_table(left: Table, right: Table, columns: Beside, *, apart: bool = False) -> Table:
    """Return the columns of both sides and the limits of their pairs, with what is hard of them.

    Args:
        left: rows of people.
        right: rows of the same people.
        columns: those of the right that are shown.
        apart: whether rows of both sides are kept where they are in no pair, though their person has rows on both sides.
    """

    def limit(a: int, b: int) -> int:
        return max(a * b, a + b) if apart else a * b

    sides = left.hard_by_rows, right.hard_by_rows
    ours, theirs = (side.hard_rows for side in sides)
    groups, rows, most = (
        limit(*several)
        for several in (
            [min(side.max_groups, side.most_rows) for side in sides],
            [min(side.max_rows_per_group, side.most_rows) for side in sides],
            [side.most_rows for side in sides],
        )
    )
    hard = value_facts(left) | value_facts(right, columns)
    for side, other in ((left, right), (right, left)):
        if other.hard_rows == 1 and not apart:
            same = {"max_groups": side.max_groups == groups, "max_rows_per_group": side.max_rows_per_group == rows}
            hard |= {fact for fact, kept in same.items() if kept and fact in side.hard}
    if ours is not None and theirs is not None and limit(ours, theirs) <= MOST:
        most, hard = limit(ours, theirs), hard | {"max_rows"}
    sums: list[tuple[str, Fraction]] = []
    here = {there.name: shown.name for shown, there in columns}
    for side, other, names in ((left, right, None), (right, left, here)):
        if other.most_rows > 1:
            continue  # a value is there once for each row beside it
        for name, total in side.max_sum:
            called = name if names is None else names[name]
            sums.append((called, total))
            hard |= {f"max_sum.{called}"} if f"max_sum.{name}" in side.hard and other.hard_rows == 1 else set()
    return Table(
        f"{left.name} and {right.name}",
        (*left.columns, *(shown for shown, _ in columns)),
        left.person,
        min(groups, MOST),
        min(rows, MOST),
        max_rows=min(most, MOST),
        max_sum=tuple(sums),
        hard=frozenset(hard),
        shares_rows=left.shares_rows or right.shares_rows,
        min_people=max(left.min_people, right.min_people),
    )


def value_facts(table: Table, columns: Beside | None = None) -> set[str]:
    """Return what is hard of the values of a table's columns, which go by other names here if `columns` says so."""
    facts = (fact.partition(".") for fact in table.hard if fact.startswith(VALUES))
    if columns is None:
        return {"".join(fact) for fact in facts}
    here = {there.name: shown.name for shown, there in columns}
    return {f"{what}.{here[name]}" for what, _, name in facts if name in here}
