"""How DuckDB gets at the rows of a source: what stands after FROM, and what is handed over when the charge is made."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dither.errors import DataError
from dither.query.policy.table import Table
from dither.query.sources.csv_encoding import write_as_utf8
from dither.query.sources.csv_files import CsvFiles
from dither.query.sources.csv_long_rows import long_rows, longest_row, write_cut
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
        case CsvFiles(_, given):
            names = source.header()
            columns = ", ".join(f"{text(column)}: 'VARCHAR'" for column in names)
            files = f"getvariable({text(source.readable)})"
            signs = f"delim = {text(given.separator)}, quote = {text(given.quote)}, escape = {text(given.quote)}"
            dialect = f"auto_detect = false, header = {'true' if given.names is None else 'false'}, {signs}, nullstr = ''"
            # From the beginning by one thread: a second one might begin inside a cell.
            strict = "strict_mode = true, ignore_errors = false, parallel = false"
            size = f"max_line_size = {longest_row(len(names))}"
            return f"read_csv({files}, columns = {{{columns}}}, {dialect}, {strict}, {size})"
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
        case CsvFiles(paths):
            read = [_readable(path, source, folder, f"{source.readable}-{at}") for at, path in enumerate(paths)]
            cursor.execute(f"SET VARIABLE {source.readable} = [{', '.join(text(path) for path in read)}]")
        case Frame():
            given = source.arrow(table, schema)
            cursor.register(_frame(table), given.from_arrays([_without_zone(c) for c in given.columns], given.column_names))


def _readable(path: str, source: CsvFiles, folder: Path | None, name: str) -> str:
    """A file of these cells that the engine reads: this one, or one in the folder, in UTF-8 and without rows too long."""
    found, dialect = path, source.dialect
    if dialect.encoding != "utf-8" and folder is not None:
        target = folder / f"{name}-decoded.csv"
        if not target.exists():  # two tables may be of one source
            target.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
            try:
                write_as_utf8(path, dialect.encoding, target)
            except UnicodeDecodeError:
                why = f"it is not {dialect.encoding.upper()} to its end"
                raise DataError("source", path, why, "another encoding, beside the source") from None
        found = str(target)
    if (place := misplaced_quote(found, dialect.separator, dialect.quote)) is not None:
        why = f"a quote in line {line_at(found, place):,} is out of order"
        raise DataError("source", path, why, "CSV that is well formed")
    rows = [] if folder is None else long_rows(found, dialect.quote, header=dialect.names is None)
    if rows and folder is not None:
        target = folder / f"{name}-cut.csv"
        if not target.exists():
            target.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
            columns = len(source.header())
            write_cut(found, target, rows, dialect.separator, dialect.quote, columns=columns)
        found = str(target)
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
