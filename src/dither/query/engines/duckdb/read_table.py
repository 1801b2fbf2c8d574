"""The read of a table in DuckDB's SQL: every column of the policy once, before anything else looks at it.

Why one row's length does not show in the time: the length of a text in bytes stands beside it, so that a text is let go or
cut without a look at the rest of it. What comes afterwards (grouping, joining, casts, functions) costs by the length of what
it gets: at most LONGEST_TEXT characters.

Why it is sound: what becomes of a cell depends on that cell alone. A person's id is never cut, since two people who begin
alike would become one, and what bounds one person would bound both together: one of them could move it by twice as much. A
row whose id is too long has no person instead, and is dropped as all such rows are; a key that leads to a parent is read in
the same way, and then leads nowhere. So a person is dropped with all her rows, or kept as she is, whatever other rows there
are.

Texts that are to be numbers, dates or truth values are let go as well: the beginning of a number is another number.

Times. There is one, the least of all, that the engine fails to write: read as text, times before the year -9999 are
missing. Nanoseconds with a zone become timestamps only by way of nanoseconds without one; the engine gives NULL otherwise.
"""

from __future__ import annotations

from dither.query.engines.duckdb.cell_formats import value_sql, whole_sql
from dither.query.policy.column import LONGEST_TEXT, Column, Type
from dither.query.policy.table import Table
from dither.query.sources.schema import Held, Schema
from dither.query.sources.sql_quotes import name

FINE_WITH_ZONE = ("timestamp[ns, tz", "TIMESTAMPTZ_NS")


def read_sql(table: Table, schema: Schema, where: str) -> str:
    """What stands after FROM: `where`, or a SELECT from it."""
    read = [(read_column(column, schema[column.name], table), name(column.name)) for column in table.columns]
    if all(sql == called for sql, called in read):
        return where
    return f"(SELECT {', '.join(sql if sql == called else f'{sql} AS {called}' for sql, called in read)} FROM {where})"


def read_column(column: Column, held: Held, table: Table) -> str:
    """A column of a table as everything else gets it."""
    called = name(column.name)
    if held.type is Type.TEXT and not held.stored.startswith("UUID"):
        found = _text(column, held)
        cut = f" ELSE left({found}, {LONGEST_TEXT})" if is_cut(column, table) else ""
        is_id = table.tells_whose(column.name)
        value = value_sql(found, column.cells, kind=column.type, is_id=is_id)
        if column.type is Type.INTEGER and not is_id:
            value = whole_sql(value)
        return f"CASE WHEN strlen({found}) <= {LONGEST_TEXT} THEN {value}{cut} END"  # strlen counts bytes
    if column.type is Type.TIMESTAMP and held.stored.startswith(FINE_WITH_ZONE):
        return f"TRY_CAST({called} AS TIMESTAMP_NS)"
    if column.type is Type.TEXT and held.type is Type.TIMESTAMP:
        return f"CASE WHEN TRY_CAST({called} AS TIMESTAMP) > '-9999-01-01'::TIMESTAMP THEN {called} END"
    return called


def is_cut(column: Column, table: Table) -> bool:
    """Whether of a long text the beginning is kept; otherwise nothing is."""
    return column.type is Type.TEXT and not table.tells_whose(column.name)


def is_long(column: Column, held: Held, table: Table) -> str:
    """Whether a cell is a text that is cut or let go. For its owner: it takes longer on longer texts."""
    if held.type is not Type.TEXT:
        return "FALSE"
    found = f"CAST({name(column.name)} AS VARCHAR)"
    return f"coalesce({'length' if is_cut(column, table) else 'strlen'}({found}) > {LONGEST_TEXT}, FALSE)"


def _text(column: Column, held: Held) -> str:
    return f"CAST({name(column.name)} AS VARCHAR)" if held.stored.startswith("ENUM") else name(column.name)
