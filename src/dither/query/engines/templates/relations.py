"""Relations as SQL: one template a node. Columns go by their names in the relation's table, which differ.

Why it is total and exact: cells are read once, at the scan, by the templates of `templates/expressions.py`; later nodes
compute from what was read. Totals of a person are whole numbers: counts, and sums of clamped steps. Division happens once,
after the sum, between two numbers of one person's own; least and largest values do not depend on an order. Positions are
those of windows within a person (`templates/window_functions.py`), in an order that tells apart all rows that differ.
"""

from __future__ import annotations

from collections.abc import Mapping

from dither.query.engines.templates.chains import chain_sql
from dither.query.engines.templates.expressions import as_column, cell, person, render, settled
from dither.query.engines.templates.outer_joins import outer_join_sql
from dither.query.engines.templates.pairs import few_rows, renamed
from dither.query.engines.templates.person_totals import own_steps, own_total, own_values
from dither.query.engines.templates.semi_joins import asserted, child_semi_join_sql, own_children, semi_join_sql
from dither.query.engines.templates.window_functions import window_sql
from dither.query.engines.words import Words
from dither.query.plan.chain import Chain
from dither.query.plan.joins.outer_join import OuterJoin
from dither.query.plan.joins.semi_join import SemiJoin
from dither.query.plan.question import Question
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
from dither.query.policy.column import Column
from dither.query.policy.table import Table

Texts = frozenset[str]  # columns that a source holds as text
Places = Mapping[str, tuple[str, Texts]]  # by table: what stands after FROM


def rows_of(words: Words, table: str) -> str:
    """How a SELECT calls the rows of a table, wherever they are."""
    return words.name(f"rows of {table}")


def with_tables(words: Words, places: Mapping[str, str], select: str) -> str:
    """A SELECT about tables whose rows are somewhere: for each, what stands after FROM. It is read as if it stood there."""
    heads = [words.inline(rows_of(words, table), f"SELECT * FROM {place} AS source") for table, place in places.items()]
    return f"WITH {', '.join(heads)} SELECT * FROM ({select}) AS answer"


def question_sql(words: Words, question: Question, places: Places) -> str:
    """A SELECT with all columns of the relation of a question, and at least those of its rows that meet the condition."""
    return relation_sql(words, question.relation, places, asserted(question.where))


def relation_sql(words: Words, relation: Relation, places: Places, kept: Mapping[str, bool] | None = None) -> str:
    """A SELECT with all columns of the relation. `kept`: of columns that say whether there is a match, the value that rows
    have which are kept later; others may be left out (`templates/semi_joins.py`)."""
    kept = kept or {}
    match relation:
        case Scan(table):
            return scan_sql(words, table, *places[table.name])
        case Chain():
            return chain_sql(words, relation, lambda table: scan_sql(words, table, *places[table.name]))
        case FilterRows(of, condition):
            rows = relation_sql(words, of, places, {**kept, **asserted(condition)})
            return f"SELECT * FROM ({rows}) AS q WHERE {render(words, condition)}"
        case Project(of, columns, hide):
            spelled = [f"{as_column(words, by, render(words, by))} AS {words.name(column.name)}" for column, by in columns]
            if hide and of.table.person is not None:
                spelled.append(f"{words.name(of.table.person)} AS {words.name(relation.table.columns[-1].name)}")
            return f"SELECT {', '.join(spelled)} FROM ({relation_sql(words, of, places)}) AS q"
        case JoinPublic(of, public, columns, on, keep_all):
            kind = "LEFT JOIN" if keep_all else "JOIN"
            left, right = relation_sql(words, of, places), relation_sql(words, public, places)
            return _joined(words, left, kind, right, columns, [render(words, condition) for condition in on])
        case JoinOnPerson(left, right, columns, on):
            assert left.table.person is not None
            assert right.table.person is not None
            theirs = next(here.name for here, there in columns if there.name == right.table.person)
            same = f"{words.name(left.table.person)} = {words.name(theirs)}"
            most = zip((left, right), relation.most_rows, strict=True)
            sides = [few_rows(words, relation_sql(words, side, places), side.table, rows) for side, rows in most]
            return _joined(words, sides[0], "JOIN", sides[1], columns, [same, *(render(words, one) for one in on)])
        case OuterJoin():
            return outer_join_sql(words, relation, lambda side: relation_sql(words, side, places))
        case SemiJoin(of, other):
            # where people's rows are counted, none is left out before
            rows = relation_sql(words, of, places, kept if relation.most_rows == (None, None) else None)
            children = own_children(relation)
            if children is None:
                return semi_join_sql(words, relation, rows, relation_sql(words, other, places), kept)
            return child_semi_join_sql(words, relation, rows, scan_sql(words, children, *places[children.name]), kept)
        case GroupByPerson():
            return _per_person(words, relation, places)
        case WindowByPerson(of, window):
            return window_sql(words, of.table, window, relation_sql(words, of, places))
        case UnionAll(parts):
            return " UNION ALL ".join(f"SELECT * FROM ({relation_sql(words, part, places)}) AS q" for part in parts)


