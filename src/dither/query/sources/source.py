"""Where the rows of a table are: files, a DuckDB database, or a frame in memory. Rows are read by the engine alone.

What is looked at beforehand is the *schema*: names and types of columns, from a footer, a header line, a catalogue or the
dtypes of a frame. No row is read by `schema`, and a frame is converted only when the engine asks for it.
"""

from __future__ import annotations

import csv
import glob
import hashlib
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from dither.errors import DataError
from dither.query.policy.column import Type
from dither.query.policy.table import Table
from dither.query.sources.schema import Held, Schema, from_arrow, from_duckdb, must_fit, unique
from dither.query.sources.sql_quotes import text

if TYPE_CHECKING:
    import duckdb

KINDS = "a .parquet, .csv or .duckdb file, a glob of such, a pandas or polars DataFrame, or an Arrow table"
POLARS = {
    *("Boolean", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64"),
    *("Decimal", "String", "Categorical", "Enum", "Date", "Datetime"),
}  # the conversion of others may end the process


class FrameLike(Protocol):
    """A table in memory: a DataFrame of pandas or of polars, or a table of pyarrow."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""

    @property
    def columns(self) -> Any:
        """Names of the columns; in pyarrow, the columns themselves."""


DataLike: TypeAlias = str | Path | FrameLike


class Source(ABC):
    """Where the rows of a table are."""

    kind: str
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

    def check(self, table: Table) -> Schema:
        """Refuse a source that cannot be the table of the policy, before anything is charged; what of it will be read."""
        found, where = self.schema(table.name), f"source of {table.name}"
        for column in table.columns:
            if column.name not in found:
                why = f"the policy describes a column {column.name} that is not there"
                raise DataError(where, column.name, why, "a source with that column, or a policy without")
            must_fit(column, found[column.name], where, person=column.name == table.person)
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
class CsvFiles(Source):
    """CSV in one fixed dialect: commas, double quotes, a header line, UTF-8. A cell is text until the policy casts it.

    Files must be well formed: with a quote left open, one line would take others with it. So nothing is skipped: a
    broken file fails as a whole (`sources/csv_quotes.py` looks at the quotes, once the charge is made).
    """

    paths: tuple[str, ...]
    kind = "csv"

    def schema(self, table: str) -> Schema:
        return unique(((column, Held(Type.TEXT, "text")) for column in self.header()), "source")

    def header(self) -> list[str]:
        """The names of its columns, from the first line of each file."""
        found: list[str] | None = None
        for path in self.paths:
            try:
                with Path(path).open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
                    mine = next(csv.reader(file), [])
                "".join(mine).encode()
            except (OSError, UnicodeEncodeError, csv.Error):
                raise DataError("source", path, "its first line cannot be read", "CSV with a header line") from None
            if found is not None and mine != found:
                why = "its header differs from that of the files before it"
                raise DataError("source", path, why, "files of one table")
            found = mine
        if not found or not all(column and column.isprintable() for column in found):
            why = "its header leaves a column without a name, or breaks a line"
            raise DataError("source", self.paths[0], why, "CSV with a header line")
        return found


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


@dataclass(frozen=True, eq=False)
class Frame(Source):
    """A frame in memory: pandas, polars, or an Arrow table. Only the columns of the policy are handed over: what else it
    holds may be of any type."""

    frame: Any
    kind: str

    def schema(self, table: str) -> Schema:
        if self.kind == "arrow":
            return from_arrow(self.frame.schema, "frame")
        dtypes = [(str(column), dtype) for column, dtype in zip(self.frame.columns, self.frame.dtypes, strict=True)]
        found = unique(((column, Held(None, str(dtype))) for column, dtype in dtypes), "frame")
        for at, (column, dtype) in enumerate(dtypes):
            if dtype.base_type().__name__ in POLARS if self.kind == "polars" else str(dtype) != "object":
                with suppress(Exception):  # it has no counterpart in Arrow, and what is said of that differs by dtype
                    found[column] = from_arrow(self._arrow([at], rows=False).schema, "frame")[column]
        return found

    def _arrow(self, places: list[int], *, rows: bool) -> Any:
        """Some of its columns, under their names; without rows, where only their types are asked for."""
        import pyarrow

        if self.kind == "pandas":
            part = self.frame.iloc[:, places] if rows else self.frame.iloc[:0, places]
            return pyarrow.Table.from_pandas(part, preserve_index=False)
        part = self.frame.select([self._names[at] for at in places])
        return part if self.kind == "arrow" else pyarrow.table(part if rows else part.head(0))

    def arrow(self, table: Table, schema: Schema) -> Any:
        """The columns of the policy as an Arrow table; refused where they are not as they were when they were checked."""
        import pyarrow

        names = self._names
        given = self._arrow([names.index(column.name) for column in table.columns], rows=True)
        if from_arrow(given.schema, "frame") != schema:  # somebody changed it, after it was checked
            raise DataError("frame", self.kind, "it is not what it was when it was checked", "a frame that nobody changes")
        # without metadata, by which an engine might take a column for something else than was checked
        return pyarrow.Table.from_arrays(given.columns, names=given.column_names)

    @property
    def _names(self) -> list[str]:
        return self.frame.column_names if self.kind == "arrow" else [str(column) for column in self.frame.columns]


def _look(path: str) -> tuple[int, ...]:
    found = Path(path).stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_mode


def find_source(stated: DataLike, folder: Path, where: str) -> Source:
    """The source that a path, a glob or a frame stands for."""
    if isinstance(stated, (str, Path)):
        return _files(str(stated), folder, where)
    module, kind = type(stated).__module__.split(".")[0], type(stated).__name__
    if kind == "DataFrame" and module in ("pandas", "polars"):
        return Frame(stated, module)
    if kind == "Table" and module == "pyarrow":
        return Frame(stated, "arrow")
    if kind == "LazyFrame":
        raise DataError(where, kind, "it is not computed yet", "frame.collect()")
    if hasattr(stated, "__arrow_c_stream__"):  # it may be read only once, and a second question would find nothing
        raise DataError(where, kind, "it may be a stream that can be read only once", "pyarrow.table(data)")
    raise DataError(where, kind, "it is no table that can be read", KINDS)


def _files(stated: str, folder: Path, where: str) -> Source:
    pattern = str(folder / stated)
    found = [pattern] if Path(pattern).is_file() else sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207
    paths = tuple(str(Path(path).resolve()) for path in found if Path(path).is_file())
    if not paths:
        raise DataError(where, stated, f"there is no such file in {folder}", KINDS)
    files = [(Path(path).stat().st_dev, Path(path).stat().st_ino) for path in paths]
    if len(set(files)) != len(files):  # its rows would count twice
        raise DataError(where, stated, "it finds one file under two names", "each file once")
    for path in paths:
        if any(sign in path for sign in "*?[]") or not path.isprintable():
            raise DataError(where, path, "the engine would read that name as a pattern", "a plain file name")
    endings = {Path(path).suffix.lower() for path in paths}
    if endings <= {".parquet", ".pq"}:
        return ParquetFiles(paths)
    if endings == {".csv"}:
        return CsvFiles(paths)
    if endings <= {".duckdb", ".db"} and len(paths) == 1:
        return DuckDBFile(paths[0])
    raise DataError(where, stated, "it does not say by its ending what it is, or mixes several kinds", KINDS)
