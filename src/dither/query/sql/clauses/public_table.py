"""Questions that no row is needed for: which columns there are, and which keys. Tools ask them before any other.

    SELECT * FROM t LIMIT 0, ... WHERE 1 = 0      the columns with their types, and no rows
    SELECT DISTINCT k FROM t, SELECT k ... GROUP BY k    all keys that k can have, by the policy or the question

Theorem. What is answered here is 0-differentially private. Proof. It is a function of the text and of the policy alone: the
scope, the types of expressions, `group_keys.possible_keys` and what the engine says of these keys, none of which has a way
to a row. What an owner took from the data into the policy is outside of it, and told (`FreeQuote.unprotected`).

Keys are listed whether the data has them or not. Of WHERE, what is about them alone leaves out those that it says no to, as
it leaves out their rows; what looks at other columns keeps no key out, since rows may meet it with every key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from sqlglot import exp

from dither.query.engines.duckdb.key_images import kept
from dither.query.plan.aggregates import Aggregate, CountDistinct, CountDistinctValues, CountPersons, CountRows, CountValues
from dither.query.plan.base import Expression
from dither.query.plan.expressions import ColumnValue, Compare, Constant, Logic, columns_of
from dither.query.plan.question import OPERATORS, Group
from dither.query.plan.relations import Relation
from dither.query.policy.column import Column, Key, Type
from dither.query.policy.policy import Policy
from dither.query.sql.aggregates import READERS, read_aggregate
from dither.query.sql.clauses.grouping_sets import MARKS
from dither.query.sql.clauses.released_columns import limit_of, offset_of, order_by
from dither.query.sql.expressions import Reader
from dither.query.sql.from_clause import FromReader
from dither.query.sql.parse import MOST_COLUMNS, MOST_ROWS, group_by, read_tree
from dither.query.sql.syntax import refuse, shown

COUNTS = (CountRows, CountValues, CountPersons, CountDistinct, CountDistinctValues)


@dataclass(frozen=True)
class PublicTable:
    """Columns with their types, and rows of public keys."""

    columns: Mapping[str, Sequence[Key | None]]
    types: dict[str, Type]
    keys: tuple[str, ...]  # those that list keys
    groups: tuple[Group, ...] = ()  # from which keys follow, and of which relation
    relation: Relation | None = None


def read_public_table(text: object, policy: Policy) -> PublicTable | None:
    """The answer to a question that needs no row; None for all others. Refused where it would be one, and is wrong."""
    tree = read_tree(text, policy)
    counted = any(item.find(exp.AggFunc) for item in tree.expressions) or tree.args.get("having") is not None
    counted = counted or tree.args.get("qualify") is not None
    grouped, distinct = tree.args.get("group") is not None, tree.args.get("distinct") is not None
    limit, where = tree.args.get("limit"), tree.args.get("where")
    none = isinstance(limit, exp.Limit) and limit_of(tree) == 0
    conditions = [] if where is None else where.this.flatten() if isinstance(where.this, exp.And) else [where.this]
    constant = any(part.find(exp.Column) is None for part in conditions)
    if not (none or constant or (not counted and (grouped or distinct))):
        return None
    reader = Reader(FromReader(policy).scope(tree))
    condition = None if where is None else reader.kept(where.this)
    if none or (_is_false(condition) and (grouped or not counted)):
        return _empty(tree, reader)
    return None if counted or grouped == distinct else _keys(tree, reader, condition)


def _is_false(condition: Expression | None) -> bool:
    """Whether no row can meet it, whatever it holds."""
    match condition:
        case Constant(value):
            return value is False
        case Compare(sign, Constant(left), Constant(right)):
            return not OPERATORS[sign](left, right)
        case Logic(True, parts):
            return any(_is_false(part) for part in parts)
    return False


def _empty(tree: exp.Select, reader: Reader) -> PublicTable:
    types: dict[str, Type] = {}
    for item in _items(tree, reader):
        node = item.unalias()
        if type(node) in READERS:
            name, kind = READERS[type(node)].name, _type(read_aggregate(node, reader, ""))
        elif isinstance(node, MARKS):
            name, kind = shown(node), Type.INTEGER
        elif node.find(exp.AggFunc) is not None:
            name, kind = shown(node), Type.FLOAT  # computed from aggregates
        else:
            name, kind = node.name if isinstance(node, exp.Column) else shown(node), reader.value(node).facts.type
        name, number = item.alias if isinstance(item, exp.Alias) else name, 1
        while (called := name if number == 1 else f"{name}_{number}") in types:
            number += 1
        types[called] = kind
    return PublicTable({name: [] for name in types}, types, ())


def _type(aggregate: Aggregate) -> Type:
    if isinstance(aggregate, COUNTS):
        return Type.INTEGER
    return Type.FLOAT if aggregate.is_number else aggregate.values.facts.type


def _items(tree: exp.Select, reader: Reader) -> list[exp.Expr]:
    """The columns of SELECT, with those that a star stands for."""
    items: list[exp.Expr] = []
    for item in tree.expressions:
        if not item.is_star:
            items.append(item)
            continue
        of = item.text("table").lower() if isinstance(item, exp.Column) else ""
        named = [name for name in reader.scope.names if of in ("", name.called.lower())]
        items += [exp.column(name.name, table=name.called, quoted=True) for name in named]
    if len(items) > MOST_COLUMNS:
        raise refuse(tree, f"more than {MOST_COLUMNS} columns are not answered at once", "fewer columns")
    return items


def _keys(tree: exp.Select, reader: Reader, where: Expression | None) -> PublicTable | None:
    wanted = [(item, reader.value(item.unalias())) for item in tree.expressions if not item.is_star]
    if len(wanted) < len(tree.expressions):
        return None  # single rows
    grouped, sets = group_by(tree, reader, list(wanted)) if tree.args.get("group") is not None else (None, ())
    if sets:
        return None  # rows of totals are no keys
    if grouped is not None and any(all(group.meaning != by for _, by in wanted) for group in grouped):
        return None  # a key that is not shown repeats those that are
    groups: list[Group] = []
    for item, by in wanted:
        node = item.unalias()
        if grouped is not None and all(group.meaning != by for group in grouped):
            return None  # single rows
        if any(group.meaning == by for group in groups):
            raise refuse(item, "it is the same column twice, and not every pair of its keys", "each column once")
        known = reader.keys(by, node)
        if known.keys is None:
            why = "nobody declared its keys, and which there are is private: they are released at a price, with counts"
            raise refuse(item, why, f"{shown(node)} beside COUNT(*), with GROUP BY {shown(node)}")
        name = item.alias or (node.name if isinstance(node, exp.Column) else shown(node))
        groups.append(Group(name, known.by, known.keys, None if known.by == by else by, known.open_keys))
    names = [group.name for group in groups]
    if len({name.lower() for name in names}) < len(names):
        raise refuse(tree, "two columns of the answer would have one name", "another name behind AS for one of them")
    if prod(len(group.listed) for group in groups) > MOST_ROWS:
        raise refuse(tree, f"there are more than {MOST_ROWS} combinations of keys", "fewer columns")
    rows: list[Sequence[Key]] = list(product(*(group.listed for group in groups)))
    for part in _conjuncts(where):
        rows = _met(part, groups, rows)
    for order in reversed(order_by(tree, reader, groups, lambda _: None, names)):
        place = names.index(order.name)
        rows.sort(key=lambda row, at=place: row[at], reverse=order.descending)  # type: ignore[misc]
    rows = rows[offset_of(tree) :][: limit_of(tree)]
    columns = {group.name: group.named([row[at] for row in rows]) for at, group in enumerate(groups)}
    types = {group.name: group.by.facts.type for group in groups}
    listed = {name: [key for key in column if key is not None] for name, column in columns.items()}
    return PublicTable(listed, types, tuple(names), tuple(groups), reader.scope.relation)


def _conjuncts(where: Expression | None) -> list[Expression]:
    """Conditions that are all to be met."""
    if isinstance(where, Logic) and where.every:
        return [one for part in where.parts for one in _conjuncts(part)]
    return [] if where is None else [where]


def _met(condition: Expression, groups: Sequence[Group], rows: list[Sequence[Key]]) -> list[Sequence[Key]]:
    """The keys that meet a condition; all of them where it looks at anything else. A key at the edge of bounds stands for
    what is beyond, too, and is left as it is."""
    places: dict[Column, int] = {}
    for column in columns_of(condition):
        found = (at for at, group in enumerate(groups) if group.by == ColumnValue(column) and group.asked is None)
        place = next(found, None)
        if place is None:
            return rows
        places[column] = place
    if not places:
        return rows
    met = kept(condition, [replace(column, keys=groups[at].listed) for column, at in places.items()])
    return [row for row in rows if tuple(row[at] for at in places.values()) in met]
