"""JOIN: two relations side by side, so that every row still has one owner.

Rows may stand beside those of a public table, and rows of a person beside other rows of the same person; outer joins and
semi-joins are read in `join_kinds/`. What is refused here would give rows without an owner, or with two, or more of them
than a question can be allowed to make of one row.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dither.query.plan.expressions import ColumnValue, Compare, columns_of
from dither.query.plan.relations import JoinOnPerson, JoinPublic, Scan, shown_columns
from dither.query.sql import scope
from dither.query.sql.chains import along_chain, chain_words
from dither.query.sql.expressions import Reader
from dither.query.sql.join_kinds.outer_joins import outer_join
from dither.query.sql.join_kinds.owners import Beside, is_public, limited, person_of, renamed, shown_tables
from dither.query.sql.join_kinds.semi_joins import semi_join
from dither.query.sql.scope import Scope
from dither.query.sql.syntax import refuse


def joined(left: Scope, right: Scope, join: exp.Join) -> Scope:
    """Both relations, joined as the question says; refused where a row would not have one owner."""
    kind, side, method = (str(join.args.get(word) or "").upper() for word in ("kind", "side", "method"))
    called = right.names[0].called
    if called.lower() in [name.called.lower() for name in left.names]:
        raise refuse(join, f"two tables are called {called}", "an alias: JOIN visits AS other")
    if method:
        raise refuse(join, f"{method} JOIN says by what tables are joined without naming it", "JOIN with ON, or with USING")
    if kind in ("SEMI", "ANTI") and side in ("", "LEFT"):
        return semi_join(left, right, join, anti=kind == "ANTI")
    if side == "RIGHT" and is_public(left.relation) and not is_public(right.relation):
        left, right, side = right, left, "LEFT"  # the same with the sides exchanged
    publics = is_public(left.relation), is_public(right.relation)
    if kind not in ("", "INNER", "OUTER") or (any(publics) and side not in ("", "LEFT")) or (kind == "OUTER" and not side):
        why = (
            f"{f'{side} {kind}'.strip()} JOIN makes rows that are nobody's, or everybody's, or drops rows because of others'"
        )
        raise refuse(join, why, "INNER JOIN, or a protected table LEFT JOIN a public one, which have no rows of such kind")
    if publics[0]:
        why, instead = "rows have an owner from the first table on", "the protected table first, then JOIN the public one"
        if side == "LEFT":
            why += ", and rows of the public one without a match would be nobody's"
            instead += ", and GROUP BY a column with keys, which lists those without rows too"
        raise refuse(join, why, instead)
    if side and not publics[1]:
        return outer_join(left, right, join, side)
    columns = scope.unlike(right.table.columns, called, left.table.columns)
    on = _on(join, left, right, columns)
    if is_public(right.relation):
        return _with_public(left, right, join, columns, on, keep_all=side == "LEFT")
    chain = along_chain(left, right, columns, on)
    if chain is not None:
        return replace(left, relation=limited(chain, join), names=left.names + renamed(right, columns))
    return _same_person(left, right, join, columns, on)


def _on(join: exp.Join, left: Scope, right: Scope, columns: Beside) -> list[Compare]:
    """The equalities, each with the left relation on its left."""
    mine = {here for here, _ in columns}
    turned = []
    for equal in _equalities(join, left, right, columns):
        sides = [columns_of(equal.left), columns_of(equal.right)]
        if sides[0] <= mine and not sides[1] & mine:
            equal, sides = Compare("=", equal.right, equal.left), sides[::-1]
        if sides[0] & mine or not sides[1] or not sides[1] <= mine or not sides[0]:
            raise refuse(
                join,
                "each equality has one table on its left and the other on its right",
                "ON <a column of one> = <one of the other>",
            )
        if equal.left.facts.type is not equal.right.facts.type:
            kinds = f"{equal.left.facts.type.value} and {equal.right.facts.type.value}"
            raise refuse(join, f"values of different types are joined: {kinds}", "columns of one type")
        turned.append(equal)
    return turned


def _equalities(join: exp.Join, left: Scope, right: Scope, columns: Beside) -> list[Compare]:
    using, condition = join.args.get("using"), join.args.get("on")
    found = []
    if using:
        for node in using:
            pair = [side.column(exp.column(node.name)) for side in (left, right)]
            here = next(here for here, there in columns if there == pair[1])
            found.append(Compare("=", ColumnValue(pair[0]), ColumnValue(here)))
        return found
    if condition is None:
        raise refuse(join, "without ON every row would meet every other", "ON with the person or a public key")
    reader = Reader(Scope(left.relation, left.names + renamed(right, columns)))
    for part in list(condition.flatten()) if isinstance(condition, exp.And) else [condition]:
        equal = reader.meaning(part.unnest())
        if not isinstance(equal, Compare) or equal.operator != "=":
            if equal is None:
                reader.value(part)  # an unknown column is the better message
            raise refuse(part, "tables are joined by equalities, joined by AND", "ON <a column of one> = <one of the other>")
        found.append(equal)
    return found


def _with_public(left: Scope, right: Scope, join: exp.Join, columns: Beside, on: list[Compare], *, keep_all: bool) -> Scope:
    if left.table.person is None:
        why = "one row is one person here, and a match with two rows would make two persons of one"
        raise refuse(join, why, "a table whose policy names the column of the person")
    assert isinstance(right.relation, Scan)
    if keep_all:
        columns = tuple((replace(here, nullable=True), there) for here, there in columns)
    relation = limited(JoinPublic(left.relation, right.relation, columns, tuple(on), keep_all), join)
    return replace(left, relation=relation, names=left.names + renamed(right, columns))


def _same_person(left: Scope, right: Scope, join: exp.Join, columns: Beside, on: list[Compare]) -> Scope:
    mine, theirs = person_of(left), person_of(right)
    if mine is None or theirs is None:
        why = "two protected tables are joined on the person, and in one of these a row is a person without a name"
        raise refuse(join, why, "tables whose policy names the column of the person")
    here = next(here for here, there in columns if there == theirs)
    same = Compare("=", ColumnValue(mine), ColumnValue(here))
    if same not in on:
        why = "two protected tables are joined on the person, so that a row has one owner"
        named = mine in shown_columns(left.table) and theirs in shown_columns(right.table)
        equal = f"{left.names[0].called}.{mine.name} = {right.names[0].called}.{theirs.name}"
        instead = (
            f"{equal} among the conditions of ON" if named else "the person among the columns of both, and ON with the two"
        )
        raise refuse(join, why, chain_words(left, right) or instead)
    if shown_tables(left.relation) & shown_tables(right.relation) and not (left.table.alone or right.table.alone):
        why = "a table joined with itself counts a person once for every pair of her rows"
        instead = "an inner question with the person's own totals: SELECT person, COUNT(*) ... GROUP BY person"
        raise refuse(join, why, instead)
    others = tuple(equal for equal in on if equal != same)
    relation = limited(JoinOnPerson(left.relation, right.relation, columns, others), join)
    names = tuple(
        replace(name, column=mine) if name.column == here else name for name in renamed(right, columns)
    )  # the person is the same on both sides
    return replace(left, relation=relation, names=left.names + names)
