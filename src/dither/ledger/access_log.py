"""The access log of a ledger: questions that were refused, and answers that were handed out; the latest, beside the chain.

Why beside it. A refusal costs nothing, so anybody could be refused for ever, and the chain of entries is kept for ever. The
log has room for MOST lines of each kind, of LONGEST_TEXT characters each; a new line replaces the oldest. What is refused
is so before the charge, by the question, the policy and the ledger: no line depends on a row.

Lines are signed with the ledger's key in force (a rotation signs them anew) and numbered, each kind by itself. So a line
that was changed is noticed, and one that is missing among others; that the newest are missing is not. What was charged is
in the chain, and in the chain alone.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from dither.errors import LedgerError, TamperError
from dither.ledger.entries.entry import canonical
from dither.ledger.entries.transaction import in_force
from dither.ledger.storage.database import ACCESS_TABLE, LAST, Database, Transaction, one
from dither.ledger.storage.signing_keys import KeyFile, SigningKeys

VERSION = 1
MOST = 1000  # lines of a kind
LAST_NUMBER = 2**31 - 1
LONGEST_TEXT = 2000  # characters of a question, and of a reason
PURPOSE = b"dither access log 1\n"
KINDS = ("refused", "exported")
LATEST = "SELECT max(number) FROM access_log WHERE kind = ?"
KEEP = """INSERT INTO access_log (kind, slot, number, record, mac) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (kind, slot) DO UPDATE SET number = excluded.number, record = excluded.record, mac = excluded.mac"""
SIGN = "UPDATE access_log SET mac = ? WHERE kind = ? AND slot = ?"
ALL = "SELECT kind, slot, number, record, mac FROM access_log ORDER BY kind, number"


@dataclass(frozen=True)
class AccessLine:
    """A question that was refused, or an answer that was handed out."""

    kind: str
    number: int  # among those of its kind, from the beginning
    time: int  # microseconds since 1970, by the clock of the store
    body: Mapping[str, Any]

    @property
    def when(self) -> datetime:
        """The time of writing, in UTC."""
        return datetime.fromtimestamp(self.time / 1e6, UTC)


class AccessLog:
    """The access log in the database of a ledger."""

    def __init__(self, database: Database, identity: str, file: KeyFile) -> None:
        self._database, self._identity, self._file = database, identity, file

    def add(self, kind: str, body: Mapping[str, Any]) -> None:
        """One more line; it replaces the oldest of its kind where there is no room."""
        if self._file.read() is None:
            raise LedgerError("key", None, "without its key a ledger can only be read", "the key file that was made with it")
        if not self._database.exists("access_log"):  # in ledgers that were made before there was a log
            self.prepare()
        short = {name: text[:LONGEST_TEXT] if isinstance(text, str) else text for name, text in body.items()}
        with self._database.write(LAST, (LATEST, (kind,))) as transaction:
            secret = _secret(self._file.read(), transaction)  # now: it stays in force until this ends
            assert secret is not None
            latest = transaction.opened[1][0][0]
            if latest is not None and (not isinstance(latest, int) or not 0 < latest < LAST_NUMBER):
                raise _tampered(kind, latest, "no such line was written")
            number = (latest or 0) + 1
            told = {"access": VERSION, "ledger": self._identity, "kind": kind, "number": number, "time": transaction.now}
            record = canonical({**told, "body": short})
            transaction.do((KEEP, (kind, number % MOST, number, record, _mac(secret, record))))

    def lines(self) -> list[AccessLine]:
        """All lines, by time; TamperError where one was changed, or is missing among others."""
        if not self._database.exists("access_log"):
            return []
        while True:
            keys = self._file.read()
            with self._database.read(LAST, (ALL, ())) as transaction:
                rows, secret = transaction.opened[1], _secret(keys, transaction)
            try:
                return self._lines(rows, secret)
            except TamperError:
                if self._file.read() == keys:  # otherwise the key was rotated meanwhile
                    raise

    def prepare(self) -> None:
        """Make the table, where it is missing."""
        self._database.prepare([ACCESS_TABLE], [])

    def sign_again(self, transaction: Transaction, old: bytes | None, new: bytes) -> None:
        """Sign all lines with another key; refused where one was not signed with the old one."""
        rows = transaction.ask((ALL, ()))
        self._lines(rows, old)
        for kind, slot, _, record, _ in rows:
            transaction.do((SIGN, (_mac(new, record), kind, slot)))

    def _lines(self, rows: list[tuple[Any, ...]], secret: bytes | None) -> list[AccessLine]:
        found = [self._read(secret, *row) for row in rows]
        for kind in KINDS:
            numbers = [line.number for line in found if line.kind == kind]
            if numbers and numbers != list(range(max(1, numbers[-1] - MOST + 1), numbers[-1] + 1)):
                raise _tampered(kind, numbers[-1], "lines before it are missing")
        return sorted(found, key=lambda line: (line.time, line.kind, line.number))

    def _read(self, secret: bytes | None, kind: Any, slot: Any, number: Any, record: Any, mac: Any) -> AccessLine:
        if not all(isinstance(text, str) and text.isascii() for text in (record, mac)):
            raise _tampered(kind, number, "its columns are not texts that dither writes")
        if secret is not None and not hmac.compare_digest(_mac(secret, record), mac):
            raise _tampered(kind, number, "it was not written with the key of this ledger")
        try:
            told = json.loads(record)
            place = (told["access"], told["ledger"], told["kind"], told["number"], told["number"] % MOST)
            if place != (VERSION, self._identity, kind, number, slot) or kind not in KINDS:
                raise ValueError("another version, ledger, kind or number")
            return AccessLine(kind, number, int(told["time"]), dict(told["body"]))
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise _tampered(kind, number, "its columns do not belong together") from error


def _secret(keys: SigningKeys | None, transaction: Transaction) -> bytes | None:
    """The key in force, in a transaction that was opened with the last entry."""
    return None if keys is None else in_force(keys, one(transaction.opened[0]), transaction.ask).current.secret


def _mac(key: bytes, record: str) -> str:
    return hmac.digest(key, PURPOSE + record.encode(), "sha256").hex()


def _tampered(kind: Any, number: Any, why: str) -> TamperError:
    return TamperError("access log", f"{kind} {number}", why, "a look at who could write to the ledger")
