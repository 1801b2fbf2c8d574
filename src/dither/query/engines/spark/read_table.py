"""The read of a table in Spark's SQL: every column of the policy once, as the type that the policy says.

Why it is total: each pair of stored and declared type has a cast that cannot fail (`sources/spark_table.py` lists the pairs,
and refuses all others before the charge), or is compared before it is cast. What becomes of a cell depends on that cell
alone; a person's id is never cut (`engines/duckdb/read_table.py` says why). A text that is not UTF-8 is missing, but for
ids, of which the bytes tell people apart and never leave the engine.

Doubles are read with zero added. Least and largest number that stand beside a part of a file, or of a table that is held in
memory, leave NaN out, and Spark compares constants with them before it reads: a part whose largest number is 2 has no row
above 3, it finds, though NaN is. What becomes of rows with NaN would hang on the other rows of their part: one person's
number, or NULL, would count or drop others. Of a sum Spark knows no such numbers. `sources/spark_session.py` says the same
by settings; but a frame is read under those of the session that made it.

So it is with buckets, of which a frame, or a copy of it in memory, may claim that they hold all rows of a person or a group.
Spark believes it of a column, not of what is computed from one: whole numbers, which need no cast, are read with no bit
turned over (^ 0), truth values, days and times by a CASE, and no claim is left on which a person's bounds could hang.
"""

from __future__ import annotations

import datetime

from dither.query.engines.spark.words import SPARK
from dither.query.policy.column import LONGEST_TEXT, Column, Type
from dither.query.policy.table import Table
from dither.query.sources.schema import Held, Schema


def read_sql(table: Table, schema: Schema, where: str) -> str:
    """What stands after FROM: a SELECT from `where`."""
    read = [f"{read_column(one, schema[one.name], table)} AS {SPARK.name(one.name)}" for one in table.columns]
    return f"(SELECT {', '.join(read)} FROM {where} AS stored)"


def read_column(column: Column, held: Held, table: Table) -> str:
    """A column of a table as everything else gets it."""
    x, to = f"stored.{SPARK.name(column.name)}", SPARK.types[column.type]
    if column.type is Type.TEXT and held.type is Type.TEXT:
        cut = "" if (is_id := table.tells_whose(column.name)) else f" ELSE {SPARK.left(x, LONGEST_TEXT)}"
        kept = f"CASE WHEN octet_length({x}) <= {LONGEST_TEXT} THEN {x}{cut} END"
        return kept if is_id else SPARK.sound(f"({kept})")
    if column.type is Type.TIMESTAMP and held.type is Type.DATE:  # a date may lie beyond all timestamps
        first, last = SPARK.constant(datetime.date.min), SPARK.constant(datetime.date.max)
        return f"CASE WHEN {x} BETWEEN {first} AND {last} THEN {SPARK.cast(x, to)} END"
    if column.type is held.type is Type.INTEGER:
        return f"({SPARK.cast(x, to)} ^ 0)"
    if column.type is held.type and column.type in (Type.BOOLEAN, Type.DATE, Type.TIMESTAMP):
        return f"CASE WHEN {x} IS NOT NULL THEN {SPARK.cast(x, to)} END"
    return SPARK.one_zero(SPARK.cast(x, to)) if held.type is Type.FLOAT else SPARK.cast(x, to)


def is_long(column: Column, held: Held, table: Table) -> str:
    """Whether a cell is a text that is cut or let go."""
    if held.type is not Type.TEXT:
        return "FALSE"
    size = "octet_length" if table.tells_whose(column.name) else "length"
    return f"coalesce({size}(stored.{SPARK.name(column.name)}) > {LONGEST_TEXT}, FALSE)"
