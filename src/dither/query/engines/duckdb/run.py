"""Runs the one SELECT of a plan on DuckDB, locked: it can read the files of its sources and nothing else.

The lock: exactly the sources' files are allowed, external access is off, extensions cannot be loaded, and the configuration
cannot be changed back. It is a second wall: no text of an analyst reaches the engine in the first place.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dither.errors import QuestionError
from dither.query.engines.duckdb.table_source import TableSource
from dither.query.policy.column import Type
from dither.query.sources.schema import Schema
from dither.query.sources.sql_quotes import name, text

if TYPE_CHECKING:
    import duckdb

POLL = 0.1  # seconds between two looks at the progress
AT_ONCE = 10_000  # rows handed over at once
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
    """One connection for one question: rehearsed on made-up rows, then locked, then run."""

    def __enter__(self) -> Engine:
        import duckdb

        self._connection = duckdb.connect(
            ":memory:", config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def rehearse(self, selects: Callable[[Mapping[str, str]], list[str]], schemas: Mapping[str, Schema]) -> None:
        """Run SELECTs on made-up rows of NULLs, so that what can never work is refused before it is charged."""
        import duckdb

        places = {table: f"rehearsal_{number}" for number, table in enumerate(schemas)}
        try:
            for table, place in places.items():
                held = {column: found.type for column, found in schemas[table].items() if found.type}
                cells = [f"NULL::{STORED_AS[kind]} AS {name(column)}" for column, kind in held.items()]
                self._connection.execute(f"CREATE TEMP TABLE {place} AS SELECT {', '.join(cells)}")
            for sql in selects(places):
                self._connection.execute(sql).fetchall()
            for place in places.values():
                self._connection.execute(f"DROP TABLE {place}")
        except duckdb.Error as error:
            why = f"the engine cannot compute it, whatever the data is ({type(error).__name__})"
            raise QuestionError("question", "as it was asked", why, "smaller numbers, or a simpler question") from None

    @contextmanager
    def reading(
        self, sources: Sequence[TableSource], *, threads: int | None = None, progress: Progress | None = None
    ) -> Iterator[Run]:
        """Lock the engine to its sources; then SELECTs can be run. What they raise may tell of rows: not to be passed on."""
        with tempfile.TemporaryDirectory(prefix="dither-") as spill:
            for source in sources:
                source.attach(self._connection)
            for statement in lock(sources, spill, threads):
                self._connection.execute(statement)
            yield lambda sql, keep: _fetch(self._connection, sql, keep, progress)


def lock(sources: Iterable[TableSource], spill: str, threads: int | None) -> list[str]:
    """The statements after which the engine can do nothing but read the sources."""
    paths = ", ".join(text(path) for place in sources for path in place.source.paths)
    return [
        *([] if threads is None else [f"SET threads = {int(threads)}"]),
        f"SET temp_directory = {text(spill)}",
        "SET TimeZone = 'UTC'",
        "SET preserve_insertion_order = false",
        "SET python_enable_replacements = false",
        *([f"SET allowed_paths = [{paths}]"] if paths else []),
        "SET enable_external_access = false",
        "SET lock_configuration = true",
    ]


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
