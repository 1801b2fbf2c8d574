"""Relations in DuckDB's SQL: one template a node. Columns go by their names in the relation's table, which differ.

Why it is total and exact: cells are read once, at the scan, by the templates of `templates/expressions.py`; later nodes
compute from what was read. Totals of a person are whole numbers: counts, and sums of clamped steps. Division happens once,
after the sum, between two numbers of one person's own; least and largest values do not depend on an order. There is no row
number and no position.
"""

from __future__ import annotations

from collections.abc import Mapping

from dither.query.engines.templates.expressions import cell, clamped, counted, is_there, number, person, render, value
from dither.query.plan.counters import Counter
from dither.query.plan.lattice import step_of
from dither.query.plan.relations import (
    FilterRows,
    GroupByPerson,
    JoinOnPerson,
    JoinPublic,
    PersonTotal,
    Project,
    Relation,
    Scan,
    UnionAll,
)
from dither.query.policy.column import Column, Type
from dither.query.sources.sql_quotes import name

Texts = frozenset[str]  # columns that a source holds as text
Places = Mapping[str, tuple[str, Texts]]  # by table: what stands after FROM


def rows_of(table: str) -> str:
    """How a SELECT calls the rows of a table, wherever they are."""
    return name(f"rows of {table}")


def with_tables(places: Mapping[str, str], select: str) -> str:
    """A SELECT about tables whose rows are somewhere: for each, what stands after FROM. It is read as if it stood there."""
    heads = ", ".join(f"{rows_of(table)} AS NOT MATERIALIZED (SELECT * FROM {place})" for table, place in places.items())
    return f"WITH {heads} SELECT * FROM ({select})"


def relation_sql(relation: Relation, places: Places) -> str:
    """A SELECT with all columns of the relation."""
    match relation:
        case Scan(table):
            where, texts = places[table.name]
            spelled = [
                f"{person(column, is_text=column.name in texts) if column.name == table.person else cell(column)}"
                f" AS {name(column.name)}"
                for column in table.columns
            ]
            read = f"SELECT {', '.join(spelled)} FROM {where}"
            return read if table.person is None else f"SELECT * FROM ({read}) WHERE {name(table.person)} IS NOT NULL"
        case FilterRows(of, condition):
            return f"SELECT * FROM ({relation_sql(of, places)}) WHERE {render(condition)}"
        case Project(of, columns, hide):
            spelled = [f"{render(by)} AS {name(column.name)}" for column, by in columns]
            if hide and of.table.person is not None:
                spelled.append(f"{name(of.table.person)} AS {name(relation.table.columns[-1].name)}")
            return f"SELECT {', '.join(spelled)} FROM ({relation_sql(of, places)})"
        case JoinPublic(of, public, columns, on, keep_all):
            kind = "LEFT JOIN" if keep_all else "JOIN"
            return _joined(relation_sql(of, places), kind, relation_sql(public, places), columns, [render(c) for c in on])
        case JoinOnPerson(left, right, columns, on):
            assert left.table.person is not None
            assert right.table.person is not None
            theirs = next(here.name for here, there in columns if there.name == right.table.person)
            same = [f"{name(left.table.person)} = {name(theirs)}", *(render(condition) for condition in on)]
            sides = [_few(side, places, most) for side, most in zip((left, right), relation.most_rows, strict=True)]
            return _joined(sides[0], "JOIN", sides[1], columns, same)
        case GroupByPerson():
            return _per_person(relation, places)
        case UnionAll(parts):
            return " UNION ALL ".join(f"SELECT * FROM ({relation_sql(part, places)})" for part in parts)


def matches_sql(join: JoinPublic, places: Places) -> str:
    """A SELECT of the most rows of the public table that one row can meet."""
    renamed = ", ".join(f"{name(there.name)} AS {name(here.name)}" for here, there in join.columns)
    # numbers as doubles, by which some joins compare them: what is one there must be one here
    by = [f"{render(equal.right)}{'::DOUBLE' if equal.right.facts.type.is_number else ''}" for equal in join.on]
    there = " AND ".join(f"{key} IS NOT NULL" for key in by)
    rows = f"SELECT {renamed} FROM ({relation_sql(join.public, places)})"
    return f"SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM ({rows}) WHERE {there} GROUP BY {', '.join(by)})"


