"""How the data fits its policy: missing, unreadable, clamped cells. NOT PRIVATE: exact counts, for the owner alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dither.errors import DataError
from dither.query.engines.duckdb.from_source import from_source
from dither.query.engines.duckdb.read_table import is_long, read_column
from dither.query.engines.duckdb.run import DuckDBEngine
from dither.query.engines.duckdb.table_source import TableSource, table_source
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates.chains import chain_sql, orphans_sql
from dither.query.engines.templates.expressions import cell, person
from dither.query.engines.templates.relations import scan_sql
from dither.query.plan.chain import Chain, scanned
from dither.query.policy.column import Column
from dither.query.policy.owner import HIDDEN
from dither.query.policy.table import Table
from dither.query.sources.source import Source
from dither.query.sources.sql_quotes import name
from dither.query.statistics.limits import limits_of

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
    readable: int  # values of the type

    @property
    def is_mostly_unreadable(self) -> bool:
        """Whether more cells are no value of the type than are: the type, or the way that it is written, is another."""
        return self.unreadable > self.readable


@dataclass(frozen=True)
class LostRows:
    """Rows of people beyond the limits, in questions of one kind."""

    by: str | None  # the column that is grouped by; None where nothing is
    limit: str
    rows: int
    people: int


@dataclass(frozen=True)
class TableReport:
    """How a table fits its policy."""

    rows: int
    nobody: int  # rows without a person, or with an id that is too long
    people: int
    lost: tuple[LostRows, ...]  # in a question without groups, and in one grouped by each column with keys
    columns: tuple[ColumnReport, ...]
    broken: tuple[str, ...] = ()  # hard limits that somebody exceeds
    shared: int = 0  # rows of a further owner: several people have their parent's key


@dataclass(frozen=True)
class _Rows:
    """The rows of a table with their persons."""

    sql: str  # what stands after FROM
    person: str
    places: tuple[TableSource, ...]


def inspect(table: Table, source: Source, above: Sequence[tuple[Table, Source]] = ()) -> TableReport:
    """Read the whole table and count what does not fit; `above` are the tables from which it has its owners."""
    place = table_source(table, source)
    parts, read = ["count(*)"], []
    for at, column in enumerate(table.columns):
        held = place.schema[column.name]
        parts += _counts(column, at)
        read.append(f"{read_column(column, held, table)} AS {name(column.name)}")
        read += [f"{name(column.name)} IS NOT NULL AS {_there(at)}", f"{is_long(column, held, table)} AS {_long(at)}"]
    rows = f"SELECT {', '.join(read)} FROM {from_source(source, table)}"  # noqa: S608
    whole = _one(f"SELECT {', '.join(parts)} FROM ({rows})", (place,))  # noqa: S608
    columns = tuple(ColumnReport(column.name, *whole[1 + 6 * at : 7 + 6 * at]) for at, column in enumerate(table.columns))
    if table.person is None:
        return TableReport(whole[0], 0, whole[0], (), columns, _broken(table, (), columns))
    owned = _owned(table, place, above)
    each = f"SELECT p, count(*) AS n FROM (SELECT {owned.person} AS p FROM {owned.sql}) GROUP BY p"  # noqa: S608
    counts = f"SELECT coalesce(sum(n) FILTER (p IS NULL), 0), count(p), coalesce(sum(n), 0) FROM ({each})"  # noqa: S608
    nobody, people, pairs = _one(counts, owned.places)
    if above:
        (nobody,) = _one(orphans_sql(DUCKDB, *_chain(table, owned.places)), owned.places)
    by = [None, *(column for column in table.columns if column.keys is not None)]
    lost = tuple(_lost(table, owned, column) for column in by)
    broken = _broken(table, lost, columns, tuple(_broken_sums(table, owned)))
    if above and "owner" in table.hard and _one(*_repeated_keys(table, owned.places))[0]:
        broken = (*broken, "owner")
    shared = int(pairs) - (whole[0] - int(nobody)) if above else 0
    return TableReport(whole[0], int(nobody), people, lost, columns, broken, shared)


def _owned(table: Table, place: TableSource, above: Sequence[tuple[Table, Source]]) -> _Rows:
    """Rows with their persons, where those are."""
    if not above:
        whose = table.column(str(table.person))
        assert whose is not None
        return _Rows(place.relation, person(DUCKDB, whose, is_text=whose.name in place.texts), (place,))
    places = (place, *(table_source(*parent) for parent in above))
    return _Rows(f"({chain_sql(DUCKDB, *_chain(table, places))})", name(HIDDEN), places)


def _chain(table: Table, places: Sequence[TableSource]) -> tuple[Chain, Callable[[Table], str]]:
    """A table with those above it, and how the rows of each are read."""
    by_name = {place.table.name: (place.relation, place.texts) for place in places}
    chain = scanned(table, tuple(place.table for place in places[1:]))
    return chain, lambda one: scan_sql(DUCKDB, one, *by_name[one.name])


def _repeated_keys(table: Table, places: Sequence[TableSource]) -> tuple[str, Sequence[TableSource]]:
    """A SELECT of how many keys two rows of the parent share."""
    assert table.owner is not None
    _, read = _chain(table, places)
    keys = ", ".join(name(column) for _, column in table.owner.on)
    there = " AND ".join(f"{name(column)} IS NOT NULL" for _, column in table.owner.on)
    again = f"SELECT 1 FROM ({read(places[1].table)}) WHERE {there} GROUP BY {keys} HAVING count(*) > 1"  # noqa: S608
    return f"SELECT count(*) FROM ({again})", places  # noqa: S608


def _lost(table: Table, owned: _Rows, by: Column | None) -> LostRows:
    """Rows that are not within the largest groups that the limits allow, of each person."""
    limits = limits_of(table, 1 if by is None else len(by.keys or ()))
    key = "0" if by is None else cell(DUCKDB, by)
    keys = [] if by is None else [DUCKDB.constant(key) for key in by.keys or ()]
    inside = f" AND k IN ({', '.join(keys)})" if keys else ""
    rows = f"SELECT {owned.person} AS p, {key} AS k FROM {owned.sql}"  # noqa: S608
    groups = f"SELECT p, k, count(*) AS n FROM ({rows}) WHERE p IS NOT NULL{inside} GROUP BY p, k"  # noqa: S608
    placed = f"SELECT p, n, row_number() OVER (PARTITION BY p ORDER BY n DESC) AS place FROM ({groups})"  # noqa: S608
    kept = f"CASE WHEN place <= {limits.groups} THEN least(n, {limits.rows}) ELSE 0 END"
    mine = f"SELECT p, sum(n) - least(sum({kept}), {limits.most}) AS over FROM ({placed}) GROUP BY p"  # noqa: S608
    found = _one(f"SELECT coalesce(sum(over), 0), count(*) FILTER (over > 0) FROM ({mine})", owned.places)  # noqa: S608
    told = f"{limits.most} rows" + ("" if by is None or limits.rows == limits.most else f", {limits.rows} in a group")
    return LostRows(None if by is None else by.name, told, int(found[0]), int(found[1]))


def _broken(
    table: Table, lost: tuple[LostRows, ...], columns: tuple[ColumnReport, ...], sums: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Hard limits that somebody exceeds: answers would say truth, and leave something out."""
    found = [f"bounds.{column.name}" for column in columns if column.clamped and f"bounds.{column.name}" in table.hard]
    if "max_rows" in table.hard and any(one.rows for one in lost if one.by is None):
        found.append("max_rows")
    grouped = any(one.rows for one in lost if one.by is not None)
    found += [limit for limit in ("max_groups", "max_rows_per_group") if limit in table.hard and grouped]
    return (*found, *sums)


