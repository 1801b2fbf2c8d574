"""What stands behind FROM: tables, joins, questions within the question. Each becomes a relation whose rows have owners.

What is refused here and in `joins` would give rows without an owner, or with two: joins of protected tables on anything but
the person, groups of several people, rows that are left out because others are there.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches

from sqlglot import exp

from dither.query.plan.chain import scanned
from dither.query.plan.expressions import ColumnValue
from dither.query.plan.relations import OURS, Project, Relation, Scan, UnionAll, person_words, shown_columns
from dither.query.policy.chains import parents
from dither.query.policy.column import Column
from dither.query.policy.policy import Policy
from dither.query.policy.table import NAME_LENGTH
from dither.query.sql import scope
from dither.query.sql.expressions import Reader
from dither.query.sql.join_kinds.conditions import conjuncts
from dither.query.sql.join_kinds.outer_joins import with_owner
from dither.query.sql.join_kinds.owners import MOST_RELATIONS, limited, person_of
from dither.query.sql.join_kinds.semi_joins import Looked, exists, member, subqueries
from dither.query.sql.joins import joined
from dither.query.sql.person_totals import check_names, column_of, per_person
from dither.query.sql.person_windows.one_row import filtered
from dither.query.sql.person_windows.window_columns import has_windows, window_columns
from dither.query.sql.rewrites.column_lists import in_written_order, with_column_names
from dither.query.sql.rewrites.inner_joins import Source, in_order, spelled_out
from dither.query.sql.scope import Scope
from dither.query.sql.syntax import refuse, shown

MOST_COLUMNS = 200
WITHOUT = "without it, it is another question"
ITSELF = "the total in a SELECT of its own"
OWN_TOTALS = " for each person's own totals, which are other numbers"
Given = dict[str, "Scope"]  # questions that WITH gave a name, by that name in small letters


class FromReader:
    """Reads everything that rows can come from, under one policy."""

    def __init__(self, policy: Policy) -> None:
        self._policy, self._read = policy, 0

    def scope(self, tree: exp.Select) -> Scope:
        """The relation of a whole question, before its WHERE; questions within its conditions become columns of it."""
        given = self._given(tree, {})
        found = self._matched(tree, self._from(tree, given), given)
        self._check_protected(tree, found)
        return found

    # -- tables and joins ------------------------------------------------------------------------------------------

    def _given(self, tree: exp.Expr, before: Given) -> Given:
        clause = tree.args.get("with_")
        known = dict(before)
        for part in clause.expressions if clause is not None and clause.args.get("recursive") else []:
            if any(table.name.lower() == part.alias.lower() for table in part.find_all(exp.Table)):
                raise refuse(part, "a question that asks itself is not answered", "WITH, without RECURSIVE")
        given: list[str] = []
        for part in [] if clause is None else clause.expressions:
            if not 0 < len(part.alias) <= NAME_LENGTH or not part.alias.isprintable():
                raise refuse(part, f"a name has 1 to {NAME_LENGTH} printable characters", "another name behind WITH")
            if part.alias.lower() in given:
                raise refuse(part, f"WITH gives the name {part.alias} twice", "another name for one of them")
            given.append(part.alias.lower())
            known[part.alias.lower()] = with_column_names(self._inner(part.this, part.alias, known), part, part.this)
        return known

    def _from(self, tree: exp.Expr, given: Given) -> Scope:
        source = tree.args.get("from_")
        names = ", ".join(table.name for table in self._policy.tables)
        if source is None:
            raise refuse(tree, "a question is about a table", f"FROM with one of {names}")
        sources = [Source(self._one(source.this, given, names), None)]
        for join in tree.args.get("joins") or []:
            sources.append(Source(self._one(join.this, given, names), join))
        if spelled_out(sources):
            sources = in_order(tree, sources)
        found = sources[0].scope
        for other, join in sources[1:]:
            assert join is not None
            found = joined(found, other, join)
        return found

    def _check_protected(self, tree: exp.Expr, found: Scope) -> None:
        if found.table.public:
            why = "it is public: nobody in it is protected, so it has no price"
            raise refuse(tree.args["from_"], why, "it by itself, without others: free")

    def _matched(self, tree: exp.Select, found: Scope, given: Given) -> Scope:
        """The relation with a column for each EXISTS and IN (SELECT ...); in the tree the column stands for it."""
        found, known = with_owner(tree, found), dict[str, exp.Expr]()
        for item in [one for one in tree.expressions if not isinstance(one, exp.Alias) and one.find(exp.AggFunc) is None]:
            if any(subqueries(exp.Select(expressions=[item.copy()]))):  # what stands for it is no name to show
                item.replace(exp.alias_(item.copy(), shown(item)[:NAME_LENGTH], quoted=True))
        for node in list(subqueries(tree)):
            if shown(node) not in known:
                looked = self._looked(node, given)
                made = exists if isinstance(node, exp.Exists) else member
                found, known[shown(node)] = made(node, found, looked)
            node.replace(known[shown(node)].copy())
        return found

    def _looked(self, node: exp.Expr, given: Given) -> Looked:
        """What an EXISTS or IN looks at. Which columns EXISTS shows does not matter, nor does their order, nor how often a
        row is there."""
        query = node.args["query"].unnest() if isinstance(node, exp.In) else node.this.unnest()
        if isinstance(query, exp.Select) and query.args.get("from_") is None:
            why = "a question within a condition is about rows of a table"
            raise refuse(node, why, "a list for IN, or TRUE for EXISTS: what it gives is known")
        whole = ("group", "having", "qualify")  # what is about several rows at once is a question of its own
        is_plain = isinstance(query, exp.Select) and all(query.args.get(word) is None for word in whole)
        is_plain = is_plain and query.find(exp.Window) is None
        if isinstance(query, exp.Select) and isinstance(node, exp.Exists):
            limit = query.args.get("limit")
            if isinstance(limit, exp.Limit) and isinstance(limit.expression, exp.Literal) and limit.expression.this != "0":
                query.set("limit", None)
            query.set("order", None)
        if not is_plain or query.args.get("limit") is not None:
            rows = self._inner(query, "", given)
            return Looked(rows, [], [exp.column(name.name, quoted=True) for name in rows.names])
        inner = self._given(query, given)
        rows = self._matched(query, self._from(query, inner), inner)
        items = [] if isinstance(node, exp.Exists) else self._items(query, rows)
        for item in query.expressions:
            if item.find(exp.AggFunc):
                why = "an inner total over several people is a release of its own, and has no owner"
                raise refuse(item, why, f"{ITSELF}, or GROUP BY {person_words(rows.table)}{OWN_TOTALS}")
        where = query.args.get("where")
        return Looked(rows, [] if where is None else conjuncts(where.this), items)

    def _one(self, node: exp.Expr, given: Given, names: str) -> Scope:
        self._read += 1
        if self._read > MOST_RELATIONS:
            raise refuse(node, f"more than {MOST_RELATIONS} tables and inner questions are not answered at once", "fewer")
        alias = node.args.get("alias")
        if node.alias and (len(node.alias) > NAME_LENGTH or not node.alias.isprintable()):
            raise refuse(node, f"a name has 1 to {NAME_LENGTH} printable characters", "another name behind AS")
        if isinstance(node, exp.Subquery):
            if alias is None or not node.alias:
                raise refuse(node, "an inner question needs a name", "a name behind AS")
            return with_column_names(self._inner(node.this, node.alias, given), node, node.this)
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            raise refuse(node, "it is not the name of a protected table", self._near(node, names))
        if alias is not None and not isinstance(alias.this, exp.Identifier):
            raise refuse(node, "it is not a name", self._near(node, names))
        called = node.alias or node.name
        if node.name.lower() in given:
            known = given[node.name.lower()]
            found = scope.Scope(known.relation, tuple(replace(name, called=called) for name in known.names))
            return with_column_names(found, node, None)
        table = self._policy.table(node.name)
        if table is None:
            why = "no table of that name is protected by this policy"
            raise refuse(node, why, self._near(node, names))
        above = parents(table, self._policy.tables)
        return with_column_names(scope.outside(scanned(table, above) if above else Scan(table), called), node, None)

    def _near(self, node: exp.Expr, names: str) -> str:
        """The tables, and the one whose name is nearest."""
        near = get_close_matches(node.name, [table.name for table in self._policy.tables if not table.public], n=1)
        return f"did you mean {near[0]}? one of {names}" if near else f"one of {names}"

    # -- questions within the question -----------------------------------------------------------------------------

    def _inner(self, node: exp.Expr, called: str, given: Given) -> Scope:
        relation = limited(self._rows(node, given), node)
        return scope.outside(relation, called)

    def _rows(self, node: exp.Expr, given: Given) -> Relation:
        if isinstance(node, exp.Subquery) and node.args.get("alias") is None:
            return self._rows(node.this, given)
        if isinstance(node, exp.Union):
            return self._union(node, self._given(node, given))
        if not isinstance(node, exp.Select):
            why = "an inner question is a SELECT, or several joined by UNION ALL"
            raise refuse(node, why, "EXISTS or NOT EXISTS with the person, for rows that are in both, or in one only")
        for clause, why, instead in (
            ("limit", "LIMIT keeps some people's rows because of others'", f"LIMIT in the outermost SELECT; {WITHOUT}"),
            (
                "offset",
                "OFFSET leaves out some people's rows because of others'",
                f"OFFSET in the outermost SELECT; {WITHOUT}",
            ),
        ):
            if node.args.get(clause) is not None:
                raise refuse(node.args[clause], why, instead)
        node.set("order", None)  # without LIMIT the order of rows means nothing inside a question
        known = self._given(node, given)
        found = self._matched(node, self._from(node, known), known)
        self._check_protected(node, found)
        reader = Reader(found)
        where = node.args.get("where")
        relation = found.relation if where is None else filtered(found.relation, reader.kept(where.this))
        items = self._items(node, found)
        if has_windows(node, items):
            found, items = window_columns(node, relation, reader, items)
            relation, reader = found.relation, Reader(found)
        if node.args.get("group") is not None or node.args.get("distinct") is not None:
            return per_person(node, relation, reader, items)
        for item in items:
            if item.find(exp.AggFunc):
                why = "an inner total over several people is a release of its own, and has no owner"
                raise refuse(item, why, f"{ITSELF}, or GROUP BY {person_words(found.table)}{OWN_TOTALS}")
        if node.args.get("having") is not None:
            having = node.args["having"]
            raise refuse(having, "HAVING needs GROUP BY", "WHERE for conditions on rows")
        columns = tuple(
            (column_of(item, reader.value(item.unalias()), reader), reader.value(item.unalias())) for item in items
        )
        check_names(node, [column for column, _ in columns])
        whose = person_of(found)
        return Project(relation, columns, hide=whose is not None and all(by != ColumnValue(whose) for _, by in columns))

    def _items(self, node: exp.Select, found: Scope) -> list[exp.Expr]:
        items: list[exp.Expr] = []
        for item in node.expressions:
            if isinstance(item, exp.Star):
                shown_names = [name for name in found.names if not name.name.endswith(OURS)]
                items += [exp.column(name.name, table=name.called, quoted=True) for name in shown_names]
            else:
                items.append(item)
        if not 0 < len(items) <= MOST_COLUMNS:
            raise refuse(node, f"an inner question has 1 to {MOST_COLUMNS} columns", "fewer columns")
        return items

    def _union(self, node: exp.Union, given: Given) -> Relation:
        if node.args.get("distinct"):
            why = "UNION leaves out rows of one person because of another's"
            raise refuse(node, why, "UNION ALL, which keeps every row; DISTINCT around it, with the person")
        parts: list[Relation] = []
        for side in (node.this, node.expression):
            found = in_written_order(self._rows(side, given), side)
            parts += found.parts if isinstance(found, UnionAll) else (found,)
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
        return UnionAll(tuple(parts))


def _fit(one: Column, other: Column) -> bool:
    return one.type is other.type or (one.type.is_number and other.type.is_number)


def _hidden(part: Relation) -> Relation:
    """The same with the person in a column of her own, behind all others."""
    columns = tuple((column, ColumnValue(column)) for column in shown_columns(part.table))
    return Project(part, columns, hide=True)
