"""Reads the rows of a dataset by SELECTs on DuckDB: rehearsed on made-up rows, then run on an instance that is locked.

What is remembered between questions is public: the schema of a file for as long as the file is as it was, SELECTs that
worked on made-up rows of NULLs (whether they do depends on the text alone), and a few idle instances without rows. Each has
one reader at a time, so that none runs out of memory, or sees an old file, because of another. An instance on which anything
failed is not used again. A process that is about to be copied (fork) closes its idle instances first, and a copy never uses
one that came along: the threads of an engine do not, and it would fall over them.
"""

from __future__ import annotations

import os
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from dither.errors import DataError, QuestionError
from dither.query.engines.duckdb.instance import Instance
from dither.query.engines.duckdb.key_tables import KeyTables
from dither.query.engines.duckdb.table_source import TableSource, table_source
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.engine import Keep, Progress, Run
from dither.query.engines.interruptible import interruptible
from dither.query.engines.key_lists import KeyLists
from dither.query.engines.templates.relations import with_tables
from dither.query.plan.question import Question
from dither.query.policy.column import Type
from dither.query.policy.table import Table
from dither.query.sources.source import DuckDBFile, Source
from dither.query.sources.sql_quotes import name

if TYPE_CHECKING:
    import duckdb

AT_ONCE = 10_000  # rows handed over at once
MOST_REHEARSALS = 1000  # that are remembered
MOST_IDLE = 4  # instances that wait for the next one who needs them
STORED_AS = {
    Type.INTEGER: "BIGINT",
    Type.DECIMAL: "DECIMAL(18, 4)",
    Type.FLOAT: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.BOOLEAN: "BOOLEAN",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
}


