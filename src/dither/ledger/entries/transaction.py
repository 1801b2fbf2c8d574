"""A transaction on a ledger, called a page: it reads the last entry, checks who wrote it, and adds entries after it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from dither.errors import LedgerError, TamperError
from dither.ledger.entries.countersignature import Ask, BlockDigests, must_be_countersigned
from dither.ledger.entries.entry import Entry, Head, State, is_signed, read, tags, tampered, write
from dither.ledger.storage.database import (
    BATCH,
    LAST,
    TAGS,
    EntryRow,
    Statement,
    Tag,
    Transaction,
    batch,
    earlier,
    insert,
    latest,
    numbered,
    one,
)
from dither.ledger.storage.signing_keys import SigningKeys, fingerprint

FEW = 8  # entries at first, where how many are needed is not known
Recent = tuple[EntryRow, Entry]  # the last entry as it was stored, and as it reads


class LedgerTransaction:
    """Made from a transaction that was opened with the query LAST, and then the queries named here."""

    def __init__(
        self,
        transaction: Transaction,
        keys: SigningKeys | None,
        known: Head | None,
        queries: Sequence[Statement] = (),
        recent: Recent | None = None,
    ) -> None:
        self.transaction = transaction
        self.now = transaction.now
        row, *rows = (one(found) for found in transaction.opened[: 1 + len(queries)])
        self.keys = keys = None if keys is None else in_force(keys, row, transaction.ask)
        self._opened_with = keys  # what was there before is read with these, also after a rotation on this very page
        self.recent = recent
        if row is not None and (recent is None or recent[0] != row):  # an entry that was checked before is not read again
            self.recent = (row, _read_last(row, keys, transaction.ask))
        self._last = None if row is None or self.recent is None else self.recent[1]
        if keys is not None and self._last is not None and self._last.number < keys.current.first:
            raise before_rotation(self._last.number, keys)
        self._found: dict[Statement, Entry | None] = {
            query: None if row is None else self._read(row) for query, row in zip(queries, rows, strict=True)
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
            row = one(self.transaction.ask(numbered(known.entries)))
            found = "" if row is None else row.hash
        if found != known.hash:
            raise rolled_back(known, 0 if last is None else last.number)

    def entry(self, number: int) -> Entry | None:
        """The entry with this number."""
        return self._one(numbered(number))

    def latest(self, tag: Tag, value: str | int | None) -> Entry | None:
        """The last entry filed under a value, those of this page included."""
        return None if value is None else self._one(latest(tag, value))

    def entries(self, first: int = 1) -> Iterator[Entry]:
        """All entries from number `first` on, those of this page included, in order."""
        number, before = first, self._before
        while number <= before and (rows := self.transaction.ask(batch(number, BATCH))):
            yield from (self._read(EntryRow(*row)) for row in rows if row[0] <= before)
            number += len(rows)
        yield from self._added

    def backward(self, tag: Tag, value: str | int) -> Iterator[Entry]:
        """The entries filed under a value, those of this page included, the last first."""
        # Those of this page by themselves: a distant database gets them only when the transaction ends.
        place = TAGS.index(tag)
        yield from (entry for entry in reversed(self._added) if tags(entry.kind, entry.body)[place] == value)
        number, count = self._before + 1, FEW
        while rows := [EntryRow(*row) for row in self.transaction.ask(earlier(tag, value, number, count))]:
            yield from (self._read_again(row) for row in rows)
            number, count = rows[-1].number, min(2 * count, BATCH)

    def add(self, kind: str, body: Mapping[str, Any], answer: str | None = None, **changes: Any) -> Entry:
        """One more entry; `changes` are what it changes in the state."""
        secret = None if self.keys is None else self.keys.current.secret
        if secret is None:
            raise LedgerError("key", None, "without its key a ledger can only be read", "the key file that was made with it")
        state = State(**changes) if self._last is None else replace(self._last.state, **changes) if changes else self.state
        row, entry = write(secret, self._last, kind, time=self.now, body=body, state=state, answer=answer)
        self.transaction.do(insert(row))
        self._last, self.recent = entry, (row, entry)
        self._added.append(entry)
        self._found[numbered(entry.number)] = entry
        self._found.update({latest(tag, value): entry for tag, value in zip(TAGS, tags(kind, body), strict=True) if value})
        return entry

    def rotate(self, secret: bytes, audited: BlockDigests) -> Entry:
        """Hand over to another key, which answers for all entries before; those that were `audited`, in order."""
        assert self.keys is not None
        handover, old = self.add("rotated", {"key": fingerprint(secret)}, rotation=self.last.number + 1), self.keys
        audited.add(handover.hash)
        self.keys = old.followed_by(secret, handover.number + 1, "")
        entry = self.add("countersigned", {"blocks": audited.digests()})
        self.keys = old.followed_by(secret, entry.number, entry.hash)
        return entry

    def _one(self, query: Statement) -> Entry | None:
        if query not in self._found:
            row = one(self.transaction.ask(query))
            self._found[query] = None if row is None else self._read(row)
        return self._found[query]

    def _read(self, row: EntryRow) -> Entry:
        return read_entry(row, self._opened_with, self.transaction.ask)

    def _read_again(self, row: EntryRow) -> Entry:
        """The same, of a row that is likely to have been read before."""
        keys = self._opened_with
        if keys is None or row.answer is not None or not keys.current.first <= row.number:
            return self._read(row)
        return _read_once(row, keys.current.secret)


@lru_cache(maxsize=2048)
def _read_once(row: EntryRow, key: bytes | None) -> Entry:
    return read(row, key)


def read_entry(row: EntryRow, keys: SigningKeys | None, ask: Ask) -> Entry:
    """The entry in a row, if its key signed it and, where that was rotated, the key in force answers for it."""
    if keys is None:
        return read(row, None)
    entry = read(row, keys.of(row.number))
    if entry.number < keys.current.first:
        must_be_countersigned(entry, keys.current, ask)
    return entry


def signer(row: EntryRow, keys: SigningKeys | None) -> bytes | None:
    """The key that must have signed a row: that of its number, or that of a rotation that is being completed, if it did."""
    if keys is None:
        return None
    return keys.next if keys.next is not None and is_signed(row, keys.next) else keys.of(row.number)


def in_force(keys: SigningKeys, last: EntryRow | None, ask: Ask) -> SigningKeys:
    """The keys, with that of a rotation whose entries are written and which the key file does not yet know as done.

    The old keys are those up to the one that handed over: after a restored backup they are fewer than the key file has.
    """
    if keys.next is None or last is None or not is_signed(last, keys.next):
        return keys
    entry = read(last, keys.next)
    handover, first = one(ask(numbered(entry.state.rotation))), one(ask(numbered(entry.state.rotation + 1)))
    if handover is None or first is None:
        raise tampered(entry.state.rotation, "the rotation of the key is missing")
    signers = [key.secret is not None and is_signed(handover, key.secret) for key in keys.keys]
    told, start = read(handover, None), read(first, keys.next)
    kinds, name = (told.kind, start.kind), told.body.get("key")
    if kinds != ("rotated", "countersigned") or name != fingerprint(keys.next) or True not in signers:
        raise tampered(told.number, "it hands over to another key, or was written with none of this ledger's")
    return SigningKeys(keys.keys[: 1 + signers.index(True)]).followed_by(keys.next, start.number, start.hash)


def _read_last(row: EntryRow, keys: SigningKeys | None, ask: Ask) -> Entry:
    if keys is None:
        return read(row, None)
    try:
        return read(row, keys.of(row.number))
    except TamperError:
        _must_not_be_rotated_elsewhere(row, keys, ask)
        raise


def _must_not_be_rotated_elsewhere(row: EntryRow, keys: SigningKeys, ask: Ask) -> None:
    """Say so where the key in force handed over to one that is not here."""
    number = read(row, None).state.rotation  # what it says is checked below
    handover = one(ask(numbered(number)))
    if number > keys.current.first and handover is not None and is_signed(handover, keys.current.secret or b""):
        name = read(handover, keys.current.secret).body["key"][:16]
        why = f"entry {number} handed over to another key, {name}, which is not in this file"
        instead = "the key file of the machine where the key was rotated; if that was not you, somebody else has your key"
        raise LedgerError("key", keys.current.first, why, instead)


def opening(*queries: Statement) -> tuple[Statement, ...]:
    """The queries that a transaction must be opened with for a page."""
    return (LAST, *queries)


def before_rotation(entries: int, keys: SigningKeys) -> TamperError:
    """The error for a ledger from before a rotation that the key file knows."""
    why = f"the key was rotated by entry {keys.current.first - 1}, which it lacks: the end was cut, or an old copy put back"
    return TamperError("ledger", entries, why, "the ledger as it was; for a backup: dither ledger restore --old-key")


def rolled_back(known: Head, entries: int) -> TamperError:
    """The error for a ledger that lacks what was seen in it."""
    why = f"it lacks entry {known.entries} as it was seen before: the end was cut, or an old copy put back"
    return TamperError("ledger", entries, why, "the ledger as it was; nothing is granted until it is back")
