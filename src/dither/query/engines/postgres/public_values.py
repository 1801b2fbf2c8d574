"""The rows of a small public table that is no table of the database: sent along, as arrays, and read there as a table is.

Theorem. PostgreSQL scans the same rows of such a table as DuckDB does. Proof. The rows are those that DuckDB's own scan
gives: each cell a value of the policy's type, or missing. They are sent in spellings that stand for one value (whole numbers
in digits, doubles in the digits that tell them apart, days and times as ISO has them, texts with quotes and backslashes
escaped), each read back as that type. What PostgreSQL's scan does to a cell once more changes none: it is no NaN, lies in
the years 1 to 9999, and has no more than the longest text.

So nothing can fail by a protected row: the arrays are a function of public rows, taken once a release, before the charge.
They are parameters, put into settings of the transaction; a SELECT names the setting. Two rows that are equal stay two.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dither.errors import DataError
from dither.query.engines.postgres.read_table import is_long, read_column, read_sql
from dither.query.engines.postgres.words import LONGEST_NAME, POSTGRES
from dither.query.policy.column import Column, Type
from dither.query.policy.table import Table
from dither.query.sources.postgres_table import must_be_read
from dither.query.sources.schema import Held, Schema
from dither.query.sources.source import Source

MOST_ROWS = 10_000  # that are sent along
MOST_LETTERS = 10_000_000  # of all cells of a table
SENT_AS = {
    Type.INTEGER: Held(Type.INTEGER, "bigint"),
    Type.DECIMAL: Held(Type.FLOAT, "double precision"),
    Type.FLOAT: Held(Type.FLOAT, "double precision"),
    Type.TEXT: Held(Type.TEXT, "text"),
    Type.BOOLEAN: Held(Type.BOOLEAN, "boolean"),
    Type.DATE: Held(Type.DATE, "date"),
    Type.TIMESTAMP: Held(Type.TIMESTAMP, "timestamp without time zone"),
}
INSTEAD = "the table in the same database as the protected ones"


@dataclass(frozen=True, eq=False)
class PublicValues:
    """A public table whose rows are sent along."""

    table: Table
    source: Source
    arrays: tuple[str, ...]  # a column each

    @property
    def schema(self) -> Schema:
        """How its columns are sent: as what the policy says."""
        return {column.name: SENT_AS[column.type] for column in self.table.columns}

    @property
    def texts(self) -> frozenset[str]:
        """None: a column that is sent as text is text in the policy."""
        return frozenset()

    @property
    def relation(self) -> str:
        """What stands after FROM."""
        return self.read(self.stored)

    @property
    def stored(self) -> str:
        """Where the rows are as they are sent."""
        parts = [
            POSTGRES.cast(f"current_setting({POSTGRES.text(setting)})", f"{held.stored}[]")
            for (setting, _), held in zip(self.settings(), self.schema.values(), strict=True)
        ]
        names = ", ".join(POSTGRES.name(column.name) for column in self.table.columns)
        return f"(SELECT * FROM unnest({', '.join(parts)}) AS sent ({names}))"

    def settings(self) -> Iterator[tuple[str, str]]:
        """The settings of a transaction that hold the rows, a column each, and what they hold."""
        mine = hashlib.sha256(self.table.name.encode()).hexdigest()[:32]
        return ((f"dither.rows_{mine}_{at}", array) for at, array in enumerate(self.arrays))

    def read_column(self, column: Column) -> str:
        """A column as everything else gets it."""
        return read_column(column, SENT_AS[column.type], self.table)

    def is_long(self, column: Column) -> str:
        """Whether a cell is a text that is cut or let go: it was, before it was sent."""
        return is_long(column, SENT_AS[column.type], self.table)

    def read(self, where: str) -> str:
        """What stands after FROM if rows stored in the same way are there."""
        return read_sql(self.table, self.schema, where)


def public_values(table: Table, source: Source, rows: Sequence[tuple[Any, ...]]) -> PublicValues:
    """A public table with its rows, as a scan gives them; refused where they are too many, or where one cannot be sent."""
    where = f"source of {table.name}"
    if not table.public:  # what is sent is protected by nothing
        raise DataError(where, table.name, "rows of public tables are sent to the database, and no others", INSTEAD)
    for column in table.columns:
        must_be_read(column, SENT_AS[column.type], where, table)
        if len(column.name.encode()) > LONGEST_NAME:
            raise DataError(where, column.name, f"PostgreSQL has names of at most {LONGEST_NAME} bytes", "a shorter name")
    if len(rows) > MOST_ROWS:
        why = f"it has more than {MOST_ROWS} rows, and is not in the database of the protected tables"
        raise DataError(where, table.name, why, INSTEAD)
    if any("\0" in cell for row in rows for cell in row if isinstance(cell, str)):
        raise DataError(where, table.name, "a text of it has a NUL, which PostgreSQL cannot hold", "texts without")
    columns = zip(*rows, strict=True) if rows else ([] for _ in table.columns)
    arrays = tuple("{" + ",".join(map(_spelled, cells)) + "}" for cells in columns)
    if sum(map(len, arrays)) > MOST_LETTERS:
        raise DataError(where, table.name, f"its rows have more than {MOST_LETTERS} letters", INSTEAD)
    return PublicValues(table, source, arrays)


def _spelled(cell: Any) -> str:
    """A cell in an array: quoted, so that none is taken for NULL or for two."""
    if cell is None:
        return "NULL"
    if isinstance(cell, datetime.datetime):
        text = cell.isoformat(sep=" ")
    elif isinstance(cell, datetime.date):
        text = cell.isoformat()
    else:
        text = cell if isinstance(cell, str) else repr(cell)
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