def _broken_sums(table: Table, owned: _Rows) -> Iterator[str]:
    """Hard limits of what a person's values add up to that somebody exceeds."""
    for column_name, most in table.max_sum:
        column = table.column(column_name)
        if column is None or f"max_sum.{column_name}" not in table.hard:
            continue
        value = f"SELECT {owned.person} AS p, abs({cell(DUCKDB, column)}) AS v FROM {owned.sql}"  # noqa: S608
        mine = f"SELECT p, sum(v) AS s FROM ({value}) WHERE p IS NOT NULL GROUP BY p"  # noqa: S608
        beyond = f"SELECT count(*) FROM ({mine}) WHERE s > {DUCKDB.number(most)} * 1.000001"  # noqa: S608
        (over,) = _one(beyond, owned.places)
        if over:
            yield f"max_sum.{column_name}"


def _one(sql: str, places: Sequence[TableSource]) -> tuple[Any, ...]:
    try:
        with DuckDBEngine([place.source for place in places]) as engine, engine.reading(places) as run:
            (row,) = run(sql, lambda row: True)
    except RuntimeError:
        why = "it cannot be read to its end: a line or a page of it is broken"
        came = [place.source.paths or place.source.kind for place in places]
        raise DataError("source", came[0] if len(came) == 1 else came, why, "files that are whole") from None
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
        f"count({value})",
    ]
