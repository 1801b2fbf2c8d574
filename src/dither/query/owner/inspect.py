"""How the data fits its policy: missing, unreadable, clamped cells. NOT PRIVATE: exact counts, for the owner alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dither.errors import DataError
from dither.query.engines.duckdb.from_source import from_source
from dither.query.engines.duckdb.read_table import is_long, read_column
from dither.query.engines.duckdb.run import Engine
from dither.query.engines.duckdb.table_source import TableSource, table_source
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates.expressions import cell, person
from dither.query.policy.column import Column
from dither.query.policy.table import Table
from dither.query.sources.source import Source
from dither.query.sources.sql_quotes import name

BANNER = "NOT PRIVATE: exact counts from the data, for its owner alone. Do not pass them on, do not choose bounds by them."


@dataclass(frozen=True)
class ColumnReport:
    """How many cells of a column do not fit what the policy says."""

    name: str
    missing: int  # NULL in the data
    unreadable: int  # there, but no value of the type
    clamped: int  # beyond the bounds
    undeclared: int  # not among the keys
    long: int  # texts of which the beginning is read, or nothing: ids, and what should be a number or a date


@dataclass(frozen=True)
class TableReport:
    """How a table fits its policy."""

    rows: int
    nobody: int  # rows without a person, or with an id that is too long
    people: int
    over: int  # people with more rows than all groups together may count
    columns: tuple[ColumnReport, ...]


def inspect(table: Table, source: Source) -> TableReport:
    """Read the whole table and count what does not fit."""
    place = table_source(table, source)
    parts, read = ["count(*)"], []
    for at, column in enumerate(table.columns):
        held = place.schema[column.name]
        parts += _counts(column, at)
        read.append(f"{read_column(column, held, table)} AS {name(column.name)}")
        read += [f"{name(column.name)} IS NOT NULL AS {_there(at)}", f"{is_long(column, held, table)} AS {_long(at)}"]
    rows = f"SELECT {', '.join(read)} FROM {from_source(source, table)}"  # noqa: S608
    whole = _one(f"SELECT {', '.join(parts)} FROM ({rows})", place)  # noqa: S608
    columns = tuple(ColumnReport(column.name, *whole[1 + 5 * at : 6 + 5 * at]) for at, column in enumerate(table.columns))
    if table.person is None:
        return TableReport(whole[0], 0, whole[0], 0, columns)
    whose = table.column(table.person)
    assert whose is not None
    id_ = person(DUCKDB, whose, is_text=whose.name in place.texts)
    most = table.max_groups * table.max_rows_per_group
    each = f"SELECT p, count(*) AS n FROM (SELECT {id_} AS p FROM {place.relation}) GROUP BY p"  # noqa: S608
    counts = "coalesce(sum(n) FILTER (p IS NULL), 0), count(p), count(*) FILTER (p IS NOT NULL AND n > {most})"
    nobody, people, over = _one(f"SELECT {counts.format(most=most)} FROM ({each})", place)  # noqa: S608
    return TableReport(whole[0], int(nobody), people, over, columns)


def _one(sql: str, place: TableSource) -> tuple[Any, ...]:
    try:
        with Engine([place.source]) as engine, engine.reading([place]) as run:
            (row,) = run(sql, lambda row: True)
    except RuntimeError:
        why = "it cannot be read to its end: a line or a page of it is broken"
        raise DataError("source", place.source.paths or place.source.kind, why, "files that are whole") from None
    return row


def _there(at: int) -> str:
    return name(f"there\n{at}")  # no name of a policy breaks a line


def _long(at: int) -> str:
    return name(f"long\n{at}")


def _counts(column: Column, at: int) -> list[str]:
    value = cell(DUCKDB, column)
    clamped = undeclared = "0"
    if column.lower is not None and column.upper is not None:
        clamped = f"count(*) FILTER ({value} < {DUCKDB.number(column.lower)} OR {value} > {DUCKDB.number(column.upper)})"
    if column.first is not None and column.last is not None:
        clamped = f"count(*) FILTER ({value} < {DUCKDB.constant(column.first)} OR {value} > {DUCKDB.constant(column.last)})"
    if column.keys is not None:
        undeclared = f"count(*) FILTER ({value} NOT IN ({', '.join(DUCKDB.constant(key) for key in column.keys)}))"
    return [
        f"count(*) FILTER (NOT {_there(at)})",
        f"count(*) FILTER ({_there(at)} AND NOT {_long(at)} AND {value} IS NULL)",
        clamped,
        undeclared,
        f"count(*) FILTER ({_long(at)})",
    ]
