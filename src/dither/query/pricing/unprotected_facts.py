"""Which facts of a policy a question uses that were taken from the data: its guarantee does not cover them.

A fact is used if it may decide a number or a row of the answer. Of a column, that is for

    SUM, AVG, MEDIAN, ...     bounds, step and completeness of all columns that its value is computed of
    GROUP BY, DISTINCT keys   the keys, or the bounds from which they follow; of computed keys both
    COUNT(x)                  completeness

and nothing for columns that are only compared: cells are compared as they are, neither clamped nor rounded. (A person's own
sum is of clamped values, and a remainder counts in steps, so comparing these uses bounds and steps.) Limits are used of
every table that is read. Columns of inner questions that nothing above them looks at are not used. Where it is not told
apart, a fact counts as used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, assert_never

from dither.query.plan.aggregates import Aggregate, CountValues, PairAggregate
from dither.query.plan.base import Expression
from dither.query.plan.chain import Chain
from dither.query.plan.expressions import Case, ColumnValue
from dither.query.plan.joins.outer_join import OuterJoin
from dither.query.plan.joins.semi_join import SemiJoin
from dither.query.plan.mathematics.division import Remainder
from dither.query.plan.person_totals import PersonMax, PersonMin, PersonTotal
from dither.query.plan.person_windows.window_functions import PersonWindow, WindowPlace, WindowTotal
from dither.query.plan.question import Group, Question
from dither.query.plan.relations import (
    FilterRows,
    GroupByPerson,
    JoinOnPerson,
    JoinPublic,
    Project,
    Relation,
    Scan,
    UnionAll,
    WindowByPerson,
)
from dither.query.policy.column import Column, Type
from dither.query.policy.origin import DATA, listed
from dither.query.policy.policy import Policy
from dither.query.policy.table import Table

Fact = tuple[str, str]  # such as 'bounds' and 'cost'
Wanted = frozenset[str]
Needs = dict[str, Wanted]  # by the name of a column: which of its facts; none where it is only compared

COMPARED: Wanted = frozenset()
ADDED: Wanted = frozenset({"bounds", "step", "completeness"})
LISTED = "keys, or bounds where there are none"
MOST_TOLD = 30


def unprotected_facts(question: Question, policy: Policy) -> tuple[Fact, ...]:
    """The facts from the data that a question uses, in the order of the policy."""
    needs: Needs = {}
    _add(needs, _of_conditions([question.where]))
    for aggregate in question.aggregates:
        for of in (aggregate.of, aggregate.beside if isinstance(aggregate, PairAggregate) else None):
            _add(needs, _of_expression(of, _wanted(aggregate)))
    return _told(question.relation, question.groups, needs, policy)


def unprotected_columns(relation: Relation, names: Iterable[str], policy: Policy) -> tuple[Fact, ...]:
    """The facts from the data that a model uses which is fitted to columns of a relation: bounds or keys of all of them."""
    return _told(relation, (), {name: ADDED | {LISTED} for name in names}, policy)


def unprotected_keys(relation: Relation, groups: Sequence[Group], policy: Policy) -> tuple[Fact, ...]:
    """The facts from the data that a list of keys shows; it reads no row, and no limit matters."""
    return tuple(fact for fact in _told(relation, groups, {}, policy) if "limits" not in fact[0])


def unprotected_words(facts: Iterable[Fact]) -> str:
    """The facts in one sentence; '' where there are none."""
    by_name: dict[str, list[str]] = {}
    for fact, name in dict.fromkeys(facts):
        by_name.setdefault(name, []).append(fact)
    told = [f"{listed(several)} of {name}" for name, several in by_name.items()]
    told = told if len(told) <= MOST_TOLD else [*told[:MOST_TOLD], f"{len(told) - MOST_TOLD} more"]
    return f"{listed(told)} were taken from the data: outside the guarantee" if told else ""


def _told(relation: Relation, groups: Sequence[Group], needs: Needs, policy: Policy) -> tuple[Fact, ...]:
    """What is used of a relation, beside `needs` for its groups, as far as it was taken from the data."""
    if all(origin != DATA for table in policy.tables for _, origin in table.origins):
        return ()
    for group in groups:
        _add(needs, _of_expression(group.by, COMPARED if group.keys is None else frozenset({LISTED, "completeness"})))
    used: dict[tuple[str, str], Wanted] = {}
    for table, name, wanted in _used(relation, needs):
        used[table.name, name] = used.get((table.name, name), COMPARED) | wanted
    read, found = {table.name for table in relation.tables}, list[Fact]()
    for table in policy.tables:
        for column in table.columns if table.name in read else ():
            if column.known_from == DATA:
                several = _facts(column, used.get((table.name, column.name), COMPARED))
                found += [(fact, _name(column, table, policy)) for fact in several]
        if table.name in read and table.known_from == DATA:
            found.append((table.facts[0], table.name))
    return tuple(found)


def _facts(column: Column, wanted: Wanted) -> list[str]:
    """Of the facts that the owner states, those that are wanted."""
    if LISTED in wanted:
        wanted |= {"keys" if "keys" in column.facts else "bounds"}
    return [fact for fact in column.facts if fact in wanted]


def _name(column: Column, table: Table, policy: Policy) -> str:
    """The name of a column, with that of its table where another one that is not public has such a column."""
    several = [one for one in policy.tables if not one.public and one.column(column.name) is not None]
    return column.name if len(several) == 1 else f"{table.name}.{column.name}"


def _wanted(aggregate: Aggregate) -> Wanted:
    """Which facts of its values an aggregate uses."""
    if aggregate.needs_bounds:
        return ADDED
    if aggregate.needs_keys:
        return frozenset({LISTED, "completeness"})
    return frozenset({"completeness"}) if isinstance(aggregate, CountValues) else COMPARED


def _add(needs: Needs, others: Mapping[str, Wanted]) -> None:
    for name, wanted in others.items():
        needs[name] = needs.get(name, COMPARED) | wanted


def _of_expression(node: Any, wanted: Wanted) -> Needs:
    """What an expression, or whatever is made of some, needs of columns where so much of its own facts is wanted."""
    if isinstance(node, ColumnValue):
        return {node.column.name: wanted}
    needs: Needs = {}
    if isinstance(node, tuple):
        for part in node:
            _add(needs, _of_expression(part, wanted))
        return needs
    if not isinstance(node, Expression):
        return needs
    if LISTED in wanted:  # of a computed key it is not told apart from which of the two its values follow
        wanted = wanted - {LISTED} | {"keys", "bounds"}
    if node.facts.type is Type.BOOLEAN:  # of compared cells it matters only whether one may be missing
        wanted &= {"completeness"}
    if isinstance(node, Remainder):
        wanted |= {"bounds", "step"}
    if isinstance(node, Case):
        _add(needs, _of_conditions([condition for condition, _ in node.branches]))
        _add(needs, _of_expression((*(value for _, value in node.branches), node.otherwise), wanted))
        return needs
    for field in getattr(node, "__dataclass_fields__", ()):
        _add(needs, _of_expression(getattr(node, field), wanted))
    return needs


def _of_conditions(several: Iterable[Expression | None]) -> Needs:
    return _of_expression(tuple(several), COMPARED)


def _used(relation: Relation, needs: Needs) -> Iterator[tuple[Table, str, Wanted]]:
    """The columns of tables of the policy that are needed, each with what of it."""
    match relation:
        case Scan(table):
            yield from ((table, name, wanted) for name, wanted in needs.items())
        case Chain(links):
            for link in links:
                yield from ((link.table, there.name, needs[here.name]) for here, there in link.columns if here.name in needs)
        case FilterRows(of, condition):
            yield from _used(of, _with(needs, _of_conditions([condition])))
        case Project(of, columns):
            yield from _used(of, _through(columns, needs))
        case JoinPublic(of):
            yield from _used(of, _with(needs, _of_conditions(relation.on)))
        case JoinOnPerson(left, right) | OuterJoin(left, right):
            below = _with(needs, _of_conditions(relation.on))
            yield from _used(left, below)
            yield from _used(right, _renamed(relation.columns, below))
        case SemiJoin(of, other):
            below = _with(needs, _of_conditions(relation.on))
            yield from _used(of, below)
            yield from _used(other, _renamed(relation.columns, below))
        case GroupByPerson(of, keys, totals):
            below = _through(keys, needs)
            for total in totals:
                if total.column.name in needs:
                    _add(below, _of_expression(total.of, _of_total(total, needs[total.column.name])))
            yield from _used(of, below)
        case WindowByPerson(of, window):
            yield from _used(of, _with(needs, _of_window(window, needs)))
        case UnionAll(parts):
            names = [column.name for column in relation.table.columns]
            for part in parts:
                own = zip(names, part.table.columns, strict=True)
                yield from _used(part, {column.name: needs[name] for name, column in own if name in needs})
        case _:
            assert_never(relation)


def _with(needs: Needs, others: Needs) -> Needs:
    both = dict(needs)
    _add(both, others)
    return both


def _through(columns: Iterable[tuple[Column, Expression]], needs: Needs) -> Needs:
    """What columns that are computed need of those below, where they are needed themselves."""
    below: Needs = {}
    for column, by in columns:
        if column.name in needs:
            _add(below, _of_expression(by, needs[column.name]))
    return below


def _renamed(columns: Iterable[tuple[Column, Column]], needs: Needs) -> Needs:
    """The same by the names on the other side of a join."""
    return {there.name: needs[here.name] for here, there in columns if here.name in needs}


def _of_total(total: PersonTotal, wanted: Wanted) -> Wanted:
    """What a person's own total uses of its values: where they are added up, they were clamped first."""
    if total.adds:
        return ADDED
    return wanted if isinstance(total, (PersonMin, PersonMax)) else COMPARED


def _of_window(window: PersonWindow, needs: Needs) -> Needs:
    if window.column.name not in needs or isinstance(window, WindowPlace):
        return {}
    wanted = needs[window.column.name]
    return _of_expression(window.of, _of_total(window.total, wanted) if isinstance(window, WindowTotal) else wanted)
