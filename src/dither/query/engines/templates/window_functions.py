"""Windows within one person as SQL: rows with one column more (`plan/person_windows/window_functions.py`).

Theorem. The rows of a person that `window_sql` gives, as a multiset, are a function of the multiset of her rows in the
relation below, whatever other rows there are and in whatever order rows lie. She has as many as before. Nothing fails on a
row. So windows, one above the other, keep what `plan/relations.py` says of every relation: a person who comes or goes takes
her rows along and leaves all others as they were. The proof is in `window_functions.md`, with two counterexamples: an order
that leaves out a column that is read later, and two windows side by side.

    c0..   the columns of the relation, each with one zero, no NaN, texts by their bytes: what is equal is the same
    k0..   what rows are divided by beside the person
    o0..   the stated order
    e0     what the window is of; n0, x0 its steps before the clamp and after it, where values are added up
"""

from __future__ import annotations

from dither.query.engines.templates.expressions import REAL, as_column, cell, settled
from dither.query.engines.templates.person_totals import own_steps, own_total, own_values
from dither.query.engines.words import Words
from dither.query.plan.base import Expression
from dither.query.plan.expressions import ColumnValue
from dither.query.plan.person_windows.frames import Frame
from dither.query.plan.person_windows.window_functions import PersonWindow, WindowPlace, WindowTotal, WindowValue
from dither.query.policy.column import Column
from dither.query.policy.table import Table

FUNCTIONS = {"first": "first_value(e0)", "last": "last_value(e0)", "nth": "nth_value(e0, {})"}


def window_sql(words: Words, table: Table, window: PersonWindow, rows: str) -> str:
    """A SELECT of all columns of `table`, whose rows `rows` selects, and of the window's."""
    names = {column: f"c{place}" for place, column in enumerate(table.columns)}
    read = [f"{_column(words, column)} AS {name}" for column, name in names.items()]
    keys, orders = [_read(words, key, f"k{at}", names, read) for at, key in enumerate(window.by)], []
    for at, key in enumerate(window.order):
        name = _read(words, key.of, f"o{at}", names, read)
        orders.append(words.sort_item(name, descending=key.descending, nulls_first=key.nulls_first))
    whose = names[next(column for column in table.columns if column.name == table.person)]
    if window.completes_order:
        told = {whose, *keys, *(_name(key.of, names) for key in window.order)}
        orders += [words.sort_item(name) for name in names.values() if name not in told]
    steps: list[str] = []
    if isinstance(window, WindowTotal) and window.total.adds:
        read += own_values(words, window.total, 0)
        steps = own_steps(words, window.total, 0)
    elif not isinstance(window, WindowPlace) and (of := window.of) is not None:
        read.append(f"{settled(words, of)} AS e0")
    select = f"SELECT {', '.join(read)} FROM ({rows}) AS q"
    if steps:
        select = f"SELECT *, {', '.join(steps)} FROM ({select}) AS q"
    shown = [f"{name} AS {words.name(column.name)}" for column, name in names.items()]
    shown.append(f"{_function(words, window)} AS {words.name(window.column.name)}")
    sort = f" ORDER BY {', '.join(orders)}" if orders else ""
    frame = "" if isinstance(window, WindowPlace) or window.frame is None else f" {_frame(window.frame)}"
    over = f"PARTITION BY {', '.join(dict.fromkeys([whose, *keys]))}{sort}{frame}"
    return f"SELECT {', '.join(shown)} FROM ({select}) AS q WINDOW w AS ({over})"


def _column(words: Words, column: Column) -> str:
    """A cell, NULL for NaN already, with one zero."""
    return words.one_zero(cell(words, column)) if column.type in REAL else cell(words, column)


def _name(node: Expression, names: dict[Column, str]) -> str | None:
    """What a column is called here; None for all that is computed."""
    return names.get(node.column) if isinstance(node, ColumnValue) else None


def _read(words: Words, node: Expression, name: str, names: dict[Column, str], read: list[str]) -> str:
    """The name of a column, or of what is computed and read beside."""
    known = _name(node, names)
    if known is None:
        read.append(f"{settled(words, node)} AS {name}")
    return known or name


def _function(words: Words, window: PersonWindow) -> str:
    match window:
        case WindowPlace(_, kind, _, _):
            return f"{kind}() OVER w"
        case WindowValue(_, "shift", of, offset, _, _, _):
            return as_column(words, of, f"{'lag' if offset >= 0 else 'lead'}(e0, {abs(offset)}) OVER w")
        case WindowValue(_, kind, of, offset, _, _, _):
            return as_column(words, of, f"{FUNCTIONS[kind].format(offset)} OVER w")
        case WindowTotal(total, _, _, _):
            return own_total(words, total, 0, " OVER w")


def _frame(frame: Frame) -> str:
    return (
        f"{'RANGE' if frame.peers else 'ROWS'} BETWEEN {_end(frame.start, 'PRECEDING')} AND {_end(frame.end, 'FOLLOWING')}"
    )


def _end(place: int | None, unbounded: str) -> str:
    if place is None:
        return f"UNBOUNDED {unbounded}"
    return "CURRENT ROW" if place == 0 else f"{abs(place)} {'PRECEDING' if place < 0 else 'FOLLOWING'}"
