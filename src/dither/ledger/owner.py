"""The owner's side of a ledger: whom it is about, which policy is in force, shares of analysts, what is recorded beside."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Self

from dither.errors import ConflictError, DataError
from dither.ledger.entries import decisions as charge
from dither.ledger.entries import shares as shared
from dither.ledger.entries.budget import BudgetLike
from dither.ledger.entries.entry import digest
from dither.ledger.entries.receipt import Receipt
from dither.ledger.entries.texts import read_name, read_text
from dither.ledger.handle import LedgerHandle
from dither.ledger.key_rotation import finish_rotation, forget_keys, hand_over
from dither.ledger.reader import LedgerReader
from dither.ledger.storage.database import Statement
from dither.ledger.storage.signing_keys import fingerprint
from dither.ledger.verify import Audit
from dither.ledger.write_queue import Decide, WriteQueue
from dither.privacy.budget.filter import Filter


class LedgerOwner(LedgerReader):
    """An open ledger, as its owner has it; `Ledger` adds charges and answers."""

    def __init__(self, handle: LedgerHandle, identity: str, budget: Filter) -> None:
        super().__init__(handle, identity, budget)
        self.queue, self._process = WriteQueue(self.handle.page), os.getpid()
        self.domain: str | None = None
        self.policy_hash = ""

    def __deepcopy__(self, _memo: dict[int, Any]) -> Self:
        """The same ledger: a copy of an estimator or a question must not have a budget of its own."""
        return self

    def __copy__(self) -> Self:
        return self

    def bind(self, domain: str, policy_hash: str = "") -> None:
        """Say whom this ledger is about, once: the `domain`, under the policy of that `policy_hash`.

        ConflictError where it belongs to another domain, or another policy is in force.
        """
        self._bind(read_name(domain, "domain"), read_name(policy_hash, "policy_hash", empty=True))

    def amend(self, policy_hash: str, *, loosens: bool, note: str, unspent: bool = False) -> None:
        """Put the policy of that `policy_hash` in force: an entry of its own. Stored answers do not answer under it.

        `loosens` says whether anything more is allowed than before, and `note` why; both are for the history. With
        `unspent` it is refused unless nothing is spent.
        """
        new = read_name(policy_hash, "policy_hash")
        if not isinstance(loosens, bool):
            raise DataError("loosens", loosens, "it is not a truth value", "True if anything more is allowed than before")
        why = read_name(note, "note")
        self._decide((), lambda page: charge.amend(page, new, loosens=loosens, note=why, unspent=unspent))
        self.policy_hash = new

    def share(self, analyst: str, ceiling: BudgetLike) -> None:
        """Limit what an `analyst` may spend to a `ceiling`; what she spent counts. From now on all who ask need a share."""
        name = read_name(analyst, "analyst")
        limit = shared.read_share(ceiling, self.budget)
        self._decide((), lambda page: shared.set_share(page, name, limit))

    def rotate_key(self, *, forget: bool = False) -> str:
        """Go on with a new signing key; the old one signs nothing that counts any more. Gives the new key's fingerprint.

        The whole ledger is audited first, since the new key answers for all of it. Processes that have it open go on with
        the new key. Back the key file up again.

        Args:
            forget: throw the old keys away. Then no backup from before can be restored.

        Raises:
            TamperError: an entry is not what it should be; nothing is rotated.
            LedgerError: the key or the ledger cannot be written; opening the ledger tells, and completes what was begun.
            ConflictError: another ledger may need the key that is to be thrown away.

        Example:
            >>> import dither
            >>> with dither.Ledger.temporary(dither.pure(1), domain="class") as ledger:
            ...     name = ledger.rotate_key()
            ...     [entry.kind for entry in ledger.history()], ledger.verify().ok
            (['created', 'bound', 'rotated', 'countersigned'], True)
        """
        if not isinstance(forget, bool):
            raise DataError("forget", forget, "it is not a truth value", "a truth value: whether old keys are thrown away")
        database, file, audit = self.handle.database, self.handle.file, Audit(())
        if forget:
            file.must_be_own()
        self.access_log.prepare()  # where it is missing: from here on its lines are signed with the new key
        with self.handle.reading() as page:
            for entry in page.entries():
                audit.follow(entry)
        keys = None
        while keys is None:
            finish_rotation(database, file)  # also that of another, which was stopped or is not through
            keys = self._decide((), lambda page: hand_over(page, file, self.access_log, audit))
        finish_rotation(database, file)
        if forget:
            forget_keys(database, file)
        return fingerprint(keys.current.secret)

    def record_refusal(self, text: str, why: str, *, analyst: str = "", door: str = "") -> None:
        """Log that the question `text` of `analyst`, by `door`, was refused; the reason `why` must be public."""
        names = {"analyst": read_name(analyst, "analyst", empty=True), "door": read_name(door, "door", empty=True)}
        body = {"text": read_text(text, "text"), "why": read_text(why, "why"), **names}
        self.access_log.add("refused", body)

    def record_export(self, receipt: Receipt, what: str, *, analyst: str = "", door: str = "") -> None:
        """Log that the stored answer of a `receipt` went to `analyst`, by `door`, as `what`, such as 'csv'."""
        own = self._own(receipt)
        names = {"analyst": read_name(analyst, "analyst", empty=True), "door": read_name(door, "door", empty=True)}
        body = {"receipt": own.number, "what": read_name(what, "what"), **names}
        with self.handle.reading() as page:
            charge.must_be_answered(page, own)
        self.access_log.add("exported", body)

    def _decide(self, queries: Sequence[Statement], decision: Decide) -> Any:
        """What a decision on the end of the ledger gives, once it is durable; threads that come together share a write."""
        if self._process != os.getpid():  # a lock that another thread held when the process was copied is never released
            self.queue = WriteQueue(self.handle.page)
            self._process = os.getpid()
        return self.queue.take(queries, decision)

    def _bind(self, domain: str | None, policy_hash: str | None) -> None:
        with self.handle.reading() as page:
            state = page.state
        if state.domain is None and domain is not None:
            unit = self.budget.unit
            state = self._decide((), lambda page: charge.bind(page, domain, policy_hash or "", unit))
        if domain is not None and domain != state.domain:
            why = f"this ledger is about '{state.domain}'"
            raise ConflictError("domain", domain, why, "that name: one budget for all who ask about the same people")
        if policy_hash is not None and state.domain is None:
            raise ConflictError("policy_hash", policy_hash, "nobody has said whom this ledger is about", "domain= beside it")
        if policy_hash is not None and policy_hash != state.policy:
            why = "another policy is in force"
            raise ConflictError(
                "policy_hash", policy_hash, why, "the policy in force, or ledger.amend(...), which is recorded"
            )
        self.domain, self.policy_hash = state.domain, state.policy

    def _must_have_share(self, analyst: str, limit: Filter) -> None:
        with self.handle.reading() as page:
            own = page.latest("analyst", digest(analyst))
            found = None if own is None else shared.share_spent(page, own).budget
        if found is None:
            self.share(analyst, limit)
        elif not found.has_ceiling_of(limit):
            why = f"{analyst} has a share of {found.ceiling}"
            raise ConflictError("shares", str(limit.ceiling), why, "that one, or ledger.share(...), which is recorded")
