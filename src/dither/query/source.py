"""Where the rows of a table are: files, a DuckDB database, or a frame in memory. Rows are read by the engine alone.

What is looked at beforehand is the *schema*: names and types of columns, from a footer, a header line, a catalogue or the
dtypes of a frame. No row is read by `schema`, and a frame is converted only when the engine asks for it.
"""

from __future__ import annotations

import csv
import glob
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dither.errors import DataError
from dither.query.column import Type
from dither.query.engines.sql import name, text
from dither.query.table import Table

if TYPE_CHECKING:
    import duckdb

Schema = dict[str, Type | None]  # column -> the type that fits it; None for what no policy can describe
KINDS = "a .parquet, .csv or .duckdb file, a glob of such, a pandas or polars DataFrame, or an Arrow table"
FRAME = "protected_frame"
PREFIXES: list[tuple[tuple[str, ...], Type]] = [
    (("BOOL",), Type.BOOLEAN),
    (("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"), Type.INTEGER),
    (("HUGEINT", "UHUGEINT"), Type.INTEGER),
    (("FLOAT", "DOUBLE"), Type.FLOAT),
    (("DECIMAL",), Type.DECIMAL),
    (("VARCHAR", "ENUM", "UUID"), Type.TEXT),
    (("TIMESTAMP",), Type.TIMESTAMP),
    (("DATE",), Type.DATE),
]


class Source(ABC):
    """Rows, somewhere."""

    kind: str
    paths: tuple[str, ...] = ()  # the files that the engine may read: these and no others
    database: str | None = None  # a DuckDB file to open, read-only
    can_change: bool = False  # while it is read: then it must be read once

    @abstractmethod
    def schema(self, table: str) -> Schema:
        """Names and types of its columns; reads no row."""

    @abstractmethod
    def relation(self, table: Table) -> str:
        """What stands after FROM."""

    def attach(self, connection: duckdb.DuckDBPyConnection) -> None:  # noqa: B027 - files have nothing to hand over
        """Hand over what is in memory; called when the charge is made."""

    def check(self, table: Table) -> None:
        """Refuse a source that cannot be the table of the policy, before anything is charged."""
        found = self.schema(table.name)
        for column in table.columns:
            if column.name not in found:
                why = f"the policy describes a column {column.name} that is not there"
                raise DataError(
                    f"source of {table.name}", column.name, why, "a source with that column, or a policy without"
                )
            if found[column.name] is None:
                why = "its cells are lists, structures or bytes, which no policy describes"
                raise DataError(f"source of {table.name}", column.name, why, "a column of plain values")
        if table.person is not None and found[table.person] in (Type.FLOAT, Type.DECIMAL, Type.BOOLEAN):
            why = "it says whose a row is, and floats and decimals do not tell people apart reliably"
            raise DataError(f"source of {table.name}", table.person, why, "the same column as whole numbers or text")


@dataclass(frozen=True)
class ParquetFiles(Source):
    """Parquet files, all of the same columns."""

    paths: tuple[str, ...]
    kind = "parquet"
    can_change = True

    def schema(self, table: str) -> Schema:
        import pyarrow
        import pyarrow.parquet

        found: Schema | None = None
        for path in self.paths:
            try:
                mine = from_arrow(pyarrow.parquet.read_schema(path))
            except (OSError, pyarrow.ArrowException):
                raise DataError("source", path, "it does not end as a Parquet file does", "a whole Parquet file") from None
            if found is not None and mine != found:
                raise DataError("source", path, "its columns differ from those of the files before it", "files of one table")
            found = mine
        return found or {}

    def relation(self, table: Table) -> str:
        return f"read_parquet([{', '.join(text(path) for path in self.paths)}])"


@dataclass(frozen=True)
class CsvFiles(Source):
    """CSV in one fixed dialect: commas, double quotes, a header line, UTF-8. A cell is text until the policy casts it."""

    paths: tuple[str, ...]
    kind = "csv"
    can_change = True

    def schema(self, table: str) -> Schema:
        return dict.fromkeys(self._header(), Type.TEXT)

    def _header(self) -> list[str]:
        found: list[str] | None = None
        for path in self.paths:
            try:
                with Path(path).open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
                    mine = next(csv.reader(file), [])
                "".join(mine).encode()
            except (OSError, UnicodeEncodeError, csv.Error):
                raise DataError("source", path, "its first line cannot be read", "CSV with a header line") from None
            if found is not None and mine != found:
                raise DataError("source", path, "its header differs from that of the files before it", "files of one table")
            found = mine
        if not found or len(set(found)) != len(found) or not all(found):
            raise DataError("source", self.paths[0], "its header names no column, or one twice", "CSV with a header line")
        return found

    def relation(self, table: Table) -> str:
        columns = ", ".join(f"{text(column)}: 'VARCHAR'" for column in self._header())
        files = ", ".join(text(path) for path in self.paths)
        dialect = "auto_detect = false, header = true, delim = ',', quote = '\"', escape = '\"', nullstr = ''"
        # a line that is no row of the table is left out, never an error
        return f"read_csv([{files}], columns = {{{columns}}}, {dialect}, ignore_errors = true)"


