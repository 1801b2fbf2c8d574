"""Clauses that look at the answer: HAVING, ORDER BY, LIMIT and OFFSET, by names of released columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sqlglot import exp

from dither.query.plan.aggregates import Aggregate
from dither.query.plan.derived import Derived
from dither.query.plan.question import Group, Having, OrderBy
from dither.query.sql.aggregates import READERS, read_aggregate
from dither.query.sql.clauses.grouping_sets import MARKS, Marks
from dither.query.sql.clauses.having import HavingReader
from dither.query.sql.derived import DerivedReader
from dither.query.sql.expressions import Reader
from dither.query.sql.syntax import refuse, shown


class ReleasedColumns(NamedTuple):
    """What HAVING and ORDER BY may name: aggregates, and columns that are computed from them."""

    aggregates: list[Aggregate]
    derived: list[Derived]
    computing: DerivedReader
    marks: Marks

    def named(self, node: exp.Expr) -> str | None:
        """The column that a node names, by its name or written out again."""
        if isinstance(node, MARKS):
            return self.marks.named(node)
        if isinstance(node, exp.Column):
            name = None if node.table else node.name.lower()
            names = [found.name for found in self.aggregates] + [found.name for found in self.derived] + self.marks.names
            return next((found for found in names if found.lower() == name), None)
        if type(node) in READERS:
            again = read_aggregate(node, self.computing.reader, "")
            return next((found.name for found in self.aggregates if replace(found, name="") == again), None)
        meant = self.computing.meaning(node)
        return None if meant is None else next((found.name for found in self.derived if found.of == meant), None)


def read_having(
    tree: exp.Select,
    reader: Reader,
    groups: list[Group],
    released: ReleasedColumns,
    meant: Callable[[exp.Expr], exp.Expr],
) -> tuple[Having, ...]:
    """The conditions of HAVING; what they need that SELECT does not name is added to the aggregates."""
    clause = tree.args.get("having")
    if clause is None:
        return ()
    if any(aggregate.of_all_groups for aggregate in released.aggregates):
        why = "a running sum is of all groups, and HAVING would leave some out before"
        raise refuse(clause, why, "the question without HAVING, whose sums go through all groups")

    aggregates = released.aggregates

    def named(node: exp.Expr) -> str | None:
        name = released.named(node)
        if name is None and type(node) in READERS:
            taken: list[Aggregate | Group] = [*groups, *aggregates]
            aggregates.append(read_aggregate(node, reader, unused_name(READERS[type(node)].name, taken)))
            name = aggregates[-1].name
        if any(found.name == name and not found.is_number for found in aggregates):
            raise refuse(node, f"{name} is no number that could be compared with one", "HAVING about a number of the answer")
        if any(found.name == name and found.has_window for found in released.derived):
            why = "windows look at the rows that HAVING has kept, so it cannot look at them"
            raise refuse(node, why, "QUALIFY, which looks at windows")
        return name

    return HavingReader(reader, groups, named, meant).conditions(clause)


def order_by(
    tree: exp.Select, reader: Reader, groups: list[Group], named: Callable[[exp.Expr], str | None], columns: list[str]
) -> tuple[OrderBy, ...]:
    """The columns of the answer by which its rows are sorted."""
    clause = tree.args.get("order")
    orders = []
    for item in [] if clause is None else clause.expressions:
        node = item.this
        number = whole(node)
        name = columns[number - 1] if number is not None and 1 <= number <= len(columns) else None
        if isinstance(node, exp.Column) and not node.table:
            name = next((other for other in columns if other.lower() == node.name.lower()), None)
        if name is None and number is None:
            meaning = None if type(node) in READERS else reader.meaning(node)
            of_group = next((group.name for group in groups if group.meaning == meaning and group.name in columns), None)
            name = named(node) or of_group
        if name is None:
            listed = ", ".join(shown(exp.to_identifier(name)) for name in columns)
            why = "ORDER BY sorts by columns of the answer"
            others = "" if item.find(exp.AggFunc) else f"; or one of its columns: {listed}"
            raise refuse(item, why, f"it in SELECT too, with a name to sort by{others}")
        orders.append(OrderBy(name, bool(item.args.get("desc"))))
    return tuple(orders)


def limit_of(tree: exp.Select) -> int | None:
    """How many rows are shown at most."""
    clause = tree.args.get("limit")
    if clause is None:
        return None
    number = whole(clause.expression) if isinstance(clause, exp.Limit) else None
    if number is None:
        raise refuse(clause, "LIMIT is a whole number", "a number of rows such as 10")
    return number


def offset_of(tree: exp.Select) -> int:
    """How many rows are left out before those that are shown."""
    clause = tree.args.get("offset")
    if clause is None:
        return 0
    number = whole(clause.expression)
    if number is None:
        raise refuse(clause, "OFFSET is a whole number", "a number of rows such as 10")
    return number


def whole(node: Any) -> int | None:
    """A number of at most 18 digits, as written."""
    if not isinstance(node, exp.Literal) or node.is_string or not re.fullmatch(r"[0-9]{1,18}", str(node.this)):
        return None
    return int(node.this)


def unused_name(name: str, named: Sequence[Aggregate | Group]) -> str:
    """A name like this one that no column has."""
    taken = {one.name.lower() for one in named}
    number = 1
    while (candidate := name if number == 1 else f"{name}_{number}") in taken:
        number += 1
    return candidate
