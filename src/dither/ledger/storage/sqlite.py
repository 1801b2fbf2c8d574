"""A ledger in a file: the standard library's SQLite, write-ahead log, every commit forced to the disk.

BEGIN IMMEDIATE takes the one writer's place before anything is read, so check and charge cannot be torn apart. A commit is
visible to others only after its bytes were forced to the disk (WAL, synchronous = FULL), so what was seen is durable.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from dither.errors import ConflictError, DitherError, LedgerError, TamperError
from dither.ledger.storage.connection_pool import Pool
from dither.ledger.storage.database import Statement
from dither.ledger.storage.network_mounts import network_file_system

WAIT = 60.0  # seconds for another writer to finish
APPLICATION = 0x64697468  # "dith": says in the file what it is
SETTINGS = ("journal_mode = WAL", "synchronous = FULL", "fullfsync = 1", "checkpoint_fullfsync = 1", "trusted_schema = 0")


class SqliteTransaction:
    """A transaction in SQLite: each statement runs at once, on one connection."""

    def __init__(self, connection: sqlite3.Connection, queries: Sequence[Statement]) -> None:
        self._connection = connection
        self.now = time.time_ns() // 1000
        self.opened = [self.ask(query) for query in queries]

    def ask(self, query: Statement) -> list[tuple[Any, ...]]:
        return self._connection.execute(*query).fetchall()

    def do(self, query: Statement) -> None:
        self._connection.execute(*query)


class SqliteConnection(NamedTuple):
    """A connection, and the file that it holds."""

    link: sqlite3.Connection
    file: tuple[int, int, int]


class SqliteDatabase:
    """A ledger database in one SQLite file."""

    distrust: str | None = None

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().absolute()
        self.path = self.path.parent.resolve() / self.path.name if not self.path.is_symlink() else self.path.resolve()
        self.place = self.shown = str(self.path)
        self.place.encode()  # a path that is no text is refused by whoever opens
        self.pool = Pool(self._connect, lambda connection: connection.link.close(), file=True)
        if self.path.is_dir() or not self.path.parent.is_dir():
            why = "it is a folder" if self.path.is_dir() else "its folder does not exist"
            raise LedgerError("location", str(path), why, "a file such as 'clinic.ledger' in a folder that exists")
        if kind := network_file_system(self.path.parent):
            why = f"it lies on a network file system ({kind}), whose locks and flushes cannot be relied on"
            raise LedgerError("location", str(path), why, "a local disk, or a PostgreSQL server: postgresql://...")

    def exists(self, table: str) -> bool:
        if not self.path.exists():
            return False
        with self.read(("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,))) as transaction:
            return bool(transaction.opened[0])

    def prepare(self, tables: Sequence[str], append_only: Sequence[str]) -> None:
        if not self.path.exists():
            try:  # readable by its owner alone
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            except FileExistsError:
                pass
            except OSError as error:  # a name that no disk takes, which a newer Python only finds here; a disk without room
                why = f"no file can be made there: {error.strerror}"
                raise LedgerError("location", str(self.path), why, "a file such as 'clinic.ledger'") from error
        with self.write() as transaction:
            for statement in tables:
                transaction.do((statement, ()))
            for table in append_only:
                for verb in ("UPDATE", "DELETE"):
                    refuse = f"BEGIN SELECT RAISE(ABORT, '{table} are never changed'); END"
                    trigger = f"CREATE TRIGGER IF NOT EXISTS {table}_no_{verb.lower()} BEFORE {verb} ON {table}"
                    transaction.do((f"{trigger} {refuse}", ()))
            transaction.do((f"PRAGMA application_id = {APPLICATION}", ()))

    def write(self, *queries: Statement) -> AbstractContextManager[SqliteTransaction]:
        return self._transaction("BEGIN IMMEDIATE", queries)

    def read(self, *queries: Statement, durable: bool = True) -> AbstractContextManager[SqliteTransaction]:
        return self._transaction("BEGIN", queries)  # what others can see is on the disk, asked for or not

    @contextmanager
    def _transaction(self, begin: str, queries: Sequence[Statement]) -> Iterator[SqliteTransaction]:
        what = "nothing was written"
        refusal: DitherError | None = None
        try:
            with self.pool.use() as connection:
                if connection.file != self._file():
                    # The connection still holds the old file, which nobody will ever read again.
                    why = "the file was replaced while it was open"
                    raise TamperError("ledger", self.shown, why, "the file that was there before")
                try:
                    connection.link.execute(begin)
                    yield SqliteTransaction(connection.link, queries)
                    what = "it is not certain whether it was written"
                    connection.link.execute("COMMIT")
                except DitherError as error:  # a refusal: nothing is wrong with the connection
                    connection.link.execute("ROLLBACK")
                    refusal = error
            if refusal is not None:
                raise refusal
        except sqlite3.Error as error:
            why = f"the database says: {error}; {what}"
            instead = "the same question with the same idempotency key, once that is mended"
            if error.sqlite_errorname == "SQLITE_CANTOPEN":
                instead = "a file, in a folder, that this user may read and write"
            if error.sqlite_errorname == "SQLITE_NOTADB":
                instead = "a file that is a ledger, or a name that is free"
            raise LedgerError("ledger", self.shown, why, instead) from error

    def close(self) -> None:
        self.pool.close()

    def _connect(self) -> SqliteConnection:
        if not self.path.exists():
            raise LedgerError(
                "location", self.shown, "there is no ledger", "Ledger.create(..., budget=...), which makes one"
            )
        file = self._file()
        if file[2] > 1:
            raise LedgerError("location", self.shown, "the file has two names (a hard link)", "one name for one ledger")
        link = sqlite3.connect(self.path, timeout=WAIT, isolation_level=None, check_same_thread=False)
        try:
            link.execute("BEGIN")  # one look at both
            owner = link.execute("PRAGMA application_id").fetchone()[0]
            tables = link.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            link.execute("COMMIT")
            if owner != APPLICATION and tables:
                why = "it is a database of something else"
                raise ConflictError("location", self.shown, why, "a path with nothing at it")
            for setting in SETTINGS:
                link.execute(f"PRAGMA {setting}")
        except BaseException:
            link.close()
            raise
        return SqliteConnection(link, file)

    def _file(self) -> tuple[int, int, int]:
        try:
            found = self.path.stat()
        except OSError as error:
            raise LedgerError("location", self.shown, f"the file cannot be read ({error.strerror})", "the file") from error
        return found.st_dev, found.st_ino, found.st_nlink
