"""A question whose tables are all public, as nodes; None for every other. What is not listed here is refused.

Theorem. The answer to such a question is 0-differentially private, for both units. Proof. Every table behind FROM is looked
up here, in all inner questions: it is a public table of the policy, or a name that WITH gave to a question of which the same
holds. So the SELECT that is written of these nodes (`public/template.py`) reads the question and public tables alone, which
are the same in neighbouring databases; and so do its failures and the time it takes.

The names of columns are looked up by the engine, as in plain SQL: correlated questions mean what they mean there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from dither.query.policy.policy import Policy
from dither.query.policy.table import NAME_LENGTH
from dither.query.public.functions import BINARY, CALLS, CASTS, JOINS, SEVERAL
from dither.query.public.nodes import WORDS, Constant, Name, Node, Order, PublicSelect, PublicUnion, Rows, Term
from dither.query.sql.rewrites.qualified_names import without_schemas
from dither.query.sql.syntax import read, refuse, shown

CLAUSES = {"with_", "distinct", "expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset"}
Given = frozenset[str]


def read_public(text: object, policy: Policy) -> PublicSelect | None:
    """The question about public tables that a text asks; None where a table of it is not public, or unknown."""
    tree = read(text)
    public = {table.name.lower(): table for table in policy.tables if table.public}
    named = {part.alias.lower() for part in tree.find_all(exp.CTE)}
    tables = {node.name.lower() for node in tree.find_all(exp.Table)}
    if not tables & set(public) or not tables <= set(public) | named:
        return None
    without_schemas(tree)
    try:
        found = _Reader(public, tree).select(tree, frozenset())
    except _OtherTableError:
        return None
    called = [name.lower() for _, name in found.items if name is not None]
    if len(set(called)) < len(called):
        raise refuse(tree, "two columns of the answer would have one name", "AS another_name behind one of them")
    return found


class _OtherTableError(Exception):
    """A table that is not public: the question is none of these."""


class _Reader:
    """Reads the nodes of one tree."""

    def __init__(self, public: Mapping[str, Any], tree: exp.Expr) -> None:
        self._public = public
        self._known = {column.name.lower() for table in public.values() for column in table.columns}
        self._known |= {node.alias.lower() for node in tree.find_all(exp.Alias)}
        self._known |= {
            column.name.lower() for node in tree.find_all(exp.TableAlias) for column in node.args.get("columns") or []
        }

    # -- questions -----------------------------------------------------------------------------------------------------

    def query(self, node: exp.Expr, given: Given) -> PublicSelect | PublicUnion:
        node = node.unnest()
        if isinstance(node, exp.Union) and type(node) is exp.Union and not node.args.get("with_"):
            extra = [name for name in ("order", "limit", "offset", "by_name") if node.args.get(name)]
            if not extra:
                left, right = self.query(node.this, given), self.query(node.expression, given)
                return PublicUnion(left, right, every=not node.args.get("distinct"))
        if not isinstance(node, exp.Select):
            raise refuse(node, "it is no SELECT, nor two joined by UNION", "SELECT ... FROM ...")
        return self.select(node, given)

    def select(self, node: exp.Select, given: Given) -> PublicSelect:
        extra = [name for name, part in node.args.items() if name not in CLAUSES and part not in (None, False, [])]
        distinct, group, order = node.args.get("distinct"), node.args.get("group"), node.args.get("order")
        if extra or (distinct is not None and distinct.args.get("on") is not None):
            word = (extra or ["DISTINCT ON"])[0].strip("_").upper()
            raise refuse(node, f"{word} is not answered here", "the question without it")
        named: list[tuple[str, tuple[str, ...], PublicSelect | PublicUnion]] = []
        clause = node.args.get("with_")
        if clause is not None and clause.args.get("recursive"):
            raise refuse(clause, "a question that asks itself is not answered", "WITH, without RECURSIVE")
        for part in [] if clause is None else clause.expressions:
            inner = self.query(part.this, given)
            name, columns = self._called(part)
            named.append((name, columns, inner))
            given = given | {name.lower()}
        source = node.args.get("from_")
        rows = [] if source is None else [self._rows(source.this, given, None)]
        rows += [self._rows(join.this, given, join) for join in node.args.get("joins") or []]
        if group is not None and any(part for name, part in group.args.items() if name != "expressions"):
            raise refuse(group, "GROUP BY is answered by columns and expressions here", "GROUP BY with names of columns")
        items = tuple((self.node(item.unalias(), given), self._item_name(item)) for item in node.expressions)
        return PublicSelect(
            tuple(named),
            distinct is not None,
            items,
            tuple(rows),
            self._condition(node, "where", given),
            () if group is None else tuple(self.node(part, given) for part in group.expressions),
            self._condition(node, "having", given),
            () if order is None else tuple(self._order(part, given) for part in order.expressions),
            self._number(node, "limit"),
            self._number(node, "offset"),
        )

    def _condition(self, node: exp.Select, clause: str, given: Given) -> Node | None:
        return None if node.args.get(clause) is None else self.node(node.args[clause].this, given)

    def _order(self, part: exp.Expr, given: Given) -> Order:
        return Order(self.node(part.this, given), bool(part.args.get("desc")))

    def _number(self, node: exp.Select, clause: str) -> int | None:
        found = node.args.get(clause)
        if found is None:
            return None
        number = found.expression if isinstance(found, (exp.Limit, exp.Offset)) else None
        options = found.args.get("limit_options")
        if options or not isinstance(number, exp.Literal) or not re.fullmatch(r"[0-9]{1,18}", str(number.this)):
            raise refuse(found, f"{clause.upper()} is a whole number", f"{clause.upper()} 10")
        return int(number.this)

    def _item_name(self, item: exp.Expr) -> str | None:
        if item.is_star:
            return None
        if isinstance(item, exp.Alias):
            return self._name(item, item.alias)
        return item.name if isinstance(item, exp.Column) else shown(item)[:NAME_LENGTH]

    def _name(self, node: exp.Expr, name: str) -> str:
        if not 0 < len(name) <= NAME_LENGTH or not name.isprintable():
            raise refuse(node, f"a name has 1 to {NAME_LENGTH} printable characters", "another name behind AS")
        return name

    def _called(self, node: exp.Expr) -> tuple[str, tuple[str, ...]]:
        alias = node.args.get("alias")
        columns = [] if alias is None else alias.args.get("columns") or []
        return self._name(node, node.alias), tuple(self._name(node, column.name) for column in columns)

    def _rows(self, node: exp.Expr, given: Given, join: exp.Join | None) -> Rows:
        facts: dict[str, Any] = {}
        if join is not None:
            word = tuple(str(join.args.get(part) or "").upper() for part in ("side", "kind"))
            if word not in JOINS or join.args.get("method"):
                raise refuse(join, "such a join is not answered here", "JOIN, LEFT JOIN, RIGHT JOIN, FULL JOIN or a comma")
            on, using = join.args.get("on"), join.args.get("using") or []
            bare = on is None and not using
            facts["join"] = "CROSS JOIN" if bare and JOINS[word] == "JOIN" else JOINS[word]
            facts["on"] = None if on is None else self.node(on, given)
            facts["using"] = tuple(self._name(join, column.name) for column in using)
        if isinstance(node, exp.Subquery):
            called = self._called(node) if node.alias else ("", ())
            return Rows(self.query(node.this, given), *called, **facts)
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier) or node.args.get("sample"):
            raise refuse(node, "it is not the name of a table", f"one of {', '.join(self._public)}")
        called = self._called(node) if node.alias else (node.name, ())
        of = node.name if node.name.lower() in given else self._public.get(node.name.lower())
        if of is None:
            raise _OtherTableError
        return Rows(of, *called, **facts)

    # -- values --------------------------------------------------------------------------------------------------------

    def node(self, node: exp.Expr, given: Given) -> Node:
        kind = type(node)
        special = SPECIAL.get(kind)
        if special is not None:
            return special(self, node, given)
        if kind in (exp.And, exp.Or):
            return Term("AND" if kind is exp.And else "OR", tuple(self.node(part, given) for part in node.flatten()))
        if kind in BINARY:
            return Term(BINARY[kind], (self.node(node.this, given), self.node(node.expression, given)))
        if kind in CALLS and not [part for name, part in node.args.items() if name not in ("this", "big_int") and part]:
            return Term(CALLS[kind], (self.node(node.this, given),))
        if kind in SEVERAL:
            word, names = SEVERAL[kind]
            if not [part for name, part in node.args.items() if name not in names and part]:
                found: list[exp.Expr] = []
                for name in names:
                    part = node.args.get(name)
                    found += part if isinstance(part, list) else [] if part is None else [part]
                return Term(word, tuple(self.node(part, given) for part in found))
        raise refuse(node, "it is not answered about public tables", "sums, counts, comparisons, CASE, dates, texts")

    def _column(self, node: exp.Expr, given: Given) -> Node:
        if isinstance(node.this, exp.Star):
            return Name(None, node.text("table") or None)
        if node.name.lower() not in self._known:
            raise refuse(node, "no public table has such a column", f"one of {', '.join(sorted(self._known))}")
        return Name(node.name, node.text("table") or None)

    def _literal(self, node: exp.Expr, given: Given) -> Node:
        text = str(node.this)
        if not node.is_string and not re.fullmatch(r"[0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30}", text):
            raise refuse(node, "a number has digits and perhaps a point", "0.01")
        return Constant(text, bool(node.is_string))

    def _count(self, node: exp.Expr, given: Given) -> Node:
        if isinstance(node.this, exp.Star):
            return Term("COUNT(*)")
        if isinstance(node.this, exp.Distinct) and len(node.this.expressions) == 1:
            return Term("COUNT", (Term("DISTINCT", (self.node(node.this.expressions[0], given),)),))
        return Term("COUNT", (self.node(node.this, given),))

    def _in(self, node: exp.Expr, given: Given) -> Node:
        query = node.args.get("query")
        options: Node = (
            self.query(query, given)
            if query is not None
            else Term("list", tuple(self.node(part, given) for part in node.expressions))
        )
        return Term("IN", (self.node(node.this, given), options))

    def _like(self, node: exp.Expr, given: Given) -> Node:
        word = ("NOT " if node.args.get("negate") else "") + ("ILIKE" if isinstance(node, exp.ILike) else "LIKE")
        return Term(word, (self.node(node.this, given), self.node(node.expression, given)))

    def _case(self, node: exp.Expr, given: Given) -> Node:
        of = node.args.get("this")
        parts: list[Node] = []
        for branch in node.args["ifs"]:
            when = self.node(branch.this, given)
            when = when if of is None else Term("=", (self.node(of, given), when))
            parts.append(Term("WHEN", (when, self.node(branch.args["true"], given))))
        default = node.args.get("default")
        return Term("CASE", (*parts, *([] if default is None else [Term("ELSE", (self.node(default, given),))])))

    def _part(self, node: exp.Expr, given: Given) -> Node:
        if isinstance(node, exp.Extract):
            word, of = f"EXTRACT {node.name.lower()}", node.expression
        elif isinstance(node, exp.Cast):
            word, of = f"CAST {CASTS.get(node.args['to'].this.name, '')}", node.this
            word = "" if node.args["to"].expressions else word
        else:
            word, of = f"TRUNC {node.text('unit').lower()}", node.this
        if word not in WORDS:
            raise refuse(node, "it is not answered about public tables", "another part, period or type")
        return Term(word, (self.node(of, given),))

    def _interval(self, node: exp.Expr, given: Given) -> Node:
        word, number = f"INTERVAL {node.text('unit').lower()}", str(node.name)
        if word not in WORDS or not re.fullmatch(r"-?[0-9]{1,6}", number):
            raise refuse(node, "it is not a whole number of years, months, days or hours", "INTERVAL '3' MONTH")
        return Term(word, (Constant(number),))

    def _query(self, node: exp.Expr, given: Given) -> Node:
        if isinstance(node, exp.Exists):
            return Term("EXISTS", (self.query(node.this, given),))
        return self.query(node, given)


SPECIAL: dict[type[exp.Expr], Callable[[_Reader, Any, Given], Node]] = {
    exp.Column: _Reader._column,
    exp.Star: lambda *_: Name(None),
    exp.Literal: _Reader._literal,
    exp.Null: lambda *_: Constant("NULL"),
    exp.Boolean: lambda _, node, __: Constant("TRUE" if node.this else "FALSE"),
    exp.Count: _Reader._count,
    exp.In: _Reader._in,
    exp.Like: _Reader._like,
    exp.ILike: _Reader._like,
    exp.Case: _Reader._case,
    exp.Extract: _Reader._part,
    exp.Cast: _Reader._part,
    exp.TimestampTrunc: _Reader._part,
    exp.DateTrunc: _Reader._part,
    exp.Interval: _Reader._interval,
    exp.Exists: _Reader._query,
    exp.Subquery: _Reader._query,
    exp.Select: _Reader._query,
}
