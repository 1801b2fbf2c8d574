"""How the data fits its policy: missing, unreadable, clamped cells. NOT PRIVATE: exact counts, for the owner alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dither.errors import DataError
from dither.query.engines.choose import choose_engine
from dither.query.engines.duckdb.cell_formats import is_missing
from dither.query.engines.engine import Engine, TableSource
from dither.query.engines.templates.chains import chain_sql, orphans_sql
from dither.query.engines.templates.expressions import cell, person
from dither.query.engines.templates.relations import scan_sql
from dither.query.engines.words import Words
from dither.query.owner.csv_checks import broken_line
from dither.query.plan.chain import Chain, scanned
from dither.query.policy.column import Column
from dither.query.policy.owner import HIDDEN
from dither.query.policy.table import Table
from dither.query.sources.source import Source
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
    broken: tuple[str, ...] = ()  # facts on which answers rely, and which the data violates
    shared: int = 0  # rows of a further owner: several people have their parent's key


@dataclass(frozen=True)
class _Rows:
    """The rows of a table with their persons."""

    engine: Engine
    sql: str  # what stands after FROM
    person: str
    places: tuple[TableSource, ...]

    def one(self, sql: str) -> tuple[Any, ...]:
        """The one row of a SELECT."""
        return _one(self.engine, sql, self.places)


def inspect(table: Table, source: Source, above: Sequence[tuple[Table, Source]] = ()) -> TableReport:
    """Read the whole table and count what does not fit; `above` are the tables from which it has its owners."""
    engine = choose_engine({one.name: where for one, where in ((table, source), *above)})
    words, place = engine.words, engine.table(table, source)
    parts, read = ["count(*)"], []
    for at, column in enumerate(table.columns):
        parts += _counts(words, column, at)
        read.append(f"{place.read_column(column)} AS {words.name(column.name)}")
        there = f"NOT {is_missing(f'stored.{words.name(column.name)}', column.cells)}"
        read += [f"{there} AS {_there(words, at)}", f"{place.is_long(column)} AS {_long(words, at)}"]
    rows = f"SELECT {', '.join(read)} FROM {place.stored} AS stored"  # noqa: S608
    whole = _one(engine, f"SELECT {', '.join(parts)} FROM ({rows}) AS r", (place,))  # noqa: S608
    columns = tuple(ColumnReport(column.name, *whole[1 + 6 * at : 7 + 6 * at]) for at, column in enumerate(table.columns))
    if table.person is None:
        broken = _broken(table, (), columns)
        if table.unique:
            scanned_rows = scan_sql(words, table, place.relation, place.texts)
            broken += ("unique",) if _one(engine, _repeated(words, scanned_rows, table.unique), (place,))[0] else ()
        return TableReport(whole[0], 0, whole[0], (), columns, broken)
    owned = _owned(engine, table, place, above)
    each = f"SELECT p, count(*) AS n FROM (SELECT {owned.person} AS p FROM {owned.sql} AS o) AS r GROUP BY p"  # noqa: S608
    counts = f"SELECT coalesce(sum(n) FILTER (WHERE p IS NULL), 0), count(p), coalesce(sum(n), 0) FROM ({each}) AS e"  # noqa: S608
    nobody, people, pairs = owned.one(counts)
    if above:
        (nobody,) = owned.one(orphans_sql(words, *_chain(words, table, owned.places)))
    by = [None, *(column for column in table.columns if column.keys is not None)]
    lost = tuple(_lost(table, owned, column) for column in by)
    broken = _broken(table, lost, columns, tuple(_broken_sums(table, owned)))
    if above and "owner" in table.hard and owned.one(_repeated_keys(words, table, owned.places))[0]:
        broken = (*broken, "owner")
    shared = int(pairs) - (whole[0] - int(nobody)) if above else 0
    return TableReport(whole[0], int(nobody), people, lost, columns, broken, shared)


def _owned(engine: Engine, table: Table, place: TableSource, above: Sequence[tuple[Table, Source]]) -> _Rows:
    """Rows with their persons, where those are."""
    if not above:
        whose = table.column(str(table.person))
        assert whose is not None
        return _Rows(engine, place.relation, person(engine.words, whose, is_text=whose.name in place.texts), (place,))
    places = (place, *(engine.table(*parent) for parent in above))
    return _Rows(
        engine, f"({chain_sql(engine.words, *_chain(engine.words, table, places))})", engine.words.name(HIDDEN), places
    )


def _chain(words: Words, table: Table, places: Sequence[TableSource]) -> tuple[Chain, Callable[[Table], str]]:
    """A table with those above it, and how the rows of each are read."""
    by_name = {place.table.name: (place.relation, place.texts) for place in places}
    chain = scanned(table, tuple(place.table for place in places[1:]))
    return chain, lambda one: scan_sql(words, one, *by_name[one.name])


def _repeated_keys(words: Words, table: Table, places: Sequence[TableSource]) -> str:
    """A SELECT of how many keys two rows of the parent share."""
    assert table.owner is not None
    _, read = _chain(words, table, places)
    return _repeated(words, read(places[1].table), [column for _, column in table.owner.on])


def _repeated(words: Words, rows: str, columns: Sequence[str]) -> str:
    """A SELECT of how many values of columns two rows share."""
    keys = ", ".join(words.name(column) for column in columns)
    there = " AND ".join(f"{words.name(column)} IS NOT NULL" for column in columns)
    again = f"SELECT 1 FROM ({rows}) AS one WHERE {there} GROUP BY {keys} HAVING count(*) > 1"  # noqa: S608
    return f"SELECT count(*) FROM ({again}) AS again"  # noqa: S608


def _lost(table: Table, owned: _Rows, by: Column | None) -> LostRows:
    """Rows that are not within the largest groups that the limits allow, of each person."""
    words = owned.engine.words
    limits = limits_of(table, 1 if by is None else len(by.keys or ()))
    key = "0" if by is None else cell(words, by)
    keys = [] if by is None else [words.constant(key) for key in by.keys or ()]
    inside = f" AND k IN ({', '.join(keys)})" if keys else ""
    rows = f"SELECT {owned.person} AS p, {key} AS k FROM {owned.sql} AS o"  # noqa: S608
    groups = f"SELECT p, k, count(*) AS n FROM ({rows}) AS r WHERE p IS NOT NULL{inside} GROUP BY p, k"  # noqa: S608
    placed = f"SELECT p, n, row_number() OVER (PARTITION BY p ORDER BY n DESC) AS place FROM ({groups}) AS g"  # noqa: S608
    kept = f"CASE WHEN place <= {limits.groups} THEN least(n, {limits.rows}) ELSE 0 END"
    mine = f"SELECT p, sum(n) - least(sum({kept}), {limits.most}) AS beyond FROM ({placed}) AS q GROUP BY p"  # noqa: S608
    found = owned.one(f"SELECT coalesce(sum(beyond), 0), count(*) FILTER (WHERE beyond > 0) FROM ({mine}) AS m")  # noqa: S608
    told = f"{limits.most} rows" + ("" if by is None or limits.rows == limits.most else f", {limits.rows} in a group")
    return LostRows(None if by is None else by.name, told, int(found[0]), int(found[1]))


def _broken(
    table: Table, lost: tuple[LostRows, ...], columns: tuple[ColumnReport, ...], sums: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Hard limits that somebody exceeds: answers would say truth, and leave something out."""
    found = [f"bounds.{column.name}" for column in columns if column.clamped and f"bounds.{column.name}" in table.hard]
    found += [f"keys.{column.name}" for column in columns if column.undeclared and f"keys.{column.name}" in table.hard]
    if "max_rows" in table.hard and any(one.rows for one in lost if one.by is None):
        found.append("max_rows")
    grouped = any(one.rows for one in lost if one.by is not None)
    found += [limit for limit in ("max_groups", "max_rows_per_group") if limit in table.hard and grouped]
    return (*found, *sums)


