"""Where the rows of a table are: files, a DuckDB database, or a frame in memory (`sources/frames.py`). Rows are read by the
engine alone.

What is looked at beforehand is the *schema*: names and types of columns, from a footer, a header line, a catalogue or the
dtypes of a frame. No row is read by `schema`, and a frame is converted only when the engine asks for it.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from dither.errors import DataError
from dither.query.policy.engine_facts import EngineFacts
from dither.query.policy.table import Table
from dither.query.sources.schema import Schema, from_arrow, from_duckdb, must_be_text, must_fit
from dither.query.sources.spark_session import SparkFrameLike
from dither.query.sources.sql_quotes import text

if TYPE_CHECKING:
    import duckdb


class FrameLike(Protocol):
    """A table in memory: a DataFrame of pandas or of polars, or a table of pyarrow."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""

    @property
    def columns(self) -> Any:
        """Names of the columns; in pyarrow, the columns themselves."""


DataLike: TypeAlias = str | Path | FrameLike | SparkFrameLike


class Source(ABC):
    """Where the rows of a table are."""

    kind: str
    engine: str = "duckdb"  # who reads it
    paths: tuple[str, ...] = ()  # the files that the engine may read: these and no others

    @abstractmethod
    def schema(self, table: str) -> Schema:
        """Names and types of its columns; reads no row."""

    def stamp(self) -> tuple[tuple[int, ...], ...] | None:
        """What its files look like from outside: while that is the same, so is the schema. None if it cannot be told."""
        try:
            return tuple(_look(path) for path in self.paths) or None
        except OSError:
            return None

    def under(self, facts: EngineFacts | None) -> Source:
        """The same source, read under the owner's word about the engine: of no matter for files and frames."""
        return self

    def cautions(self) -> list[str]:
        """What its owner should know of it: none for files and frames."""
        return []

    def enforces_key(self, columns: Collection[str]) -> bool:
        """Whether whoever keeps the rows makes sure that no two have the same key: nobody does for files and frames."""
        return False

    def hint(self) -> str:
        """What its owner may want to state of it; '' for most."""
        return ""

    def check(self, table: Table) -> Schema:
        """Refuse a source that cannot be the table of the policy, before anything is charged; what of it will be read."""
        return self.fitting(table, self.schema(table.name))

    def fitting(self, table: Table, found: Schema) -> Schema:
        """Of a schema, what will be read; refused where it cannot be the table of the policy."""
        where = f"source of {table.name}"
        for column in table.columns:
            if column.name not in found:
                why = f"the policy describes a column {column.name} that is not there"
                raise DataError(where, column.name, why, self.hint() or "a source with that column, or a policy without")
            must_fit(column, found[column.name], where, person=table.tells_whose(column.name))
            must_be_text(column, found[column.name], where, engine=self.engine)
        return {column.name: found[column.name] for column in table.columns}


@dataclass(frozen=True)
class ParquetFiles(Source):
    """Parquet files, all of the same columns."""

    paths: tuple[str, ...]
    kind = "parquet"

    def schema(self, table: str) -> Schema:
        import pyarrow
        import pyarrow.parquet

        found: Schema | None = None
        for path in self.paths:
            try:
                read = pyarrow.parquet.read_schema(path)
            except (OSError, pyarrow.ArrowException):
                raise DataError("source", path, "it does not end as a Parquet file does", "a whole Parquet file") from None
            mine = from_arrow(read, "source")
            if found is not None and mine != found:
                why = "its columns or their types differ from those of the files before it"
                raise DataError("source", path, why, "files of one table")
            found = mine
        return found or {}


@dataclass(frozen=True)
class DuckDBFile(Source):
    """A table in a DuckDB file. The file is attached beside an empty database, so that macros in it are not ours."""

    path: str
    kind = "duckdb"

    @property
    def paths(self) -> tuple[str, ...]:  # type: ignore[override]
        """The one file that the engine may read."""
        return (self.path,)

    def stamp(self) -> tuple[tuple[int, ...], ...] | None:
        """As of any source, with the write-ahead log beside the file, which may hold what was written last."""
        try:
            return _look(self.path), *([_look(f"{self.path}.wal")] if Path(f"{self.path}.wal").exists() else [])
        except OSError:
            return None

    def schema(self, table: str) -> Schema:
        columns = self.tables().get(table)
        if columns is None:
            why = f"it has no table {table} (views do not count: they could read anything)"
            raise DataError("source", self.path, why, f"CREATE TABLE {table} in it")
        return from_duckdb(columns, "source")

    def tables(self) -> dict[str, list[tuple[str, str]]]:
        """The tables in it, with names and types of their columns."""
        import duckdb

        catalogue = (
            "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE database_name = ? "
            "AND schema_name = 'main' AND table_oid IN (SELECT table_oid FROM duckdb_tables() WHERE database_name = ?) "
            "ORDER BY table_oid, column_index"
        )
        try:
            with duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false"}) as connection:
                self.open(connection)
                rows = connection.execute(catalogue, [self.called, self.called]).fetchall()
        except duckdb.Error:
            why = "it cannot be opened as a DuckDB file, or somebody writes to it"
            raise DataError("source", self.path, why, "a DuckDB file that nobody writes to") from None
        found: dict[str, list[tuple[str, str]]] = {}
        for table, column, kind in rows:
            found.setdefault(table, []).append((column, kind))
        return found

    @property
    def called(self) -> str:
        """The name under which it is attached: one a file, which cannot be attached twice."""
        return f"protected_file_{hashlib.sha256(self.path.encode()).hexdigest()[:16]}"

    def open(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Attach it beside what the connection has, to be read only."""
        connection.execute(f"ATTACH IF NOT EXISTS {text(self.path)} AS {self.called} (TYPE duckdb, READ_ONLY)")


def _look(path: str) -> tuple[int, ...]:
    found = Path(path).stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_mode
