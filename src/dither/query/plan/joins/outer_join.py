"""LEFT, RIGHT and FULL JOIN: rows of a person beside other rows of hers, and rows of hers that have none beside them.

Theorem. Let q be a person, and let two databases agree in q's rows of two relations. Then q's rows of their outer join are
the same in both, and each of them belongs to q alone.
Legend. Two rows are a pair if they have one owner and meet all conditions, which are functions of the two rows. The join
has every pair; every row of a side that is kept and is in no pair, beside missing values; and nothing else. The owner of a
row is that of the side that is there: COALESCE(l.p, r.p). A row without an owner is on neither side: it was left out before.
Proof. A row of q's is in pairs with rows of q's only. So which pairs there are of q's, and which of q's rows are in none,
depends on q's rows of both sides; and so does whether she is left out, on how many they are. A pair has one owner on both
sides, and a row in no pair has its own.

Rows that were kept while the others of their person were left out would be counted as if they had no match: whoever is left
out of one side is left out of both.

RIGHT JOIN is LEFT JOIN with the sides exchanged. Along a chain of the policy the owner's equality goes without saying, for
the same reason as in a semi-join (`semi_join.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Generic, TypeVar

from dither.query.plan.base import Expression
from dither.query.plan.joins.pairs import Most, Rows, most_paired
from dither.query.policy.column import Column
from dither.query.policy.table import Table

R = TypeVar("R", bound=Rows)


@dataclass(frozen=True)
class OuterJoin(Generic[R]):
    """Pairs of rows of one person, and rows in no pair: of the left, or of both sides."""

    code: ClassVar[str] = "outer_join"

    left: R
    right: R
    columns: tuple[tuple[Column, Column], ...]  # of the right: as they are called here, and there
    on: tuple[Expression, ...]  # beside the person
    full: bool  # also rows of the right in no pair
    owner: Column  # whose a row is: the person of the left; in a full join a column of its own, behind all others

    @property
    def most_rows(self) -> Most:
        """How many rows a person may have on each side."""
        return most_paired(self.left.table, self.right.table)

    @cached_property
    def table(self) -> Table:
        left, right = self.left.table, self.right.table
        columns = [missing(column) if self.full else column for column in left.columns]
        columns += [column for column, _ in self.columns] + ([self.owner] if self.full else [])
        if right.alone and not self.full:  # each row of the left, once: what is known of them stays
            table = replace(left, columns=tuple(columns), source=None, owner=None, ids=frozenset(), auto=False)
        else:
            groups = max(left.max_groups, right.max_groups)
            rows = max(left.max_rows_per_group, right.max_rows_per_group)
            table = Table(f"{left.name} and {right.name}", tuple(columns), self.owner.name, groups, rows)
        apart = self.full and bool(self.on)  # one row of hers on each side, and no pair: she has two
        # whose rows were left out of one side before, her rows of the other are in no pair here, and in some in truth
        lacks = right.drops_people or (self.full and left.drops_people)
        return replace(
            table,
            alone=left.alone and right.alone and not apart,
            drops_people=left.drops_people or right.drops_people or self.most_rows != (None, None),
            drops_rows=left.drops_rows or right.drops_rows or (self.full and (left.drops_people or right.drops_people)),
            clamps_values=left.clamps_values or right.clamps_values or lacks,
            shares_rows=left.shares_rows or right.shares_rows,
            min_people=max(left.min_people, right.min_people),
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        return (*self.left.tables, *self.right.tables)


def missing(column: Column) -> Column:
    """The same column where a row may have nothing in it."""
    return replace(column, nullable=True)
