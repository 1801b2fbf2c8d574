"""Tokens: who may ask a gateway, in which role and about which datasets; in a table of SQLite or PostgreSQL.

A token is a text, `dth_<id>_<52 letters and digits>`, shown once. The table has its SHA-256: 256 random bits need no slow
hash, and who reads the table cannot ask. Who can write to it can make tokens, as the owner does. A token has no money: what
its name may spend is a share in the ledger of each dataset.

Why guessing tells nothing. The id is public, and looked up as it is; whether the rest is right is told by a comparison
whose time does not depend on it, made for every text that comes, also for one that is no token, an id that is not there, a
token that is revoked and one that has expired. All of these are None. A guess is right with probability 2^-256.

Why a revoked token is refused at once. Nothing is kept between two questions: each `find` reads the table.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeAlias, cast

from dither.errors import ConflictError, DataError
from dither.ledger.entries.texts import read_name
from dither.ledger.storage.database import Statement
from dither.ledger.storage.locations import open_database
from dither.privacy.guarantee.guarantee import Guarantee
from dither.server.core.roles import ROLES, Role

ALL = "*"  # of datasets
FORM = re.compile(r"dth_([a-z2-7]{12})_([a-z2-7]{52})")
NOBODY = f"dth_{12 * 'a'}_{52 * 'a'}"  # is compared where what came is no token
NO_HASH = 64 * "0"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIELDS = "id, hash, name, role, datasets, created, expires, revoked, last_day, daily"
TABLE = """CREATE TABLE IF NOT EXISTS tokens (
    id TEXT PRIMARY KEY, hash TEXT NOT NULL, name TEXT NOT NULL, role TEXT NOT NULL, datasets TEXT NOT NULL,
    created BIGINT NOT NULL, expires BIGINT, revoked BIGINT, last_day TEXT, daily TEXT)"""
ONE = f"SELECT {FIELDS} FROM tokens WHERE id = ?"  # noqa: S608 - our own names
EVERY: Statement = (f"SELECT {FIELDS} FROM tokens ORDER BY created, id", ())  # noqa: S608
INSERT = f"INSERT INTO tokens ({FIELDS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
REVOKE = "UPDATE tokens SET revoked = ? WHERE id = ? AND revoked IS NULL"
USED = "UPDATE tokens SET last_day = ? WHERE id = ? AND (last_day IS NULL OR last_day < ?)"


@dataclass(frozen=True)
class Token:
    """What is known of a token; not its secret."""

    id: str
    name: str  # of the analyst, in ledgers; several tokens may have one
    role: Role
    datasets: tuple[str, ...]  # names; "*" for all
    expires: datetime | None  # in UTC, as all times
    created: datetime
    revoked: datetime | None
    last_day: date | None  # on which it was used
    daily: str | None  # the portion of her share that the analyst may spend in a day: JSON of a guarantee


Tokens: TypeAlias = list[Token]


class TokenStore:
    """The tokens of a gateway, or of several on one PostgreSQL."""

    def __init__(self, location: str) -> None:
        self.database = open_database(location, name="database")
        self.location = self.database.shown
        if self.database.exists("tokens"):
            return
        if self.database.exists("entries"):
            why = "there is a ledger, which has a place of its own"
            raise ConflictError("database", self.location, why, "another file, or another schema: postgresql://...#gateway")
        self.database.prepare((TABLE,), ())

    def create(
        self,
        *,
        name: str,
        role: Role = "analyst",
        datasets: Sequence[str] = (ALL,),
        expires: datetime | None = None,
        daily: str | None = None,
    ) -> tuple[Token, str]:
        """A new token, and its secret: it is told here and never again.

        Args:
            name: of the analyst, as ledgers have it.
            role: 'owner', 'analyst' or 'auditor'.
            datasets: the names of those it may be used for; '*' for all.
            expires: when it ends; None for never.
            daily: the portion of a day, as JSON of a guarantee.

        Raises:
            DataError: a name, a role, a time or a portion is none.
            LedgerError: the database cannot be written.
        """
        read_name(name, "name")
        if role not in ROLES:
            raise DataError("role", role, "there is no such role", ", ".join(ROLES))
        if isinstance(datasets, str) or not datasets:
            raise DataError("datasets", datasets, "it is not a list of names", "['clinic'], or ['*'] for all")
        named = sorted({read_name(each, "datasets") for each in datasets})
        portion = None if daily is None else Guarantee.from_json(daily).to_json()
        until = None if expires is None else _stored_time(expires)
        id_ = _letters(60)
        secret = f"dth_{id_}_{_letters(256)}"
        with self.database.write() as transaction:
            if until is not None and until <= transaction.now:
                raise DataError("expires", str(expires), "that is over already", "a time to come")
            told = (name, role, json.dumps(named), transaction.now, until, None, None, portion)
            transaction.do((INSERT, (id_, _hash(secret), *told)))
        return _token((id_, "", *told)), secret

    def find(self, secret: str) -> Token | None:
        """The token of a secret; None where it is unknown, wrong, expired or revoked: one answer for all of them."""
        form = FORM.fullmatch(secret) if isinstance(secret, str) else None
        given = NOBODY if form is None else secret
        query = (ONE, (given[4:16],))
        # Not one disk is waited for: who was told that a token is made or revoked was told when it was durable.
        with self.database.read(query, durable=False) as transaction:
            rows, now = transaction.opened[0], transaction.now
        row = rows[0] if rows else ("", NO_HASH, *8 * (None,))
        same = hmac.compare_digest(_hash(given), row[1])
        expires, revoked, last_day = row[6], row[7], row[8]
        in_force = (expires is None or now < expires) and revoked is None
        if not (same and in_force and form is not None):
            return None
        today = _time(now).date().isoformat()
        if last_day is None or last_day < today:
            with self.database.write() as transaction:
                transaction.do((USED, (today, row[0], today)))
            row = (*row[:8], today, *row[9:])
        return _token(row)

    def list(self) -> Tokens:
        """All tokens, the revoked and the expired among them, in the order in which they were made."""
        with self.database.read(EVERY) as transaction:
            return [_token(row) for row in transaction.opened[0]]

    def revoke(self, id: str) -> Token:  # noqa: A002 - what `dither token list` calls it
        """Let a token end now; one that is revoked stays so, since when it was."""
        if not isinstance(id, str) or not id.isascii() or not id.isprintable():
            raise DataError("id", id, "there is no such token", "an id of `dither token list`")
        with self.database.write((ONE, (id,))) as transaction:
            if not transaction.opened[0]:
                raise DataError("id", id, "there is no such token", "an id of `dither token list`")
            transaction.do((REVOKE, (transaction.now, id)))
        with self.database.read((ONE, (id,))) as transaction:
            return _token(transaction.opened[0][0])

    def close(self) -> None:
        """Close the connections to the database."""
        self.database.close()


def _letters(bits: int) -> str:
    """So many random bits, in letters and digits that nobody confuses."""
    size = -(-bits // 5)
    return base64.b32encode(secrets.token_bytes(-(-bits // 8))).decode().lower().rstrip("=")[:size]


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _stored_time(when: datetime) -> int:
    if not isinstance(when, datetime) or when.tzinfo is None:
        raise DataError("expires", str(when), "it is not a time with its zone", "datetime(2027, 1, 1, tzinfo=UTC)")
    return (when - EPOCH) // timedelta(microseconds=1)


def _time(stored: int) -> datetime:
    return EPOCH + timedelta(microseconds=stored)


def _token(row: Sequence[Any]) -> Token:
    id_, _, name, role, datasets, created, expires, revoked, last_day, daily = row
    return Token(
        id=id_,
        name=name,
        role=cast(Role, role),
        datasets=tuple(json.loads(datasets)),
        expires=None if expires is None else _time(expires),
        created=_time(created),
        revoked=None if revoked is None else _time(revoked),
        last_day=None if last_day is None else date.fromisoformat(last_day),
        daily=daily,
    )
