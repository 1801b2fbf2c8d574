"""Which limits and bounds a question finds privately, each with its ladder and the size by which people are counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from math import ceil
from typing import NamedTuple

from dither.errors import QuestionError
from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import CounterPlan
from dither.query.plan.aggregates import Sum
from dither.query.plan.base import Expression
from dither.query.plan.chain import Chain
from dither.query.plan.counters import StepCounter
from dither.query.plan.expressions import ColumnValue
from dither.query.plan.joins.semi_join import SemiJoin
from dither.query.plan.question import Question
from dither.query.plan.relations import FilterRows, JoinPublic, Relation, Scan
from dither.query.policy.column import AUTO, Column
from dither.query.policy.table import MOST, Table
from dither.query.pricing.found_policy import LOWER, UPPER, is_hard, with_rows
from dither.query.statistics.choose_bounding import COARSEST, LARGEST, summed_column
from dither.query.statistics.limit_histogram import ladder
from dither.query.statistics.limits import cells_of, limits_of
from dither.query.statistics.people_by_size import (
    PeopleByGroups,
    PeopleByRows,
    PeopleBySize,
    PeopleBySums,
    PeopleByValues,
)

STATED = "max_rows, or max_groups and max_rows_per_group, in the policy"


class Search(NamedTuple):
    """A limit that is to be found: what it is, its ladder, and by which size people are counted for it."""

    fact: str
    limits: tuple[int, ...]
    sizes: PeopleBySize


def searches(question: Question, counters: CounterPlan, *, cells: int, unit: Unit, pure: bool) -> list[Search]:
    """The limits and bounds that are to be found for a question; none where its policy states them all."""
    table, found = question.table, list[Search]()
    if table.auto and table.person is not None and not table.alone:
        one_table(question.relation)
        several = _limits(question, counters, cells, unit, pure=pure)
        found += [one for one in several if len(one.limits) > 1 or not is_hard(one.fact, table, one.limits[-1])]
    known = {search.fact for search in found}
    # where it is found what values of a person add up to, their sum needs no bounds beside it; counts of values need none
    measured = [one for one in question.aggregates if one.needs_bounds]
    others = [one for one in measured if not (isinstance(one, Sum) and f"max_sum.{_name(one.of)}" in known)]
    for column in _auto_columns(others):
        one_table(question.relation)
        found += _bounds(question, column, unit)
    if not found and (_auto_columns([question.relation]) or any(map(_unstated, _limited(question.relation)))):
        one_table(question.relation)
    return found


def _unstated(table: Table) -> bool:
    """Whether nobody stated limits of a person."""
    return table.auto and table.most_rows == MOST


def _limited(relation: Relation) -> Sequence[Table]:
    """The tables whose limits count; of a chain those of the first."""
    of = _without_public(relation)
    return [of.links[0].table] if isinstance(of, Chain) else relation.tables


def _without_public(relation: Relation) -> Relation:
    """Without conditions, and without public tables that stand beside it or are looked at."""
    of = relation
    while isinstance(of, (FilterRows, JoinPublic)) or (isinstance(of, SemiJoin) and of.other.table.public):
        of = of.of
    return of


def _of_first(relation: Relation, name: str) -> bool:
    """Whether a column is one of the table whose limits are found."""
    if isinstance(relation, Chain):
        return relation.links[0].table.column(name) is not None
    return isinstance(relation, Scan)


def _name(of: Expression | None) -> str | None:
    return of.column.name if isinstance(of, ColumnValue) else None


def _limits(question: Question, counters: CounterPlan, cells: int, unit: Unit, *, pure: bool) -> list[Search]:
    """Of rows, of sums of a column, and of groups where people are all that is counted."""
    table, found = question.table, dict[str, Search]()
    whole = cells_of(question)
    for family in (one for one in counters.sets if not one.counts_persons):
        name, first = summed_column(family), family.measures[0]
        if name is None or not _of_first(question.relation, name):
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
    """The ends of a column that are not zero already, on the far side of zero.

    An upper bound is one step at least, so that all bounds hold those of the lowest limits: what a question may ask under
    these, it may ask under all others. Otherwise GREATEST(v, 0) would be asked, and refused under [-64, 0] when the charge
    was made.
    """
    assert column.step is not None
    counter = StepCounter(ColumnValue(column), column.step)
    found = []
    for fact, negative, steps in ((UPPER, False, counter.high), (LOWER, True, -counter.low)):
        if steps > 0:
            limits = (0, *ladder(steps)) if negative else ladder(steps)
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


def one_table(relation: Relation) -> str:
    """The table whose limits are found; refused where a person's rows are not those of one table, or of a chain that begins
    with one. Of a chain that shows others too, what is found is about columns of the first, under their own names."""
    of = _without_public(relation)
    if isinstance(of, Chain):
        first, *others = of.links
        shown = [here for link in others for here, _ in link.columns]
        if all(here == there for here, there in first.columns) and not any(column.auto for column in shown):
            return first.table.name
    if not isinstance(of, Scan):
        why = "limits and bounds are found privately for questions that read one protected table, beside public ones"
        raise QuestionError("FROM", type(of).__name__, why, f"{STATED}, and bounds")
    return of.table.name


def check_stated(question: Question) -> None:
    """Refuse a question that finds no limits privately where nobody stated any."""
    if any(map(_unstated, _limited(question.relation))):
        why = "limits are found privately only where all keys are declared, and the policy states none"
        raise QuestionError("GROUP BY", ", ".join(group.name for group in question.groups), why, STATED)


def check_wishes(found: Sequence[Search], limits: str | None, bounds: str | None) -> None:
    """Refuse a wish for which a question has nothing to find."""
    of_bounds = [search.fact.startswith((UPPER, LOWER)) for search in found]
    if limits == AUTO and all(of_bounds):
        why = "this question has no limits of a person that are found privately"
        raise QuestionError("limits", limits, why, "leaving it out: those of the policy are taken")
    sums = any(search.fact.startswith("max_sum.") for search in found)  # found instead: values then need no bounds
    if bounds is not None and not sums and not any(of_bounds):
        why = "this question adds up no column with bounds"
        raise QuestionError("bounds", bounds, why, "leaving it out")