class DuckDBEngine:
    """DuckDB for the sources of one dataset. Each release has a cursor of its own."""

    words = DUCKDB

    def __init__(self, sources: Iterable[Source] = ()) -> None:
        self._sources = tuple(sources)
        self._idle: dict[int | None, list[Instance]] = {}  # by the number of threads, which is fixed when it is locked
        self._tables: dict[str, tuple[object, TableSource]] = {}  # with what its files looked like then
        self._rehearsed: OrderedDict[tuple[str, ...], None] = OrderedDict()
        _engines.add(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what nobody uses; whoever comes next opens it anew."""
        self._idle.clear()

    def check(self, question: Question) -> None:
        """Every question that can be read is answered."""

    def table(self, table: Table, source: Source) -> TableSource:
        """A source as a table, checked; looked at again only if its files have changed."""
        stamp = source.stamp()
        known = self._tables.get(table.name)
        if stamp is None or known is None or known[0] != (table, source, stamp):
            known = self._tables[table.name] = ((table, source, stamp), table_source(table, source))
        return known[1]

    def tables(self, given: Mapping[Table, Source]) -> dict[str, Any]:
        """Several sources as tables, by name."""
        return {table.name: self.table(table, source) for table, source in given.items()}

    def rehearse(
        self,
        sources: Mapping[str, TableSource],
        selects: Sequence[str],
        *,
        threads: int | None = None,
        lists: KeyLists | None = None,
    ) -> None:
        """Run SELECTs on made-up rows of NULLs, so that what can never work is refused before it is charged."""
        import duckdb

        made, heads = [], {}
        for number, (table, source) in enumerate(sources.items()):
            held = {column: found.type for column, found in source.schema.items() if found.type}
            cells = [f"NULL::{STORED_AS[kind]} AS {name(column)}" for column, kind in held.items()]
            made.append(f"CREATE TEMP TABLE rehearsal_{number} AS SELECT {', '.join(cells)}")
            heads[table] = source.read(f"rehearsal_{number}")
        known = [(*made, with_tables(DUCKDB, heads, sql)) for sql in selects]
        new = [key for key in known if key not in self._rehearsed]
        if not new:
            return
        try:
            with self._instance(threads) as instance, instance.cursor() as cursor:
                KeyTables(cursor, lists).hand_over()
                for statement in (*made, *(key[-1] for key in new)):
                    cursor.execute(statement).fetchall()
        except duckdb.Error as error:
            why = f"the engine cannot compute it, whatever the data is ({type(error).__name__})"
            raise QuestionError("question", "as it was asked", why, "smaller numbers, or a simpler question") from None
        self._rehearsed.update(dict.fromkeys(new))
        while len(self._rehearsed) > MOST_REHEARSALS:
            self._rehearsed.popitem(last=False)

    @contextmanager
    def opened(self, sources: Sequence[TableSource], threads: int | None = None) -> Iterator[Opened]:
        """An instance with the files of sources attached: before the charge, so that a file that somebody writes to is
        refused without one. No row is read."""
        import duckdb

        files = [source.source for source in sources if isinstance(source.source, DuckDBFile)]
        with self._instance(threads) as instance, ExitStack() as stack:
            try:
                cursor = stack.enter_context(instance.cursor(files))
            except duckdb.Error:
                why = "it cannot be opened as a DuckDB file, or somebody writes to it"
                came = ", ".join(file.path for file in files)
                raise DataError("source", came, why, "a DuckDB file that nobody writes to") from None
            yield Opened(cursor, sources, instance.decoded)

    @contextmanager
    def reading(self, sources: Sequence[TableSource], *, threads: int | None = None) -> Iterator[Run]:
        """SELECTs on the rows of sources. What they raise may tell of rows: not to be passed on."""
        with self.opened(sources, threads) as opened:
            yield opened.read()

    @contextmanager
    def _instance(self, threads: int | None) -> Iterator[Instance]:
        """An instance of one's own; put back if nothing went wrong."""
        idle = self._idle.setdefault(threads, [])
        instance = None
        while instance is None:
            try:
                instance = idle.pop()
            except IndexError:
                instance = Instance(self._sources, threads)
            if instance.process != os.getpid():
                _abandoned.append(instance)
                instance = None
        yield instance
        if not instance.has_spilled and len(idle) < MOST_IDLE:
            idle.append(instance)


class Opened:
    """A cursor by which the rows of sources can be read."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, sources: Sequence[TableSource], decoded: Path) -> None:
        self._cursor, self._sources, self._decoded = cursor, sources, decoded

    def read(self, progress: Progress | None = None, salt: int = 0, lists: KeyLists | None = None) -> Run:
        """Hand over what is in memory; then SELECTs can run. What they raise may tell of rows: not to be passed on."""
        self._cursor.execute(f"SET VARIABLE salt = {int(salt)}::UBIGINT")
        for source in self._sources:
            source.attach(self._cursor, self._decoded)
        tables = KeyTables(self._cursor, lists)

        def run(sql: str, keep: Keep) -> list[tuple[Any, ...]]:
            tables.hand_over()
            return _fetch(self._cursor, sql, keep, progress)

        return run


_abandoned: list[Instance] = []  # copied from another process: kept, since closing them would wait for threads elsewhere
_engines: weakref.WeakSet[DuckDBEngine] = weakref.WeakSet()


def _before_copy() -> None:
    for engine in list(_engines):
        engine.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_copy)


def _rows(connection: duckdb.DuckDBPyConnection, sql: str, keep: Keep) -> list[tuple[Any, ...]]:
    """There may be many groups that nobody asks for: they are let go as they come."""
    result, found = connection.execute(sql), []
    while rows := result.fetchmany(AT_ONCE):
        found += [row for row in rows if keep(row)]
    return found


def _fetch(connection: duckdb.DuckDBPyConnection, sql: str, keep: Keep, progress: Progress | None) -> list[tuple[Any, ...]]:
    def look() -> None:
        if progress is not None:
            progress(max(0.0, connection.query_progress()) / 100)

    return interruptible(lambda: _rows(connection, sql, keep), connection.interrupt, look)
