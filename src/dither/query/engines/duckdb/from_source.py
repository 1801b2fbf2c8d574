"""How DuckDB gets at the rows of a source: what stands after FROM, and what is handed over when the charge is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dither.errors import DataError
from dither.query.policy.table import Table
from dither.query.sources.csv_quotes import misplaced_quote
from dither.query.sources.frames import Frame
from dither.query.sources.schema import Schema
from dither.query.sources.source import CsvFiles, DuckDBFile, ParquetFiles, Source
from dither.query.sources.sql_quotes import name, text

if TYPE_CHECKING:
    import duckdb


def from_source(source: Source, table: Table) -> str:
    """What stands after FROM."""
    match source:
        case ParquetFiles(paths):
            files = ", ".join(text(path) for path in paths)
            # Names of folders are not cells. Least and largest number of a file leave NaN out: taken for those of all
            # cells, they decide what becomes of all rows with NaN: one person's number would count or drop others.
            return f"read_parquet([{files}], hive_partitioning = false, can_have_nan = true)"
        case CsvFiles(paths):
            columns = ", ".join(f"{text(column)}: 'VARCHAR'" for column in source.header())
            files = ", ".join(text(path) for path in paths)
            dialect = "auto_detect = false, header = true, delim = ',', quote = '\"', escape = '\"', nullstr = ''"
            # From the beginning by one thread: a second one might begin inside a cell.
            strict = "strict_mode = true, ignore_errors = false, parallel = false"
            return f"read_csv([{files}], columns = {{{columns}}}, {dialect}, {strict})"
        case DuckDBFile():
            return f"{source.called}.main.{name(table.name)}"
        case _:
            return name(_frame(table))


def hand_over(source: Source, cursor: duckdb.DuckDBPyConnection, table: Table, schema: Schema) -> None:
    """Make the rows of a table that was checked reachable; what is wrong with them is found here, once they are paid for."""
    match source:
        case CsvFiles(paths):
            for path in paths:
                if (place := misplaced_quote(path)) is not None:
                    why = f"the quote at byte {place:,} is out of order"
                    raise DataError("source", path, why, "CSV that is well formed")
        case Frame():
            given = source.arrow(table, schema)
            cursor.register(_frame(table), given.from_arrays([_without_zone(c) for c in given.columns], given.column_names))


def _without_zone(column: Any) -> Any:
    """Times with a zone in UTC, without it: with one, the engine fails on times that it cannot count in microseconds."""
    from pyarrow import timestamp, types

    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if types.is_timestamp(kind) and kind.tz is not None and kind.unit in ("s", "ms"):
        return column.cast(kind).cast(timestamp(kind.unit))
    return column


def _frame(table: Table) -> str:
    return f"protected frame {table.name}"