def matches_sql(words: Words, join: JoinPublic, places: Places) -> str:
    """A SELECT of the most rows of the public table that one row can meet."""
    # numbers as doubles, by which some joins compare them: what is one there must be one here
    keys = [(render(words, equal.right), equal.right.facts.type.is_number) for equal in join.on]
    by = [words.double(key) if is_number else key for key, is_number in keys]
    there = " AND ".join(f"{key} IS NOT NULL" for key in by)
    rows = f"SELECT {renamed(words, join.columns)} FROM ({relation_sql(words, join.public, places)}) AS q"
    counts = f"SELECT count(*) AS n FROM ({rows}) AS m WHERE {there} GROUP BY {', '.join(by)}"
    return f"SELECT coalesce(max(n), 0) FROM ({counts}) AS c"


def scan_sql(words: Words, table: Table, where: str, texts: Texts) -> str:
    """A SELECT of all columns of a table, each as its type; without rows that have no person, where the table has one."""
    read = [
        person(words, column, is_text=column.name in texts) if table.tells_whose(column.name) else cell(words, column)
        for column in table.columns
    ]
    named = ", ".join(f"{sql} AS {words.name(column.name)}" for sql, column in zip(read, table.columns, strict=True))
    select = f"SELECT {named} FROM {where} AS source"
    if table.person is None or table.owner is not None:
        return select
    return f"SELECT * FROM ({select}) AS q WHERE {words.name(table.person)} IS NOT NULL"


def _joined(
    words: Words, left: str, kind: str, right: str, columns: tuple[tuple[Column, Column], ...], on: list[str]
) -> str:
    """Both sides; those of the right under their names here, so that no name is meant twice."""
    beside = f"SELECT {renamed(words, columns)} FROM ({right}) AS q"
    shown = ", ".join(f"r.{words.name(here.name)}" for here, _ in columns)
    return f"SELECT l.*, {shown} FROM ({left}) AS l {kind} ({beside}) AS r ON {' AND '.join(on)}"


def _per_person(words: Words, relation: GroupByPerson, places: Places) -> str:
    whose = relation.of.table.person
    assert whose is not None
    inner, outer, by = [f"{words.name(whose)} AS p"], [f"p AS {words.name(relation.person.name)}"], ["p"]
    for place, (column, key) in enumerate(relation.keys):
        inner.append(f"{settled(words, key)} AS k{place}")  # of equal keys one, whichever row comes first
        outer.append(f"{as_column(words, key, f'k{place}')} AS {words.name(column.name)}")
        by.append(f"k{place}")
    steps = []
    for place, own in enumerate(relation.totals):
        inner += own_values(words, own, place)
        steps += own_steps(words, own, place)
        outer.append(f"{own_total(words, own, place)} AS {words.name(own.column.name)}")
    read = f"SELECT {', '.join(inner)} FROM ({relation_sql(words, relation.of, places)}) AS q"
    if steps:
        read = f"SELECT *, {', '.join(steps)} FROM ({read}) AS q"
    return f"SELECT {', '.join(outer)} FROM ({read}) AS q GROUP BY {', '.join(by)}"
