"""Stored answers: what was released, by the name of its receipt, to look at again and to reuse for nothing.

Kept in the gateway's own database, beside the tokens; each was stored in the ledger before it came here, and nothing in it
is private. Where a policy lets no texts of questions be kept, its answers are not kept here either: they hold the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from dither.ledger.storage.database import Database

TABLE = """CREATE TABLE IF NOT EXISTS answers (
    dataset TEXT NOT NULL, receipt TEXT NOT NULL, analyst TEXT NOT NULL, time BIGINT NOT NULL, price TEXT NOT NULL,
    sql TEXT NOT NULL, answer TEXT NOT NULL, PRIMARY KEY (dataset, receipt))"""
KEEP = "INSERT INTO answers (dataset, receipt, analyst, time, price, sql, answer) VALUES (?, ?, ?, ?, ?, ?, ?)"
HAS = "SELECT 1 FROM answers WHERE dataset = ? AND receipt = ?"
ONE = "SELECT dataset, receipt, analyst, time, price, sql, answer FROM answers WHERE dataset = ? AND receipt = ?"
SOME = "SELECT dataset, receipt, analyst, time, price, sql FROM answers WHERE dataset = ? AND time < ?"
LATER = 2**62


@dataclass(frozen=True)
class StoredAnswer:
    """One answer; its text is left out of lists."""

    dataset: str
    receipt: str
    analyst: str
    time: int  # microseconds since 1970
    price: str
    sql: str
    answer: str = ""

    def facts(self) -> dict[str, Any]:
        """For a list."""
        when = datetime.fromtimestamp(self.time / 1e6, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        told = {"id": self.receipt, "dataset": self.dataset, "sql": self.sql, "analyst": self.analyst}
        return told | {"when": when, "time": self.time, "price": self.price, "free": True}


class StoredAnswers:
    """The answers of all datasets of a gateway."""

    def __init__(self, database: Database) -> None:
        self._database = database
        if not database.exists("answers"):
            database.prepare((TABLE,), ())

    def keep(self, dataset: str, receipt: str, analyst: str, price: str, sql: str, answer: str) -> None:
        """Keep an answer; one that is there stays as it is."""
        with self._database.read((HAS, (dataset, receipt)), durable=False) as transaction:
            if transaction.opened[0]:
                return  # without waiting for the disk: most answers are given more than once
        with self._database.write((HAS, (dataset, receipt))) as transaction:
            if not transaction.opened[0]:
                transaction.do((KEEP, (dataset, receipt, analyst, transaction.now, price, sql, answer)))

    def find(self, dataset: str, receipt: str) -> StoredAnswer | None:
        """The answer of a receipt."""
        with self._database.read((ONE, (dataset, receipt))) as transaction:
            rows = transaction.opened[0]
        return StoredAnswer(*rows[0]) if rows else None

    def some(
        self, dataset: str, *, words: str = "", analyst: str | None = None, before: int | None = None, count: int = 50
    ) -> list[StoredAnswer]:
        """The latest answers about a dataset that have all the words in their question, or in who asked."""
        query, values = SOME, [dataset, LATER if before is None else before]
        for word in words.lower().split()[:10]:
            query += " AND (LOWER(sql) LIKE ? ESCAPE '!' OR LOWER(analyst) LIKE ? ESCAPE '!')"
            values += 2 * [f"%{_literal(word)}%"]
        if analyst is not None:
            query += " AND analyst = ?"
            values.append(analyst)
        query += " ORDER BY time DESC, receipt DESC LIMIT ?"
        with self._database.read((query, (*values, count))) as transaction:
            return [StoredAnswer(*row) for row in transaction.opened[0]]


def _literal(word: str) -> str:
    return word.replace("!", "!!").replace("%", "!%").replace("_", "!_")
