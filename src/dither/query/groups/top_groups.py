"""The k largest groups of many declared ones: chosen first, then counted, where that is more accurate than counting all.

A question with ORDER BY n DESC LIMIT k shows k groups. Counted all together, a person may move as many of them as
max_groups allows, and noise hides that. Chosen first by `TopK`, whose price depends on how far a person moves one score and
not on how many, only k groups are left, of which a person moves at most min(max_groups, k).

Scores are the totals that the groups are sorted by, each group with at most max_rows_per_group rows' worth of a person, and
with no bound on how many groups she is in: one person moves every score by at most that many times what a row can add, all
in one direction when she comes or goes, since no total is negative.

Which way is taken follows from public facts: the smaller sum of how far a shown number may be off because of noise, and by
how much a group that is left out may exceed one that is shown. Counted all together that is twice the noise of the worst of
all groups; chosen first, what `TopK` may fall short by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any, ClassVar

from dither.mechanisms.selection.top_k import TopK
from dither.numeric.number import Number
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import LARGEST, CounterSet
from dither.query.groups.group_choice import GroupChoice, GroupKeys, Groups, Row, all_groups, only
from dither.query.plan.counters import Counter
from dither.query.plan.question import Question
from dither.query.plan.spelling import spell
from dither.query.statistics.bounding import EachRow, KeepGroups
from dither.query.statistics.limits import limits_of
from dither.query.statistics.statistic import counted

MANY = 50  # groups: fewer are counted all together, so that other questions about them are answered from what is stored
MOST_CHOSEN = 1000  # groups that are chosen one by one


@dataclass(frozen=True)
class TopGroups(GroupChoice):
    """The groups with the largest totals."""

    code: ClassVar[str] = "top_groups"

    mechanism: TopK
    measure: Counter

    @classmethod
    def make(cls, question: Question, amount: Number | Fraction, *, pure: bool, unit: Unit) -> TopGroups:
        """The choice at its price: epsilon where `pure`, otherwise rho."""
        measure, table = sorted_by(question), question.table
        assert measure is not None
        assert question.limit is not None
        alone = table.person is None or table.alone
        cells = prod(len(group.listed) for group in question.groups)
        rows = 1 if alone or measure.counts_persons else limits_of(table, cells).rows
        reason = "a choice depends on how far a person moves one group, not on how many"
        bounding = EachRow.of(unit) if alone else KeepGroups(cells, rows, 1, unit, reason)
        facts: dict[str, Any] = {"k": question.limit, "sensitivity": rows * measure.reach, "candidates": cells, "unit": unit}
        facts |= {"monotone": unit is Unit.ADD_REMOVE, "integers": True}
        mechanism = TopK(epsilon=amount, **facts) if pure else TopK.for_rho(amount, **facts)
        return cls(counted(question, question.groups), bounding, mechanism, measure)

    @property
    def counters(self) -> CounterSet:
        """What groups are sorted by."""
        return CounterSet((self.measure,))

    @property
    def guarantee(self) -> Guarantee:
        """That of k choices."""
        return self.mechanism.guarantee

    def loss(self) -> Loss:
        """That of k choices."""
        return self.mechanism.loss()

    def spelled(self) -> dict[str, object]:
        """How many are chosen, and at which price."""
        return {"noise": spell(self.mechanism)}

    def keeps(self, row: Row) -> bool:
        """One of the declared groups."""
        return row[: len(self.question.groups)] in self._places

    @cached_property
    def _places(self) -> dict[GroupKeys, int]:
        return {cell: place for place, cell in enumerate(all_groups(self.question).cells)}

    def noisy(self, rows: Sequence[Row]) -> list[int]:
        """The places of the chosen groups among all declared ones, rising."""
        width = len(self.question.groups)
        totals = {row[:width]: int(row[width]) for row in rows}
        if len(totals) != len(rows):
            raise RuntimeError("the engine gave a group twice")
        scores = [totals.get(cell, 0) for cell in self._places]
        return sorted(int(place) for place in self.mechanism.release(scores))

    def chosen(self, question: Question, released: Any) -> Groups:
        """Those groups."""
        cells = all_groups(question).cells
        return only(question, [cells[place] for place in released])

    def rehearsed(self, question: Question) -> Groups:
        """The first of them."""
        return self.chosen(question, range(self.mechanism.k))

    def told(self, question: Question) -> list[str]:
        """What is chosen, and how far it may fall short."""
        k = self.mechanism.k
        return [f"Top {k:<6} {'groups are' if k > 1 else 'the group is'} chosen first, then counted ({self.guarantee})"]

    def rows(self, question: Question) -> str:
        """Those that are chosen."""
        keys = " x ".join(f"{len(group.listed)} {group.name}" for group in question.groups)
        return f"one for each of the {self.mechanism.k} that are chosen of {keys}"

    def shortfall(self, confidence: Fraction) -> float:
        """By how much a group that is left out may exceed one that is chosen, in what the answer counts."""
        return self.mechanism.error(confidence) * float(self.measure.step)


def sorted_by(question: Question) -> Counter | None:
    """What the groups are sorted by, where the largest k of them could be chosen first; otherwise None."""
    cells = prod(len(group.listed) for group in question.groups)
    if question.offset or question.qualify:
        return None
    if question.having or len(question.order) != 1 or not question.order[0].descending or question.limit is None:
        return None
    if cells < MANY or not 1 <= question.limit <= MOST_CHOSEN or question.limit >= cells:
        return None
    found = next((aggregate for aggregate in question.aggregates if aggregate.name == question.order[0].name), None)
    counter = None if found is None else found.counter
    return counter if counter is not None and counter.low >= 0 and 0 < counter.reach < LARGEST else None
