"""Semi-joins as SQL (`plan/joins/semi_join.py`). EXISTS makes no row of a row, whatever the engine holds to be equal.

Where a condition later keeps only the rows with a match, or only those without, EXISTS stands in WHERE, and the match is a
constant: engines are several times faster than with a column that they compute for every row. Each row that is left out has
the other value, EXISTS is never NULL, and what stands between (other conditions, and semi-joins that count nobody's rows)
keeps rows one by one: the rows that meet the condition are the same.

Children of a row's own key are looked at without their owners, who need not be found.
Theorem. Let r be a row of q's that shows a row of a table T, or a child d of T. Let c be a row of a child of T whose key, by
which it leads to T, has the values of that row of T, or of d's columns that lead to the same columns of T. Then c is q's.
Legend. Rows, keys and owners as in `plan/chain.py`. r is of a chain, or of T itself where T has the person, below
conditions, joins with public tables, semi-joins and windows, all of which keep the owner of a row.
Proof. Where r shows t of T: each row that a chain shows leads to the next, and the last is q's, or leads to a row above of
q's; so t is q's, and c leads to t. Where r shows d: d is q's, so it leads to some t of q's; c's key has the values of d's,
which are those of t, so c leads to t. Whoever else owns c, whether there is one is asked of rows of q's alone, and all of
q's that meet the equality are asked: an equality of owners would change nothing.
Equalities are the question's, of values that were read as their type (whole numbers, texts by their bytes, dates): to read
them once more changes none of them, so that they hold where those of the chain do.

It does not hold for parents of r, of which another person may have one with the same key; nor is it used where people with
too many rows are left out, who are found by the owners of all rows.
"""

from __future__ import annotations

from collections.abc import Mapping

from dither.query.engines.templates.expressions import render
from dither.query.engines.templates.pairs import few_pairs, renamed
from dither.query.engines.words import Words
from dither.query.plan.base import Expression
from dither.query.plan.chain import Chain
from dither.query.plan.expressions import ColumnValue, Logic, Not, columns_of
from dither.query.plan.joins.semi_join import SemiJoin, is_equality
from dither.query.plan.relations import FilterRows, JoinPublic, Relation, Scan, WindowByPerson
from dither.query.policy.column import Column, Type
from dither.query.policy.owner import HIDDEN
from dither.query.policy.table import Table


def semi_join_sql(words: Words, join: SemiJoin[Relation], rows: str, others: str, kept: Mapping[str, bool]) -> str:
    """A SELECT with all columns of the semi-join, of the rows of both sides; that the owner is the same comes from here,
    whatever was asked. `kept`: what rows have that are kept later."""
    of, other = (rows, join.of.table), (others, join.other.table)
    head, rows, others = few_pairs(words, of, other, join.most_rows, keeps_right=False)
    conditions = [render(words, one) for one in join.on]
    theirs = other[1].person
    if not other[1].public:
        assert of[1].person is not None
        here = next(here.name for here, there in join.columns if there.name == theirs)
        conditions.insert(0, f"l.{words.name(of[1].person)} = r.{words.name(here)}")
    looked = f"SELECT {renamed(words, join.columns)} FROM ({others}) AS q"
    return head + _matched(words, join, rows, looked, conditions, kept)


def child_semi_join_sql(words: Words, join: SemiJoin[Relation], rows: str, children: str, kept: Mapping[str, bool]) -> str:
    """The same of all rows of a table, whoever owns them: those that are looked at are own children."""
    conditions, of = list[Expression](), join.other
    while isinstance(of, FilterRows):
        conditions, of = [of.condition, *conditions], of.of
    shown = tuple((here, there) for here, there in join.columns if there.name != HIDDEN)
    looked = f"SELECT {renamed(words, shown)} FROM ({children}) AS q"
    if conditions:
        looked += f" WHERE {' AND '.join(render(words, one) for one in conditions)}"
    return _matched(words, join, rows, looked, [render(words, one) for one in join.on], kept)


def _matched(
    words: Words, join: SemiJoin[Relation], rows: str, looked: str, conditions: list[str], kept: Mapping[str, bool]
) -> str:
    """Rows, each with whether one of those that are looked at meets all conditions with it."""
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    found, name = f"EXISTS (SELECT 1 FROM ({looked}) AS r{where})", words.name(join.match.name)
    if join.match.name not in kept:
        return f"SELECT l.*, {found} AS {name} FROM ({rows}) AS l"
    holds = kept[join.match.name]
    return f"SELECT l.*, {words.constant(holds)} AS {name} FROM ({rows}) AS l WHERE {'' if holds else 'NOT '}{found}"


def asserted(condition: Expression | None) -> dict[str, bool]:
    """The columns that are true, or false, in every row that meets a condition: those that stand in it by themselves, or
    joined to others by AND."""
    match condition:
        case ColumnValue(column) if column.type is Type.BOOLEAN:
            return {column.name: True}
        case Not(ColumnValue(column)) if column.type is Type.BOOLEAN:
            return {column.name: False}
        case Logic(True, parts):
            return {name: value for part in parts for name, value in asserted(part).items()}
        case _:
            return {}


def own_children(join: SemiJoin[Relation]) -> Table | None:
    """The table whose rows are looked at, where by the theorem above they are those of a row's owner; otherwise None."""
    other, conditions = join.other, list(join.on)
    while isinstance(other, FilterRows):
        conditions.append(other.condition)
        other = other.of
    if not isinstance(other, Chain) or len(other.links) > 1 or not other.above or join.most_rows != (None, None):
        return None
    child, there = other.links[0].table, dict(join.columns)
    hidden = {column for pair in join.columns for column in pair if pair[1].name == HIDDEN}
    if child.owner is None or any(columns_of(one) & hidden for one in conditions):
        return None
    equal = set[tuple[Column, str]]()
    for one in filter(is_equality, join.on):
        mine, theirs = columns_of(one) - there.keys(), columns_of(one) & there.keys()
        equal |= {(here, there[beside].name) for here in mine for beside in theirs}
    for table, columns in _shown(join.of):
        leads = list[tuple[str, str]]()  # columns of T, and those here that have their values
        if table.name == child.owner.through:
            leads += [(name, name) for name in columns]
        elif table.owner is not None and table.owner.through == child.owner.through:
            leads += [(parent, mine) for mine, parent in table.owner.on]
        if all(any((columns[mine], key) in equal for to, mine in leads if to == parent) for key, parent in child.owner.on):
            return child
    return None


def _shown(relation: Relation) -> list[tuple[Table, dict[str, Column]]]:
    """The tables of the policy whose rows a relation shows, each row its owner's: with the columns that are cells of theirs,
    by their names there."""
    while isinstance(relation, (FilterRows, SemiJoin, JoinPublic, WindowByPerson)):
        relation = relation.of
    match relation:
        case Chain(links):
            return [(link.table, {there.name: here for here, there in link.columns}) for link in links]
        case Scan(table) if table.person is not None and table.owner is None:
            return [(table, {column.name: column for column in table.columns})]
        case _:
            return []
