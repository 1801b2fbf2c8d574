"""The witness, or second place, of a ledger: it remembers how far the ledger got, so that an older copy is noticed.

A chain of hashes shows that entries were changed; it cannot show that the last ones were cut off, or that the whole folder
was exchanged for last week's. The head (count and hash of the last entry), signed, is therefore also written to another
database, which the owner chooses and which nobody backs up together with the ledger. It is written after the entry is
durable and before anything is granted: it may lag behind by entries that nobody has used, and is never ahead.
"""

from __future__ import annotations

import hmac
from typing import Any

from dither.errors import TamperError
from dither.ledger.entries.entry import Head
from dither.ledger.storage.database import Database, Statement

TABLE = """CREATE TABLE IF NOT EXISTS heads (
    ledger TEXT PRIMARY KEY, place TEXT NOT NULL, count INTEGER NOT NULL, hash TEXT NOT NULL, mac TEXT NOT NULL)"""
FIND = "SELECT count, hash, place, mac FROM heads WHERE ledger = ?"
FIND_PLACE = "SELECT ledger FROM heads WHERE place = ?"
KEEP = """INSERT INTO heads (ledger, place, count, hash, mac) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (ledger) DO UPDATE
    SET place = excluded.place, count = excluded.count, hash = excluded.hash, mac = excluded.mac"""
PURPOSE = b"dither ledger head 1\n"


class Witness:
    """The head of one ledger, kept in a second database."""

    def __init__(self, database: Database, identity: str, place: str, key: bytes | None) -> None:
        self.database = database
        self._identity = identity
        self._place = place
        self._key = key

    def head(self) -> Head | None:
        """What was last written; None if nothing was."""
        with self.database.read(self._query()) as transaction:
            return self._read(transaction.opened[0])

    def advance(self, head: Head) -> Head:
        """Write a head, unless a later one is there; gives the one that is there now."""
        assert self._key is not None
        with self.database.write(self._query()) as transaction:
            known = self._read(transaction.opened[0])
            if known is not None and known.entries >= head.entries:
                return known
            transaction.do((KEEP, (self._identity, self._place, *head, self._mac(head, self._place))))
        return head

    def _query(self) -> Statement:
        return FIND, (self._identity,)

    def _read(self, rows: list[tuple[Any, ...]]) -> Head | None:
        if not rows:
            return None
        count, hash_, place, mac = rows[0]
        whole = isinstance(count, int) and all(isinstance(text, str) for text in (hash_, place, mac))
        head = Head(count if isinstance(count, int) else 0, str(hash_))
        expected = None if self._key is None else self._mac(head, str(place)).encode()
        if not whole or (expected is not None and not hmac.compare_digest(expected, str(mac).encode("utf-8", "replace"))):
            why = "its head was not written with the ledger's key"
            raise TamperError("witness", self.database.shown, why, "the second place as it was")
        return head

    def _mac(self, head: Head, place: str) -> str:
        assert self._key is not None
        text = f"{self._identity}\n{head.entries}\n{head.hash}\n{place}"
        return hmac.digest(self._key, PURPOSE + text.encode("utf-8", "surrogateescape"), "sha256").hex()


def prepare(database: Database) -> None:
    """Make the table of heads."""
    database.prepare([TABLE], [])


def kept_at(database: Database, place: str) -> list[str]:
    """The ledgers that this second place knows at a place."""
    if not database.exists("heads"):
        return []
    with database.read((FIND_PLACE, (place,))) as transaction:
        return [str(row[0]) for row in transaction.opened[0]]
