"""Groups that are chosen by a private release: first the choice, then the counts of what was chosen, each at its own price.

    unknown_keys.py    keys that nobody declared: those that enough people hold
    top_groups.py      the k largest groups of many that were declared

The rule of the choice is fixed with the quote, and so are the noise and the bound of a person in what comes after it. Only
which groups are counted depends on the choice, and that was released: guarantees add up, as those of an analyst who asks the
second question with the first answer in view (adaptive composition).
"""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, ClassVar

from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.query.counters.counter_sets import CounterSet
from dither.query.plan.base import Expression
from dither.query.plan.question import Group, Question
from dither.query.policy.column import Key, Type
from dither.query.statistics.bounding import Bounding

GroupKeys = tuple[Key | None, ...]  # a group of the question: a key for each column of GROUP BY
Row = tuple[Any, ...]  # of the engine: keys, then totals


@dataclass(frozen=True)
class Groups:
    """The groups of a question that are counted."""

    question: Question  # the question, about these groups
    cells: tuple[GroupKeys, ...]  # as the engine tells them
    shown: tuple[GroupKeys, ...]  # as the answer lists them, in the same order; with grouping sets, those of each set


@dataclass(frozen=True)
class GroupChoice(ABC):
    """A release of groups: priced, and fixed before anything private is read."""

    code: ClassVar[str]  # how stored questions spell it

    question: Question  # what is counted to choose by
    bounding: Bounding

    @property
    @abstractmethod
    def counters(self) -> CounterSet:
        """What is counted in each group."""

    @property
    def min_people(self) -> int:
        """Groups of fewer people are never chosen, so that they need not leave the engine."""
        return 1

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What it promises."""

    @abstractmethod
    def loss(self) -> Loss:
        """Its privacy loss."""

    @abstractmethod
    def spelled(self) -> dict[str, object]:
        """What decides the choice, beside rows and groups: for the ledger."""

    @abstractmethod
    def keeps(self, row: Row) -> bool:
        """Whether a row of the engine is about a group that can be chosen."""

    @abstractmethod
    def noisy(self, rows: Sequence[Row]) -> Any:
        """What is stored and may be read by anybody; as JSON can hold it. `rows` are PRIVATE."""

    @abstractmethod
    def chosen(self, question: Question, released: Any) -> Groups:
        """The groups that are counted next, from what was stored."""

    @abstractmethod
    def rehearsed(self, question: Question) -> Groups:
        """Made-up groups, to try the next SELECT on."""

    @abstractmethod
    def told(self, question: Question) -> list[str]:
        """What is chosen and how, in words."""

    @abstractmethod
    def rows(self, question: Question) -> str:
        """Which rows the answer has, in words."""


def all_groups(question: Question) -> Groups:
    """Every combination of declared keys; in a row of a grouping set, nothing stands for what it is over all keys of."""
    cells = tuple(product(*(group.listed for group in question.groups)))
    if not question.sets:
        return Groups(question, cells, cells)
    nothing: tuple[Key | None, ...] = (None,)
    shown = (
        product(*(group.listed if place in level else nothing for place, group in enumerate(question.groups)))
        for level in question.sets
    )
    return Groups(question, cells, tuple(cell for rows in shown for cell in rows))


def only(question: Question, cells: Sequence[GroupKeys]) -> Groups:
    """A question about these groups: keys of none of them are dropped before a person is bounded."""
    groups = [
        replace(group, keys=tuple(dict.fromkeys(key for cell in cells if (key := cell[place]) is not None)))
        for place, group in enumerate(question.groups)
    ]
    return Groups(replace(question, groups=tuple(groups)), tuple(cells), tuple(cells))


def written(key: Any) -> Any:
    """A key as JSON holds it."""
    return key.isoformat() if isinstance(key, datetime.date) else key


def read_key(found: Any, by: Expression) -> Key:
    """A key from JSON, or from a rule, for which True is 1."""
    kind = by.facts.type
    if kind is Type.DATE and isinstance(found, str):
        return datetime.date.fromisoformat(found)
    key: Key = bool(found) if kind is Type.BOOLEAN else found
    return key


def unknown_groups(question: Question) -> tuple[Group, ...]:
    """Those whose keys nobody declared."""
    return tuple(group for group in question.groups if group.keys is None)
