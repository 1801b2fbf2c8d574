"""Pairs of rows of one person: what a join is made of, and how many rows of hers may be paired.

Whoever has more rows on a side than may be paired there is left out of the whole join, on both sides: so it is a function of
her rows alone, and no pair of long lists can take the time, or the room, that all others need.
"""

from __future__ import annotations

from typing import Protocol

from dither.query.policy.table import Table

MOST_PAIRED = 1000  # rows of a person on a side of a join, unless the owner's limits allow for more
Most = tuple[int | None, int | None]  # rows of a person on each side; None: as many as she has


class Rows(Protocol):
    """A relation, as a join sees it."""

    @property
    def table(self) -> Table:
        """The relation as a table."""

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables that are read."""


def most_paired(left: Table, right: Table) -> Most:
    """How many rows a person may have on each side; without limit where she has one row on a side."""
    if left.alone or right.alone:
        return None, None
    return max(MOST_PAIRED, left.most_rows), max(MOST_PAIRED, right.most_rows)
