"""The reading side of a ledger: what is left of the privacy budget, what happened, and whether all of it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from types import TracebackType
from typing import Self, SupportsIndex

from dither.errors import ConflictError, DataError, DitherError
from dither.ledger.access_log import AccessLog
from dither.ledger.entries import shares as shared
from dither.ledger.entries.budget import Remaining
from dither.ledger.entries.daily_portions import RemainingToday, read_portion, spent_today
from dither.ledger.entries.entry import Entry, Head, digest
from dither.ledger.entries.receipt import Receipt
from dither.ledger.entries.texts import read_name
from dither.ledger.entries.transaction import read_entry
from dither.ledger.handle import LedgerHandle
from dither.ledger.storage.database import BATCH, EntryRow, batch
from dither.ledger.verify import Verification, verify
from dither.numeric.number import integer
from dither.privacy.budget.filter import Filter, Spent
from dither.privacy.guarantee.guarantee import Guarantee
from dither.terminal import Explanation

MOST_ENTRIES = 2**31 - 1


class LedgerReader:
    """An open ledger, to be read; `Ledger` adds what writes."""

    def __init__(self, handle: LedgerHandle, identity: str, budget: Filter) -> None:
        self.handle, self.identity, self.budget = handle, identity, budget
        self.location = handle.database.shown
        self.access_log = AccessLog(handle.database, identity, handle.file)

    def remaining(self, analyst: str | None = None) -> Remaining:
        """What is left of the whole budget, or of the share of `analyst`; DataError where there is no such share."""
        with self.handle.reading() as page:
            if analyst is None:
                return Remaining(Spent(self.budget, page.state.spent))
            own = page.latest("analyst", digest(read_name(analyst, "analyst")))
            if own is None:
                raise DataError("analyst", analyst, "there is no such share", "a name that ledger.share was called with")
            return Remaining(shared.share_spent(page, own))

    @property
    def shared_out(self) -> bool:
        """Whether all who ask need a share."""
        with self.handle.reading() as page:
            return page.state.shares

    def remaining_today(self, analyst: str, daily: Guarantee) -> RemainingToday:
        """What is left today of the portion `daily` of the share of `analyst`, and when the next portion begins."""
        name, portion = read_name(analyst, "analyst"), read_portion(daily, self.budget)
        with self.handle.reading() as page:
            return spent_today(page, name, portion)

    def explain(self, receipt: Receipt, *, details: bool = False) -> Explanation:
        """A `receipt` in words: what was charged, and what was left after it; with `details`, as the budget counts it."""
        own = self._own(receipt)
        with self.handle.reading() as page:
            charged = page.entry(own.number)
        if charged is None or charged.kind != "reserved" or charged.body["fingerprint"] != own.fingerprint:
            raise ConflictError("receipt", own.name, "this ledger never made it", "a receipt that reserve gave")
        left = Remaining(Spent(self.budget, charged.state.spent)).words(own.guarantee, details=details)
        return Explanation(f"receipt {own.name}: charged {own.guarantee}; left after it: {left}")

    @property
    def head(self) -> Head:
        """How many entries there are, and the hash of the last."""
        with self.handle.reading() as page:
            return page.last.head

    @property
    def witness(self) -> str | None:
        """The second place, for people; None if there is none."""
        second = self.handle.witness
        return None if second is None else second.database.shown

    def history(self, first: SupportsIndex = 1, last: SupportsIndex | None = None) -> Iterator[Entry]:
        """Entries in the order of writing, from number `first` to number `last`, or to the end."""
        number = min(integer(first, name="first", least=1), MOST_ENTRIES)
        until = MOST_ENTRIES if last is None else integer(last, name="last", least=0)
        with self.handle.reading() as page:
            head, keys = page.last.head, page.keys
        self.handle.publish(head, keys)  # answers are shown below: the second place knows of them first
        until = min(until, head.entries)
        while number <= until:
            with self.handle.database.read(batch(number, BATCH)) as transaction:
                rows = [EntryRow(*row) for row in transaction.opened[0] if row[0] <= until]
                entries = [read_entry(row, keys, transaction.ask) for row in rows]
            yield from entries
            if len(entries) < BATCH:
                return
            number = entries[-1].number + 1

    def verify(
        self, receipts: Iterable[Receipt] = (), *, progress: Callable[[int, int], None] | None = None
    ) -> Verification:
        """Read everything and check it: chain, signatures, sums, answers, second place, and `receipts` that people kept.

        `progress` is called with the number of entries that were read, and of all.
        """
        if isinstance(receipts, Receipt) or not isinstance(receipts, Iterable):
            raise DataError("receipts", receipts, "they come in a list", "[receipt, receipt]")
        if progress is not None and not callable(progress):
            raise DataError("progress", progress, "it cannot be called", "lambda done, total: print(done, total)")
        held = tuple(self._own(receipt) for receipt in receipts)
        found = verify(self.handle.database, self.handle.witness, self.handle.file, held, progress)
        try:
            self.access_log.lines()
        except DitherError as error:
            return replace(found, faults=(*found.faults, f"access log, {error.came}: {error.why}"))
        return found

    def _own(self, receipt: Receipt) -> Receipt:
        """The receipt, refused unless this ledger made it."""
        if not isinstance(receipt, Receipt):
            raise DataError("receipt", receipt, "it is not a receipt", "what ledger.reserve gave")
        if receipt.ledger != self.identity:
            raise ConflictError("receipt", receipt.name, "another ledger made it", "a receipt of this ledger")
        return receipt

    def close(self) -> None:
        """Close the connections to the databases."""
        self.handle.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
