"""A source as the table of a policy: checked before the charge, handed over after it, and read as it was checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dither.query.engines.duckdb.from_source import from_source, hand_over
from dither.query.engines.duckdb.read_table import is_long, read_column, read_sql
from dither.query.policy.column import Column, Type
from dither.query.policy.table import Table
from dither.query.sources.schema import Schema
from dither.query.sources.source import Source

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, eq=False)
class TableSource:
    """Where the rows of a table are, and how the columns of the policy are stored there."""

    table: Table
    source: Source
    schema: Schema

    @property
    def texts(self) -> frozenset[str]:
        """The columns that are stored as text."""
        return frozenset(column for column, held in self.schema.items() if held.type is Type.TEXT)

    @property
    def relation(self) -> str:
        """What stands after FROM."""
        return self.read(from_source(self.source, self.table))

    @property
    def stored(self) -> str:
        """Where the rows are as they are stored."""
        return from_source(self.source, self.table)

    def read_column(self, column: Column) -> str:
        """A column as everything else gets it."""
        return read_column(column, self.schema[column.name], self.table)

    def is_long(self, column: Column) -> str:
        """Whether a cell is a text that is cut or let go."""
        return is_long(column, self.schema[column.name], self.table)

    def read(self, where: str) -> str:
        """What stands after FROM if rows stored in the same way are there."""
        return read_sql(self.table, self.schema, where)

    def attach(self, cursor: duckdb.DuckDBPyConnection, folder: Path | None = None) -> None:
        """Hand over what is in memory, and into the folder what is in another encoding; called when the charge is made."""
        hand_over(self.source, cursor, self.table, self.schema, folder)


def table_source(table: Table, source: Source) -> TableSource:
    """The source of a table; refused where it cannot be that."""
    return TableSource(table, source, source.check(table))