@dataclass(frozen=True)
class DuckDBFile(Source):
    """A table in a DuckDB file, opened read-only."""

    database: str
    kind = "duckdb"

    def schema(self, table: str) -> Schema:
        import duckdb

        try:
            with duckdb.connect(self.database, read_only=True, config={"autoload_known_extensions": "false"}) as connection:
                rows = connection.execute(
                    "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ? AND schema_name = 'main' "
                    "AND table_name IN (SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main')",
                    [table],
                ).fetchall()
        except duckdb.Error:
            why = "it cannot be opened as a DuckDB file, or somebody writes to it"
            raise DataError("source", self.database, why, "a DuckDB file that nobody has open") from None
        if not rows:
            why = f"it has no table {table} (views do not count: they could read anything)"
            raise DataError("source", self.database, why, f"CREATE TABLE {table} in it")
        return {column: from_duckdb(kind) for column, kind in rows}

    def relation(self, table: Table) -> str:
        return f"main.{name(table.name)}"


@dataclass(frozen=True, eq=False)
class Frame(Source):
    """A frame in memory: pandas, polars, or anything that speaks Arrow."""

    frame: Any
    kind: str

    def schema(self, table: str) -> Schema:
        import pyarrow

        if self.kind == "pandas":
            for column, dtype in self.frame.dtypes.items():
                if dtype.kind == "O" and str(dtype) == "object":
                    why = "its dtype is object: each cell could be anything"
                    fix = f"frame[{column!r}] = frame[{column!r}].astype('string')"
                    raise DataError("frame", column, why, fix)
            return from_arrow(pyarrow.Schema.from_pandas(self.frame.head(0), preserve_index=False))
        if self.kind == "polars":
            return from_arrow(self.frame.head(0).to_arrow().schema)
        schema = getattr(self.frame, "schema", None)
        return from_arrow(schema if isinstance(schema, pyarrow.Schema) else pyarrow.schema(self.frame))

    def relation(self, table: Table) -> str:
        return FRAME

    def attach(self, connection: duckdb.DuckDBPyConnection) -> None:
        import pyarrow

        if self.kind == "pandas":
            connection.register(FRAME, pyarrow.Table.from_pandas(self.frame, preserve_index=False))
        else:
            connection.register(FRAME, pyarrow.table(self.frame))


def from_arrow(schema: Any) -> Schema:
    """The type that fits each column of an Arrow schema."""
    from pyarrow import types

    def fitting(kind: Any) -> Type | None:
        if types.is_dictionary(kind):
            kind = kind.value_type
        tests = [
            (types.is_boolean, Type.BOOLEAN),
            (types.is_integer, Type.INTEGER),
            (types.is_floating, Type.FLOAT),
            (types.is_decimal, Type.DECIMAL),
            (types.is_string, Type.TEXT),
            (types.is_large_string, Type.TEXT),
            (types.is_string_view, Type.TEXT),
            (types.is_date, Type.DATE),
            (types.is_timestamp, Type.TIMESTAMP),
        ]
        return next((found for test, found in tests if test(kind)), None)

    return {field.name: fitting(field.type) for field in schema}


def from_duckdb(kind: str) -> Type | None:
    """The type that fits a column of a DuckDB table."""
    if kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION")):
        return None
    return next((found for prefixes, found in PREFIXES if kind.startswith(prefixes)), None)


def find_source(stated: object, folder: Path, where: str) -> Source:
    """The source that a path, a glob or a frame stands for."""
    if isinstance(stated, (str, Path)):
        return _files(str(stated), folder, where)
    module = type(stated).__module__.split(".")[0]
    if type(stated).__name__ == "DataFrame" and module in ("pandas", "polars"):
        return Frame(stated, module)
    if type(stated).__name__ == "LazyFrame":
        raise DataError(where, type(stated).__name__, "it is not computed yet", "frame.collect()")
    if hasattr(stated, "__arrow_c_stream__"):
        return Frame(stated, "arrow")
    raise DataError(where, type(stated).__name__, "it is no table that can be read", KINDS)


def _files(stated: str, folder: Path, where: str) -> Source:
    pattern = str(folder / stated)
    found = [pattern] if Path(pattern).is_file() else sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207
    paths = tuple(str(Path(path).resolve()) for path in found if Path(path).is_file())
    if not paths:
        raise DataError(where, stated, f"there is no such file in {folder}", KINDS)
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
