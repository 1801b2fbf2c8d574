"""Scalar subqueries about a public table alone, `cost > (SELECT AVG(price) FROM tariffs)`: exact numbers, at no price.

They are computed on the public rows when a quote is made, and their numbers stand in the question as if the analyst had
written them: another number is another question.

Theorem. What is computed here is 0-differentially private for the people of all protected tables. Proof. It is a function of
the question and of the rows of one public table; no protected row is read.

Rows are read as those of any question are, by the templates; sums are correctly rounded, whatever the order of the rows.
Whatever fails here fails before anything is charged, and for everybody alike.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from sqlglot import exp

from dither.errors import DataError, QuestionError
from dither.query.engines.templates.relations import relation_sql, rows_of, with_tables
from dither.query.holdings import Holdings
from dither.query.plan.base import Expression
from dither.query.plan.expressions import Constant
from dither.query.plan.relations import FilterRows, Project, Relation, Scan
from dither.query.policy.column import Column
from dither.query.policy.table import Table
from dither.query.sql import scope
from dither.query.sql.clauses.scalar_subqueries import reads_as, scalars_of
from dither.query.sql.expressions import Reader
from dither.query.sql.options import read_options
from dither.query.sql.rewrites.qualified_names import without_schemas
from dither.query.sql.syntax import check, read, refuse, shown

OF: dict[type[exp.Expr], str] = {
    **{exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg"},
    **{exp.Min: "min", exp.Max: "max", exp.Median: "median"},
}
EXAMPLE = "AVG(x), SUM, MIN, MAX, MEDIAN or COUNT of a public table, and + - * / of them"


def with_public_constants(text: str, holdings: Holdings) -> str:
    """The question with numbers in the place of subqueries about public tables; the same text where there are none."""
    public = {table.name.lower(): table for table in holdings.policy.tables if table.public}
    if not public or text.lower().count("select") < 2 or read_options(text)[0] != text:
        return text
    tree = read(text)
    without_schemas(tree)
    check(text, tree)
    given = {part.alias.lower() for part in tree.find_all(exp.CTE)}
    found = False
    for node in list(scalars_of(tree)):
        inner = node.unnest()
        if not isinstance(inner, exp.Select) or inner.args.get("joins"):
            continue
        source = inner.args.get("from_")
        if source is None or not isinstance(source.this, exp.Table):
            continue
        table = public.get(source.this.name.lower())
        if table is not None and source.this.name.lower() not in given:
            node.replace(_literal(node, PublicSubquery(inner, source.this, table, holdings).value()))
            found = True
    return _written(tree) if found else text


class PublicSubquery:
    """One number of the rows of a public table."""

    def __init__(self, inner: exp.Select, source: exp.Table, table: Table, holdings: Holdings) -> None:
        self._inner, self._table, self._holdings = inner, table, holdings
        for clause in ("group", "having", "qualify", "limit", "distinct", "with_"):
            if inner.args.get(clause) is not None:
                raise refuse(inner, "one number is compared, of all rows of a public table or of those in WHERE", EXAMPLE)
        if len(inner.expressions) != 1:
            raise refuse(inner, "it gives more than one column, and one number is compared", EXAMPLE)
        self._reader = Reader(scope.outside(Scan(table), source.alias or source.name))
        self._parts: list[Expression] = []

    def value(self) -> Fraction | None:
        """The number; None for NULL."""
        where = self._inner.args.get("where")
        condition = None if where is None else self._reader.kept(where.this)
        asked = self._inner.expressions[0].unalias()
        if not _totals(asked):
            raise refuse(asked, "it is no number of a public table that is computed here", EXAMPLE)
        for node in _totals(asked):
            star = isinstance(node, exp.Count) and isinstance(node.this, exp.Star)
            part: Expression = Constant(Fraction(1)) if star else self._reader.value(node.this)
            if not isinstance(node, exp.Count) and not part.facts.type.is_number:
                raise refuse(node, "it gives no number", EXAMPLE)
            self._parts.append(part)
        try:
            rows = self._rows(condition)
        except RuntimeError:  # the engine's, of public rows alone
            raise DataError(
                "source", self._table.name, "its rows cannot be read", "the table that the policy names"
            ) from None
        try:
            return self._computed(asked, [list(column) for column in zip(*rows, strict=True)] if rows else [])
        except (OverflowError, ValueError):
            raise refuse(self._inner, "it has infinities, or is beyond what doubles hold", EXAMPLE) from None

    def _rows(self, condition: Expression | None) -> list[tuple[Any, ...]]:
        of: Relation = Scan(self._table)
        of = of if condition is None else FilterRows(of, condition)
        columns = tuple((Column(f"value {at}", part.facts.type), part) for at, part in enumerate(self._parts))
        source = self._holdings.table_source(self._table)
        words = self._holdings.engine.words
        places = {self._table.name: (rows_of(words, self._table.name), source.texts)}
        sql = relation_sql(words, Project(of, columns, hide=False), places)
        with self._holdings.engine.reading([source]) as run:
            return run(with_tables(words, {self._table.name: source.relation}, sql), lambda _: True)

    def _computed(self, node: exp.Expr, columns: Sequence[Sequence[Any]]) -> Fraction | None:
        node = node.unnest()
        if isinstance(node, exp.Literal) and not node.is_string:
            found = self._reader.value(node)
            assert isinstance(found, Constant)
            assert isinstance(found.value, Fraction)
            return found.value
        if isinstance(node, exp.Neg):
            inner = self._computed(node.this, columns)
            return None if inner is None else -inner
        if isinstance(node, (exp.Add, exp.Sub, exp.Mul, exp.Div)):
            one, other = (self._computed(side, columns) for side in (node.this, node.expression))
            if one is None or other is None or (isinstance(node, exp.Div) and not other):
                return None
            if isinstance(node, (exp.Add, exp.Sub)):
                return one + other if isinstance(node, exp.Add) else one - other
            return one * other if isinstance(node, exp.Mul) else one / other
        if type(node) not in OF:
            raise refuse(node, "it is no number of a public table that is computed here", EXAMPLE)
        at = next(at for at, total in enumerate(_totals(self._inner.expressions[0])) if total is node)
        return total_of(OF[type(node)], columns[at] if columns else [])


def total_of(kind: str, cells: Sequence[Any]) -> Fraction | None:
    """A total of cells that are there, whatever their order: exact where they are whole, otherwise rounded once."""
    known = [cell for cell in cells if cell is not None]
    if kind == "count":
        return Fraction(len(known))
    if not known:
        return None
    if kind in ("min", "max"):
        return Fraction(min(known) if kind == "min" else max(known))
    if kind == "median":
        return Fraction(statistics.median(map(Fraction, known)))
    total = Fraction(sum(known)) if all(isinstance(cell, int) for cell in known) else Fraction(math.fsum(known))
    return total if kind == "sum" else total / len(known)


def _totals(node: exp.Expr) -> list[exp.Expr]:
    return [one for one in node.find_all(exp.AggFunc) if one.find_ancestor(exp.AggFunc) is None]


def _literal(node: exp.Expr, value: Fraction | None) -> exp.Expr:
    if value is None:
        raise refuse(node, "it is NULL, which nothing compares with", "the question without the comparison")
    text = str(value.numerator) if value.denominator == 1 else repr(float(value))
    number = exp.Literal.number(text.removeprefix("-"))
    return exp.Paren(this=exp.Neg(this=number)) if text.startswith("-") else number


def _written(tree: exp.Expr) -> str:
    """The text of a tree that reads as the same tree again."""
    text = shown(tree)
    if not reads_as(text, tree):
        raise QuestionError("subquery", text, "it cannot be asked with a number in its place", "the number, written out")
    return text