def _broken_sums(table: Table, owned: _Rows) -> Iterator[str]:
    """Hard limits of what a person's values add up to that somebody exceeds."""
    words = owned.engine.words
    for column_name, most in table.max_sum:
        column = table.column(column_name)
        if column is None or f"max_sum.{column_name}" not in table.hard:
            continue
        value = f"SELECT {owned.person} AS p, abs({cell(words, column)}) AS v FROM {owned.sql} AS o"  # noqa: S608
        mine = f"SELECT p, sum(v) AS s FROM ({value}) AS v WHERE p IS NOT NULL GROUP BY p"  # noqa: S608
        beyond = f"SELECT count(*) FROM ({mine}) AS m WHERE s > {words.number(most)} * 1.000001"  # noqa: S608
        (over,) = owned.one(beyond)
        if over:
            yield f"max_sum.{column_name}"


def _one(engine: Engine, sql: str, places: Sequence[TableSource]) -> tuple[Any, ...]:
    try:
        with engine.reading(places) as run:
            (row,) = run(sql, lambda row: True)
    except RuntimeError:
        why = "it cannot be read to its end: a line or a page of it is broken"
        told = next((line for place in places if (line := broken_line(place.source))), "")
        why += f" ({told})" if told else ""
        came = [place.source.paths or place.source.kind for place in places]
        raise DataError("source", came[0] if len(came) == 1 else came, why, "files that are whole") from None
    return row


def _there(words: Words, at: int) -> str:
    return words.name(f"there\n{at}")  # no name of a policy breaks a line


def _long(words: Words, at: int) -> str:
    return words.name(f"long\n{at}")


def _counts(words: Words, column: Column, at: int) -> list[str]:
    value = cell(words, column)
    clamped = undeclared = "0"
    if column.lower is not None and column.upper is not None:
        clamped = f"count(*) FILTER (WHERE {value} < {words.number(column.lower)} OR {value} > {words.number(column.upper)})"
    if column.first is not None and column.last is not None:
        clamped = (
            f"count(*) FILTER (WHERE {value} < {words.constant(column.first)} OR {value} > {words.constant(column.last)})"
        )
    if column.keys is not None:
        undeclared = f"count(*) FILTER (WHERE {value} NOT IN ({', '.join(words.constant(key) for key in column.keys)}))"
    return [
        f"count(*) FILTER (WHERE NOT {_there(words, at)})",
        f"count(*) FILTER (WHERE {_there(words, at)} AND NOT {_long(words, at)} AND {value} IS NULL)",
        clamped,
        undeclared,
        f"count(*) FILTER (WHERE {_long(words, at)})",
        f"count({value})",
    ]
