"""Conditions between two relations: those of ON and USING, and those of a WHERE that looks outside its own SELECT."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from dither.query.plan.base import Expression
from dither.query.plan.expressions import ColumnValue, Compare
from dither.query.policy.column import Column
from dither.query.sql.expressions import Reader
from dither.query.sql.join_kinds.owners import Beside, renamed
from dither.query.sql.scope import Scope
from dither.query.sql.syntax import refuse


@dataclass(frozen=True)
class CorrelatedScope(Scope):
    """The names inside a SELECT; one that is not known there means what it means around it."""

    around: Scope = field(kw_only=True)

    def column(self, node: exp.Expr) -> Column:
        """The column that a name means."""
        called = node.text("table").lower()
        here = any(known.called.lower() == called for known in self.names) if called else self.holds(node.name)
        there = any(one.called.lower() == called for one in self.around.names) if called else self.around.holds(node.name)
        return self.around.column(node) if there and not here else super().column(node)


def parts_of(tree: exp.Select) -> Iterator[exp.Expr]:
    """The parts of a SELECT itself, from the top down: of WHERE, of its columns and of GROUP BY; not of others in it."""
    waiting = [tree.args.get("where"), *tree.expressions, tree.args.get("group")]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, exp.Expr) and not isinstance(node, exp.Query):
            yield node
            if not isinstance(node, exp.Exists) and node.args.get("query") is None:
                waiting += list(node.iter_expressions())


def conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    """Conditions that are joined by AND."""
    inner = condition.unnest()
    if isinstance(inner, exp.And):
        return [part for side in (inner.this, inner.expression) for part in conjuncts(side)]
    return [inner]


def on_conditions(join: exp.Join, left: Scope, right: Scope, columns: Beside) -> list[Expression]:
    """All conditions of ON or USING, about columns as they are called in the join."""
    using, condition = join.args.get("using"), join.args.get("on")
    if using:
        here = {there: here for here, there in columns}
        pairs = [[side.column(exp.column(node.name)) for side in (left, right)] for node in using]
        for mine, theirs in pairs:
            if mine.type is not theirs.type:
                kinds = f"{mine.type.value} and {theirs.type.value}"
                raise refuse(join, f"values of different types are joined: {kinds}", "columns of one type")
        return [Compare("=", ColumnValue(mine), ColumnValue(here[theirs])) for mine, theirs in pairs]
    if condition is None:
        raise refuse(join, "without ON every row would meet every other", "ON with the person or a public key")
    reader = Reader(Scope(left.relation, left.names + renamed(right, columns)))
    return [reader.condition(part) for part in conjuncts(condition)]
