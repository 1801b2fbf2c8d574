"""The read of a table in DuckDB's SQL: every column of the policy once, before anything else looks at it.

Times. There is one, the least of all, that the engine fails to write: read as text, times before the year -9999 are
missing. Nanoseconds with a zone become timestamps only by way of nanoseconds without one; the engine gives NULL otherwise.
"""

from __future__ import annotations

from dither.query.column import Column, Type
from dither.query.engines.sql import name
from dither.query.schema import Held, Schema
from dither.query.table import Table

FINE_WITH_ZONE = ("timestamp[ns, tz", "TIMESTAMPTZ_NS")


def read_sql(table: Table, schema: Schema, where: str) -> str:
    """What stands after FROM: `where`, or a SELECT from it."""
    read = [(_read(column, schema[column.name]), name(column.name)) for column in table.columns]
    if all(sql == called for sql, called in read):
        return where
    return f"(SELECT {', '.join(sql if sql == called else f'{sql} AS {called}' for sql, called in read)} FROM {where})"


def _read(column: Column, held: Held) -> str:
    called = name(column.name)
    if column.type is Type.TIMESTAMP and held.stored.startswith(FINE_WITH_ZONE):
        return f"TRY_CAST({called} AS TIMESTAMP_NS)"
    if column.type is Type.TEXT and held.type is Type.TIMESTAMP:
        return f"CASE WHEN TRY_CAST({called} AS TIMESTAMP) > '-9999-01-01'::TIMESTAMP THEN {called} END"
    return called
