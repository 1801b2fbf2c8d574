"""Who owns a pair of rows: that both rows of a join have one owner, by an equality of persons or by a chain of the policy.

An equality counts if it stands by itself, or joined to others by AND: beside an OR, rows of two people would meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlglot import exp

from dither.query.plan.base import Expression
from dither.query.plan.chain import Chain
from dither.query.plan.expressions import ColumnValue, Compare
from dither.query.plan.joins.outer_join import OuterJoin
from dither.query.plan.joins.semi_join import SemiJoin
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
    shown_columns,
)
from dither.query.policy.column import Column
from dither.query.policy.table import Table
from dither.query.sql.scope import Name, Scope
from dither.query.sql.syntax import refuse

MOST_RELATIONS = 30
MOST_PUBLIC = 8  # how many rows they make of one is counted before the charge (`engines/fan_out.py`)
Beside = tuple[tuple[Column, Column], ...]  # columns of the right: as they are called here, and there
Cell = tuple[Table, str]  # a column of a table of the policy
Pair = tuple[str, str]  # of columns of two tables that are equal


def is_public(relation: Relation) -> bool:
    """Whether it is a public table."""
    return isinstance(relation, Scan) and relation.table.public


def person_of(found: Scope) -> Column | None:
    """The column of the person."""
    return None if found.table.person is None else found.table.column(found.table.person)


def renamed(right: Scope, columns: Beside) -> tuple[Name, ...]:
    """The names of the right, for its columns as they are called here."""
    here = {there: here for here, there in columns}
    return tuple(replace(name, column=here[name.column]) for name in right.names)


def limited(relation: Relation, node: exp.Expr) -> Relation:
    """Names given by WITH may be used again and again: what counts is what they stand for."""
    tables = relation.tables
    if len(tables) > MOST_RELATIONS:
        raise refuse(node, f"written out, more than {MOST_RELATIONS} tables are read", "fewer of them")
    if sum(table.public for table in tables) > MOST_PUBLIC:
        raise refuse(node, f"more than {MOST_PUBLIC} public tables could multiply a person's rows beyond measure", "fewer")
    return relation


def owned_alike(left: Scope, right: Scope, columns: Beside, on: Sequence[Expression]) -> list[Expression] | None:
    """The conditions beside the equality of owners; None where neither they nor the policy say that there is one owner."""
    mine, theirs = person_of(left), person_of(right)
    if mine is None or theirs is None:
        return None
    hers = next(here for here, there in columns if there.name == theirs.name)
    same = Compare("=", ColumnValue(mine), ColumnValue(hers))
    rest = [one for one in on if one not in (same, Compare("=", same.right, same.left))]
    if len(rest) < len(on):
        return rest
    there = dict(columns)
    equal = []
    for one in on:
        if isinstance(one, Compare) and one.operator == "=":
            sides = [side.column for side in (one.left, one.right) if isinstance(side, ColumnValue)]
            sides = sides[::-1] if sides and sides[0] in there else sides
            if len(sides) == 2 and sides[0] not in there and sides[1] in there:
                cells = origin(left.relation, sides[0]), origin(right.relation, there[sides[1]])
                equal += [(cells[0], cells[1])] if cells[0] is not None and cells[1] is not None else []
    return rest if _along_chain(equal) else None


def _along_chain(equal: list[tuple[Cell, Cell]]) -> bool:
    """Whether equalities hold a whole key of the policy: of a child and its parent, or of two children of one parent."""
    tables = {(left[0].name, right[0].name): (left[0], right[0]) for left, right in equal}
    for left, right in tables.values():
        found = {(a[1], b[1]) for a, b in equal if (a[0].name, b[0].name) == (left.name, right.name)}
        keys: list[Iterable[Pair]] = []
        if right.owner is not None and right.owner.through == left.name:
            keys.append((theirs, mine) for mine, theirs in right.owner.on)
        if left.owner is not None and left.owner.through == right.name:
            keys.append((mine, theirs) for mine, theirs in left.owner.on)
        if left.owner is not None and right.owner is not None and left.owner.through == right.owner.through:
            here, there = ({parent: child for child, parent in one.owner.on} for one in (left, right) if one.owner)
            keys += [[(here[parent], there[parent]) for parent in here]] if here.keys() == there.keys() else []
        if any(found >= set(key) for key in keys):
            return True
    return False


def leads_to_owner(relation: Relation, values: Sequence[Expression]) -> bool:
    """Whether a whole key of a chain is among some values: that by which rows have parents, or are parents of others."""
    cells = [origin(relation, one.column) for one in values if isinstance(one, ColumnValue)]
    for table, _ in (cell for cell in cells if cell is not None):
        named = {name for other, name in (cell for cell in cells if cell is not None) if other.name == table.name}
        upward = [] if table.owner is None else [tuple(mine for mine, _ in table.owner.on)]
        if any(named >= set(key) for key in (*upward, *table.child_keys)):
            return True
    return False


def origin(relation: Relation, column: Column) -> Cell | None:
    """The table of the policy, and its column, that a column is the cell of, or the common value of several rows; None
    where it is computed."""
    match relation:
        case Scan(table):
            return table, column.name
        case Chain(links):
            cells = [(link.table, there.name) for link in links for here, there in link.columns if here == column]
            return cells[0] if cells else None
        case FilterRows(of) | JoinPublic(of) | SemiJoin(of) | WindowByPerson(of):
            return origin(of, column) if column in of.table.columns else None
        case JoinOnPerson(left, right, columns) | OuterJoin(left, right, columns):
            there = dict(columns)
            if column in there:
                return origin(right, there[column])
            mine = next((one for one in left.table.columns if one.name == column.name), None)
            return None if mine is None else origin(left, mine)
        case Project(of, columns) | GroupByPerson(of, columns):
            by = next((by for here, by in columns if here == column), None)
            if by is None and isinstance(relation, GroupByPerson) and column == relation.person:
                by = next(ColumnValue(one) for one in of.table.columns if one.name == of.table.person)
            return origin(of, by.column) if isinstance(by, ColumnValue) else None
        case UnionAll():
            return None


def shown_tables(relation: Relation) -> set[str]:
    """The protected tables whose rows are shown: not those that are read for their owners, or looked at for a match."""
    match relation:
        case Scan(table):
            return set() if table.public else {table.name}
        case Chain(links):
            return {link.table.name for link in links}
        case FilterRows(of) | JoinPublic(of) | SemiJoin(of) | Project(of) | GroupByPerson(of) | WindowByPerson(of):
            return shown_tables(of)
        case JoinOnPerson(left, right) | OuterJoin(left, right):
            return shown_tables(left) | shown_tables(right)
        case UnionAll(parts):
            return {name for part in parts for name in shown_tables(part)}


def equality_words(left: Scope, right: Scope) -> str | None:
    """The equality of two persons as a question writes it; None where one of them has no name."""
    mine, theirs = person_of(left), person_of(right)
    if mine is None or theirs is None or mine not in shown_columns(left.table) or theirs not in shown_columns(right.table):
        return None
    told = []
    for side, column in ((left, mine), (right, theirs)):
        called = next((one.called for one in side.names if one.column == column), "")
        told.append(f"{called}.{column.name}" if called else column.name)
    return f"{told[0]} = {told[1]}"
