"""The rows of public tables, fetched: as Arrow tables of the types that they are stored as, for another engine.

Nothing of a question gets to the server: the SELECTs name the columns of the policy, and no more. Each is total, whatever is
stored: times outside the years 1 to 9999 are missing, as they are wherever cells are read; texts are cut as for every
question; numbers of `numeric(p, s)` come digit by digit where Arrow has such decimals (at most 38 digits, NaN is missing),
and those of other numerics as doubles, as the policy's decimals are read. Rows are put into one order, so that sums of
floats do not depend on the order in which the server finds them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dither.errors import DataError
from dither.query.engines.engine import Run
from dither.query.engines.postgres.read_table import read_column
from dither.query.engines.postgres.run import PostgresEngine, PostgresTableSource
from dither.query.engines.postgres.words import POSTGRES
from dither.query.policy.column import Column, Type

MOST_ROWS = 1_000_000  # of a table
MOST_DIGITS = 38  # of a decimal of Arrow
AT_ONCE = 10_000  # rows that are made columns at once
ARROW = {
    **{"boolean": "bool_", "smallint": "int16", "integer": "int32", "bigint": "int64", "real": "float32"},
    **{"double precision": "float64", "date": "date32"},
}
Digits = Mapping[str, tuple[int, int]]  # of a column: how many there are, and how many of them behind the point


def public_rows(engine: PostgresEngine, sources: Sequence[PostgresTableSource], *, fetch: bool) -> dict[str, Any]:
    """The public tables of one database as Arrow tables, by name, all of one moment; without rows where none are to be read.

    Raises:
        DataError: a table has more than a million rows, or cannot be read.
    """
    if not all(source.table.public for source in sources):  # what is fetched is protected by nothing
        raise DataError("source", "a protected table", "rows of public tables are fetched, and no others", "public = true")
    try:
        with engine.reading(sources) as run:
            return {source.table.name: _table(run, source, fetch=fetch) for source in sources}
    except RuntimeError:
        came = ", ".join(source.source.relation for source in sources)
        raise DataError("source", came, "its rows cannot be read now", "asking again") from None


def _table(run: Run, source: PostgresTableSource, *, fetch: bool) -> Any:
    import pyarrow

    digits = _digits(run, source)
    kinds = [_kind(column, source, digits) for column in source.table.columns]
    names = [column.name for column in source.table.columns]
    waiting: list[tuple[Any, ...]] = []
    parts = [pyarrow.table([pyarrow.array([], kind) for kind in kinds], names=names)]

    def settle() -> None:
        cells = zip(*waiting, strict=True)
        parts.append(pyarrow.table([_array(part, kind) for part, kind in zip(cells, kinds, strict=True)], names=names))
        waiting.clear()

    def gather(row: tuple[Any, ...]) -> bool:
        waiting.append(row)
        if len(waiting) == AT_ONCE:
            settle()
        return False

    if fetch:
        cells = [f"{_cell(column, source, digits)} AS {POSTGRES.name(column.name)}" for column in source.table.columns]
        run(f"SELECT {', '.join(cells)} FROM {source.stored} AS stored LIMIT {MOST_ROWS + 1}", gather)
    if waiting:
        settle()
    found = pyarrow.concat_tables(parts)
    if found.num_rows > MOST_ROWS:
        why = f"it has more than {MOST_ROWS} rows, and for a question about public tables they are fetched from the database"
        raise DataError(f"source of {source.table.name}", source.source.relation, why, "the question, put to the database")
    return found.sort_by([(name, "ascending") for name in names])


def _digits(run: Run, source: PostgresTableSource) -> Digits:
    """Of columns that are stored as numeric(p, s): p and s, where Arrow has such decimals."""
    relation = POSTGRES.cast(POSTGRES.text(source.source.relation), "regclass")
    asked = "SELECT attname::text, (atttypmod - 4) >> 16, (atttypmod - 4) & 2047 FROM pg_attribute"
    asked += f" WHERE attrelid = {relation} AND atttypid = 'numeric'::regtype AND atttypmod >= 4 AND NOT attisdropped"
    found = {column: (whole, behind) for column, whole, behind in run(asked, lambda _: True)}
    # a negative s comes as one above 1023
    return {column: (p, s) for column, (p, s) in found.items() if p <= MOST_DIGITS and s <= p}


def _kind(column: Column, source: PostgresTableSource, digits: Digits) -> Any:
    """How a column is held in Arrow."""
    import pyarrow

    held = source.schema[column.name]
    if held.type is Type.DECIMAL:
        return pyarrow.decimal128(*digits[column.name]) if column.name in digits else pyarrow.float64()
    if held.type is Type.TIMESTAMP:
        return pyarrow.timestamp("us")
    return pyarrow.string() if held.type is Type.TEXT else getattr(pyarrow, ARROW[held.stored])()


def _cell(column: Column, source: PostgresTableSource, digits: Digits) -> str:
    """A cell as it is stored, on every row."""
    held, x = source.schema[column.name], f"stored.{POSTGRES.name(column.name)}"
    assert held.type is not None
    if held.type is Type.DECIMAL and column.name in digits:
        return f"CASE WHEN {x} <> 'NaN' THEN {POSTGRES.cast(x, 'text')} END"
    if held.type in (Type.DATE, Type.TIMESTAMP):
        x = f"({x} AT TIME ZONE 'UTC')" if held.stored == "timestamp with time zone" else x
        last = "9999-12-31" if held.type is Type.DATE else "9999-12-31 23:59:59.999999"
        return f"CASE WHEN {x} BETWEEN '0001-01-01' AND '{last}' THEN {x} END"
    if held.type in (Type.TEXT, Type.DECIMAL):
        return read_column(Column(column.name, held.type), held, source.table)
    return x


def _array(cells: Sequence[Any], kind: Any) -> Any:
    import pyarrow

    if pyarrow.types.is_decimal(kind):
        return pyarrow.array(cells, pyarrow.string()).cast(kind)
    return pyarrow.array(cells, kind)
