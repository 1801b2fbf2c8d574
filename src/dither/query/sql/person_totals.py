"""A person's own totals: inner questions with GROUP BY or DISTINCT, the person among their columns, or a key of a chain.

By the key of a chain (`SELECT l_orderkey, SUM(l_quantity) FROM lineitem GROUP BY l_orderkey`) rows are grouped by owner too:
all children with one key have the same owners, so that each of these has the whole group; of parents each has her own.

How much one person can have of something is bounded by the owner's limits: a count of her own rows, or a sum of her own
values, is clamped as if she had at most as many rows as the limits of the table allow. (More is possible, and counts as that
much.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlglot import exp

from dither.errors import QuestionError
from dither.query.counters.counter_sets import LARGEST
from dither.query.plan.base import Expression
from dither.query.plan.expressions import ColumnValue
from dither.query.plan.lattice import bounded_step
from dither.query.plan.person_totals import (
    PersonDistinct,
    PersonMax,
    PersonMean,
    PersonMin,
    PersonRows,
    PersonSum,
    PersonTotal,
    PersonValues,
)
from dither.query.plan.relations import (
    HIDDEN,
    OURS,
    FilterRows,
    GroupByPerson,
    Project,
    Relation,
    person_words,
    shown_columns,
)
from dither.query.policy.column import Column, Type
from dither.query.policy.table import NAME_LENGTH
from dither.query.sql import scope
from dither.query.sql.expressions import Reader
from dither.query.sql.functions import beside_zero, number_of
from dither.query.sql.group_keys import keeps_order
from dither.query.sql.join_kinds.owners import leads_to_owner
from dither.query.sql.refusals import CONSTANT, clamp_template, number_words
from dither.query.sql.syntax import refuse, shown

OWN: dict[type[Any], type[PersonTotal]] = {
    exp.Count: PersonValues,
    exp.Sum: PersonSum,
    exp.Avg: PersonMean,
    exp.Min: PersonMin,
    exp.Max: PersonMax,
    exp.LogicalAnd: PersonMin,
    exp.LogicalOr: PersonMax,
}


def per_person(node: exp.Select, of: Relation, reader: Reader, items: list[exp.Expr]) -> Relation:
    whose = _whose(reader)
    if whose is None:
        why = "one row is one person here: there is nothing to group by person"
        raise refuse(node, why, "the question without the inner GROUP BY or DISTINCT")
    group = node.args.get("group")
    if group is None and node.args.get("having") is not None:
        having = node.args["having"]
        raise refuse(having, "HAVING needs GROUP BY", "WHERE for conditions on rows")
    keys = [reader.value(_grouped(part, items)) for part in group.expressions] if group is not None else []
    if group is None:
        keys = [reader.value(item.unalias()) for item in items]
    if ColumnValue(whose) not in keys and not leads_to_owner(of, keys):
        why = "an inner GROUP BY or DISTINCT without the person would make rows of several people"
        whole = (
            "totals of everybody in one SELECT, where windows such as LAG(SUM(<column>)) OVER (ORDER BY <key>) look at them"
        )
        own = f"{person_words(of.table)} among its columns, for each person's own totals, which are other numbers"
        raise refuse(group or node, why, f"{whole}; or {own}")
    person, columns, totals = replace(whose, name=HIDDEN), list[tuple[Column, Expression]](), list[PersonTotal]()
    for item in items:
        inner = item.unalias()
        meaning = reader.meaning(inner)
        if meaning == ColumnValue(whose) and person.name == HIDDEN:
            person = replace(whose, name=written_name(item))
        elif meaning is not None and meaning in keys:
            columns.append((column_of(item, meaning, reader), meaning))
        elif type(inner) in OWN:
            totals.append(own_total(written_name(item), inner, reader))
        else:
            reader.value(inner)  # an unknown column is the better message
            why = "it is neither in GROUP BY nor one of the person's own totals"
            raise refuse(item, why, "it in GROUP BY, or an own total of it: COUNT, SUM, AVG, MIN or MAX")
    listed = [by for _, by in columns] + ([] if person.name == HIDDEN else [ColumnValue(whose)])
    if group is not None and node.args.get("distinct") is not None and any(key not in listed for key in keys):
        why = "DISTINCT would merge groups of which SELECT does not show the keys"
        raise refuse(node, why, "every column of GROUP BY in SELECT; no two rows are equal then")
    beside = [(column_of(None, key, reader, f"key {at}{OURS}"), key) for at, key in enumerate(keys)]
    shown_keys = [by for _, by in columns]
    columns += [(column, by) for column, by in beside if by != ColumnValue(whose) and by not in shown_keys]
    check_names(node, [person, *(column for column, _ in columns), *(own.column for own in totals)])
    made = GroupByPerson(of, tuple(columns), tuple(totals), person)
    having, named = node.args.get("having"), tuple((column, ColumnValue(column)) for column in shown_columns(made.table))
    kept = made if having is None else _having(having, made, reader, keys)
    ours = [column for column in kept.table.columns if column.name.endswith(OURS) and column.name != HIDDEN]
    return Project(kept, named, hide=person.name == HIDDEN) if ours else kept  # what nobody can name goes no further


def _grouped(part: exp.Expr, items: list[exp.Expr]) -> exp.Expr:
    """What a part of GROUP BY means: GROUP BY 1 is by the first column."""
    if not isinstance(part, exp.Literal):
        return part
    places = {str(place): item.unalias() for place, item in enumerate(items, 1)}
    if part.is_string or str(part.this) not in places or places[str(part.this)].find(exp.AggFunc):
        why = "there is no such column in SELECT that could be grouped by"
        raise refuse(part, why, "GROUP BY with names")
    return places[str(part.this)]


def own_total(name: str, inner: exp.Expr, reader: Reader, most: int | None = None) -> PersonTotal:
    """One of a person's own totals, of `most` rows if there are no more."""
    rows = min(most or reader.scope.table.most_rows, reader.scope.table.most_rows)
    kind, argument = OWN[type(inner)], inner.this
    if isinstance(inner, exp.Count) and isinstance(argument, exp.Star):
        return PersonRows.make(name, rows)
    if isinstance(argument, exp.Distinct):
        if not isinstance(inner, exp.Count) or len(argument.expressions) != 1:
            why = "DISTINCT is answered in COUNT of one column only"
            raise refuse(inner, why, "it without DISTINCT, which is another number")
        return PersonDistinct.make(name, rows, reader.value(argument.expressions[0]))
    of = reader.condition(argument) if isinstance(inner, (exp.LogicalAnd, exp.LogicalOr)) else reader.value(argument)
    if kind.adds:
        of = number_of(reader, argument, of) if of.facts.type is Type.BOOLEAN else of
        if kind is PersonSum and of.facts.nullable and of.facts.lower == of.facts.upper not in (None, 0):
            of = beside_zero(of)
        _check_added(of, rows, inner)
    return kind.make(name, rows, of)


