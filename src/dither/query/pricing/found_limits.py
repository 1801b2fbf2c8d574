"""Limits and bounds that a question finds privately: which ones it needs, and the question under those that were found.

A fifth of the price is for the histograms (`statistics/limit_histogram.py`), equal parts for each; the rest for the question
as it would be asked under a policy with the limits that were found.

Theorem. Together they promise the sum of both prices: adaptive composition. The price of what follows is the same whatever
was found: an epsilon or a rho of each statistic, whose noise follows from it and from the limits. Of geometric noise it is
the epsilon that is charged, since its own smaller rho depends on the limits; of Gaussian noise mu, which does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from dither.errors import QuestionError
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import CounterPlan
from dither.query.plan.aggregates import (
    CountDistinct,
    CountDistinctValues,
    CountPersons,
    CountRows,
    CountValues,
    Mode,
    RunningCount,
    Sum,
)
from dither.query.plan.base import Expression
from dither.query.plan.counters import StepCounter
from dither.query.plan.expressions import ColumnValue
from dither.query.plan.question import Question
from dither.query.plan.relations import FilterRows, JoinPublic, Relation, Scan
from dither.query.policy.column import AUTO, Column
from dither.query.policy.table import MOST, Table
from dither.query.pricing.found_policy import HARD, LOWER, UPPER, is_hard, with_rows
from dither.query.statistics.choose_bounding import COARSEST, LARGEST, summed_column
from dither.query.statistics.counter_release import Priced
from dither.query.statistics.limit_histogram import LimitHistogram, ladder
from dither.query.statistics.limits import cells_of, limits_of
from dither.query.statistics.people_beyond import Beyond
from dither.query.statistics.people_by_size import (
    PeopleByGroups,
    PeopleByRows,
    PeopleBySize,
    PeopleBySums,
    PeopleByValues,
)

if TYPE_CHECKING:
    from dither.query.pricing.offer import Offer

SHARE = Fraction(1, 5)  # of the price: for what is found
COUNTS = (CountRows, CountPersons, CountValues, CountDistinct, CountDistinctValues, Mode, RunningCount)
STATED = "max_rows, or max_groups and max_rows_per_group, in the policy"


class Search(NamedTuple):
    """A limit that is to be found: what it is, its ladder, and by which size people are counted for it."""

    fact: str
    limits: tuple[int, ...]
    sizes: PeopleBySize


@dataclass(frozen=True)
class FoundLimits:
    """Histograms by which limits are found, and the offer that follows from each outcome."""

    histograms: tuple[LimitHistogram, ...]
    second: Guarantee  # of what follows, whatever was found
    offer_at: Callable[[tuple[int, ...]], Offer] = field(repr=False, compare=False)  # by the limits, in their order

    @property
    def guarantee(self) -> Guarantee:
        """Of what follows."""
        return self.second

    def loss(self) -> Loss:
        """Of what follows: that of its guarantee, since its noise is not known beforehand."""
        return self.second.loss()

    @cached_property
    def known(self) -> dict[tuple[int, ...], Offer]:
        """Offers that were made."""
        return {}

    def at(self, limits: tuple[int, ...]) -> Offer:
        """What follows, under these limits."""
        if limits not in self.known:
            self.known[limits] = self.offer_at(limits)
        return self.known[limits]

    @property
    def priced(self) -> list[Priced]:
        """The releases whose guarantees add up to the price."""
        return [*self.histograms, self]

    @property
    def lowest(self) -> Offer:
        """What follows where nobody was seen beyond any limit."""
        return self.at(tuple(one.limits[0] for one in self.histograms))

    @property
    def highest(self) -> Offer:
        """What follows where people were seen everywhere."""
        return self.at(tuple(one.limits[-1] for one in self.histograms))

    def found(self, released: Sequence[Sequence[int]]) -> dict[str, int]:
        """The limits, by what was released."""
        several = zip(self.histograms, released, strict=True)
        return {one.fact: one.limits[one.place(counts)] for one, counts in several}

    def beyond(self, released: Sequence[Sequence[int]]) -> Beyond | None:
        """How many people are beyond the limit of rows, of sums or of groups that was found, where it is no hard one."""
        for one, counts in zip(self.histograms, released, strict=True):
            hard = one.place(counts) == len(one.limits) - 1 and is_hard(one.fact, one.question.table)
            if not one.fact.startswith((UPPER, LOWER)) and not hard:
                return one.beyond(counts)
        return None

    def offer(self, released: Sequence[Sequence[int]]) -> Offer:
        """What follows from what was released."""
        return self.at(tuple(self.found(released).values()))


def searches(question: Question, counters: CounterPlan, *, cells: int, unit: Unit, pure: bool) -> list[Search]:
    """The limits and bounds that are to be found for a question; none where its policy states them all."""
    table, found = question.table, list[Search]()
    if table.auto and table.person is not None and not table.alone:
        one_table(question.relation)
        found += _limits(question, counters, cells, unit, pure=pure)
    known = {search.fact for search in found}
    # where it is found what values of a person add up to, their sum needs no bounds beside it; counts of values need none
    measured = [one for one in question.aggregates if not isinstance(one, COUNTS)]
    others = [one for one in measured if not (isinstance(one, Sum) and f"max_sum.{_name(one.of)}" in known)]
    for column in _auto_columns([one.of for one in others]):
        one_table(question.relation)
        found += _bounds(question, column, unit)
    if not found and (_auto_columns([question.relation]) or any(map(_unstated, question.relation.tables))):
        one_table(question.relation)
    return found


def _unstated(table: Table) -> bool:
    """Whether nobody stated limits of a person."""
    return table.auto and table.most_rows == MOST


def _name(of: Expression | None) -> str | None:
    return of.column.name if isinstance(of, ColumnValue) else None


def _limits(question: Question, counters: CounterPlan, cells: int, unit: Unit, *, pure: bool) -> list[Search]:
    """Of rows, of sums of a column, and of groups where people are all that is counted."""
    table, found = question.table, dict[str, Search]()
    whole = cells_of(question)
    for family in (one for one in counters.sets if not one.counts_persons):
        name, first = summed_column(family), family.measures[0]
        if name is None or not isinstance(question.relation, Scan):
            found["max_rows"] = _rows(question, cells, unit, squared=not pure and cells > 1)
            continue
        most, stated = limits_of(table, cells, whole).most * family.reach, table.sum_limit(name)
        top = min(LARGEST // COARSEST, most if stated is None else min(most, ceil(stated / first.step)))
        squared = not pure and cells > 1
        limits = ladder(max(1, top))
        edges = tuple(limit**2 for limit in limits) if squared else limits
        sizes = PeopleBySums(1, 1, 1, unit, "", of=question, edges=edges, counter=first, squared=squared, complete=True)
        found[f"max_sum.{name}"] = Search(f"max_sum.{name}", limits, sizes)
    if counters.requests:
        found["max_rows"] = _rows(question, cells, unit, squared=False)
    persons = any(one.counts_persons for one in counters.sets)
    groups = min(table.max_groups, cells)
    if persons and groups > 1 and "max_rows" not in found:
        limits = ladder(groups)
        people = PeopleByGroups(1, 1, 1, unit, "", of=question, edges=limits, complete=True)
        found["max_groups"] = Search("max_groups", limits, people)
    return list(found.values())


def _rows(question: Question, cells: int, unit: Unit, *, squared: bool) -> Search:
    table, whole = question.table, cells_of(question)
    limits = ladder(table.most_rows)
    several = [limits_of(with_rows(table, most), cells, whole) for most in limits]
    edges = tuple(one.squares if squared else one.most for one in several)
    return Search(
        "max_rows", limits, PeopleByRows(1, 1, 1, unit, "", of=question, edges=edges, squared=squared, complete=True)
    )


def _bounds(question: Question, column: Column, unit: Unit) -> list[Search]:
    """The ends of a column that are not zero already, on the far side of zero."""
    assert column.step is not None
    counter = StepCounter(ColumnValue(column), column.step)
    found = []
    for fact, negative, steps in ((UPPER, False, counter.high), (LOWER, True, -counter.low)):
        if steps > 0:
            limits = (0, *ladder(steps))
            sizes = PeopleByValues(
                1, 1, 1, unit, "", of=question, edges=limits, counter=counter, negative=negative, complete=True
            )
            found.append(Search(f"{fact}{column.name}", limits, sizes))
    return found


def _auto_columns(parts: Sequence[object]) -> list[Column]:
    """The columns that are read by parts of a question, and whose bounds are to be found."""
    found: dict[Column, None] = {}
    stack = list(parts)
    while stack:
        part = stack.pop()
        if isinstance(part, ColumnValue):
            if part.column.auto:
                found[part.column] = None
        elif isinstance(part, (tuple, list)):
            stack += part
        elif hasattr(part, "__dataclass_fields__"):
            stack += [getattr(part, one.name) for one in fields(part)]  # type: ignore[arg-type]
    return sorted(found, key=lambda column: column.name)


def one_table(relation: Relation) -> None:
    """Refuse relations for which nothing is found: a person's rows are to be those of one table."""
    of = relation
    while isinstance(of, (FilterRows, JoinPublic)):
        of = of.of
    if not isinstance(of, Scan):
        why = "limits and bounds are found privately for questions that read one protected table, beside public ones"
        raise QuestionError("FROM", type(of).__name__, why, f"{STATED}, and bounds")


