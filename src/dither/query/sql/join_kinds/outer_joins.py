"""LEFT, RIGHT and FULL JOIN of two protected relations, on the person or along a chain of the policy."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dither.query.plan.base import Expression
from dither.query.plan.joins.outer_join import OuterJoin, missing
from dither.query.plan.joins.semi_join import SemiJoin
from dither.query.plan.relations import OURS, FilterRows, JoinPublic, Relation
from dither.query.policy.column import Column
from dither.query.sql import scope
from dither.query.sql.chains import chain_words
from dither.query.sql.join_kinds.conditions import on_conditions, parts_of
from dither.query.sql.join_kinds.owners import (
    Beside,
    equality_words,
    limited,
    owned_alike,
    person_of,
    renamed,
    shown_tables,
)
from dither.query.sql.refusals import ABSENT
from dither.query.sql.scope import Name, Scope
from dither.query.sql.syntax import refuse

OWNER = f"whose pair it is{OURS}"  # a column that no question can name


def outer_join(left: Scope, right: Scope, join: exp.Join, side: str) -> Scope:
    """Both relations, with rows that have none beside them; refused where a pair would not have one owner."""
    if side == "RIGHT":  # the same as LEFT with the sides exchanged
        left, right = right, left
    called = right.names[0].called if right.names else ""
    unlike = scope.unlike(right.table.columns, called, left.table.columns)
    columns = tuple((missing(here), there) for here, there in unlike)
    on = _owned(left, right, join, columns)
    full = side == "FULL"
    mine, theirs = person_of(left), person_of(right)
    assert mine is not None
    assert theirs is not None
    taken = {column.name for column in (*left.table.columns, *(here for here, _ in columns))}
    unused = next(name for name in (OWNER, *(f"{number} {OWNER}" for number in range(len(taken) + 1))) if name not in taken)
    owner = Column(unused, mine.type, nullable=False) if full else mine
    relation = limited(OuterJoin(left.relation, right.relation, columns, tuple(on), full, owner), join)
    names = tuple(replace(name, column=missing(name.column)) if full else name for name in left.names)
    both = names + renamed(right, columns)
    merged = [_merged(node.name, left, right, columns, owner, full=full) for node in join.args.get("using") or []]
    before = [replace(name, column=missing(name.column)) if full else name for name in left.merged]
    return Scope(relation, both, (*(one for one in merged if one is not None), *before))


def with_owner(tree: exp.Select, found: Scope) -> Scope:
    """COALESCE of the two persons of a full join is whose a row is: the column of the owner stands for it in the tree."""
    relation: Relation = found.relation
    while isinstance(relation, (FilterRows, JoinPublic, SemiJoin)):
        relation = relation.of
    if not isinstance(relation, OuterJoin) or not relation.full:
        return found
    mine, theirs = (side.table.person for side in (relation.left, relation.right))
    hers = next(here for here, there in relation.columns if there.name == theirs)
    both = {mine, hers.name}
    for node in list(parts_of(tree)):
        values = [node.this, *node.expressions] if isinstance(node, exp.Coalesce) else []
        columns = [found.column(value).name for value in values if isinstance(value, exp.Column)]
        if len(values) == 2 and set(columns) == both:
            node.replace(exp.column(relation.owner.name, quoted=True))
    return replace(found, names=(*found.names, Name("", relation.owner.name, relation.owner)))


def _owned(left: Scope, right: Scope, join: exp.Join, columns: Beside) -> list[Expression]:
    """The conditions beside the equality of owners."""
    mine, theirs = person_of(left), person_of(right)
    if mine is None or theirs is None:
        why = "two protected tables are joined on the person, and in one of these a row is a person without a name"
        raise refuse(join, why, "tables whose policy names the column of the person")
    on = owned_alike(left, right, columns, on_conditions(join, left, right, columns))
    if on is None:
        why = (
            "two protected tables are joined on the person, so that a row has one owner: an equality of the two persons must"
        )
        why += " be among the conditions of ON, joined to others by AND"
        equal = equality_words(left, right)
        instead = "the person among the columns of both" if equal is None else f"{equal} among the conditions of ON"
        raise refuse(join, why, chain_words(left, right) or instead)
    if shown_tables(left.relation) & shown_tables(right.relation) and not (left.table.alone or right.table.alone):
        why = "a table joined with itself counts a person once for every pair of her rows"
        instead = "an inner question with the person's own totals: SELECT person, COUNT(*) ... GROUP BY person"
        raise refuse(join, why, f"{instead}; {ABSENT}")
    return on


def _merged(name: str, left: Scope, right: Scope, columns: Beside, owner: Column, *, full: bool) -> Name | None:
    """What a name of USING means without a table before it: the left column, which is there; in a full join whichever is
    there, which is the owner where it is the person."""
    mine = left.column(exp.column(name))
    if not full:
        return Name("", name, mine)
    return Name("", name, owner) if mine == person_of(left) else None
