"""Columns by their places: `AS t (a, b)` behind an inner question, and the parts of UNION ALL.

A relation has its columns in an order of its own (a person's totals begin with the person), while SQL counts those of SELECT
as they are written. So places are looked up by name: each column of an inner question has one of its own.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dither.query.plan.expressions import ColumnValue
from dither.query.plan.relations import Project, Relation, shown_columns
from dither.query.sql.person_totals import written_name
from dither.query.sql.scope import Scope
from dither.query.sql.syntax import refuse


def with_column_names(found: Scope, node: exp.Expr, query: exp.Expr | None) -> Scope:
    """The scope of a table or of an inner question `query`, under the names that the alias of `node` gives its columns."""
    alias = node.args.get("alias")
    columns = [] if alias is None else alias.args.get("columns") or []
    names = [name.name for name in found.names] if query is None else _written(query)
    if names is not None and query is not None:  # names in the order in which they are written
        found = Scope(found.relation, tuple(sorted(found.names, key=lambda name: names.index(name.name))))
    if not columns:
        return found
    if names is None:
        raise refuse(node, "a star stands for columns whose places are not written", "the names of columns instead of *")
    new = [column.name for column in columns]
    if len(new) > len(names) or len({name.lower() for name in new}) < len(new):
        raise refuse(node, f"{len(names)} columns get other names here, each one of its own", f"{len(names)} names at most")
    given = {name.lower(): other for name, other in zip(names, new, strict=False)}
    renamed = tuple(replace(name, name=given.get(name.name.lower(), name.name)) for name in found.names)
    return Scope(found.relation, renamed)


def in_written_order(relation: Relation, query: exp.Expr) -> Relation:
    """The same rows with their columns as SELECT has them."""
    names, columns = _written(query), shown_columns(relation.table)
    if names is None or names == [column.name for column in columns] or len(names) != len(columns):
        return relation
    ordered = [next(column for column in columns if column.name == name) for name in names]
    hide = relation.table.person not in names
    return Project(relation, tuple((column, ColumnValue(column)) for column in ordered), hide=hide)


def _written(query: exp.Expr) -> list[str] | None:
    """What the columns of an inner question are called, in order; None where a star stands among them."""
    query = query.unnest()
    while isinstance(query, exp.Union):  # named by its first part
        query = query.this.unnest()
    items = query.expressions
    return None if any(item.is_star for item in items) else [written_name(item) for item in items]
