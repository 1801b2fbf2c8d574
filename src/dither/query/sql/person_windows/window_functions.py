"""One window within a person: OVER (PARTITION BY person, ...), read into a node or refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sqlglot import exp

from dither.query.plan.base import Expression
from dither.query.plan.expressions import ColumnValue
from dither.query.plan.person_windows.frames import ALL_ROWS, UP_TO_PEERS, SortKey
from dither.query.plan.person_windows.window_functions import (
    PersonWindow,
    PlaceKind,
    ValueKind,
    WindowPlace,
    WindowTotal,
    WindowValue,
)
from dither.query.plan.relations import person_words, shown_columns
from dither.query.policy.column import Column, Type
from dither.query.policy.table import Table
from dither.query.sql.expressions import Reader
from dither.query.sql.person_totals import OWN, column_of, own_total
from dither.query.sql.person_windows.frames import MOST_OFFSET, check_order, frame_of, sort_keys, whole_number
from dither.query.sql.syntax import refuse

PLACES: dict[type[Any], PlaceKind] = {exp.RowNumber: "row_number", exp.Rank: "rank", exp.DenseRank: "dense_rank"}
VALUES: dict[type[Any], ValueKind] = {exp.FirstValue: "first", exp.LastValue: "last", exp.NthValue: "nth"}
ANSWERED = "one of ROW_NUMBER, RANK, DENSE_RANK, LAG, LEAD, FIRST_VALUE, LAST_VALUE, NTH_VALUE, COUNT, SUM, AVG, MIN or MAX"


def read_window(node: exp.Window, reader: Reader, name: str) -> PersonWindow:
    """The window, with its column under this name."""
    nested = next((part for part in node.walk() if part is not node and isinstance(part, exp.Window)), None)
    if nested is not None:
        raise refuse(nested, "a window does not look into another window", "an inner question for each of them")
    by, order = _divided_by(node, reader), sort_keys(node, reader)
    inner = node.this
    if isinstance(inner, (exp.IgnoreNulls, exp.RespectNulls)):
        why = "rows are counted whether they have a value there or not"
        raise refuse(node, why, "an inner question whose WHERE leaves out rows without a value")
    read = READERS.get(type(inner))
    if read is None:
        raise refuse(node, "this window is not answered within one person", ANSWERED)
    return read(node, reader, name, by, order)


def _divided_by(node: exp.Window, reader: Reader) -> tuple[Expression, ...]:
    """What rows are divided by beside the person; refused where rows of several people would be looked at."""
    table = reader.scope.table
    if table.person is None:
        why = "one row is one person here, so that a window would look at other people's rows"
        raise refuse(node, why, "the question without the window")
    whose = ColumnValue(next(column for column in table.columns if column.name == table.person))
    keys = [reader.value(part) for part in node.args.get("partition_by") or []]
    if whose not in keys:
        why = "in an inner question a window looks at rows of one person; without her it would look at other people's rows"
        raise refuse(node, why, _with_person(table))
    return tuple(key for key in dict.fromkeys(keys) if key != whose)


def _with_person(table: Table) -> str:
    if all(column.name != table.person for column in shown_columns(table)):
        return "PARTITION BY the person, in an inner question that shows her; where another table has her, JOIN it first"
    return f"{person_words(table)} in PARTITION BY, for each person's own rows, which is another question"


def _place(
    node: exp.Window, reader: Reader, name: str, by: tuple[Expression, ...], order: tuple[SortKey, ...]
) -> PersonWindow:
    """From 1 to as many rows as she has, or as many as the owner's limits count: whatever is beyond counts as that."""
    inner, table = node.this, reader.scope.table
    if any(found for found in inner.args.values()):
        raise refuse(node, "it has no argument: rows are ranked by ORDER BY", f"{_called(inner)} with empty parentheses")
    check_order(node, order)
    _check_no_frame(node)
    most = table.most_rows if table.hard_rows is None else table.hard_rows
    column = Column(name, Type.INTEGER, Fraction(1), Fraction(max(2, most)), Fraction(1), nullable=False)
    return WindowPlace(column, PLACES[type(inner)], by, order)


def _shift(
    node: exp.Window, reader: Reader, name: str, by: tuple[Expression, ...], order: tuple[SortKey, ...]
) -> PersonWindow:
    inner = node.this
    if inner.args.get("default") is not None:
        why = "what stands where there is no such row is said by COALESCE"
        instead = "the same without it, within COALESCE(<it>, <number>), which stands for missing values of rows too"
        raise refuse(node, why, instead)
    given = inner.args.get("offset")
    offset = 1 if given is None else whole_number(given)
    if offset is None:
        why = f"it looks 0 to {MOST_OFFSET} rows away, a constant number"
        raise refuse(node, why, "a number of rows such as 1")
    check_order(node, order)
    _check_no_frame(node)
    of = reader.value(inner.this)
    return WindowValue(
        _column(name, of, reader), "shift", of, offset if isinstance(inner, exp.Lag) else -offset, by, order, None
    )


def _value(
    node: exp.Window, reader: Reader, name: str, by: tuple[Expression, ...], order: tuple[SortKey, ...]
) -> PersonWindow:
    inner, kind, frame = node.this, VALUES[type(node.this)], frame_of(node)
    check_order(node, order)
    if kind == "first" and frame == UP_TO_PEERS:
        frame = ALL_ROWS  # the first row is the same whatever comes behind
    if frame.peers:
        why = "its frame ends at the row itself and the rows of its rank, among which no one is the first or the last"
        instead = "of all rows of the person: ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING behind ORDER BY"
        raise refuse(node, why, instead)
    offset = whole_number(inner.args.get("offset")) if kind == "nth" else 0
    if offset is None or (kind == "nth" and offset == 0):
        raise refuse(node, f"it is the value of row 1 to {MOST_OFFSET}, a constant", "a number of rows from 1 on")
    of = reader.value(inner.this)
    return WindowValue(_column(name, of, reader), kind, of, offset, by, order, frame)


def _total(
    node: exp.Window, reader: Reader, name: str, by: tuple[Expression, ...], order: tuple[SortKey, ...]
) -> PersonWindow:
    inner, frame = node.this, frame_of(node)
    if isinstance(inner.this, exp.Distinct):
        raise refuse(
            node,
            "different values are counted by an inner question",
            "COUNT of DISTINCT values there",
        )
    total = own_total(name, inner, reader, frame.size)
    # without need for an order none is kept: two spellings of one window are the same
    return WindowTotal(total, by, () if frame.is_whole else order, frame)


def _check_no_frame(node: exp.Window) -> None:
    if node.args.get("spec") is not None:
        raise refuse(node, f"{_called(node.this)} has no frame: it looks at all rows", "the window without ROWS or RANGE")


def _called(node: exp.Expr) -> str:
    names: dict[type[Any], str] = {exp.RowNumber: "ROW_NUMBER", exp.DenseRank: "DENSE_RANK"}
    return names.get(type(node), type(node).__name__.upper())


def _column(name: str, of: Expression, reader: Reader) -> Column:
    """The column of a value of another row: its facts, and that there may be no such row."""
    return replace(column_of(None, of, reader, name), nullable=True)


Read = Callable[[exp.Window, Reader, str, tuple[Expression, ...], tuple[SortKey, ...]], PersonWindow]
READERS: dict[type[Any], Read] = {
    **dict.fromkeys(PLACES, _place),
    **dict.fromkeys((exp.Lag, exp.Lead), _shift),
    **dict.fromkeys(VALUES, _value),
    **dict.fromkeys(OWN, _total),
}
