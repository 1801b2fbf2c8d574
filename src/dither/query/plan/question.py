"""What is asked: aggregates of groups of the rows of a relation, and what is done with them once they are released."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dither.query.plan.aggregates import Aggregate
from dither.query.plan.base import Expression
from dither.query.plan.derived import Derived
from dither.query.plan.expressions import Comparison, Value
from dither.query.plan.relations import Relation
from dither.query.policy.column import Key
from dither.query.policy.table import Table

OPERATORS: dict[Comparison, Callable[[Any, Any], Any]] = {
    **{"=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge},
}


@dataclass(frozen=True)
class Group:
    """A way to sort rows into groups: an expression, and all the values that the answer will list for it.

    Without keys nobody declared them: which are listed is a private release of its own, `groups/unknown_keys.py`.
    """

    name: str
    by: Expression
    keys: tuple[Key, ...] | None
    asked: Expression | None = None  # as it was asked for, where rows beyond the bounds are moved to the edge
    names: tuple[tuple[Key, str], ...] = ()  # what keys are called that rows were moved to: they do not read as facts

    @property
    def meaning(self) -> Expression:
        """What the question says that rows are sorted by."""
        return self.by if self.asked is None else self.asked

    def named(self, keys: Sequence[Key | None]) -> list[Key | None]:
        """Keys as the answer shows them; a text for each, where some have names."""
        names = dict(self.names)
        return [key if not names or key is None else names.get(key, str(key)) for key in keys]

    @property
    def listed(self) -> tuple[Key, ...]:
        """The keys, where they are known."""
        assert self.keys is not None
        return self.keys


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
    value: Value
    rule: str | None = None  # of the policy, where that asks for it and not the question

    @property
    def names(self) -> frozenset[str]:
        """The columns that it looks at."""
        return frozenset([self.name])

    def holds(self, row: Mapping[str, Any]) -> bool | None:
        """Whether a row meets it; None where that is not known, as in SQL."""
        cell = row[self.name]
        return None if cell is None else bool(OPERATORS[self.operator](cell, self.value))


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

    @property
    def of_all_groups(self) -> bool:
        """Whether a column looks at other groups than its own, so that all of them must be counted."""
        return any(one.of_all_groups for one in self.aggregates) or any(one.has_window for one in self.derived)

    @property
    def selects(self) -> bool:
        """Whether released numbers decide which rows are shown."""
        keys = {group.name for group in self.groups}
        tested = any(name not in keys for keep in self.having for name in keep.names)
        return tested or (self.limit is not None and any(order.name not in keys for order in self.order))

    @property
    def rules(self) -> tuple[HavingFilter, ...]:
        """The conditions that the policy asks for, and not the question."""
        return tuple(keep for keep in self.having if isinstance(keep, HavingFilter) and keep.rule is not None)

    @property
    def table(self) -> Table:
        """The relation as a table: its columns, its person, its limits."""
        return self.relation.table
