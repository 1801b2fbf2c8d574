"""How DuckDB gets at the rows of a source: what stands after FROM, and what is handed over when the charge is made."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dither.errors import DataError
from dither.query.policy.table import Table
from dither.query.sources.csv_encoding import write_as_utf8
from dither.query.sources.csv_files import CsvFiles
from dither.query.sources.csv_quotes import line_at, misplaced_quote
from dither.query.sources.frames import Frame
from dither.query.sources.partitioned_files import PartitionedFiles
from dither.query.sources.schema import Schema
from dither.query.sources.source import DuckDBFile, ParquetFiles, Source
from dither.query.sources.sql_quotes import name, text

if TYPE_CHECKING:
    import duckdb


def from_source(source: Source, table: Table) -> str:
    """What stands after FROM."""
    match source:
        case PartitionedFiles():
            return _partitions(source, table)
        case ParquetFiles(paths):
            return _parquet(paths)
        case CsvFiles(paths, given):
            columns = ", ".join(f"{text(column)}: 'VARCHAR'" for column in source.header())
            files = f"[{', '.join(text(path) for path in paths)}]"
            if given.encoding != "utf-8":
                files = f"getvariable({text(source.decoded)})"
            signs = f"delim = {text(given.separator)}, quote = {text(given.quote)}, escape = {text(given.quote)}"
            dialect = f"auto_detect = false, header = {'true' if given.names is None else 'false'}, {signs}, nullstr = ''"
            # From the beginning by one thread: a second one might begin inside a cell.
            strict = "strict_mode = true, ignore_errors = false, parallel = false"
            return f"read_csv({files}, columns = {{{columns}}}, {dialect}, {strict})"
        case DuckDBFile():
            return f"{source.called}.main.{name(table.name)}"
        case _:
            return name(_frame(table))


def _parquet(paths: Iterable[str]) -> str:
    """Parquet files. What names of folders hold is for us to say, not for the engine to guess. Least and largest number of
    a file leave NaN out: taken for those of all cells, they decide what becomes of all rows with NaN: one person's number
    would count or drop others."""
    files = ", ".join(text(path) for path in paths)
    return f"read_parquet([{files}], hive_partitioning = false, can_have_nan = true)"


def _partitions(source: PartitionedFiles, table: Table) -> str:
    """Files in folders, those with the same cells in one SELECT: columns by name, and cells of folders as constants. A
    folder that a condition on its cells leaves out need not be read: by names and the question alone, never by a row."""
    inside = [name(column.name) for column in table.columns if column.name not in source.columns]
    selects = []
    for cells, paths in source.partitions().items():
        held = [f"{'NULL' if cell is None else text(cell)}::VARCHAR AS {name(column)}" for column, cell in cells]
        selects.append(f"SELECT {', '.join([*inside, *held])} FROM {_parquet(paths)}")
    return f"({' UNION ALL '.join(selects)})"


def hand_over(
    source: Source, cursor: duckdb.DuckDBPyConnection, table: Table, schema: Schema, folder: Path | None = None
) -> None:
    """Make the rows of a table that was checked reachable; what is wrong with them is found here, once they are paid for.
    Into `folder` goes what the engine cannot read as it is."""
    match source:
        case CsvFiles(paths, dialect):
            read = paths if dialect.encoding == "utf-8" or folder is None else _decoded(source, cursor, folder)
            for path, readable in zip(paths, read, strict=True):
                if (place := misplaced_quote(readable, dialect.separator, dialect.quote)) is not None:
                    why = f"a quote in line {line_at(readable, place):,} is out of order"
                    raise DataError("source", path, why, "CSV that is well formed")
        case Frame():
            given = source.arrow(table, schema)
            cursor.register(_frame(table), given.from_arrays([_without_zone(c) for c in given.columns], given.column_names))


def _decoded(source: CsvFiles, cursor: duckdb.DuckDBPyConnection, folder: Path) -> list[str]:
    """The same files in UTF-8, in a folder; the engine knows them by a variable."""
    place = folder / source.decoded
    found = [str(place / f"{number}.csv") for number in range(len(source.paths))]
    if not place.exists():  # two tables may be of one source
        place.mkdir(parents=True, mode=0o700)
        for path, target in zip(source.paths, found, strict=True):
            try:
                write_as_utf8(path, source.dialect.encoding, Path(target))
            except UnicodeDecodeError:
                why = f"it is not {source.dialect.encoding.upper()} to its end"
                raise DataError("source", path, why, "another encoding, beside the source") from None
    cursor.execute(f"SET VARIABLE {source.decoded} = [{', '.join(text(path) for path in found)}]")
    return found


def _without_zone(column: Any) -> Any:
    """Times with a zone in UTC, without it: with one, the engine fails on times that it cannot count in microseconds."""
    from pyarrow import timestamp, types

    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_timestamp(kind) and kind.tz is not None and kind.unit in ("s", "ms"):
        return column.cast(kind).cast(timestamp(kind.unit))
    return column


def _frame(table: Table) -> str:
    return f"protected frame {table.name}"
