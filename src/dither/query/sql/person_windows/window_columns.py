"""Windows of an inner question, wherever they stand in its SELECT or QUALIFY: each becomes a column of the rows below.

    SELECT person, day - LAG(day) OVER (PARTITION BY person ORDER BY day) AS gap FROM visits
    SELECT person, day - w AS gap FROM (visits with w: LAG(day) OVER (PARTITION BY person ORDER BY day))

mean the same: SQL computes windows of the rows that WHERE has kept, then QUALIFY, then DISTINCT. Of the rows below only the
columns stay that are read, since every column that stays is sorted by. Each window stands above those before it, and sees
their columns: rows that are equal in all others are told apart by these, for all windows in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sqlglot import exp

from dither.query.plan.expressions import ColumnValue, columns_of
from dither.query.plan.person_windows.window_functions import PersonWindow, WindowTotal
from dither.query.plan.relations import OURS, Project, Relation, WindowByPerson
from dither.query.policy.column import Column
from dither.query.policy.table import NAME_LENGTH
from dither.query.sql.expressions import Reader
from dither.query.sql.person_windows.one_row import filtered
from dither.query.sql.person_windows.window_functions import read_window
from dither.query.sql.rewrites.equivalents import MOST_COPIES
from dither.query.sql.scope import Name, Scope
from dither.query.sql.syntax import refuse

MOST_WINDOWS = 20  # of one SELECT: each sorts all rows


def has_windows(node: exp.Select, items: list[exp.Expr]) -> bool:
    """Whether an inner question looks at other rows of a person."""
    return node.args.get("qualify") is not None or any(True for _ in _windows(items))


def window_columns(
    node: exp.Select, relation: Relation, reader: Reader, items: list[exp.Expr]
) -> tuple[Scope, list[exp.Expr]]:
    """The rows that QUALIFY keeps of `relation`, with a column for each window, and SELECT with these columns instead."""
    if node.args.get("group") is not None:
        why = "a window beside GROUP BY looks at the rows that GROUP BY has made"
        raise refuse(node, why, "GROUP BY in an inner question of its own, and the window around it")
    items = [item.copy() for item in items]
    qualify = node.args.get("qualify")
    condition = None if qualify is None else exp.Paren(this=_written_out(qualify.this, reader.scope, items))
    trees = [*items, *([] if condition is None else [condition])]
    if next(_windows(trees), None) is None:
        why = "QUALIFY is about windows, and there is none"
        raise refuse(node.args["qualify"], why, "WHERE for conditions on rows")
    for column in (part for tree in trees for part in tree.find_all(exp.Column)):
        if column.name.endswith(OURS):
            raise refuse(column, f"{column.name!r} is no name", "a column of the inner question")
    windows: list[PersonWindow] = []
    for window in list(_windows(trees)):
        made = read_window(window, reader, _name(window, reader.scope, windows))
        same = next((one for one in windows if _renamed(one, made.column) == made), None)
        if same is None:
            windows.append(made)
        if len(windows) > MOST_WINDOWS:
            raise refuse(window, f"more than {MOST_WINDOWS} windows are not answered at once", "fewer of them")
        _replace(window, exp.column((same or made).column.name, quoted=True), items)
    ours = {window.column.name for window in windows}
    read = {column for window in windows for column in columns_of(window)}
    for part in (part for tree in trees for part in tree.find_all(exp.Column)):
        if part.name not in ours and isinstance(part.this, exp.Identifier):
            read.add(reader.scope.column(part))
    found = _with_windows(relation, read, windows)
    there = set(found.table.columns)
    names = [name for name in reader.scope.names if name.column in there]
    scope = Scope(found, (*names, *(Name("", window.column.name, window.column) for window in windows)))
    if condition is not None:
        scope = replace(scope, relation=filtered(found, Reader(scope).condition(condition)))
    return scope, items


def _windows(trees: Iterable[exp.Expr]) -> Iterator[exp.Window]:
    """The windows of expressions, the outermost ones; not those of questions within."""
    for tree in trees:
        for part in tree.walk(prune=lambda part: isinstance(part, (exp.Window, exp.Select))):
            if isinstance(part, exp.Window):
                yield part


def _written_out(condition: exp.Expr, scope: Scope, items: list[exp.Expr]) -> exp.Expr:
    """A condition with what its names stand for: columns of the rows, or else those of SELECT."""
    condition = exp.Paren(this=condition.copy())
    meant = {item.alias.lower(): item.unalias() for item in items if isinstance(item, exp.Alias)}
    copied = 0
    for part in list(condition.find_all(exp.Column)):
        if not part.table and not scope.holds(part.name) and part.name.lower() in meant:
            copied += sum(1 for _ in meant[part.name.lower()].walk())
            if copied > MOST_COPIES:
                raise refuse(condition, f"written out, it has more than {MOST_COPIES} parts", "a shorter condition")
            part.replace(exp.Paren(this=meant[part.name.lower()].copy()))
    return condition


def _name(window: exp.Window, scope: Scope, windows: list[PersonWindow]) -> str:
    """The name that SELECT gives it where nothing else is called so; otherwise one that no question can name."""
    parent = window.parent
    name = str(parent.alias) if isinstance(parent, exp.Alias) else ""
    taken = [column.name.lower() for column in scope.table.columns] + [one.column.name.lower() for one in windows]
    plain = 0 < len(name) <= NAME_LENGTH and name.isprintable() and not scope.holds(name) and name.lower() not in taken
    return name if plain else f"window {len(windows) + 1}{OURS}"


def _renamed(window: PersonWindow, column: Column) -> PersonWindow:
    if isinstance(window, WindowTotal):
        return replace(window, total=replace(window.total, column=column))
    return replace(window, column=column)


def _replace(window: exp.Window, column: exp.Column, items: list[exp.Expr]) -> None:
    """The column instead of the window; an item that is the window itself has nothing around it."""
    place = next((at for at, item in enumerate(items) if item is window), None)
    if place is None:
        window.replace(column)
    else:
        items[place] = exp.alias_(column, exp.to_identifier(_shown(window), quoted=True))


def _shown(window: exp.Window) -> str:
    return window.sql("duckdb")


def _with_windows(relation: Relation, read: set[Column], windows: list[PersonWindow]) -> Relation:
    """The rows with what is read of them, and the windows one above the other."""
    columns = relation.table.columns
    kept = tuple(column for column in columns if column in read or column.name == relation.table.person)
    if len(kept) < len(columns):
        relation = Project(relation, tuple((column, ColumnValue(column)) for column in kept), hide=False)
    for window in windows:
        relation = WindowByPerson(relation, window)
    return relation
