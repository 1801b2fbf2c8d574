"""The witness, or second place, of a ledger: it remembers how far the ledger got, so that an older copy is noticed.

A chain of hashes shows that entries were changed; it cannot show that the last ones were cut off, or that the whole folder
was exchanged for last week's. The head (count and hash of the last entry), signed, is therefore also written to another
database, which the owner chooses and which nobody backs up together with the ledger. It is written after the entry is
durable and before anything is granted: it may lag behind by entries that nobody has used, and is never ahead. A head is
signed by the key that signed its entry; after a rotation the old key can sign no head that counts.
"""

from __future__ import annotations

import hmac
from typing import Any

from dither.errors import LedgerError, TamperError
from dither.ledger.entries.entry import Head
from dither.ledger.storage.database import Database, Statement
from dither.ledger.storage.signing_keys import KeyFile, SigningKeys

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

    def __init__(self, database: Database, identity: str, place: str, file: KeyFile) -> None:
        self.database = database
        self._identity = identity
        self._place = place
        self._file = file

    def head(self) -> Head | None:
        """What was last written; None if nothing was."""
        while True:
            keys = self._file.read()
            with self.database.read(self._query()) as transaction:
                rows = transaction.opened[0]
            try:
                return self._read(rows, keys)
            except TamperError:
                if self._file.read() == keys:  # otherwise the key was rotated meanwhile
                    raise

    def advance(self, head: Head, keys: SigningKeys) -> Head:
        """Write a head, signed by the key of its entry, unless a later one is there; gives the one that is there now."""
        with self.database.write(self._query()) as transaction:
            known = self._read(transaction.opened[0], self._file.read())
            if known is not None and known.entries >= head.entries:
                return known
            secret = keys.of(head.entries)
            if secret is None:
                why = f"it does not know of entry {keys.current.first}, from which on another key signs"
                raise LedgerError("witness", self.database.shown, why, "opening the ledger again")
            transaction.do((KEEP, (self._identity, self._place, *head, self._mac(secret, head, self._place))))
        return head

    def _query(self) -> Statement:
        return FIND, (self._identity,)

    def _read(self, rows: list[tuple[Any, ...]], keys: SigningKeys | None) -> Head | None:
        if not rows:
            return None
        count, hash_, place, mac = rows[0]
        whole = isinstance(count, int) and all(isinstance(text, str) for text in (hash_, place, mac))
        head = Head(count if isinstance(count, int) else 0, str(hash_))
        if not whole or not (keys is None or any(self._is_signed(key, head, place, mac) for key in _signers(keys, count))):
            why = "its head was not written with the ledger's key"
            raise TamperError("witness", self.database.shown, why, "the second place as it was")
        return head

    def _is_signed(self, key: bytes, head: Head, place: str, mac: str) -> bool:
        return hmac.compare_digest(self._mac(key, head, place).encode(), mac.encode("utf-8", "replace"))

    def _mac(self, key: bytes, head: Head, place: str) -> str:
        text = f"{self._identity}\n{head.entries}\n{head.hash}\n{place}"
        return hmac.digest(key, PURPOSE + text.encode("utf-8", "surrogateescape"), "sha256").hex()


def _signers(keys: SigningKeys, number: int) -> list[bytes]:
    """The keys that may have signed the head at this entry: its own, and that of a rotation that is being completed; after
    a restored backup from before a rotation, that one is at an earlier entry than the key file knows."""
    return [key for key in (keys.of(number), keys.next) if key is not None]


def prepare(database: Database) -> None:
    """Make the table of heads."""
    database.prepare([TABLE], [])


def kept_at(database: Database, place: str) -> list[str]:
    """The ledgers that this second place knows at a place."""
    if not database.exists("heads"):
        return []
    with database.read((FIND_PLACE, (place,))) as transaction:
        return [str(row[0]) for row in transaction.opened[0]]
