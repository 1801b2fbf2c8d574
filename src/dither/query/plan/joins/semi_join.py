"""EXISTS and IN: rows beside the word whether there are others that match them, of the same person or of a public table.

Theorem. Let q be a person, and let two databases agree in q's rows of two relations, and in public tables. Then q's rows of
their semi-join are the same in both.
Legend. A row of the semi-join is a row of the first relation with one value more: whether a row of the second meets all
conditions with it. Where the second has owners, that both rows have one owner is the first of the conditions, whatever else
is asked; where it has none, it is made of public tables alone.
Proof. The rows of the second relation that are looked at for a row of q's are q's own, or public; both are the same in both
databases, and conditions are functions of the two rows. Whether she is left out depends on the number of her rows on both
sides. No row is made or multiplied: so limits that hold for the first relation hold here.

The value is TRUE or FALSE: a row of the second without an owner is nobody's, and was left out of it before. (One NULL among
the persons would make NOT IN unknown for everybody, and one row could bring that about.)

Two rows along a chain of the policy, a child and a parent with its key, or two children with one key, need no equality of
owners in the question. If q owns a parent with the key k, then all children with the key k are q's (`plan/chain.py`), and
asking for q's own among them is no other question; of parents with the key k those of q are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Generic, TypeVar

from dither.query.plan.base import Expression
from dither.query.plan.expressions import ColumnValue, Compare
from dither.query.plan.joins.pairs import Most, Rows, leaves_out, most_paired
from dither.query.policy.column import Column
from dither.query.policy.table import Table

R = TypeVar("R", bound=Rows)


@dataclass(frozen=True)
class SemiJoin(Generic[R]):
    """Rows, each with whether it has a match."""

    code: ClassVar[str] = "semi_join"

    of: R
    other: R
    columns: tuple[tuple[Column, Column], ...]  # of the other: as they are called here, and there
    on: tuple[Expression, ...]  # beside the person
    match: Column  # whether there is one
    member: bool  # whether IN asked for it, where it matters that SQL does not know it if NULL is among the values

    @property
    def compares_pairs(self) -> bool:
        """Whether a condition is no equality of a value of each: then an engine may have to look at all pairs."""
        return not all(is_equality(one) for one in self.on)

    @property
    def most_rows(self) -> Most:
        """How many rows a person may have on each side."""
        if self.other.table.person is None or not self.compares_pairs:
            return None, None
        return most_paired(self.of.table, self.other.table)

    @cached_property
    def table(self) -> Table:
        before, other = self.of.table, self.other.table
        return replace(
            before,
            columns=(*before.columns, self.match),
            source=None,
            drops_people=before.drops_people or other.drops_people or leaves_out(before, other, self.most_rows),
            # NOT EXISTS keeps rows whose match was left out before
            clamps_values=before.clamps_values or other.clamps_values or other.drops_people,
            min_people=max(before.min_people, other.min_people),
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        return (*self.of.tables, *self.other.tables)


def is_equality(condition: Expression) -> bool:
    """Whether it is an equality of two columns, by which rows can be looked up. (Each condition is about both relations.)"""
    return (
        isinstance(condition, Compare)
        and condition.operator == "="
        and isinstance(condition.left, ColumnValue)
        and isinstance(condition.right, ColumnValue)
    )
