"""SQL in, a question out. sqlglot reads the text; every node of its tree is looked up here; what is not listed is refused.

Nothing of the text goes on to an engine: a question is made of our own nodes. `syntax` reads the text and refuses every
detail that nobody reads, once `rewrites` have put other spellings into the words that are read here; `expressions` reads
what is about single rows; here is what is about the whole question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from sqlglot import exp

from dither.query.plan.aggregates import Aggregate
from dither.query.plan.base import Expression
from dither.query.plan.derived import Derived
from dither.query.plan.question import Group, Having, OrderBy, Question
from dither.query.policy.policy import Policy
from dither.query.policy.table import NAME_LENGTH
from dither.query.sql.aggregates import READERS, read_aggregate
from dither.query.sql.clauses.having import HavingReader
from dither.query.sql.clauses.min_group_size import with_min_group_size
from dither.query.sql.derived import DerivedReader, column_name
from dither.query.sql.expressions import Reader
from dither.query.sql.from_clause import FromReader
from dither.query.sql.person_windows.one_row import filtered
from dither.query.sql.proposals.columns import each_once, renamed, with_count
from dither.query.sql.proposals.group_keys import ungrouped
from dither.query.sql.proposals.whole_question import with_rewrite, without
from dither.query.sql.rewrites.equivalents import rewrite
from dither.query.sql.rewrites.named_windows import write_out_windows
from dither.query.sql.rewrites.qualified_names import without_schemas
from dither.query.sql.rewrites.windows_over_groups import divide_windows
from dither.query.sql.syntax import check, read, refuse, shown
from dither.query.sql.windows import read_window, window_keys

MOST_ROWS = 1_000_000  # of an answer
MOST_COLUMNS = 100  # of an answer
MOST_GROUPS = 20  # columns of GROUP BY

Read = tuple[exp.Expr, Expression | None]  # a column of the answer, and what it means where it is about single rows


def read_tree(text: object) -> exp.Select:
    """The tree of a text, in the words that are read here, or why there is none."""
    tree = read(text)
    without_schemas(tree)
    write_out_windows(tree)
    rewrite(tree, str(text))
    divide_windows(tree)
    check(str(text), tree)
    return tree


def parse(text: object, policy: Policy) -> Question:
    """The question that a text asks, or why there is none, and which one there would be."""
    return with_rewrite(text, lambda sql: _parse(sql, policy), read_tree)


def _parse(text: object, policy: Policy) -> Question:
    tree = read_tree(text)
    scope = FromReader(policy).scope(tree)
    if tree.args.get("distinct") is not None:
        instead = "COUNT(*), or DISTINCT in an inner question"
        raise refuse(tree, "single rows are never shown, not even once", instead, without(tree, "distinct"))
    reader = Reader(scope)
    where = tree.args.get("where")
    condition = None if where is None else reader.kept(where.this)
    if len(tree.expressions) > MOST_COLUMNS:
        raise refuse(tree, f"more than {MOST_COLUMNS} columns are not answered at once", "several questions")
    wanted = [(item, reader.meaning(item.unalias())) for item in tree.expressions]
    groups = group_by(tree, reader, wanted)
    aggregates: list[Aggregate] = []
    names_of = {item.alias for item in tree.expressions if isinstance(item, exp.Alias)}
    computing = DerivedReader(reader, groups, aggregates, lambda node: _meant(node, reader, wanted), sorted(names_of))
    outputs = [_output(item, reader, groups, aggregates, wanted, computing) for item in wanted]
    derived: list[Derived] = []
    columns: list[str] = []
    for item, output in zip(wanted, outputs, strict=True):
        node, name = item[0].unalias(), output
        if name is None:  # computed from aggregates, also from those that stand behind it
            name = item[0].alias if isinstance(item[0], exp.Alias) else column_name(node)
            derived.append(Derived(name, computing.term(node)))
        if name.lower() in [other.lower() for other in columns]:
            instead = f"{shown(node)} AS another_name"
            raise refuse(item[0], f"the answer has a column {name} already", instead)
        columns.append(name)
    released = ReleasedColumns(aggregates, derived, computing)
    having = _having(tree, reader, groups, released, wanted)
    if not aggregates:
        why = "a question asks for at least one COUNT, SUM, AVG, MEDIAN or the like; single rows are never shown"
        raise refuse(tree, why, "COUNT(*) in SELECT", with_count(tree))
    names = [one.name for one in groups] + [one.name for one in aggregates] + [one.name for one in derived]
    for name in names:
        if [other.lower() for other in names].count(name.lower()) > 1:
            why, instead = f"{name} is the name of two columns", "AS another_name behind one of them"
            raise refuse(tree, why, instead, renamed(tree, name))
    for name in columns:
        if name not in names:
            why = f"a column of GROUP BY is shown twice, once as {name}"
            raise refuse(tree, why, "it once", each_once(tree))
    rows = 1
    for group in groups:
        rows *= 1 if group.keys is None else len(group.keys)
    if rows > MOST_ROWS:
        why = f"the answer would have {rows} rows, one for each combination of keys; {MOST_ROWS} are the most"
        last = tree.args["group"].expressions[-1]
        raise refuse(tree.args["group"], why, "fewer columns in GROUP BY", ungrouped(last))
    kept = None if condition is None else filtered(scope.relation, condition)
    one_row = kept is not None and kept.alone
    question = Question(
        relation=kept if kept is not None and one_row else scope.relation,
        where=None if one_row else condition,
        groups=tuple(groups),
        aggregates=tuple(aggregates),
        shown=tuple(columns),
        derived=tuple(derived),
        having=having,
        order=order_by(tree, reader, groups, released.named, columns),
        limit=limit_of(tree),
    )
    return with_min_group_size(question, tree)


def group_by(tree: exp.Select, reader: Reader, wanted: list[Read]) -> list[Group]:
    clause = tree.args.get("group")
    if clause is None:
        return []
    if not 0 < len(clause.expressions) <= MOST_GROUPS:
        why = f"GROUP BY names 1 to {MOST_GROUPS} columns or expressions"
        raise refuse(clause, why, "fewer of them, or no GROUP BY", without(tree, "group"))
    groups: list[Group] = []
    for node in clause.expressions:
        meant = node
        if isinstance(node, exp.Literal) and not node.is_string:  # GROUP BY 1
            number = _whole(node)
            if number is None or not 1 <= number <= len(wanted):
                instead = "GROUP BY 1 for the first column of the answer"
                raise refuse(node, "there is no such column in SELECT", instead, ungrouped(node))
            meant = wanted[number - 1][0].unalias()
        else:
            meant = _meant(node, reader, wanted)
        by = reader.value(meant)
        if all(group.meaning != by for group in groups):
            name, known = meant.name if isinstance(meant, exp.Column) else shown(meant), reader.keys(by, meant)
            for _ in range(0 if known.by == by else 3):
                reader.value(meant)  # an engine gets what is clamped four times, and so it is counted four times
            groups.append(Group(name, known.by, known.keys, None if known.by == by else by, known.names))
    return groups


def _meant(node: exp.Expr, reader: Reader, wanted: list[Read]) -> exp.Expr:
    """What a name stands for: a column of the table, or else one of the answer."""
    if not isinstance(node, exp.Column) or node.table or reader.scope.holds(node.name):
        return node
    aliases = {item.alias.lower(): item.unalias() for item, _ in wanted if isinstance(item, exp.Alias)}
    return aliases.get(node.name.lower(), node)


def _output(
    column: Read,
    reader: Reader,
    groups: list[Group],
    aggregates: list[Aggregate],
    wanted: list[Read],
    computing: DerivedReader,
) -> str | None:
    """Add what a column of the answer needs; its name, or None where it is computed from others."""
    item, meaning = column
    node = item.unalias()
    name = item.alias if isinstance(item, exp.Alias) else ""
    if isinstance(item, exp.Alias) and (not 0 < len(name) <= NAME_LENGTH or not name.isprintable()):
        raise refuse(item, f"a name has 1 to {NAME_LENGTH} printable characters", f"{shown(node)} AS another_name")
    if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
        raise refuse(node, "single rows are never shown", "COUNT(*)")
    if type(node) in READERS:
        made = read_aggregate(node, reader, name or _unused(READERS[type(node)].name, aggregates))
        aggregates.append(made)
        return made.name
    if isinstance(node, exp.Window) and not computing.is_derived(node):
        means = [reader.meaning(_meant(key, reader, wanted)) for key in window_keys(node)]
        aggregates.append(read_window(node, means, groups, name or _unused("sum", aggregates)))
        return aggregates[-1].name
    for place, group in enumerate(groups):
        if meaning == group.meaning:
            groups[place] = replace(group, name=name or group.name)
            return groups[place].name
    if computing.computes(node):
        return None
    reader.value(node)  # an unknown column or function is the better message
    why = "it is neither an aggregate nor in GROUP BY, so it would show single rows"
    raise refuse(node, why, f"COUNT({shown(node)}); SUM or AVG of it, or GROUP BY if it has keys")


def _unused(name: str, named: Sequence[Aggregate | Group]) -> str:
    taken = {one.name.lower() for one in named}
    number = 1
    while (candidate := name if number == 1 else f"{name}_{number}") in taken:
        number += 1
    return candidate


# -- after the release -------------------------------------------------------------------------------------------------


class ReleasedColumns(NamedTuple):
    """What HAVING and ORDER BY may name: aggregates, and columns that are computed from them."""

    aggregates: list[Aggregate]
    derived: list[Derived]
    computing: DerivedReader

    def named(self, node: exp.Expr) -> str | None:
        """The column that a node names, by its name or written out again."""
        if isinstance(node, exp.Column):
            name = None if node.table else node.name.lower()
            names = [found.name for found in self.aggregates] + [found.name for found in self.derived]
            return next((found for found in names if found.lower() == name), None)
        if type(node) in READERS:
            again = read_aggregate(node, self.computing.reader, "")
            return next((found.name for found in self.aggregates if replace(found, name="") == again), None)
        meant = self.computing.meaning(node)
        return None if meant is None else next((found.name for found in self.derived if found.of == meant), None)


def _having(
    tree: exp.Select, reader: Reader, groups: list[Group], released: ReleasedColumns, wanted: list[Read]
) -> tuple[Having, ...]:
    """The conditions of HAVING; what they need that SELECT does not name is added to the aggregates."""
    clause = tree.args.get("having")
    if clause is None:
        return ()
    if any(aggregate.of_all_groups for aggregate in released.aggregates):
        why = "a running sum is of all groups, and HAVING would leave some out before"
        raise refuse(clause, why, "no HAVING", without(clause))

    aggregates = released.aggregates

    def named(node: exp.Expr) -> str | None:
        name = released.named(node)
        if name is None and type(node) in READERS:
            taken: list[Aggregate | Group] = [*groups, *aggregates]
            aggregates.append(read_aggregate(node, reader, _unused(READERS[type(node)].name, taken)))
            name = aggregates[-1].name
        if any(found.name == name and not found.is_number for found in aggregates):
            raise refuse(node, f"{name} is no number that could be compared with one", "HAVING COUNT(*) > 10")
        if any(found.name == name and found.has_window for found in released.derived):
            why = "windows look at the rows that HAVING has kept, so it cannot look at them"
            raise refuse(node, why, f"HAVING {example} > 10")
        return name

    example = shown(exp.to_identifier(aggregates[0].name)) if aggregates else "COUNT(*)"
    return HavingReader(reader, groups, named, lambda node: _meant(node, reader, wanted), example).conditions(clause)


def order_by(
    tree: exp.Select, reader: Reader, groups: list[Group], named: Callable[[exp.Expr], str | None], columns: list[str]
) -> tuple[OrderBy, ...]:
    clause = tree.args.get("order")
    orders = []
    for item in [] if clause is None else clause.expressions:
        node = item.this
        number = _whole(node)
        name = columns[number - 1] if number is not None and 1 <= number <= len(columns) else None
        if isinstance(node, exp.Column) and not node.table:
            name = next((other for other in columns if other.lower() == node.name.lower()), None)
        if name is None and number is None:
            meaning = None if type(node) in READERS else reader.meaning(node)
            of_group = next((group.name for group in groups if group.meaning == meaning and group.name in columns), None)
            name = named(node) or of_group
        if name is None:
            why = "ORDER BY sorts by columns of the answer"
            raise refuse(item, why, f"ORDER BY {shown(exp.to_identifier(columns[-1]))}")
        orders.append(OrderBy(name, bool(item.args.get("desc"))))
    return tuple(orders)


def limit_of(tree: exp.Select) -> int | None:
    clause = tree.args.get("limit")
    if clause is None:
        return None
    number = _whole(clause.expression) if isinstance(clause, exp.Limit) else None
    if number is None:
        raise refuse(clause, "LIMIT is a whole number", "LIMIT 10")
    return number


def _whole(node: object) -> int | None:
    """A number of at most 18 digits, as written."""
    if not isinstance(node, exp.Literal) or node.is_string or not re.fullmatch(r"[0-9]{1,18}", str(node.this)):
        return None
    return int(node.this)