def _check_added(of: Expression, rows: int, node: exp.Expr) -> None:
    """Refuse values that cannot be added up, or need not be."""
    facts = of.facts
    if not facts.type.is_number or facts.lower is None or facts.upper is None:
        why = "only numbers with bounds are added up, also of one person"
        instead = f"bounds of your own in the place of the gaps: {clamp_template(shown(node.this), of)}"
        raise refuse(node, why, instead if facts.type.is_number else number_words(facts.type, shown(node.this)))
    if facts.lower == facts.upper:
        raise refuse(node, "it is the same for every row", CONSTANT)
    if rows * max(abs(facts.lower), abs(facts.upper)) >= LARGEST:
        raise refuse(node, "its bounds are too far from zero to add up", "a smaller number")


def _having(clause: exp.Expr, made: GroupByPerson, reader: Reader, keys: list[Expression]) -> Relation:
    """A condition on a person's own totals, also on such as SELECT does not name."""
    condition = clause.this.copy()
    for node in condition.find_all(exp.Column):
        if node.name.endswith(OURS):
            raise refuse(clause, f"{node.name!r} is no name", "one of the columns or totals of the inner question")
    for node in list(condition.find_all(*OWN)):
        own = own_total(f"own total {len(made.totals)}{OURS}", node, reader)
        found = next((other for other in made.totals if replace(other, column=own.column) == own), None)
        if found is None:
            found, made = own, replace(made, totals=(*made.totals, own))
        column = exp.column(found.column.name, quoted=True)
        if node is condition:
            condition = column
        else:
            node.replace(column)
    whose = _whose(reader)
    grouped: dict[Expression, Column] = {by: column for column, by in made.keys} | (
        {} if whose is None else {ColumnValue(whose): made.person}
    )
    for node in list(condition.find_all(exp.Column)):
        meaning = None if node.name.endswith(OURS) else reader.meaning(node)
        if meaning in keys and meaning in grouped:  # a grouped column, whatever SELECT calls it
            node.replace(exp.column(grouped[meaning].name, quoted=True))
    return FilterRows(made, Reader(scope.of(made, "")).condition(condition))


def written_name(item: exp.Expr) -> str:
    """What a column of an inner question is called."""
    name = (
        str(item.alias) if isinstance(item, exp.Alias) else str(item.name) if isinstance(item, exp.Column) else shown(item)
    )
    if not 0 < len(name) <= NAME_LENGTH or not name.isprintable():
        raise refuse(item, f"a name has 1 to {NAME_LENGTH} printable characters", "another name behind AS")
    return name


def column_of(item: exp.Expr | None, by: Expression, reader: Reader, name: str = "") -> Column:
    """The column of an expression, with the facts that follow from it."""
    called = name if item is None else written_name(item)
    if isinstance(by, ColumnValue):
        return replace(by.column, name=called)
    facts = by.facts
    keys, clamped = None, False
    try:
        known = reader.keys(by, item or exp.column(called))
    except QuestionError:
        pass  # not known: a question around this one may group by it at a price
    else:
        kept = known.by == by or keeps_order(by)
        clamped = known.by != by and kept and bool(known.open_keys)  # beyond hard bounds there is nothing
        keys = known.keys if kept else None  # otherwise rows beyond the bounds would be lost
    stated = Column(called, facts.type, facts.lower, facts.upper, bounded_step(by), keys, facts.nullable, clamped=clamped)
    return replace(stated, first=facts.first, last=facts.last)


def check_names(node: exp.Expr, columns: list[Column]) -> None:
    names = [column.name.lower() for column in columns]
    for column in columns:
        if names.count(column.name.lower()) > 1:
            why = f"two columns of an inner question are called {column.name}"
            raise refuse(node, why, "another name behind AS for one of them")


def _whose(reader: Reader) -> Column | None:
    """The column of the person."""
    table = reader.scope.table
    return None if table.person is None else table.column(table.person)
