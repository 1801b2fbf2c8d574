"""A transaction on a ledger, called a page: it reads the last entry, checks who wrote it, and adds entries after it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dither.errors import LedgerError, TamperError
from dither.ledger.entries.entry import Entry, Head, State, read, tags, write
from dither.ledger.storage.database import (
    BATCH,
    LAST,
    TAGS,
    EntryRow,
    Statement,
    Tag,
    Transaction,
    batch,
    insert,
    latest,
    numbered,
    one,
)

Recent = tuple[EntryRow, Entry]  # the last entry as it was stored, and as it reads


class LedgerTransaction:
    """Made from a transaction that was opened with the query LAST, and then the queries named here."""

    def __init__(
        self,
        transaction: Transaction,
        key: bytes | None,
        known: Head | None,
        queries: Sequence[Statement] = (),
        recent: Recent | None = None,
    ) -> None:
        self._transaction = transaction
        self._key = key
        self.now = transaction.now
        row, *rows = (one(found) for found in transaction.opened[: 1 + len(queries)])
        self.recent = recent
        if row is not None and (recent is None or recent[0] != row):  # an entry that was checked before is not read again
            self.recent = (row, read(row, key))
        self._last = None if row is None or self.recent is None else self.recent[1]
        self._found: dict[Statement, Entry | None] = {
            query: None if row is None else read(row, key) for query, row in zip(queries, rows, strict=True)
        }
        self._before = 0 if self._last is None else self._last.number
        self._added: list[Entry] = []
        if known is not None:
            self.must_hold(known)

    @property
    def last(self) -> Entry:
        """The entry after which the next one goes."""
        if self._last is None:
            raise LedgerError("ledger", "empty", "it has no first entry", "Ledger.create(..., budget=...), which makes one")
        return self._last

    @property
    def state(self) -> State:
        return self.last.state

    def must_hold(self, known: Head) -> None:
        """Refuse to go on where an entry that is known to have been there is not, or is another one."""
        last = self._last
        if last is not None and last.number == known.entries:
            found = last.hash
        else:
            row = one(self._transaction.ask(numbered(known.entries)))
            found = "" if row is None else row.hash
        if found != known.hash:
            raise rolled_back(known, 0 if last is None else last.number)

    def entry(self, number: int) -> Entry | None:
        """The entry with this number."""
        return self._one(numbered(number))

    def latest(self, tag: Tag, value: str | int | None) -> Entry | None:
        """The last entry filed under a value, those of this page included."""
        return None if value is None else self._one(latest(tag, value))

    def entries(self) -> Iterator[Entry]:
        """All entries, those of this page included, in order."""
        number, before = 1, self._before
        while number <= before and (rows := self._transaction.ask(batch(number, BATCH))):
            yield from (read(EntryRow(*row), self._key) for row in rows if row[0] <= before)
            number += len(rows)
        yield from self._added

    def add(self, kind: str, body: Mapping[str, Any], answer: str | None = None, **changes: Any) -> Entry:
        """One more entry; `changes` are what it changes in the state."""
        if self._key is None:
            raise LedgerError("key", None, "without its key a ledger can only be read", "the key file that was made with it")
        state = State(**changes) if self._last is None else replace(self._last.state, **changes) if changes else self.state
        row, entry = write(self._key, self._last, kind, time=self.now, body=body, state=state, answer=answer)
        self._transaction.do(insert(row))
        self._last, self.recent = entry, (row, entry)
        self._added.append(entry)
        self._found[numbered(entry.number)] = entry
        self._found.update({latest(tag, value): entry for tag, value in zip(TAGS, tags(kind, body), strict=True) if value})
        return entry

    def _one(self, query: Statement) -> Entry | None:
        if query not in self._found:
            row = one(self._transaction.ask(query))
            self._found[query] = None if row is None else read(row, self._key)
        return self._found[query]


def opening(*queries: Statement) -> tuple[Statement, ...]:
    """The queries that a transaction must be opened with for a page."""
    return (LAST, *queries)


def rolled_back(known: Head, entries: int) -> TamperError:
    """The error for a ledger that lacks what was seen in it."""
    why = f"it lacks entry {known.entries} as it was seen before: the end was cut, or an old copy put back"
    return TamperError("ledger", entries, why, "the ledger as it was; nothing is granted until it is back")
