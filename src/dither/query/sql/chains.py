"""JOIN along a chain of the policy: a table beside the rows from which it has its owners.

`lineitem JOIN orders ON l_orderkey = o_orderkey`, in either order, where the policy says that a row of lineitem belongs to
the owner of its order. The row that is joined is the row that gives the owner, so nothing is joined twice. Joins with public
tables, or with other rows of the person, that came before stay around it: inner joins may be done in any order, and a LEFT
JOIN with a public table leaves each row where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from dither.query.plan.base import Expression
from dither.query.plan.chain import Chain, Link, plain_link
from dither.query.plan.expressions import ColumnValue, Compare, Logic
from dither.query.plan.relations import FilterRows, JoinOnPerson, JoinPublic, Relation, Scan
from dither.query.policy.column import Column
from dither.query.policy.table import Table
from dither.query.sql.scope import Scope


def along_chain(left: Scope, right: Scope, columns: tuple[tuple[Column, Column], ...], on: list[Compare]) -> Relation | None:
    """Both sides as one chain, with what else the join compares as a condition; None where the join is not along one.
    `columns` are those of the right: as they are called here, and there."""
    if not isinstance(right.relation, (Scan, Chain)):
        return None
    joined = _as_chain(right.relation)
    if len(joined.links) > 1:
        return None
    table = joined.links[0].table
    link = Link(table, tuple((here, there) for here, there in columns if there in table.columns))
    for place in _places(left.relation):
        chain = place.chain
        if chain.above and chain.above[0].name == table.name and not place.paired:  # the parent comes second
            longer, equal = Chain((*chain.links, link), chain.above[1:]), _equal(chain.links[-1], link)
        elif joined.above and joined.above[0].name == chain.links[0].table.name:  # the child comes second
            longer = Chain((link, *chain.links), chain.above)
            equal = [Compare("=", one.right, one.left) for one in _equal(link, chain.links[0])]
        else:
            continue
        outer = [Compare("=", ColumnValue(place.outer(mine.left)), mine.right) for mine in equal]
        if all(one in on for one in outer):
            relation, others = place.put(longer), [one for one in on if one not in outer]
            condition: Expression = others[0] if len(others) == 1 else Logic(True, tuple(others))
            return FilterRows(relation, condition) if others else relation
    return None


def chain_words(left: Scope, right: Scope) -> str | None:
    """How a chain of the policy is joined, where two tables of one were joined otherwise; None where they are of none."""
    named = [*_named(left.relation), *_named(right.relation)]
    for child in named:
        if child.owner is None:
            continue
        equal = " AND ".join(f"{child.name}.{mine} = {child.owner.through}.{theirs}" for mine, theirs in child.owner.on)
        if child.owner.through in [table.name for table in named]:
            return f"both tables themselves, once each: {child.name} JOIN {child.owner.through} ON {equal}"
    return None


def _named(relation: Relation) -> list[Table]:
    """The tables that a question names; not those that are read for their owners only."""
    match relation:
        case Chain(links):
            return [link.table for link in links]
        case JoinPublic(of) | FilterRows(of):
            return _named(of)
        case JoinOnPerson(left, right):
            return [*_named(left), *_named(right)]
    return list(relation.tables)


@dataclass(frozen=True)
class _Place:
    """A chain within a relation, to which a table could be added."""

    chain: Chain
    names: Mapping[Column, Column]  # its columns as they are called outside, where that differs
    put: Callable[[Chain], Relation]  # the relation with another chain there
    paired: bool = False  # whether its rows stand beside other rows of the same person

    def outer(self, column: Expression) -> Column:
        """A column as it is called outside."""
        assert isinstance(column, ColumnValue)
        return self.names.get(column.column, column.column)


def _places(relation: Relation) -> Iterator[_Place]:
    """The chains to which public tables were joined, or rows of the same person, or on which conditions were put."""
    match relation:
        case Scan() | Chain():
            yield _Place(_as_chain(relation), {}, lambda chain: chain)
        case JoinPublic(of) | FilterRows(of):
            for place in _places(of):
                yield replace(place, put=partial(_put_below, relation, place))
        case JoinOnPerson(left, right, columns):
            for place in _places(left):
                yield replace(place, put=partial(_put_left, relation, place), paired=True)
            here = {there: here for here, there in columns}
            mine, theirs = (side.table.column(str(side.table.person)) for side in (left, right))
            here |= {theirs: mine} if mine is not None and theirs is not None else {}  # the same on both sides
            for place in _places(right):
                inner = {column: place.names.get(column, column) for column in place.chain.table.columns}
                names = {column: here[called] for column, called in inner.items()}
                yield replace(place, names=names, put=partial(_put_right, relation, place), paired=True)


def _put_below(relation: JoinPublic | FilterRows, place: _Place, chain: Chain) -> Relation:
    return replace(relation, of=place.put(chain))


def _put_left(relation: JoinOnPerson, place: _Place, chain: Chain) -> Relation:
    return replace(relation, left=place.put(chain))


def _put_right(relation: JoinOnPerson, place: _Place, chain: Chain) -> Relation:
    """With the columns that are new on the right; their names are taken neither there nor outside."""
    before, right = relation.right.table.columns, place.put(chain)
    new = tuple((column, column) for column in right.table.columns if column not in before)
    return replace(relation, right=right, columns=(*relation.columns, *new))


def _as_chain(core: Scan | Chain) -> Chain:
    return core if isinstance(core, Chain) else Chain((plain_link(core.table),), ())


def _equal(child: Link, parent: Link) -> list[Compare]:
    """The equalities of the key that leads from one to the other, the child on the left."""
    assert child.table.owner is not None
    pairs = [(child.here(mine), parent.here(theirs)) for mine, theirs in child.table.owner.on]
    return [Compare("=", ColumnValue(mine), ColumnValue(theirs)) for mine, theirs in pairs]
