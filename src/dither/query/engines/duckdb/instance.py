"""A DuckDB that can read the files of a dataset and nothing else, for one reader at a time.

The lock: exactly the sources' files are allowed, external access is off, extensions cannot be loaded, and the configuration
cannot be changed back, by this cursor or by one that is made later. It is a second wall: no text of an analyst reaches the
engine in the first place. What a cursor has for itself (frames, temporary tables, variables) the next does not see; tables
and macros of the database itself it would, but nothing that we send makes any. The engine keeps nothing of a file that it
has read: its cache of files is off, and a DuckDB file is attached only while somebody reads it.

What does not fit into memory goes to a folder that only this user can enter, and so do copies of CSV files: those in other
encodings, as UTF-8, and those with rows that are too long (`sources/csv_long_rows.py`).
It exists while somebody reads; the engine makes its own folder within, with whatever rights the process gives, so the outer
one protects it. Should somebody else have made a folder of that name, the read fails.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from dither.errors import DataError
from dither.query.engines.duckdb.scratch_folder import PREFIX, make_folder, remove_folder
from dither.query.sources.csv_files import CsvFiles
from dither.query.sources.source import DuckDBFile, Source
from dither.query.sources.sql_quotes import text

if TYPE_CHECKING:
    import duckdb


class Instance:
    """One DuckDB in memory, locked."""

    has_spilled = False  # then its folder is gone, and it is not used again

    def __init__(self, sources: Sequence[Source], threads: int | None) -> None:
        import duckdb

        self.process = os.getpid()  # its threads do not come along when a process is copied
        self._folder = Path(tempfile.gettempdir()) / f"{PREFIX}{secrets.token_hex(16)}"
        self._connection = duckdb.connect(
            ":memory:", config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
        )
        for statement in lock(sources, str(self._folder / "spill"), threads, decoded=str(self.decoded)):
            self._connection.execute(statement)

    @property
    def decoded(self) -> Path:
        """Where copies of CSV files are while somebody reads."""
        return self._folder / "decoded"

    @contextmanager
    def cursor(self, files: Iterable[DuckDBFile] = ()) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection of one's own, with DuckDB files attached; what was made for it goes with it."""
        import duckdb

        files, cursor = list(dict.fromkeys(files)), self._connection.cursor()
        try:
            in_use = make_folder(self._folder)
        except OSError:
            place, why = str(self._folder.parent), "no folder can be made there for what does not fit into memory"
            raise DataError("temporary folder", place, why, "TMPDIR, a folder that this user can write to") from None
        try:
            for file in files:
                file.open(cursor)
            yield cursor
        finally:
            with suppress(duckdb.Error, RuntimeError):  # the read is over, or it failed for a reason that is told elsewhere
                cursor.close()
                for file in files:
                    self._connection.execute(f"DETACH {file.called}")
            self.has_spilled = (self._folder / "spill").exists()
            remove_folder(self._folder, in_use)


def lock(sources: Iterable[Source], spill: str, threads: int | None, decoded: str | None = None) -> list[str]:
    """The statements after which the engine can do nothing but read the sources, or copies of them."""
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
        *([f"SET allowed_directories = [{text(decoded)}]"] if decoded is not None and _is_copied(sources) else []),
        "SET enable_external_access = false",
        "SET lock_configuration = true",
    ]


def _is_copied(sources: Iterable[Source]) -> bool:
    """Whether some source may be written again before it is read."""
    return any(isinstance(source, CsvFiles) for source in sources)