def _few(relation: Relation, places: Places, most: int | None) -> str:
    """The rows of people who have at most so many: two long lists of one person would meet in all their pairs."""
    rows = relation_sql(relation, places)
    if most is None:
        return rows
    assert relation.table.person is not None
    return f"SELECT * FROM ({rows}) QUALIFY count(*) OVER (PARTITION BY {name(relation.table.person)}) <= {most}"


def _joined(left: str, kind: str, right: str, columns: tuple[tuple[Column, Column], ...], on: list[str]) -> str:
    """Both sides; those of the right under their names here, so that no name is meant twice."""
    renamed = [f"{name(there.name)} AS {name(here.name)}" for here, there in columns]
    beside = f"SELECT {', '.join(renamed)} FROM ({right})"
    shown = ", ".join(f"r.{name(here.name)}" for here, _ in columns)
    return f"SELECT l.*, {shown} FROM ({left}) l {kind} ({beside}) r ON {' AND '.join(on)}"


def _per_person(relation: GroupByPerson, places: Places) -> str:
    whose = relation.of.table.person
    assert whose is not None
    inner, outer, by = [f"{name(whose)} AS p"], [f"p AS {name(relation.person.name)}"], ["p"]
    for place, (column, key) in enumerate(relation.keys):
        inner.append(f"{render(key)} AS k{place}")
        outer.append(f"k{place} AS {name(column.name)}")
        by.append(f"k{place}")
    for place, own in enumerate(relation.totals):
        inner += _read(own, place)
        outer.append(f"{_total(own, place)} AS {name(own.column.name)}")
    read = f"SELECT {', '.join(inner)} FROM ({relation_sql(relation.of, places)})"
    steps = [f"{clamped(_steps(own), f'e{at}', f'n{at}')} AS x{at}" for at, own in enumerate(relation.totals) if _adds(own)]
    if steps:
        read = f"SELECT *, {', '.join(steps)} FROM ({read})"
    return f"SELECT {', '.join(outer)} FROM ({read}) GROUP BY {', '.join(by)}"


def _adds(own: PersonTotal) -> bool:
    return own.kind in ("sum", "average")


def _steps(own: PersonTotal) -> Counter:
    assert own.of is not None
    return Counter("above", own.of, step_of(own.of))


def _read(own: PersonTotal, place: int) -> list[str]:
    if own.of is None:
        return []
    if _adds(own):
        measure = _steps(own)
        return [f"{value(measure)} AS e{place}", f"{counted(measure, value(measure))} AS n{place}"]
    return [f"CASE WHEN {is_there(own.of)} THEN {render(own.of)} END AS e{place}"]


def _total(own: PersonTotal, place: int) -> str:
    if own.kind == "rows":
        return "count(*)"
    if own.of is not None and _adds(own):
        measure, there = _steps(own), f"count(x{place})"
        assert own.of.facts.lower is not None
        whole = own.of.facts.type is Type.INTEGER and measure.step == 1
        if own.kind == "sum" and whole:
            added = f"sum(x{place}) + {own.of.facts.lower}::HUGEINT * {there}"
            return f"CASE WHEN {there} > 0 THEN TRY_CAST({added} AS BIGINT) END"
        part = f"sum(x{place})::DOUBLE * {number(measure.step)}"
        if own.kind == "sum":
            return f"CASE WHEN {there} > 0 THEN {part} + {there} * {number(own.of.facts.lower)} END"
        return f"CASE WHEN {there} > 0 THEN {part} / {there} + {number(own.of.facts.lower)} END"
    return {
        "values": f"count(e{place})",
        "different": f"count(DISTINCT e{place})",
        "least": f"min(e{place})",
        "most": f"max(e{place})",
    }[own.kind]
