"""The database of a ledger: a table to which rows are only added, and which never forgets a committed row.

A `Database` (sqlite.py, postgres.py) offers two things: `write`, a transaction that no other writer overlaps, and `read`, a
snapshot. What either has shown is durable by the time that it ends, so nothing that was seen can be taken back by a crash.
Queries that are known beforehand are passed to `write` and `read`, so that a distant database is asked once.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple, Protocol

Statement = tuple[str, tuple[Any, ...]]  # SQL with ? for each value
Tag = Literal["about", "fingerprint", "key", "analyst"]
TAGS: tuple[Tag, ...] = ("about", "fingerprint", "key", "analyst")


class Transaction(Protocol):
    """What can be done between begin and commit."""

    now: int  # microseconds since 1970, by the clock of the database
    opened: list[list[tuple[Any, ...]]]  # the answers to the queries that came with `write` or `read`

    def ask(self, query: Statement) -> list[tuple[Any, ...]]:
        """The rows of a query, read at once."""

    def do(self, query: Statement) -> None:
        """A change, made at the latest when the transaction ends."""


class Database(Protocol):
    """One database, reached from any thread and any process."""

    place: str  # where it is, in one spelling: two names for one database have one place
    shown: str  # where it is, for people; without passwords
    distrust: str | None  # why this database could lose what it acknowledged; None if no reason is known

    def write(self, *queries: Statement) -> AbstractContextManager[Transaction]:
        """A transaction that no other writer overlaps; durable when it ends."""

    def read(self, *queries: Statement, durable: bool = True) -> AbstractContextManager[Transaction]:
        """A snapshot; what it showed is durable when it ends. Otherwise it does not wait for a disk: nothing may follow from
        it that a crash could take back."""

    def exists(self, table: str) -> bool:
        """Whether the database is there and has the table; makes neither."""

    def prepare(self, tables: Sequence[str], append_only: Sequence[str]) -> None:
        """Make what is missing. Rows of the tables named last can be added and never changed or removed."""

    def close(self) -> None:
        """Close all connections."""


class EntryRow(NamedTuple):
    """A stored entry: its text, what proves it, and what it is found by."""

    number: int
    record: str
    hash: str
    mac: str
    answer: str | None
    about: int | None
    fingerprint: str | None
    key: str | None
    analyst: str | None


ACCESS_TABLE = """CREATE TABLE IF NOT EXISTS access_log (
    kind TEXT NOT NULL, slot INTEGER NOT NULL, number INTEGER NOT NULL, record TEXT NOT NULL, mac TEXT NOT NULL,
    PRIMARY KEY (kind, slot))"""
TABLES = (
    """CREATE TABLE IF NOT EXISTS entries (
        number INTEGER PRIMARY KEY, record TEXT NOT NULL, hash TEXT NOT NULL, mac TEXT NOT NULL, answer TEXT,
        about INTEGER, fingerprint TEXT, key TEXT, analyst TEXT)""",
    "CREATE INDEX IF NOT EXISTS entries_about ON entries (about, number) WHERE about IS NOT NULL",
    "CREATE UNIQUE INDEX IF NOT EXISTS entries_one_answer ON entries (about) WHERE answer IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS entries_fingerprint ON entries (fingerprint, number) WHERE fingerprint IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS entries_key ON entries (key, number) WHERE key IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS entries_analyst ON entries (analyst, number) WHERE analyst IS NOT NULL",
    ACCESS_TABLE,
)
COLUMNS = "number, record, hash, mac, answer, about, fingerprint, key, analyst"
BATCH = 1000  # entries at a time, where all are read
LAST: Statement = (f"SELECT {COLUMNS} FROM entries ORDER BY number DESC LIMIT 1", ())  # noqa: S608 - our own names
NUMBERED = f"SELECT {COLUMNS} FROM entries WHERE number = ?"  # noqa: S608
RANGE = f"SELECT {COLUMNS} FROM entries WHERE number >= ? ORDER BY number LIMIT ?"  # noqa: S608
HASHES = "SELECT number, hash FROM entries WHERE number >= ? AND number <= ? ORDER BY number"
INSERT = f"INSERT INTO entries ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608


def numbered(number: int) -> Statement:
    """The query for the entry with this number."""
    return NUMBERED, (number,)


def latest(tag: Tag, value: str | int | None) -> Statement:
    """The query for the last entry filed under this value."""
    return f"SELECT {COLUMNS} FROM entries WHERE {tag} = ? ORDER BY number DESC LIMIT 1", (value,)  # noqa: S608


def earlier(tag: Tag, value: str | int, below: int, count: int) -> Statement:
    """The query for so many entries filed under this value, with numbers below one, the last first."""
    query = f"SELECT {COLUMNS} FROM entries WHERE {tag} = ? AND number < ? ORDER BY number DESC LIMIT ?"  # noqa: S608
    return query, (value, below, count)


def batch(first: int, count: int) -> Statement:
    """The query for so many entries in order, from a number on."""
    return RANGE, (first, count)


def hashes(first: int, last: int) -> Statement:
    """The query for numbers and hashes of entries, from a number to a number."""
    return HASHES, (first, last)


def insert(row: EntryRow) -> Statement:
    """The statement that adds an entry."""
    return INSERT, row


def one(rows: list[tuple[Any, ...]]) -> EntryRow | None:
    """The row of a query that finds at most one."""
    return EntryRow(*rows[0]) if rows else None
