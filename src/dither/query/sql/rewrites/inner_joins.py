"""Inner joins in any spelling: commas, CROSS JOIN, a public table first, conditions in ON that are no equalities.

    FROM customer, orders WHERE c_custkey = o_custkey AND o_total > 3
    FROM customer JOIN orders ON c_custkey = o_custkey WHERE o_total > 3

mean the same: an inner join keeps the pairs that meet ON, and WHERE those that meet it besides, in whatever order they are
made. So all conditions are gathered, a protected table comes first, and each next table is one that an equality of two
columns ties to those before. Those equalities are its ON; all that is left is WHERE.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlglot import exp

from dither.query.sql.join_kinds.owners import is_public
from dither.query.sql.scope import Scope
from dither.query.sql.syntax import refuse


class Source(NamedTuple):
    """A table or an inner question behind FROM, and the JOIN that it came with; None for the first."""

    scope: Scope
    join: exp.Join | None


def spelled_out(sources: list[Source]) -> bool:
    """Whether the joins are inner ones that have to be put in order first."""
    joins = [source.join for source in sources if source.join is not None]
    if any(_word(join, "side") or _word(join, "method") or join.args.get("using") for join in joins):
        return False
    if any(_word(join, "kind") not in ("", "INNER", "CROSS") for join in joins):
        return False
    bare = any(join.args.get("on") is None for join in joins)
    first_is_public = is_public(sources[0].scope.relation) and any(not is_public(one.scope.relation) for one in sources)
    mixed = any(
        any(isinstance(part, exp.EQ) for part in _parts(join.args["on"]))
        and not all(isinstance(part, exp.EQ) for part in _parts(join.args["on"]))
        for join in joins
        if join.args.get("on") is not None
    )
    return bool(joins) and (bare or first_is_public or mixed)


def in_order(tree: exp.Expr, sources: list[Source]) -> list[Source]:
    """The sources with their equalities, a protected one first; WHERE of the question holds what is left."""
    where = tree.args.get("where")
    conditions = [] if where is None else _parts(where.this)
    for source in sources:
        if source.join is not None and source.join.args.get("on") is not None:
            conditions += _parts(source.join.args["on"])
    left = list(sources)
    first = next((source for source in left if not is_public(source.scope.relation)), left[0])
    left.remove(first)
    placed = [Source(first.scope, None)]
    while left:
        for source in left:
            tied = [one for one in conditions if _ties(one, source, placed, sources)]
            if tied:
                break
        else:
            last = left[0].join or first.join
            assert last is not None
            why = "without ON, or an equality in WHERE, every row would meet every other"
            raise refuse(last, why, "ON, or WHERE, with the person or a public key")
        left.remove(source)
        conditions = [one for one in conditions if all(one is not used for used in tied)]
        placed.append(Source(source.scope, exp.Join(this=_named(source), on=exp.and_(*tied, copy=False))))
    rest = exp.Where(this=exp.and_(*conditions, copy=False)) if conditions else None
    tree.set("where", rest)
    return placed


def _ties(condition: exp.Expr, source: Source, placed: list[Source], sources: list[Source]) -> bool:
    """Whether it is an equality of a column of a source and one of those that are placed."""
    if not isinstance(condition, exp.EQ):
        return False
    owners = [_owner(side, sources) for side in (condition.this, condition.expression)]
    there = [any(owner is not None and owner.scope is one.scope for one in placed) for owner in owners]
    mine = [owner is not None and owner.scope is source.scope for owner in owners]
    return (mine[0] and there[1]) or (mine[1] and there[0])


def _owner(node: exp.Expr, sources: list[Source]) -> Source | None:
    """The source that a column is of, where it is of one."""
    if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
        return None
    called, name = node.text("table").lower(), node.name.lower()
    found = [
        source
        for source in sources
        if any(one.name.lower() == name and (not called or one.called.lower() == called) for one in source.scope.names)
    ]
    return found[0] if len(found) == 1 else None


def _named(source: Source) -> exp.Expr:
    """What a refusal shows of it."""
    return source.join.this if source.join is not None else exp.to_table(source.scope.names[0].called)


def _parts(condition: exp.Expr) -> list[exp.Expr]:
    """Conditions that are joined by AND."""
    inner = condition.unnest()
    if isinstance(inner, exp.And):
        return [part for side in (inner.this, inner.expression) for part in _parts(side)]
    return [inner]


def _word(join: exp.Join, word: str) -> str:
    return str(join.args.get(word) or "").upper()
