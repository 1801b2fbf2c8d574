"""What is asked: aggregates of groups of the rows of a relation, and what is done with them once they are released."""

from __future__ import annotations

import datetime
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

from dither.query.plan.aggregates import Aggregate
from dither.query.plan.base import Expression
from dither.query.plan.derived import Derived
from dither.query.plan.expressions import Comparison, ReleasedConstant, Value
from dither.query.plan.relations import Relation, limits_groups, table_where
from dither.query.policy.column import Key
from dither.query.policy.table import Table

OPERATORS: dict[Comparison, Callable[[Any, Any], Any]] = {
    **{"=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge},
}


Side = Literal["below", "above", "beyond"]  # the last: on either side, or mixed with others by a function


class OpenKey(NamedTuple):
    """A key whose group also holds the rows beyond the bounds, on one side or on either."""

    key: Key
    side: Side

    @property
    def text(self) -> str:
        """The group in words."""
        if self.side == "beyond":
            return f"{self.key} or beyond"
        low, high = ("earlier", "later") if isinstance(self.key, datetime.date) else ("less", "more")
        return f"{self.key} or {low if self.side == 'below' else high}"


@dataclass(frozen=True)
class Group:
    """A way to sort rows into groups: an expression, and all the values that the answer will list for it.

    Without keys nobody declared them: which are listed is a private release of its own, `groups/unknown_keys.py`.
    """

    name: str
    by: Expression
    keys: tuple[Key, ...] | None
    asked: Expression | None = None  # as it was asked for, where rows beyond the bounds are moved to the edge
    open_keys: tuple[OpenKey, ...] = ()  # the keys to which rows beyond the bounds were moved
    total: str | None = None  # what stands for the key in rows that are over all keys; None: nothing, as in SQL

    @property
    def meaning(self) -> Expression:
        """What the question says that rows are sorted by."""
        return self.by if self.asked is None else self.asked

    def named(self, keys: Sequence[Key | None]) -> list[Key | None]:
        """Keys as the answer shows them."""
        return [self.total if key is None else key for key in keys]

    @property
    def listed(self) -> tuple[Key, ...]:
        """The keys, where they are known."""
        assert self.keys is not None
        return self.keys


@dataclass(frozen=True)
class Grouping:
    """GROUPING(a, b): a column that says which of these groups a row is a total over, one bit each, the first highest."""

    name: str
    places: tuple[int, ...]

    def of(self, level: Sequence[int]) -> int:
        """Of the rows of a grouping set."""
        return sum(2**at for at, place in enumerate(reversed(self.places)) if place not in level)


@dataclass(frozen=True)
class OrderBy:
    """By which column of the answer it is sorted."""

    name: str
    descending: bool


@dataclass(frozen=True)
class HavingFilter:
    """Which rows of the answer are shown: a comparison of a released column, or of a key, with a constant."""

    name: str
    operator: Comparison
    value: Value | ReleasedConstant
    rule: str | None = None  # of the policy, where that asks for it and not the question

    @property
    def names(self) -> frozenset[str]:
        """The columns that it looks at."""
        return frozenset([self.name])

    def holds(self, row: Mapping[str, Any]) -> bool | None:
        """Whether a row meets it; None where that is not known, as in SQL."""
        cell, other = row[self.name], self.value.value if isinstance(self.value, ReleasedConstant) else self.value
        return None if cell is None or other is None else bool(OPERATORS[self.operator](cell, other))


@dataclass(frozen=True)
class HavingNull:
    """Whether a released column, or a key, is missing."""

    name: str

    @property
    def names(self) -> frozenset[str]:
        """The columns that it looks at."""
        return frozenset([self.name])

    def holds(self, row: Mapping[str, Any]) -> bool | None:
        """Whether a row meets it."""
        return row[self.name] is None


@dataclass(frozen=True)
class HavingNot:
    """The opposite of a condition."""

    condition: Having

    @property
    def names(self) -> frozenset[str]:
        """The columns that it looks at."""
        return self.condition.names

    def holds(self, row: Mapping[str, Any]) -> bool | None:
        """Whether a row meets it; None where that is not known."""
        found = self.condition.holds(row)
        return None if found is None else not found


@dataclass(frozen=True)
class HavingLogic:
    """All of several conditions, or any of them."""

    every: bool
    parts: tuple[Having, ...]

    @property
    def names(self) -> frozenset[str]:
        """The columns that it looks at."""
        return frozenset(name for part in self.parts for name in part.names)

    def holds(self, row: Mapping[str, Any]) -> bool | None:
        """Whether a row meets it; None where that is not known: one FALSE decides AND, one TRUE decides OR."""
        found = [part.holds(row) for part in self.parts]
        return not self.every if (not self.every) in found else None if None in found else self.every


Having = HavingFilter | HavingNull | HavingNot | HavingLogic


@dataclass(frozen=True)
class Question:
    """A question about the rows of a relation. Everything after `aggregates` concerns released values only."""

    relation: Relation
    where: Expression | None
    groups: tuple[Group, ...]
    aggregates: tuple[Aggregate, ...]
    shown: tuple[str, ...]  # the columns of the answer, in the order in which they were asked for
    having: tuple[Having, ...] = ()  # all of them are met
    order: tuple[OrderBy, ...] = ()
    limit: int | None = None
    derived: tuple[Derived, ...] = ()  # columns that are computed from aggregates
    qualify: tuple[Having, ...] = ()  # all of them are met, once windows are known
    offset: int = 0  # rows that are not shown, before those that are
    sets: tuple[tuple[int, ...], ...] = ()  # grouping sets: places of groups; none where all rows are by all groups
    grouping: tuple[Grouping, ...] = ()  # columns that tell rows of different sets apart

    @property
    def listed_sets(self) -> tuple[tuple[int, ...], ...]:
        """The grouping sets, of which a plain GROUP BY has one."""
        return self.sets or (tuple(range(len(self.groups))),)

    @property
    def of_all_groups(self) -> bool:
        """Whether a column looks at other groups than its own, so that all of them must be counted."""
        return (
            bool(self.sets)
            or any(one.of_all_groups for one in self.aggregates)
            or any(one.has_window for one in self.derived)
        )

    @property
    def selects(self) -> bool:
        """Whether released numbers decide which rows are shown."""
        keys = {group.name for group in self.groups} | {column.name for column in self.grouping}
        tested = any(name not in keys for keep in (*self.having, *self.qualify) for name in keep.names)
        cut = self.limit is not None or self.offset > 0
        return tested or (cut and any(order.name not in keys for order in self.order))

    @property
    def rules(self) -> tuple[HavingFilter, ...]:
        """The conditions that the policy asks for, and not the question."""
        return tuple(keep for keep in self.having if isinstance(keep, HavingFilter) and keep.rule is not None)

    @cached_property
    def table(self) -> Table:
        """The rows that meet the condition as a table: its columns, its person, its limits in these groups."""
        table = table_where(self.relation, self.where)
        by_cells = limits_groups(self.relation, self.where, [group.by for group in self.groups])
        return table if by_cells else table.hard_by_rows
