"""SQL in, a question out. sqlglot reads the text; every node of its tree is looked up here; what is not listed is refused.

Nothing of the text goes on to an engine: a question is made of our own nodes. `syntax` reads the text and refuses every
detail that nobody reads, once `rewrites` have put other spellings into the words that are read here; `expressions` reads
what is about single rows; here is what is about the whole question.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from sqlglot import exp

from dither.query.plan.aggregates import Aggregate
from dither.query.plan.base import Expression
from dither.query.plan.derived import Derived
from dither.query.plan.question import Group, Question
from dither.query.policy.policy import Policy
from dither.query.policy.table import NAME_LENGTH
from dither.query.sql.aggregates import READERS, read_aggregate, read_window, window_keys
from dither.query.sql.clauses import grouping_sets
from dither.query.sql.clauses.grouping_sets import MARKS, Marks, place_of_group
from dither.query.sql.clauses.min_group_size import with_min_group_size
from dither.query.sql.clauses.qualify import read_qualify
from dither.query.sql.clauses.released_columns import (
    ReleasedColumns,
    limit_of,
    offset_of,
    order_by,
    read_having,
    unused_name,
    whole,
)
from dither.query.sql.clauses.scalar_subqueries import SubqueryMarks, Values
from dither.query.sql.derived import DerivedReader, column_name
from dither.query.sql.expressions import Reader
from dither.query.sql.from_clause import FromReader
from dither.query.sql.person_windows.one_row import filtered
from dither.query.sql.rewrites.equivalents import rewrite
from dither.query.sql.rewrites.named_windows import write_out_windows
from dither.query.sql.rewrites.person_subqueries import PersonSubqueries
from dither.query.sql.rewrites.qualified_names import without_schemas
from dither.query.sql.rewrites.windows_over_groups import divide_windows
from dither.query.sql.syntax import LONGEST_KNOWN, MOST_KNOWN, check, read, refuse, shown

MOST_ROWS = 1_000_000  # of an answer
MOST_COLUMNS = 100  # of an answer
MOST_GROUPS = 20  # columns of GROUP BY

Read = tuple[exp.Expr, Expression | None]  # a column of the answer, and what it means where it is about single rows


def read_tree(text: object, policy: Policy, constants: Values = ()) -> exp.Select:
    """The tree of a text, in the words that are read here, or why there is none; with what its subqueries released."""
    tree = _tree(text, policy)
    SubqueryMarks(tree, constants)
    return tree


def read_subqueries(text: object, policy: Policy) -> list[str]:
    """The scalar subqueries of a text, each as a text of its own."""
    if isinstance(text, str) and len(text) <= LONGEST_KNOWN and _known(str(text)).find(exp.Subquery) is None:
        return []
    return SubqueryMarks(_tree(text, policy)).texts


def _tree(text: object, policy: Policy) -> exp.Select:
    known = isinstance(text, str) and len(text) <= LONGEST_KNOWN
    tree = _known(str(text)).copy() if known else _rewritten(read(text), str(text))
    PersonSubqueries(tree, policy)
    return tree


@lru_cache(maxsize=MOST_KNOWN)  # of the text alone; nobody changes this tree, each reader gets a copy
def _known(text: str) -> exp.Select:
    return _rewritten(read(text), text)


def _rewritten(tree: exp.Select, text: str) -> exp.Select:
    """A tree in the words that are read here, whatever the policy says."""
    without_schemas(tree)
    write_out_windows(tree)
    rewrite(tree, text)
    divide_windows(tree)
    check(text, tree)
    return tree


def parse(text: object, policy: Policy, constants: Values = ()) -> Question:
    """The question that a text asks, or why there is none; with `constants` that its scalar subqueries released."""
    tree = read_tree(text, policy, constants)
    scope = FromReader(policy).scope(tree)
    reader = Reader(scope)
    where = tree.args.get("where")
    condition = None if where is None else reader.kept(where.this)
    if len(tree.expressions) > MOST_COLUMNS:
        raise refuse(tree, f"more than {MOST_COLUMNS} columns are not answered at once", "several questions")
    wanted = [(item, reader.meaning(item.unalias())) for item in tree.expressions]
    groups, sets = group_by(tree, reader, wanted)
    marks = Marks(lambda node: place_of_group(reader.meaning(_meant(node, reader, wanted)), groups))
    aggregates: list[Aggregate] = []
    names_of = {item.alias for item in tree.expressions if isinstance(item, exp.Alias)}
    computing = DerivedReader(reader, groups, aggregates, lambda node: _meant(node, reader, wanted), sorted(names_of))
    outputs = [_output(item, reader, groups, aggregates, wanted, computing, marks) for item in wanted]
    derived: list[Derived] = []
    columns: list[str] = []
    for item, output in zip(wanted, outputs, strict=True):
        node, name = item[0].unalias(), output
        if name is None:  # computed from aggregates, also from those that stand behind it
            name = item[0].alias if isinstance(item[0], exp.Alias) else column_name(node)
            derived.append(Derived(name, computing.term(node)))
        if name.lower() in [other.lower() for other in columns]:
            raise refuse(item[0], f"the answer has a column {name} already", "another name behind AS")
        columns.append(name)
    released = ReleasedColumns(aggregates, derived, computing, marks)
    having = read_having(tree, reader, groups, released, lambda node: _meant(node, reader, wanted))
    qualify = read_qualify(tree.args.get("qualify"), reader, groups, derived, computing, released.named)
    if not aggregates:
        why = "a question asks for at least one COUNT, SUM, AVG, MEDIAN or the like; single rows are never shown"
        raise refuse(tree, why, "an aggregate in SELECT too, such as COUNT(*)")
    names = [one.name for one in groups] + [one.name for one in aggregates] + [one.name for one in derived]
    names += marks.names
    if sets:
        grouping_sets.check_sets(tree, groups, sets, aggregates, derived)
    for name in names:
        if [other.lower() for other in names].count(name.lower()) > 1:
            raise refuse(tree, f"{name} is the name of two columns", "another name behind AS for one of them")
    for name in columns:
        if name not in names:
            why = f"a column of GROUP BY is shown twice, once as {name}"
            raise refuse(tree, why, "each column of GROUP BY once")
    if tree.args.get("distinct") is not None and any(group.name not in columns for group in groups):
        why = "DISTINCT would merge groups of which SELECT does not show the keys"
        raise refuse(tree, why, "every column of GROUP BY in SELECT; no two rows are equal then")
    rows = 1
    for group in groups:
        rows *= 1 if group.keys is None else len(group.keys)
    if rows > MOST_ROWS:
        why = f"the answer would have {rows} rows, one for each combination of keys; {MOST_ROWS} are the most"
        raise refuse(tree.args["group"], why, "fewer columns in GROUP BY")
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
        qualify=qualify,
        order=order_by(tree, reader, groups, released.named, columns),
        limit=limit_of(tree),
        offset=offset_of(tree),
        sets=sets,
        grouping=tuple(marks.found),
    )
    return with_min_group_size(question, tree)


def group_by(tree: exp.Select, reader: Reader, wanted: list[Read]) -> tuple[list[Group], tuple[tuple[int, ...], ...]]:
    """The groups, and the grouping sets where there are several."""
    clause = tree.args.get("group")
    if clause is None:
        return [], ()
    if not 0 < len(clause.expressions) <= MOST_GROUPS:
        why = f"GROUP BY names 1 to {MOST_GROUPS} columns or expressions"
        raise refuse(clause, why, "fewer of them")
    groups: list[Group] = []

    def place(node: exp.Expr) -> int:
        if isinstance(node, exp.Literal) and not node.is_string:  # GROUP BY 1
            number = whole(node)
            if number is None or not 1 <= number <= len(wanted):
                raise refuse(node, "there is no such column in SELECT", "1 for the first column of the answer, or its name")
            meant = wanted[number - 1][0].unalias()
        else:
            meant = _meant(node, reader, wanted)
        by = reader.value(meant)
        found = place_of_group(by, groups)
        if found is not None:
            return found
        name, known = meant.name if isinstance(meant, exp.Column) else shown(meant), reader.keys(by, meant)
        for _ in range(0 if known.by == by else 3):
            reader.value(meant)  # an engine gets what is clamped four times, and so it is counted four times
        groups.append(Group(name, known.by, known.keys, None if known.by == by else by, known.open_keys))
        return len(groups) - 1

    if grouping_sets.has_sets(clause):
        sets = grouping_sets.read_sets(clause, place)
        return groups, () if len(sets) == 1 else sets
    for node in clause.expressions:
        place(node)
    return groups, ()


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
    marks: Marks,
) -> str | None:
    """Add what a column of the answer needs; its name, or None where it is computed from others."""
    item, meaning = column
    node = item.unalias()
    name = item.alias if isinstance(item, exp.Alias) else ""
    if isinstance(item, exp.Alias) and (not 0 < len(name) <= NAME_LENGTH or not name.isprintable()):
        raise refuse(item, f"a name has 1 to {NAME_LENGTH} printable characters", "another name behind AS")
    if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
        raise refuse(node, "single rows are never shown", "aggregates of the rows, such as their number")
    if type(node) in READERS:
        made = read_aggregate(node, reader, name or unused_name(READERS[type(node)].name, aggregates))
        aggregates.append(made)
        return made.name
    if isinstance(node, exp.Window) and not computing.is_derived(node):
        means = [reader.meaning(_meant(key, reader, wanted)) for key in window_keys(node)]
        aggregates.append(read_window(node, means, groups, name or unused_name("sum", aggregates)))
        return aggregates[-1].name
    if isinstance(node, MARKS):
        return marks.add(node, name)
    place = place_of_group(meaning, groups)
    if place is None and (place := grouping_sets.read_total(node, groups, marks.group_of)) is not None:
        groups[place] = grouping_sets.with_total(node, groups[place])
    if place is not None:
        groups[place] = replace(groups[place], name=name or groups[place].name)
        return groups[place].name
    if computing.computes(node):
        return None
    reader.value(node)  # an unknown column or function is the better message
    why = "it is neither an aggregate nor in GROUP BY, so it would show single rows"
    raise refuse(node, why, "an aggregate of it, or it in GROUP BY")
