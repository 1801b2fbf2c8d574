"""The read of a table in PostgreSQL's SQL: every column of the policy once, as the type that the policy says.

Why it is total: each pair of stored and declared type has a cast that cannot fail (`sources/postgres_table.py` lists the
pairs, and refuses all others before the charge), or is compared before it is cast. Why one row's length does not show in the
time: `octet_length` reads the length that stands beside a text. What becomes of a cell depends on that cell alone; a
person's id is never cut (`engines/duckdb/read_table.py` says why).
"""

from __future__ import annotations

from dither.query.engines.postgres.words import POSTGRES
from dither.query.policy.column import LONGEST_TEXT, Column, Type
from dither.query.policy.table import Table
from dither.query.sources.schema import Held, Schema

LARGEST = 2**63
OVER, UNDER = "1.7e308", "1e-307"  # numbers beyond are infinities, or zero


def read_sql(table: Table, schema: Schema, where: str) -> str:
    """What stands after FROM: a SELECT from `where`."""
    read = [f"{read_column(one, schema[one.name], table)} AS {POSTGRES.name(one.name)}" for one in table.columns]
    return f"(SELECT {', '.join(read)} FROM {where} AS stored)"


def read_column(column: Column, held: Held, table: Table) -> str:
    """A column of a table as everything else gets it."""
    x, to = f"stored.{POSTGRES.name(column.name)}", POSTGRES.types[column.type]
    if column.type is Type.TEXT:
        return _text(POSTGRES.cast(x, to), cut=not table.tells_whose(column.name))
    if column.type is Type.INTEGER and held.type is not Type.INTEGER:
        last = f"< {LARGEST}" if held.type is Type.FLOAT else f"<= {LARGEST - 1}"
        return f"CASE WHEN {x} >= -{LARGEST} AND {x} {last} THEN {POSTGRES.cast(x, to)} END"
    if column.type in (Type.DECIMAL, Type.FLOAT) and held.stored == "numeric":
        large, small = f"abs({x}) > {OVER}", f"abs({x}) < {UNDER}"
        beyond = f"CASE WHEN {x} > 0 THEN {POSTGRES.number(float('inf'))} ELSE {POSTGRES.number(float('-inf'))} END"
        missing = f"WHEN {x} = 'NaN' THEN NULL"
        return f"CASE {missing} WHEN {large} THEN {beyond} WHEN {small} THEN 0 ELSE {POSTGRES.cast(x, to)} END"
    if column.type is Type.BOOLEAN and held.type is Type.INTEGER:
        return f"({x} <> 0)"
    if held.stored == "timestamp with time zone":
        x = f"({x} AT TIME ZONE 'UTC')"
    if column.type is Type.TIMESTAMP and held.type is Type.DATE:  # a date may lie beyond all timestamps
        return f"CASE WHEN {x} BETWEEN '0001-01-01' AND '9999-12-31' THEN {POSTGRES.cast(x, to)} END"
    return POSTGRES.cast(x, to)


def is_long(column: Column, held: Held, table: Table) -> str:
    """Whether a cell is a text that is cut or let go."""
    if held.type is not Type.TEXT:
        return "FALSE"
    found = POSTGRES.cast(f"stored.{POSTGRES.name(column.name)}", POSTGRES.types[Type.TEXT])
    size = "octet_length" if table.tells_whose(column.name) else "length"
    return f"coalesce({size}({found}) > {LONGEST_TEXT}, FALSE)"


def _text(sql: str, *, cut: bool) -> str:
    kept = f" ELSE left({sql}, {LONGEST_TEXT})" if cut else ""
    return f"CASE WHEN octet_length({sql}) <= {LONGEST_TEXT} THEN {sql}{kept} END"
