"""What an owner sees of her own data before she opens it to questions. NOT PRIVATE: exact counts, for her eyes alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dither.errors import DataError
from dither.query.column import Column
from dither.query.engines.duckdb import Engine
from dither.query.engines.sql import cell, constant, name, number, person
from dither.query.source import Source
from dither.query.table import Table
from dither.query.table_source import TableSource, table_source

BANNER = "NOT PRIVATE: exact counts from the data, for its owner alone. Do not pass them on, do not choose bounds by them."


@dataclass(frozen=True)
class ColumnReport:
    """How many cells of a column do not fit what the policy says."""

    name: str
    missing: int  # NULL in the data
    unreadable: int  # there, but no value of the type
    clamped: int  # beyond the bounds
    undeclared: int  # not among the keys


@dataclass(frozen=True)
class TableReport:
    """How a table fits its policy."""

    rows: int
    nobody: int  # rows without a person
    people: int
    over: int  # people with more rows than all groups together may count
    columns: tuple[ColumnReport, ...]


def inspect(table: Table, source: Source) -> TableReport:
    """Read the whole table and count what does not fit."""
    place = table_source(table, source)
    parts = ["count(*)"]
    for column in table.columns:
        parts += _counts(column)
    relation = place.relation
    whole = _one(f"SELECT {', '.join(parts)} FROM {relation}", place)  # noqa: S608
    columns = tuple(
        ColumnReport(column.name, *whole[1 + 4 * place : 5 + 4 * place]) for place, column in enumerate(table.columns)
    )
    if table.person is None:
        return TableReport(whole[0], 0, whole[0], 0, columns)
    whose = table.column(table.person)
    assert whose is not None
    id_ = person(whose, is_text=whose.name in place.texts)
    most = table.max_groups * table.max_rows_per_group
    each = f"SELECT p, count(*) AS n FROM (SELECT {id_} AS p FROM {relation}) GROUP BY p"  # noqa: S608
    counts = "coalesce(sum(n) FILTER (p IS NULL), 0), count(p), count(*) FILTER (p IS NOT NULL AND n > {most})"
    nobody, people, over = _one(f"SELECT {counts.format(most=most)} FROM ({each})", place)  # noqa: S608
    return TableReport(whole[0], int(nobody), people, over, columns)


def _one(sql: str, place: TableSource) -> tuple[Any, ...]:
    try:
        with Engine() as engine, engine.reading([place]) as run:
            (row,) = run(sql, lambda row: True)
    except RuntimeError:
        why = "it cannot be read to its end: a line or a page of it is broken"
        raise DataError("source", place.source.paths or place.source.kind, why, "files that are whole") from None
    return row


def _counts(column: Column) -> list[str]:
    raw, value = name(column.name), cell(column)
    clamped = undeclared = "0"
    if column.lower is not None and column.upper is not None:
        clamped = f"count(*) FILTER ({value} < {number(column.lower)} OR {value} > {number(column.upper)})"
    if column.keys is not None:
        undeclared = f"count(*) FILTER ({value} NOT IN ({', '.join(constant(key) for key in column.keys)}))"
    return [
        f"count(*) FILTER ({raw} IS NULL)",
        f"count(*) FILTER ({raw} IS NOT NULL AND {value} IS NULL)",
        clamped,
        undeclared,
    ]
