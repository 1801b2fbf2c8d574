"""Reads the rows of a dataset by SELECTs on DuckDB: rehearsed on made-up rows, then run on an instance that is locked.

What is remembered between questions is public: the schema of a file for as long as the file is as it was, SELECTs that
worked on made-up rows of NULLs (whether they do depends on the text alone), and an instance without rows. An instance on
which anything failed is not used again. A process that is about to be copied (fork) closes its instances first: the threads
of an engine do not come along, and the copy would fall over them.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from dither.errors import QuestionError
from dither.query.engines.duckdb.instance import Instance
from dither.query.engines.duckdb.table_source import TableSource, table_source
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates.relations import with_tables
from dither.query.policy.column import Type
from dither.query.policy.table import Table
from dither.query.sources.source import DuckDBFile, Source
from dither.query.sources.sql_quotes import name

if TYPE_CHECKING:
    import duckdb

POLL = 0.1  # seconds between two looks at the progress
AT_ONCE = 10_000  # rows handed over at once
MOST_REHEARSALS = 1000  # that are remembered
Progress = Callable[[float], None]
Keep = Callable[[tuple[Any, ...]], bool]
Run = Callable[[str, Keep], list[tuple[Any, ...]]]  # a SELECT, and which of its rows are kept
STORED_AS = {
    Type.INTEGER: "BIGINT",
    Type.DECIMAL: "DECIMAL(18, 4)",
    Type.FLOAT: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.BOOLEAN: "BOOLEAN",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
}


class Engine:
    """DuckDB for the sources of one dataset. Each release has a cursor of its own."""

    def __init__(self, sources: Iterable[Source] = ()) -> None:
        self._sources = tuple(sources)
        self._instances: dict[int | None, Instance] = {}  # by the number of threads, which is fixed when it is locked
        self._tables: dict[str, tuple[object, TableSource]] = {}  # with what its files looked like then
        self._rehearsed: OrderedDict[tuple[str, ...], None] = OrderedDict()
        _engines.add(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what nobody uses; whoever comes next opens it anew."""
        self._instances.clear()

    def table(self, table: Table, source: Source) -> TableSource:
        """A source as a table, checked; looked at again only if its files have changed."""
        stamp = source.stamp()
        known = self._tables.get(table.name)
        if stamp is None or known is None or known[0] != (table, source, stamp):
            known = self._tables[table.name] = ((table, source, stamp), table_source(table, source))
        return known[1]

    def rehearse(self, sources: Mapping[str, TableSource], selects: Sequence[str], *, threads: int | None = None) -> None:
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
            with self._instance(threads).cursor() as cursor:
                for statement in (*made, *(key[-1] for key in new)):
                    cursor.execute(statement).fetchall()
        except duckdb.Error as error:
            self._instances.pop(threads, None)
            why = f"the engine cannot compute it, whatever the data is ({type(error).__name__})"
            raise QuestionError("question", "as it was asked", why, "smaller numbers, or a simpler question") from None
        self._rehearsed.update(dict.fromkeys(new))
        while len(self._rehearsed) > MOST_REHEARSALS:
            self._rehearsed.popitem(last=False)

    @contextmanager
    def reading(
        self,
        sources: Sequence[TableSource],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
        salt: int = 0,
    ) -> Iterator[Run]:
        """SELECTs on the rows of sources. What they raise may tell of rows: not to be passed on."""
        instance = self._instance(threads)
        files = [source.source for source in sources if isinstance(source.source, DuckDBFile)]
        try:
            with instance.attached(files), instance.cursor() as cursor:
                cursor.execute(f"SET VARIABLE salt = {int(salt)}::UBIGINT")
                for source in sources:
                    source.attach(cursor)
                yield lambda sql, keep: _fetch(cursor, sql, keep, progress)
        except BaseException:
            if self._instances.get(threads) is instance:
                del self._instances[threads]  # those who use it still have it
            raise

    def _instance(self, threads: int | None) -> Instance:
        found = self._instances.get(threads)
        return self._instances.setdefault(threads, Instance(self._sources, threads)) if found is None else found


_engines: weakref.WeakSet[Engine] = weakref.WeakSet()


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
    """In a thread of its own, so that this one can look at the progress and hear Ctrl-C."""
    outcome: list[list[tuple[Any, ...]]] = []
    ended = threading.Event()

    def work() -> None:
        try:
            outcome.append(_rows(connection, sql, keep))
        except BaseException:  # noqa: S110 - what it says may tell of rows; that it failed is all that goes on
            pass
        finally:
            ended.set()

    threading.Thread(target=work, name="dither-engine", daemon=True).start()
    try:
        while not ended.wait(POLL):
            if progress is not None:
                progress(max(0.0, connection.query_progress()) / 100)
    except BaseException:  # somebody pressed Ctrl-C: stop the engine, then say so
        connection.interrupt()
        ended.wait()
        raise
    if not outcome:
        raise RuntimeError("the engine failed")
    return outcome[0]
