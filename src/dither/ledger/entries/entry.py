"""An entry of the hash chain: what happened, what is spent after it, and the hash of the entry before.

    record    canonical JSON of number, kind, time, body, state and the hash of the previous entry
    hash      SHA-256 of the record: anyone can follow the chain
    mac       HMAC-SHA-256 of the record under a key that is not kept with the ledger: only a holder of the key can write it

A stored answer is bound by its SHA-256 in the body. Every entry carries the whole state (`State`), so the last one is all
that a charge must read, and nothing is ever updated.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeAlias

from dither.errors import LedgerError, TamperError
from dither.ledger.storage.database import EntryRow
from dither.numeric.number import Number
from dither.privacy.budget.filter_state import Totals

VERSION = 2
PURPOSE = b"dither ledger entry 2\n"  # the key signs nothing else by accident
KINDS = (
    *("created", "bound", "policy", "share", "moved", "rotated", "countersigned"),  # what the owner did
    *("reserved", "touched", "renewed", "rerun", "answered", "replayed", "refunded"),  # what became of a charge
    *("refused", "exported"),  # what was asked and not answered, and where answers went
)


Json: TypeAlias = str | int | Mapping[str, Any] | list[Any] | None
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


class Head(NamedTuple):
    """Where a ledger stands: how many entries, and the hash of the last."""

    entries: int
    hash: str


@dataclass(frozen=True)
class State:
    """The state of a ledger after an entry: totals spent, place, domain, policy, whether it is shared out."""

    spent: Totals  # as the filter of the budget counts
    home: int  # number of the entry that says where the ledger and its second place are
    domain: str | None = None
    policy: str = ""
    shares: bool = False
    rotation: int = 0  # number of the last entry that handed over to another key; not written where there was none

    def to_json(self) -> dict[str, Any]:
        told = {"home": self.home, "domain": self.domain, "policy": self.policy, "shares": self.shares}
        return {"spent": written(self.spent), **told, **({"rotation": self.rotation} if self.rotation else {})}


def written(totals: Totals) -> list[Any]:
    """Exact totals of a filter as JSON."""
    return [total.to_json() for total in totals]


@dataclass(frozen=True)
class Entry:
    """One line of the ledger, as written."""

    number: int
    kind: str
    time: int  # microseconds since 1970, by the clock of the store
    body: Mapping[str, Any]
    state: State
    previous: str
    hash: str
    mac: str
    answer: str | None = None

    @property
    def when(self) -> datetime:
        """The time of writing, in UTC."""
        return datetime.fromtimestamp(self.time / 1e6, UTC)

    @property
    def head(self) -> Head:
        return Head(self.number, self.hash)


def canonical(value: Json) -> str:
    """JSON with one spelling: sorted keys, no spaces, ASCII."""
    return _ENCODER.encode(value)


def digest(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def write(
    key: bytes,
    previous: Entry | None,
    kind: str,
    *,
    time: int,
    body: Mapping[str, Any],
    state: State,
    answer: str | None = None,
) -> tuple[EntryRow, Entry]:
    """An entry that follows another one: as it is stored, and as it reads.

    The writer goes on with the second, unread: hash and MAC were made of this very text, and the text gives back its parts.
    """
    number = 1 if previous is None else previous.number + 1
    before = "" if previous is None else previous.hash
    told = {
        **{"entry": VERSION, "number": number, "kind": kind, "time": time, "previous": before},
        **{"body": body, "state": state.to_json()},
    }
    record = canonical(told)
    if json.loads(record) != told:  # nothing is written that would be read as something else
        raise LedgerError("ledger entry", number, "it would not read as it was meant", "texts, whole numbers, lists")
    stored = None if answer is None else json.dumps(answer)  # ASCII: every text survives every database
    row = EntryRow(number, record, digest(record), mac_of(key, record), stored, *tags(kind, body))
    return row, Entry(number, kind, time, body, state, before, row.hash, row.mac, answer)


def tags(kind: str, body: Mapping[str, Any]) -> tuple[int | None, str | None, str | None, str | None]:
    """What an entry is found by: the receipt it is about, the question, the idempotency key, the analyst's last state."""
    about = body["receipt"] if kind in ("touched", "renewed", "rerun", "answered", "refunded") else None
    question = body["fingerprint"] if kind == "reserved" else None
    used_key = digest(body["key"]) if body.get("key") is not None else None
    analyst = digest(body["analyst"]) if body.get("share") is not None else None
    return about, question, used_key, analyst


def read(row: EntryRow, key: bytes | None) -> Entry:
    """The entry in a row; refused when hash or, with the key at hand, MAC says that somebody else wrote it."""
    texts = (row.record, row.hash, row.mac)
    if not all(isinstance(text, str) and text.isascii() for text in texts) or not isinstance(row.answer, (str, type(None))):
        raise tampered(row.number, "its columns are not texts that dither writes")
    if digest(row.record) != row.hash:
        raise tampered(row.number, "its text and its hash do not belong together")
    if key is not None and not is_signed(row, key):
        raise tampered(row.number, "it was not written with the key of this ledger")
    try:
        stored = json.loads(row.record)
        if isinstance(version := stored["entry"], int) and version != VERSION:
            raise _of_version(row.number, version)
        if stored["entry"] != VERSION or stored["kind"] not in KINDS or stored["number"] != row.number:
            raise ValueError("another version, kind or number")
        spent = tuple(Number.from_json(total) for total in stored["state"].pop("spent"))
        state = State(spent, **stored["state"])
        answer = None if row.answer is None else json.loads(row.answer)
        told = (stored["kind"], stored["time"], stored["body"], state, stored["previous"])
        entry = Entry(row.number, *told, row.hash, row.mac, answer)
        if (entry.kind == "answered") != isinstance(answer, str):
            raise ValueError("an answer and an entry without one")
        if answer is not None and digest(answer) != entry.body["sha256"]:
            raise ValueError("another answer")
        if tags(entry.kind, entry.body) != (row.about, row.fingerprint, row.key, row.analyst):
            raise ValueError("filed under something else")
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise tampered(row.number, "its columns do not belong together") from error
    return entry


def is_signed(row: EntryRow, key: bytes) -> bool:
    """Whether a row was written with that key."""
    texts = isinstance(row.record, str) and isinstance(row.mac, str) and row.mac.isascii()
    return texts and hmac.compare_digest(mac_of(key, row.record), row.mac)


def mac_of(key: bytes, record: str) -> str:
    return hmac.digest(key, PURPOSE + record.encode(), "sha256").hex()


def tampered(number: int, why: str) -> TamperError:
    return TamperError("ledger entry", number, why, "a copy of the ledger from before, and a look at who could write to it")


def _of_version(number: int, version: int) -> TamperError:
    why = f"it is of version {version} of entries, and this dither reads version {VERSION}"
    return TamperError(
        "ledger entry", number, why, "the dither that wrote it; if there was none, a look at who could write to it"
    )
