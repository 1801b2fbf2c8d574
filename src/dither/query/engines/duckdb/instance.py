"""A DuckDB that can read the files of a dataset and nothing else, for as many cursors as there are releases.

The lock: exactly the sources' files are allowed, external access is off, extensions cannot be loaded, and the configuration
cannot be changed back, by this cursor or by one that is made later. It is a second wall: no text of an analyst reaches the
engine in the first place. What one cursor has (frames, temporary tables, variables) no other sees. The engine keeps nothing
of a file that it has read: its cache of files is off, and a DuckDB file is attached only while somebody reads it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from dither.query.sources.source import DuckDBFile, Source
from dither.query.sources.sql_quotes import text

if TYPE_CHECKING:
    import duckdb


class Instance:
    """One DuckDB in memory, locked."""

    def __init__(self, sources: Sequence[Source], threads: int | None) -> None:
        import duckdb

        self._connection = duckdb.connect(
            ":memory:", config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
        )
        spill = tempfile.mkdtemp(prefix="dither-")
        weakref.finalize(self, _close, self._connection, spill, os.getpid())
        self._gate = threading.Lock()
        self._readers: dict[str, int] = {}  # of each DuckDB file that is attached
        for statement in lock(sources, spill, threads):
            self._connection.execute(statement)

    @contextmanager
    def cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection of one's own."""
        with self._gate:
            cursor = self._connection.cursor()
        try:
            yield cursor
        finally:
            cursor.close()

    @contextmanager
    def attached(self, files: Iterable[DuckDBFile]) -> Iterator[None]:
        """DuckDB files, attached while this lasts; one that several read is attached once."""
        with ExitStack() as stack:
            for file in dict.fromkeys(files):
                stack.enter_context(self._attached(file))
            yield

    @contextmanager
    def _attached(self, file: DuckDBFile) -> Iterator[None]:
        with self._gate:
            if not self._readers.get(file.called):
                file.open(self._connection)
            self._readers[file.called] = self._readers.get(file.called, 0) + 1
        try:
            yield
        finally:
            with self._gate:
                self._readers[file.called] -= 1
                if not self._readers[file.called]:
                    self._connection.execute(f"DETACH {file.called}")


def lock(sources: Iterable[Source], spill: str, threads: int | None) -> list[str]:
    """The statements after which the engine can do nothing but read the sources."""
    files = [path for source in sources for path in source.paths]
    files += [f"{source.path}.wal" for source in sources if isinstance(source, DuckDBFile)]
    allowed = ", ".join(text(path) for path in dict.fromkeys(files))
    return [
        *([] if threads is None else [f"SET threads = {int(threads)}"]),
        f"SET temp_directory = {text(spill)}",
        "SET TimeZone = 'UTC'",
        "SET preserve_insertion_order = false",
        "SET python_enable_replacements = false",
        "SET enable_external_file_cache = false",
        *([f"SET allowed_paths = [{allowed}]"] if allowed else []),
        "SET enable_external_access = false",
        "SET lock_configuration = true",
    ]


def _close(connection: duckdb.DuckDBPyConnection, spill: str, process: int) -> None:
    if process == os.getpid():  # the threads of an engine do not come along when a process is copied
        connection.close()
        shutil.rmtree(spill, ignore_errors=True)
