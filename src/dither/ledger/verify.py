"""The audit of a whole ledger, entry by entry: nothing here trusts what the ledger says about itself.

Found by the chain and the signatures: a changed, inserted, removed or reordered entry. Found by going through the sums
again: a charge that the filter would not have admitted, a second answer, a refund of an answered charge. Found by receipts
and by the second place: an end that was cut off, an old copy that was put back. Without either of the last two that cannot
be found, and the result says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from dither.errors import DitherError, TamperError
from dither.ledger.entries.budget import give_back, pay, read_price
from dither.ledger.entries.charge_request import fingerprint
from dither.ledger.entries.countersignature import BlockDigests
from dither.ledger.entries.entry import Entry, Head, State, read, written
from dither.ledger.entries.receipt import Receipt
from dither.ledger.entries.transaction import signer
from dither.ledger.storage.database import BATCH, LAST, Database, EntryRow, Statement, batch
from dither.ledger.storage.signing_keys import KeyFile
from dither.ledger.witness import Witness
from dither.privacy.budget.filter import Filter, Spent, from_json
from dither.privacy.budget.filter_state import added
from dither.privacy.guarantee.guarantee import Guarantee

OPEN, USED, ANSWERED, RETURNED = 1, 2, 3, 4  # charged; touched or run again; answered; given back
BEFORE: Statement = ("SELECT number FROM entries WHERE number < 1 LIMIT 1", ())


@dataclass(frozen=True)
class Verification:
    """What `Ledger.verify` found: faults, and what could be checked."""

    entries: int
    head: Head | None
    faults: tuple[str, ...]
    signed: bool  # signatures were checked: the key was at hand
    witnessed: bool  # a second place confirmed the head
    receipts: int  # how many were held against the ledger
    countersigned: int = 0  # how many of the first entries the key in force answers for, since theirs was thrown away

    @property
    def ok(self) -> bool:
        """Nothing speaks against this ledger; `str` says what could not be checked."""
        return not self.faults

    def __str__(self) -> str:
        lines = [f"{self.entries} entries, head {self.head.hash[:16] if self.head else 'none'}"]
        lines += [f"FAULT: {fault}" for fault in self.faults] or ["chain, sums and answers hold"]
        lines.append("signatures checked" if self.signed else "NOT CHECKED: signatures, since the key is not here")
        if self.countersigned:
            lines.append(f"the key of entries 1 to {self.countersigned} was thrown away: a later key answers for them")
        if self.witnessed:
            lines.append("the second place confirms that nothing was cut off or put back")
        else:
            lines.append("NOT CHECKED: without a second place, an old copy of the whole ledger put back cannot be detected")
        if self.receipts:
            lines.append(f"{self.receipts} receipts held against it")
        return "\n".join(lines)


def verify(
    database: Database,
    witness: Witness | None,
    file: KeyFile,
    receipts: tuple[Receipt, ...],
    progress: Callable[[int, int], None] | None,
) -> Verification:
    """Read all entries once, follow the chain and go through the sums; hold receipts and the second place against them."""
    faults: list[str] = []
    seen = None
    if witness is not None:
        try:
            seen = witness.head()
            if seen is None:
                faults.append("the second place does not know this ledger")
        except DitherError as error:
            faults.append(str(error))
    keys = file.read()
    starts = {Head(key.first, key.hash) for key in keys.keys[1:]} if keys is not None else set()
    expected = {*(receipt.head for receipt in receipts), *([] if seen is None else [seen]), *starts}
    by_number = {head.entries for head in expected}
    with database.read(LAST, BEFORE) as transaction:
        total = int(transaction.opened[0][0][0]) if transaction.opened[0] else 0
        faults += [f"entry {row[0]}: somebody put it before the first" for row in transaction.opened[1]]
    audit = Audit(receipts)
    number = 1
    while True:
        with database.read(batch(number, BATCH)) as transaction:
            rows = [EntryRow(*row) for row in transaction.opened[0]]
        keys = file.read()  # not older than the rows: the key may be rotated meanwhile
        for row in rows:
            try:
                audit.follow(read(row, signer(row, keys)))
            except DitherError as error:  # go on: the owner wants to know how much of it is touched
                faults.append(f"entry {row.number}: {error.why}")
                audit.skip(row)
            if row.number in by_number:
                expected.discard(Head(row.number, row.hash))
        if progress is not None and rows:
            progress(rows[-1].number, max(total, rows[-1].number))
        if len(rows) < BATCH:
            break
        number = rows[-1].number + 1
    entries = 0 if audit.last is None else audit.last.entries
    faults += [
        f"entry {head.entries} is not as a receipt, the key file or the second place saw it" for head in sorted(expected)
    ]
    faults += audit.about_receipts()
    confirmed = seen is not None and seen not in expected
    thrown = 0 if keys is None else keys.thrown_away
    return Verification(entries, audit.last, tuple(faults), keys is not None, confirmed, len(receipts), thrown)


class Audit:
    """The state of a ledger, built up again from what its entries say happened."""

    def __init__(self, receipts: tuple[Receipt, ...]) -> None:
        self.last: Head | None = None
        self._state: State | None = None
        self._budget: Filter | None = None
        self._identity = ""
        self._fates: dict[int, int] = {}  # what became of a charge, by the number of its entry
        self._charges: dict[int, tuple[Guarantee, str]] = {}  # what was charged, and to whom
        self._attempts: dict[int, int] = {}  # the latest, of charges that were run again
        self._shares: dict[str, tuple[int, Spent]] = {}
        self._receipts: dict[int, list[Receipt]] = {}
        for receipt in receipts:
            self._receipts.setdefault(receipt.number, []).append(receipt)
        self._answered: dict[int, list[Receipt]] = {}  # whose answer is to come
        self._wrong: list[str] = []
        self.blocks = BlockDigests()
        self._handover = False  # the last entry was one

    def follow(self, entry: Entry) -> None:
        """Check one entry against everything before it."""
        before = Head(0, "") if self.last is None else self.last
        if entry.number != before.entries + 1:
            raise _fault(entry, f"entries {before.entries + 1} to {entry.number - 1} are missing")
        if entry.previous != before.hash:
            raise _fault(entry, "it does not follow the entry before it")
        if (entry.kind == "created") != (entry.number == 1):
            raise _fault(entry, "a ledger is made once, at its beginning")
        if entry.number > 1 and (self._state is None or self._budget is None):
            raise _fault(entry, "what it builds on cannot be read")
        try:
            state = self._after(entry)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise _fault(entry, f"it is not what a ledger writes: {error}") from error
        if state != entry.state:
            raise _fault(entry, "its state is not what its entries add up to")
        self.last, self._state = entry.head, state
        self.blocks.add(entry.hash)

    def skip(self, row: EntryRow) -> None:
        """After a fault: go on from what is written."""
        self.last = Head(row.number, str(row.hash))
        self.blocks.add(str(row.hash))
        try:
            self._state = read(row, None).state
        except DitherError:
            return

    def about_receipts(self) -> list[str]:
        """What speaks against receipts that people kept."""
        unknown = [receipt for kept in self._receipts.values() for receipt in kept]
        return [*self._wrong, *(f"receipt {receipt.name} has no charge here" for receipt in unknown)]

    def _after(self, entry: Entry) -> State:
        body = entry.body
        if entry.kind == "created":
            self._budget, self._identity = from_json(body["budget"]), body["ledger"]
            return State(self._budget.nothing.totals, 1)
        assert self._state is not None
        handover, self._handover = self._handover, entry.kind == "rotated"
        if handover != (entry.kind == "countersigned"):
            raise _fault(entry, "a key hands over, and the next one countersigns at once")
        match entry.kind:
            case "rotated":
                return replace(self._state, rotation=entry.number)
            case "countersigned":
                if body["blocks"] != self.blocks.digests():
                    raise _fault(entry, "the new key answers for other entries than those before it")
            case "bound":
                if self._state.domain is not None:
                    raise _fault(entry, "it was bound before")
                return replace(self._state, domain=body["domain"], policy=body["policy"])
            case "policy":
                return replace(self._state, policy=body["policy"])
            case "moved":
                return replace(self._state, home=entry.number)
            case "share":
                return self._shared(entry)
            case "reserved":
                return self._charged(entry)
            case "refunded":
                return self._returned(entry)
            case "answered" | "renewed" | "rerun" | "touched":
                self._used(entry, body["receipt"])
            case "replayed" | "exported":
                if self._fates.get(body["receipt"]) != ANSWERED:
                    raise _fault(entry, f"receipt {body['receipt']} had no answer")
        return self._state

    def _used(self, entry: Entry, number: int) -> None:
        """Data was touched for a charge: by its maker's word, by another attempt, or for an answer."""
        if self._fates.get(number) not in (OPEN, USED):
            raise _fault(entry, f"receipt {number} has an answer already, or no charge")
        latest = self._attempts.get(number, 1)
        of_one = {"touched": {1}, "renewed": {latest}, "rerun": {latest + 1}}
        expected = of_one.get(entry.kind) or set(range(1, latest + 1))
        if entry.body["attempt"] not in expected or (entry.kind == "touched" and self._fates[number] == USED):
            raise _fault(entry, f"receipt {number} had no such attempt")
        self._fates[number] = ANSWERED if entry.kind == "answered" else USED
        self._attempts[number] = max(latest, entry.body["attempt"])
        if entry.kind == "answered":
            self._attempts.pop(number)
            self._compare_answers(entry)

    def _compare_answers(self, entry: Entry) -> None:
        for receipt in self._answered.pop(entry.body["receipt"], ()):
            if receipt.answer not in (None, entry.answer):
                self._wrong.append(f"receipt {receipt.name} shows another answer than the stored one")

    def _charged(self, entry: Entry) -> State:
        assert self._state is not None
        assert self._budget is not None
        body = entry.body
        if self._state.domain is None or body["policy"] != self._state.policy:
            raise _fault(entry, "it was charged under another policy, or none")
        if body["fingerprint"] != fingerprint(body["question"], body["guarantee"], body["policy"], body["data_version"]):
            raise _fault(entry, "its fingerprint is of another question")
        guarantee = _guarantee(body["guarantee"])
        for receipt in self._receipts.get(entry.number, ()):
            told = (receipt.ledger, receipt.fingerprint, receipt.guarantee)
            if told != (self._identity, body["fingerprint"], guarantee):
                self._wrong.append(f"receipt {receipt.name} is for another question or price")
        self._answered[entry.number] = self._receipts.pop(entry.number, [])
        spent = pay(Spent(self._budget, self._state.spent), read_price(self._budget, guarantee), guarantee, whose="it")
        if self._state.shares:
            number, before = self._shares[body["analyst"]]
            after = pay(before, read_price(before.budget, guarantee), guarantee, whose="the share")
            self._shares[body["analyst"]] = (number, after)
            self._must_say(entry, body["analyst"])
        elif body["share"] is not None:
            raise _fault(entry, "there are no shares")
        self._fates[entry.number] = OPEN
        self._charges[entry.number] = (guarantee, body["analyst"])
        return replace(self._state, spent=spent.totals)

    def _returned(self, entry: Entry) -> State:
        assert self._state is not None
        assert self._budget is not None
        number = entry.body["receipt"]
        if self._fates.get(number) != OPEN:
            raise _fault(entry, f"receipt {number} was used, or has no charge")
        guarantee, analyst = self._charges[number]
        self._fates[number] = RETURNED
        if analyst in self._shares:
            limit, before = self._shares[analyst]
            self._shares[analyst] = (limit, give_back(before, read_price(before.budget, guarantee)))
        self._must_say(entry, analyst)
        spent = give_back(Spent(self._budget, self._state.spent), read_price(self._budget, guarantee))
        return replace(self._state, spent=spent.totals)

    def _shared(self, entry: Entry) -> State:
        assert self._state is not None
        limit, analyst = from_json(entry.body["limit"]), entry.body["analyst"]
        total = limit.nothing.totals
        for number, (guarantee, name) in self._charges.items():
            if name == analyst and self._fates[number] != RETURNED:
                total = added(total, read_price(limit, guarantee))
        self._shares[analyst] = (entry.number, Spent(limit, total))
        self._must_say(entry, analyst)
        return replace(self._state, shares=True)

    def _must_say(self, entry: Entry, analyst: str) -> None:
        expected: dict[str, Any] | None = None
        if analyst in self._shares:
            number, spent = self._shares[analyst]
            expected = {"ceiling": number, "spent": written(spent.totals)}
        if entry.body["share"] != expected:
            raise _fault(entry, "its share is not what its entries add up to")


@lru_cache(maxsize=4096)
def _guarantee(text: str) -> Guarantee:
    return Guarantee.from_json(text)


def _fault(entry: Entry, why: str) -> TamperError:
    return TamperError("ledger entry", entry.number, why, "the ledger as it was")
