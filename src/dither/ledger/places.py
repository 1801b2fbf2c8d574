"""Where a ledger is kept: a path, or a PostgreSQL server."""

from __future__ import annotations

import os
from pathlib import Path

from dither.errors import LedgerError
from dither.ledger.store import Database


def open_database(location: object, *, name: str = "location") -> Database:
    """The database at a location; nothing is made there yet."""
    if isinstance(location, str) and location.startswith(("postgresql://", "postgres://")):
        try:
            from dither.ledger.postgres import PostgresDatabase
        except ImportError as error:
            raise LedgerError(
                name, location.partition("://")[0], "psycopg is not installed", "pip install 'dither[postgres]'"
            ) from error
        return PostgresDatabase(location)
    from dither.ledger.sqlite import SqliteDatabase

    text = os.fspath(location) if isinstance(location, (str, os.PathLike)) else None
    if not isinstance(text, str) or not text or text.startswith(":memory:") or "://" in text or "\0" in text:
        raise LedgerError(
            name, location, "a ledger is kept in a file or in PostgreSQL", "'clinic.ledger', or postgresql://..."
        )
    return SqliteDatabase(Path(text))


def is_taken(location: object) -> bool:
    """Whether a ledger is there."""
    database = open_database(location)
    try:
        return database.exists("entries")
    finally:
        database.close()
