"""What stands behind FROM: tables, joins, questions within the question. Each becomes a relation whose rows have owners.

What is refused here would give rows without an owner, or with two: outer joins of protected rows, joins of protected
tables on anything but the person, groups of several people, rows that are left out because others are there.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dither.errors import QuestionError
from dither.query import scope
from dither.query.column import Column
from dither.query.expressions import Reader
from dither.query.own import check_names, column_of, per_person
from dither.query.plan import Cell, Compare
from dither.query.policy import Policy
from dither.query.relation import Chosen, Kept, Relation, SamePerson, Scan, Together, WithPublic, shown_columns
from dither.query.scope import Name, Scope
from dither.query.syntax import refuse, shown

MOST_RELATIONS = 30
MOST_PUBLIC = 4
MOST_COLUMNS = 200
Given = dict[str, "Scope"]  # questions that WITH gave a name, by that name in small letters


class FromReader:
    """Reads everything that rows can come from, under one policy."""

    def __init__(self, policy: Policy) -> None:
        self._policy, self._read = policy, 0

    def scope(self, tree: exp.Select) -> Scope:
        """The relation of a whole question, before its WHERE."""
        return self._from(tree, self._given(tree, {}))

    # -- tables and joins ------------------------------------------------------------------------------------------

    def _given(self, tree: exp.Expr, before: Given) -> Given:
        clause = tree.args.get("with_")
        known = dict(before)
        if clause is not None and clause.args.get("recursive"):
            raise refuse(clause, "a question that asks itself is not answered", "WITH, without RECURSIVE")
        given: list[str] = []
        for part in [] if clause is None else clause.expressions:
            if part.alias.lower() in given:
                raise refuse(part, f"WITH gives the name {part.alias} twice", "another name for one of them")
            given.append(part.alias.lower())
            known[part.alias.lower()] = self._inner(part.this, part.alias, known)
        return known

    def _from(self, tree: exp.Expr, given: Given) -> Scope:
        source = tree.args.get("from_")
        names = ", ".join(table.name for table in self._policy.tables)
        if source is None:
            raise QuestionError("FROM", None, "a question is about a table", f"FROM {self._policy.tables[0].name}")
        found = self._one(source.this, given, names)
        for join in tree.args.get("joins") or []:
            found = self._join(found, join, given, names)
        if found.table.person is None and _is_public(found.relation):
            raise refuse(source, "it is public: nobody in it is protected, so it needs no question", f"one of {names}")
        return found

    def _one(self, node: exp.Expr, given: Given, names: str) -> Scope:
        self._read += 1
        if self._read > MOST_RELATIONS:
            raise refuse(node, f"more than {MOST_RELATIONS} tables and inner questions are not answered at once", "fewer")
        alias = node.args.get("alias")
        if isinstance(node, exp.Subquery):
            if alias is None or not node.alias:
                raise refuse(node, "an inner question needs a name", f"{shown(node)} AS t")
            return self._inner(node.this, node.alias, given)
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            raise refuse(node, "it is not the name of a protected table", f"one of {names}")
        if alias is not None and not isinstance(alias.this, exp.Identifier):
            raise refuse(node, "it is not a name", f"one of {names}")
        called = node.alias or node.name
        if node.name.lower() in given:
            known = given[node.name.lower()]
            return scope.Scope(known.relation, tuple(replace(name, called=called) for name in known.names))
        table = self._policy.table(node.name)
        if table is None:
            raise refuse(node, "no table of that name is protected by this policy", f"one of {names}")
        return scope.of(Scan(table), called)

    def _join(self, left: Scope, join: exp.Join, given: Given, names: str) -> Scope:
        right = self._one(join.this, given, names)
        kind, side = str(join.args.get("kind") or "").upper(), str(join.args.get("side") or "").upper()
        called = right.names[0].called
        if called.lower() in [name.called.lower() for name in left.names]:
            raise refuse(join, f"two tables are called {called}", "an alias: JOIN visits AS other")
        if kind not in ("", "INNER", "OUTER") or side not in ("", "LEFT") or (kind == "OUTER" and side != "LEFT"):
            why = "such a join makes rows that are nobody's, or everybody's"
            raise refuse(join, why, "INNER JOIN, or a protected table LEFT JOIN a public one")
        publics = _is_public(left.relation), _is_public(right.relation)
        if publics[0]:
            raise refuse(
                join, "rows have an owner from the first table on", "the protected table first, then JOIN the public one"
            )
        columns = scope.unlike(right.table.columns, called, left.table.columns)
        both = Scope(left.relation, left.names + _renamed(right, columns))
        on = self._on(join, both, left, right, columns)
        if publics[1]:
            return self._with_public(left, right, join, columns, on, keep_all=side == "LEFT")
        if side == "LEFT":
            why = "a protected table beside another keeps rows whose other half is missing, or is there"
            raise refuse(join, why, "INNER JOIN of the two on the person")
        return self._same_person(left, right, join, columns, on)

    def _on(
        self, join: exp.Join, both: Scope, left: Scope, right: Scope, columns: tuple[tuple[Column, Column], ...]
    ) -> list[Compare]:
        using, condition = join.args.get("using"), join.args.get("on")
        mine = {here for here, _ in columns}
        if using:
            found = []
            for node in using:
                pair = [side.column(exp.column(node.name)) for side in (left, right)]
                here = next(here for here, there in columns if there == pair[1])
                found.append(Compare("=", Cell(pair[0]), Cell(here)))
        elif condition is not None:
            parts = list(condition.flatten()) if isinstance(condition, exp.And) else [condition]
            reader = Reader(both)
            found = []
            for part in (part.unnest() for part in parts):
                equal = reader.meaning(part)
                if not isinstance(equal, Compare) or equal.operator != "=":
                    if equal is None:
                        reader.value(part)  # an unknown column is the better message
                    raise refuse(part, "tables are joined by equalities, joined by AND", "ON a.ward = b.ward")
                found.append(equal)
        else:
            raise refuse(join, "without ON every row would meet every other", "ON with the person or a public key")
        turned = []
        for equal in found:
            sides = [_columns(equal.left), _columns(equal.right)]
            if sides[0] <= mine and not sides[1] & mine:
                equal, sides = Compare("=", equal.right, equal.left), sides[::-1]
            if sides[0] & mine or not sides[1] or not sides[1] <= mine or not sides[0]:
                raise refuse(
                    join, "each equality has one table on its left and the other on its right", "ON a.ward = b.ward"
                )
            if equal.left.facts.type is not equal.right.facts.type:
                kinds = f"{equal.left.facts.type.value} and {equal.right.facts.type.value}"
                raise refuse(join, f"values of different types are joined: {kinds}", "columns of one type")
            turned.append(equal)
        return turned

    def _with_public(
        self,
        left: Scope,
        right: Scope,
        join: exp.Join,
        columns: tuple[tuple[Column, Column], ...],
        on: list[Compare],
        *,
        keep_all: bool,
    ) -> Scope:
        if left.table.person is None:
            why = "one row is one person here, and a match with two rows would make two persons of one"
            raise refuse(join, why, "a table whose policy names the column of the person")
        assert isinstance(right.relation, Scan)
        if keep_all:
            columns = tuple((replace(here, nullable=True), there) for here, there in columns)
        relation = _limited(WithPublic(left.relation, right.relation, columns, tuple(on), keep_all), join)
        return Scope(relation, left.names + _renamed(right, columns))

    def _same_person(
        self,
        left: Scope,
        right: Scope,
        join: exp.Join,
        columns: tuple[tuple[Column, Column], ...],
        on: list[Compare],
    ) -> Scope:
        mine, theirs = _person(left), _person(right)
        if mine is None or theirs is None:
            why = "two protected tables are joined on the person, and in one of these a row is a person without a name"
            raise refuse(join, why, "tables whose policy names the column of the person")
        here = next(here for here, there in columns if there == theirs)
        same = Compare("=", Cell(mine), Cell(here))
        if same not in on:
            why = "two protected tables are joined on the person, so that a row has one owner"
            named = mine in shown_columns(left.table) and theirs in shown_columns(right.table)
            equal = f"ON {left.names[0].called}.{mine.name} = {right.names[0].called}.{theirs.name}"
            raise refuse(join, why, equal if named else "the person among the columns of both, and ON with the two")
        shared = {table.name for table in left.relation.tables if not table.public}
        shared &= {table.name for table in right.relation.tables}
        if shared and not (left.table.alone or right.table.alone):
            why = "a table joined with itself counts a person once for every pair of her rows"
            raise refuse(
                join, why, "an inner question with the person's own totals: SELECT person, COUNT(*) ... GROUP BY person"
            )
        kept = tuple((other, there) for other, there in columns if there != theirs)
        joined = SamePerson(left.relation, right.relation, kept, tuple(equal for equal in on if equal != same))
        relation = _limited(joined, join)
        names = tuple(
            replace(name, column=mine) if name.column == here else name for name in _renamed(right, columns)
        )  # the person is the same on both sides
        return Scope(relation, left.names + names)

    # -- questions within the question -----------------------------------------------------------------------------

    def _inner(self, node: exp.Expr, called: str, given: Given) -> Scope:
        relation = _limited(self._rows(node, given), node)
        return Scope(relation, tuple(Name(called, column.name, column) for column in shown_columns(relation.table)))

    def _rows(self, node: exp.Expr, given: Given) -> Relation:
        if isinstance(node, exp.Subquery) and node.args.get("alias") is None:
            return self._rows(node.this, given)
        if isinstance(node, exp.Union):
            return self._union(node, self._given(node, given))
        if not isinstance(node, exp.Select):
            raise refuse(node, "an inner question is a SELECT, or several joined by UNION ALL", "SELECT ... FROM ...")
        for clause, why, instead in (
            ("limit", "LIMIT keeps some people's rows because of others'", "the question without LIMIT, or WHERE"),
            ("order", "the order of rows means nothing inside a question", "ORDER BY at the very end"),
        ):
            if node.args.get(clause) is not None:
                raise refuse(node.args[clause], why, instead)
        found = self._from(node, self._given(node, given))
        reader = Reader(found)
        where = node.args.get("where")
        relation = found.relation if where is None else Kept(found.relation, reader.condition(where.this))
        items = self._items(node, found)
        if node.args.get("group") is not None or node.args.get("distinct") is not None:
            return per_person(node, relation, reader, items)
        for item in items:
            if item.find(exp.AggFunc):
                why = "an inner total over several people is a release of its own, and has no owner"
                raise refuse(item, why, f"GROUP BY {found.table.person or 'the person'}: a person's own totals")
        if node.args.get("having") is not None:
            raise refuse(node.args["having"], "HAVING needs GROUP BY", "WHERE")
        columns = tuple(
            (column_of(item, reader.value(item.unalias()), reader), reader.value(item.unalias())) for item in items
        )
        check_names(node, [column for column, _ in columns])
        whose = _person(found)
        return Chosen(relation, columns, hide=whose is not None and all(by != Cell(whose) for _, by in columns))

    def _items(self, node: exp.Select, found: Scope) -> list[exp.Expr]:
        items: list[exp.Expr] = []
        for item in node.expressions:
            if isinstance(item, exp.Star):
                items += [exp.column(name.name, table=name.called, quoted=True) for name in found.names]
            else:
                items.append(item)
        if not 0 < len(items) <= MOST_COLUMNS:
            raise refuse(node, f"an inner question has 1 to {MOST_COLUMNS} columns", "fewer columns")
        return items

    def _union(self, node: exp.Union, given: Given) -> Relation:
        if node.args.get("distinct"):
            raise refuse(node, "UNION leaves out rows of one person because of another's", "UNION ALL")
        parts: list[Relation] = []
        for side in (node.this, node.expression):
            found = self._rows(side, given)
            parts += found.parts if isinstance(found, Together) else (found,)
        tables = [part.table for part in parts]
        if any(table.person is None for table in tables):
            why = "one row is one person in one of them, and she could be there twice"
            raise refuse(node, why, "tables whose policy names the column of the person")
        if len({column.type for table in tables for column in table.columns if column.name == table.person}) > 1:
            raise refuse(node, "their persons are of different types", "tables with one kind of person")
        first = shown_columns(tables[0])
        for table in tables[1:]:
            mine = shown_columns(table)
            fits = len(mine) == len(first) and all(_fit(a, b) for a, b in zip(first, mine, strict=True))
            if not fits:
                raise refuse(node, "the parts have different columns, or different types", "the same columns in all parts")
        if len({tuple((c.name == t.person, c in shown_columns(t)) for c in t.columns) for t in tables}) > 1:
            parts = [_hidden(part) for part in parts]
        return Together(tuple(parts))


def _limited(relation: Relation, node: exp.Expr) -> Relation:
    """Names given by WITH may be used again and again: what counts is what they stand for."""
    tables = relation.tables
    if len(tables) > MOST_RELATIONS:
        raise refuse(node, f"written out, more than {MOST_RELATIONS} tables are read", "fewer of them")
    if sum(table.public for table in tables) > MOST_PUBLIC:
        raise refuse(node, f"more than {MOST_PUBLIC} public tables could multiply a person's rows beyond measure", "fewer")
    return relation


def _fit(one: Column, other: Column) -> bool:
    return one.type is other.type or (one.type.is_number and other.type.is_number)


def _hidden(part: Relation) -> Relation:
    """The same with the person in a column of her own, behind all others."""
    columns = tuple((column, Cell(column)) for column in shown_columns(part.table))
    return Chosen(part, columns, hide=True)


def _is_public(relation: Relation) -> bool:
    return isinstance(relation, Scan) and relation.table.public


def _person(found: Scope) -> Column | None:
    return None if found.table.person is None else found.table.column(found.table.person)


def _renamed(right: Scope, columns: tuple[tuple[Column, Column], ...]) -> tuple[Name, ...]:
    here = {there: here for here, there in columns}
    return tuple(replace(name, column=here[name.column]) for name in right.names)


def _columns(node: object) -> set[Column]:
    """The columns that an expression is about."""
    if isinstance(node, Cell):
        return {node.column}
    if isinstance(node, tuple):
        return {column for part in node for column in _columns(part)}
    if hasattr(node, "__dataclass_fields__"):
        return {column for field in node.__dataclass_fields__ for column in _columns(getattr(node, field))}
    return set()