def check_stated(question: Question) -> None:
    """Refuse a question that finds no limits privately where nobody stated any."""
    if any(map(_unstated, question.relation.tables)):
        why = "limits are found privately only where all keys are declared, and the policy states none"
        raise QuestionError("GROUP BY", ", ".join(group.name for group in question.groups), why, STATED)


def check_wishes(found: Sequence[Search], limits: str | None, bounds: str | None) -> None:
    """Refuse a wish for which a question has nothing to find."""
    of_bounds = [search.fact.startswith((UPPER, LOWER)) for search in found]
    if limits == AUTO and all(of_bounds):
        why = "this question has no limits of a person that are found privately"
        raise QuestionError("limits", limits, why, "leaving it out: those of the policy are taken")
    if bounds is not None and not any(of_bounds):
        why = "this question adds up no column with bounds"
        raise QuestionError("bounds", bounds, why, "leaving it out")


def check_hard(offer: Offer) -> None:
    """Refuse an offer whose error bars do not hold the truth of everybody, where that was wished for."""
    for name, statistic, _ in offer.columns:
        if not statistic.complete:
            why = f"of {name}, nobody says what no person can exceed, so that no error bar can hold the truth"
            raise QuestionError("limits", HARD, why, 'hard = ["max_rows"] in the policy, or leaving it out')
