"""Contribution limits of one person, spread over the groups of a question: what counts of her, and what she can have.

`limits_of` is what we enforce. Where a question has fewer groups than max_groups, the rows that the owner allowed for the
others may be in those that there are: a question without GROUP BY counts as many rows of a person as the owner allowed in
all. `hard_limits` is what nobody can exceed, by the owner's word; whether a bound loses anything follows from the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from dither.query.plan.question import Question
from dither.query.policy.table import Table

MANY = 10**12  # groups: more than any limit


@dataclass(frozen=True)
class Limits:
    """How much of a person counts."""

    groups: int  # in which she counts
    rows: int  # of hers in each
    most: int  # of hers in all together, at most groups * rows

    @property
    def squares(self) -> int:
        """The most that the squares of her rows in each group add up to.

        Of numbers from 0 to `rows` with the sum `most`, the sum of squares is convex, so largest at a corner: as many full
        groups as there are rows for, and one with the rest.
        """
        full, rest = divmod(self.most, self.rows)
        return full * self.rows**2 + rest**2


class HardLimits(NamedTuple):
    """How much anybody can have, by the owner's word; None where there is none."""

    groups: int
    rows: int | None
    most: int | None

    @property
    def squares(self) -> int | None:
        """The most that the squares of anybody's rows in each group add up to."""
        if self.most is None or self.rows is None:
            return None
        return Limits(self.groups, self.rows, min(self.most, self.groups * self.rows)).squares


def cells_of(question: Question) -> int:
    """How many groups a question has; where nobody declared them, more than any limit."""
    return prod(MANY if group.keys is None else len(group.keys) for group in question.groups)


def limits_of(table: Table, cells: int, whole: int | None = None) -> Limits:
    """What counts of a person in a question of which so many groups are counted, out of a `whole`: all, if left out."""
    most, whole = table.most_rows, cells if whole is None else whole
    groups, rows = min(table.max_groups, cells, most), min(table.max_rows_per_group, most)
    if whole < table.max_groups and not (whole > 1 and "max_rows_per_group" in table.hard):
        rows = max(rows, -(-most // groups))
    return Limits(groups, rows, min(most, groups * rows))


def hard_limits(table: Table, cells: int) -> HardLimits:
    """What anybody can have in a question with so many groups."""
    most = table.hard_rows
    groups = min(cells, cells if most is None else most)
    if "max_groups" in table.hard:
        groups = min(groups, table.max_groups)
    rows = most
    if "max_rows_per_group" in table.hard and cells > 1:
        rows = table.max_rows_per_group if most is None else min(most, table.max_rows_per_group)
    return HardLimits(groups, rows, most)
