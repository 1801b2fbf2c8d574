"""What is counted for a question, whatever it costs, and how far two engines are apart in it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from dither.numeric.number import Number
from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import CounterSet, choose_counters
from dither.query.plan.aggregates import Sum
from dither.query.plan.counters import RowCounter
from dither.query.plan.question import Question
from dither.query.policy.column import Type
from dither.query.policy.policy import Policy
from dither.query.sql.parse import parse
from dither.query.statistics.bounding import Bounding
from dither.query.statistics.choose_bounding import choose_bounding
from dither.query.statistics.distinct_values import DistinctValues, ShownValues
from dither.query.statistics.people_by_size import (
    PeopleByGroups,
    PeopleByRows,
    PeopleBySize,
    PeopleBySums,
    PeopleByValues,
    PeopleHistogram,
)
from dither.query.statistics.registry import make_statistic
from dither.query.statistics.statistic import Price

Counted = tuple[Question, tuple[CounterSet, ...], Bounding]
Totals = Mapping[tuple[Any, ...], tuple[int, ...]]
EDGES = (1, 3, 40)  # sizes of people
ACCURACY = 2.0**-50  # how far values of libraries may differ, in parts of them


def same(ours: Any, theirs: Any) -> bool:
    """Whether two values are one; NaN is itself, and no number is a truth value."""
    if isinstance(ours, float) and isinstance(theirs, float) and math.isnan(ours) and math.isnan(theirs):
        return True
    return bool(ours == theirs) and isinstance(ours, bool) == isinstance(theirs, bool)


def near(ours: Any, theirs: Any) -> bool:
    """Whether two values differ in the last digits at most; both are missing, or none is."""
    if ours is None or theirs is None or not (math.isfinite(ours) and math.isfinite(theirs)):
        return same(ours, theirs)
    return bool(abs(ours - theirs) <= ACCURACY * max(abs(ours), abs(theirs)))


def farthest(ours: Totals, theirs: Totals) -> int:
    """How far totals of the same groups are from each other, at most."""
    return max((abs(int(a) - int(b)) for key in ours for a, b in zip(ours[key], theirs[key], strict=True)), default=0)


def read_question(sql: str, policy: Policy) -> Question:
    """A question, with a number in the place of what its subqueries would have released."""
    return parse(sql, policy, [Fraction(5, 2)])


def counted(question: Question) -> list[Counted]:
    """All that is counted for a question, under a budget in epsilon and under one in rho; each once."""
    found: list[Counted] = []
    cells = math.prod(len(group.listed) for group in question.groups)
    for pure in (True, False):
        plan = choose_counters(question, pure=pure)
        if plan.sets:
            bounding = choose_bounding(question, plan, None, cells=cells, unit=Unit.ADD_REMOVE, pure=pure)
            found.append((question, plan.sets, bounding))
        for request in plan.requests:
            own = make_statistic(request, question, Price(Number(1), pure, Unit.ADD_REMOVE, cells, Fraction(19, 20)))
            found.append((own.question, (own.counters,), own.bounding))
            if isinstance(own, DistinctValues) and request.of.facts.type is Type.TEXT:  # equal or not on every engine
                price = Price(Number(1), pure, Unit.ADD_REMOVE, cells, Fraction(19, 20), lost=Fraction(1, 10))
                shown = ShownValues.make(request, question, price)
                found.append((shown.question, (shown.counters,), shown.bounding))
    if question.groups and isinstance(question.aggregates[0], Sum) and question.table.person is not None:
        found += _by_size(question, question.aggregates[0])
    return [one for place, one in enumerate(found) if one not in found[:place]]


def _by_size(question: Question, total: Sum) -> Iterator[Counted]:
    """People by their size, by which limits and bounds are found."""
    rest: dict[str, Any] = {"unit": Unit.ADD_REMOVE, "reason": "", "of": question, "edges": EDGES, "complete": True}
    kinds: list[PeopleBySize] = [PeopleByGroups(1, 1, 1, **rest)]
    for flag in (False, True):
        kinds.append(PeopleByRows(1, 1, 1, **rest, squared=flag))
        kinds.append(PeopleBySums(1, 1, 1, **rest, counter=total.counter, squared=flag))
        kinds.append(PeopleByValues(1, 1, 1, **rest, counter=total.counter, negative=flag))
    for kind in kinds:
        yield PeopleHistogram.question_of(kind), (CounterSet((RowCounter(),)),), kind
