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
from dither.query.plan.expressions import ColumnValue, Compare, IsNull, Logic
from dither.query.plan.joins.pairs import Most, Rows, leaves_out, most_paired, pair_table, value_facts
from dither.query.policy.column import Column, Type
from dither.query.policy.table import LIMITS, Table

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
        apart = self.full and bool(self.on)  # one row of hers on each side, and no pair: she has two
        table = pair_table(left, right, self.columns, apart=apart)
        if self.full:
            columns = (*map(missing, left.columns), *(column for column, _ in self.columns), self.owner)
            table = replace(table, columns=columns, person=self.owner.name)
        # whose rows were left out of one side before, her rows of the other are in no pair here, and in some in truth
        lacks = right.drops_people or (self.full and left.drops_people)
        return replace(
            table,
            alone=left.alone and right.alone and not apart,
            drops_people=left.drops_people or right.drops_people or leaves_out(left, right, self.most_rows),
            drops_rows=left.drops_rows or right.drops_rows or (self.full and (left.drops_people or right.drops_people)),
            clamps_values=left.clamps_values or right.clamps_values or lacks,
        )

    def unmatched(self, condition: Expression) -> Table | None:
        """Return the table of the rows that meet a condition, if all of them are in no pair; otherwise None.

        In a pair the person is there, and so are values that ON has compared (of floats, NaN is equal to itself and counts
        as missing) and those that are there by the owner's word. As for all hard limits, privacy does not rest on that.
        """
        if self.full:
            return None
        parts = condition.parts if isinstance(condition, Logic) and condition.every else (condition,)
        compared = {
            side.column
            for one in self.on
            if isinstance(one, Compare)
            for side in (one.left, one.right)
            if isinstance(side, ColumnValue) and side.column.type not in (Type.FLOAT, Type.DECIMAL)
        }
        there = {here for here, column in self.columns if not column.nullable or column.name == self.right.table.person}
        there |= {here for here, _ in self.columns if here in compared}
        if not any(
            isinstance(one, IsNull) and isinstance(one.value, ColumnValue) and one.value.column in there for one in parts
        ):
            return None
        left = self.left.table.hard_by_rows if self.left.table.alone else self.left.table
        rows = {fact for fact in left.hard if fact in LIMITS or fact.startswith("max_sum.")}
        most, right = self.most_rows, self.right.table
        if not self.on:  # who has too many rows of the right has none that is in no pair
            most = (most[0], None)
        return replace(
            self.table,
            drops_people=left.drops_people or right.drops_people or leaves_out(left, right, most),
            max_groups=left.max_groups,
            max_rows_per_group=left.max_rows_per_group,
            max_rows=left.max_rows,
            max_sum=left.max_sum,
            hard=frozenset(rows | value_facts(self.table)),
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        return (*self.left.tables, *self.right.tables)


def missing(column: Column) -> Column:
    """The same column where a row may have nothing in it."""
    return replace(column, nullable=True)
