"""Where a ledger is kept: a path, or a PostgreSQL server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeAlias

from dither.errors import DitherError, LedgerError
from dither.ledger.storage.database import Database
from dither.ledger.storage.postgres import PostgresDatabase
from dither.ledger.storage.sqlite import SqliteDatabase

LocationLike: TypeAlias = str | os.PathLike[str]
TO_TRY = "to try things out, Ledger.temporary(pure(1)), which says in its receipts that it is a throw-away"


def open_database(location: LocationLike, *, name: str = "location") -> Database:
    """The database at a location; nothing is made there yet."""
    text = os.fspath(location) if isinstance(location, (str, os.PathLike)) else None
    if isinstance(text, str) and text.startswith(":memory:"):
        why = "a ledger in memory would forget what was spent"
        raise LedgerError(name, location, why, f"'clinic.ledger', or postgresql://...; {TO_TRY}")
    if not isinstance(text, str) or not text or "\0" in text:
        raise LedgerError(
            name, location, "a ledger is kept in a file or in PostgreSQL", "'clinic.ledger', or postgresql://..."
        )
    scheme, colon, _ = text.partition("://")
    try:
        if colon and scheme in ("postgresql", "postgres"):
            return PostgresDatabase(text)
        if colon:
            raise LedgerError(name, scheme, "no ledger is kept in such a database", "a path, or postgresql://...")
        return SqliteDatabase(Path(text))
    except LedgerError as error:
        if error.where != "location" or name == "location":
            raise
        own = "; ~/.dither of one account is not that of another" if name == "witness" else ""
        raise LedgerError(name, error.came, error.why, error.instead + own) from None
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, DitherError):
            raise
        shown = scheme if colon else text  # an address may hold a password
        raise LedgerError(
            name, shown, "no place can be found by that name", "a path, or postgresql://host/database"
        ) from None
