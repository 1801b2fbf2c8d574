"""The ledger: one budget a domain, across all users, never overspent, never forgotten.

    reserve   check and charge, in one transaction that no other overlaps; gives a receipt
    touch     the data is about to be read: from here on nothing is given back
    commit    store the answer under its receipt; gives the *stored* answer, and only that may be shown
    refund    give back a charge whose data was never touched

Why at most one answer is ever seen for a charge. An answer is shown only after it was stored; `commit` stores one only if
its receipt has none, in a transaction that no other overlaps, and otherwise gives the one that is there. So all callers get
the first. A process that dies before `commit` has shown nothing; its charge stays, and after its lease another may compute
the answer under the same receipt.

Why the budget holds. A receipt exists only after an entry whose totals the filter admitted is durable; entries are never
changed; `refund` needs a receipt that this process made, never touched, and nobody ran again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from dither.errors import ConflictError, DataError, LedgerError, NumberError
from dither.ledger import open as keeping
from dither.ledger.entries import decisions as charge
from dither.ledger.entries import shares as shared
from dither.ledger.entries.budget import Remaining, read_price
from dither.ledger.entries.entry import Entry, Head, State, digest, read, written
from dither.ledger.entries.receipt import ChargeRequest, Receipt, plain_text, read_name, read_question, read_text
from dither.ledger.entries.transaction import LedgerTransaction
from dither.ledger.entries.unused_receipts import begin_refund, break_seal, in_doubt, seal
from dither.ledger.handle import LedgerHandle
from dither.ledger.storage.database import BATCH, EntryRow, Statement, batch, latest, numbered
from dither.ledger.verify import Verification, verify
from dither.ledger.write_queue import Decide, WriteQueue
from dither.numeric.number import integer
from dither.privacy.budget.filter import Filter, Spent
from dither.privacy.guarantee.guarantee import Guarantee

LONGEST_ANSWER = 64_000_000
LONGEST_LEASE = 31 * 24 * 3600
MOST_ENTRIES = 2**31 - 1


class Ledger:
    """What was spent. `Ledger(location, budget=...)` makes one where none is; `Ledger(location)` opens it."""

    def __init__(
        self,
        location: object,
        *,
        budget: object = None,
        domain: str | None = None,
        policy_hash: str | None = None,
        shares: Mapping[str, object] | None = None,
        witness: object = None,
        key: object = None,
        identity: str | None = None,
        moved: bool = False,
    ) -> None:
        """`witness` is a second place for the head; `identity` refuses any other ledger; `moved` records a new place."""
        if domain is not None:
            read_name(domain, "domain")
        if policy_hash is not None:
            read_name(policy_hash, "policy_hash", empty=True)
        limits = shared.read_shares(shares)
        kept = keeping.open_ledger(location, budget=budget, second=witness, key=key, identity=identity, moved=moved)
        self._book = LedgerHandle(kept.database, kept.witness, kept.key)
        self.identity = kept.identity
        self.location = kept.database.shown
        self.budget = kept.budget
        self._turns = (os.getpid(), WriteQueue(self._book.page))
        self.domain: str | None = None
        self.policy_hash = ""
        try:
            self._book.open()
            self._bind(domain, policy_hash)
            for analyst, limit in limits.items():
                self._must_have_share(analyst, limit)
        except BaseException:
            self.close()
            raise

    # -- the verbs ---------------------------------------------------------------------------------------------

    def reserve(
        self,
        guarantee: Guarantee,
        question: object,
        *,
        idempotency_key: str | None = None,
        analyst: str = "",
        data_version: str = "",
        lease: int = 300,
        policy_hash: str | None = None,
        text: str = "",
        door: str = "",
    ) -> Receipt:
        """Charge for a question; or give the receipt, and the stored answer, of the same question asked before.

        `data_version` is a label that the owner sets when the data changes. The lease, in seconds, is how long nobody else
        may compute the same answer. `policy_hash` refuses the question unless that policy is in force. `text` is the
        question as it was asked, and `door` the way by which it came: for the history, they decide nothing.
        """
        seconds = integer(lease, name="lease", least=1)
        if seconds > LONGEST_LEASE:
            raise NumberError("lease", seconds, f"it is longer than {LONGEST_LEASE} seconds", "300")
        asked = self._asked(guarantee, question, idempotency_key, analyst, data_version, policy_hash, text, door)
        granted: charge.Grant = self._turn(asked.queries, lambda page: charge.reserve(page, self.budget, asked, seconds))
        if granted.last.kind == "reserved" and granted.last.number == granted.number:
            seal(self.identity, granted.number)
        return self._receipt(asked, granted)

    def recall(
        self,
        guarantee: Guarantee,
        question: object,
        *,
        idempotency_key: str | None = None,
        analyst: str = "",
        data_version: str = "",
        policy_hash: str | None = None,
    ) -> Receipt | None:
        """The receipt and stored answer that `reserve` would give for a question asked before; None if there is no answer
        yet. Charges nothing."""
        asked = self._asked(guarantee, question, idempotency_key, analyst, data_version, policy_hash)
        if idempotency_key is not None:  # what the key stands for is written down
            granted = self._turn(asked.queries, lambda page: charge.recall(page, self.budget, asked))
        else:
            with self._book.reading() as page:
                granted = charge.recall(page, self.budget, asked)
                head = page.last.head
            if granted is not None:
                self._book.publish(head)  # the second place knows of an answer before it is shown
        return None if granted is None else self._receipt(asked, granted)

    def touch(self, receipt: Receipt) -> None:
        """Say that the data is about to be read for this receipt: from now on its charge cannot be given back."""
        own = self._own(receipt)
        if not break_seal(self.identity, own.number):  # made elsewhere: only an entry can tell its maker
            self._turn((), lambda page: charge.touch(page, own))

    def commit(self, receipt: Receipt, answer: str) -> str:
        """Store the answer; gives the answer that is stored, which is another one if somebody was faster. Show only that."""
        own = self._own(receipt)
        text = plain_text(answer, "answer")
        if len(text) > LONGEST_ANSWER:
            raise DataError("answer", text, f"it is longer than {LONGEST_ANSWER} characters", "a shorter one")
        break_seal(self.identity, own.number)
        queries = (numbered(own.number), latest("about", own.number))
        stored: str = self._turn(queries, lambda page: charge.commit(page, own, text))
        return stored

    def refund(self, receipt: Receipt) -> None:
        """Give back a charge for which no data was touched: by the process that made it, before `touch`."""
        own = self._own(receipt)
        if not begin_refund(self.identity, own.number):
            why = "data may have been touched for it, or another process made it, or it was given back"
            raise ConflictError("receipt", own.name, why, "a receipt that reserve gave here and that was not used")
        try:
            self._turn((), lambda page: charge.refund(page, self.budget, own))
        except LedgerError:  # a second try will tell; until then nobody takes the charge for untouched
            in_doubt(self.identity, own.number)
            raise

    def record_refusal(self, text: str, why: str, *, analyst: str = "", door: str = "") -> None:
        """Write down that a question was refused: nothing is charged. What the reason says must be public."""
        names = {"analyst": read_name(analyst, "analyst", empty=True), "door": read_name(door, "door", empty=True)}
        body = {"text": read_text(text, "text"), "why": read_text(why, "why"), **names}
        self._turn((), lambda page: page.add("refused", body))

    def record_export(self, receipt: Receipt, what: str, *, analyst: str = "", door: str = "") -> None:
        """Write down that a stored answer was handed out, and in which form."""
        own = self._own(receipt)
        names = {"analyst": read_name(analyst, "analyst", empty=True), "door": read_name(door, "door", empty=True)}
        body = {"what": read_name(what, "what"), **names}
        queries = (numbered(own.number), latest("about", own.number))
        self._turn(queries, lambda page: charge.export(page, own, body))

    def remaining(self, analyst: str | None = None) -> Remaining:
        """What is left: of the whole budget, or of one analyst's share."""
        with self._book.reading() as page:
            if analyst is None:
                return Remaining(Spent(self.budget, page.state.spent))
            own = page.latest("analyst", digest(read_name(analyst, "analyst")))
            if own is None:
                raise DataError("analyst", analyst, "there is no such share", "a name that ledger.share was called with")
            return Remaining(shared.share_spent(page, own))

    @property
    def head(self) -> Head:
        """How many entries there are, and the hash of the last."""
        with self._book.reading() as page:
            return page.last.head

    @property
    def witness(self) -> str | None:
        """The second place, for people; None if there is none."""
        second = self._book.witness
        return None if second is None else second.database.shown

    def history(self, first: int = 1, last: int | None = None) -> Iterator[Entry]:
        """Entries in the order of writing."""
        number = min(integer(first, name="first", least=1), MOST_ENTRIES)
        until = MOST_ENTRIES if last is None else integer(last, name="last", least=0)
        with self._book.reading() as page:
            head = page.last.head
        self._book.publish(head)  # answers are shown below: the second place knows of them first
        until = min(until, head.entries)
        while number <= until:
            with self._book.database.read(batch(number, BATCH)) as transaction:
                entries = [read(EntryRow(*row), self._book.key) for row in transaction.opened[0]]
            yield from (entry for entry in entries if entry.number <= until)
            if len(entries) < BATCH:
                return
            number = entries[-1].number + 1

    def verify(
        self, receipts: Iterable[Receipt] = (), *, progress: Callable[[int, int], None] | None = None
    ) -> Verification:
        """Read everything and check it: chain, signatures, sums, answers, receipts, second place."""
        if isinstance(receipts, Receipt) or not isinstance(receipts, Iterable):
            raise DataError("receipts", receipts, "they come in a list", "[receipt, receipt]")
        if progress is not None and not callable(progress):
            raise DataError("progress", progress, "it cannot be called", "lambda done, total: print(done, total)")
        held = tuple(self._own(receipt) for receipt in receipts)
        return verify(self._book.database, self._book.witness, self._book.key, held, progress)

    # -- the owner's ---------------------------------------------------------------------------------------------

    def bind(self, domain: str, policy_hash: str = "") -> None:
        """Say whom this ledger is about; once. A ledger that belongs to another domain or policy is refused."""
        self._bind(read_name(domain, "domain"), read_name(policy_hash, "policy_hash", empty=True))

    def amend(self, policy_hash: str, *, loosens: bool, note: str, unspent: bool = False) -> None:
        """Put another policy in force: an entry of its own, with a reason. Stored answers do not answer under it.

        With `unspent` it is refused unless nothing is spent.
        """
        new = read_name(policy_hash, "policy_hash")
        if not isinstance(loosens, bool):
            raise DataError("loosens", loosens, "it is not a truth value", "True if anything more is allowed than before")
        body = {"policy": new, "loosens": loosens, "note": read_name(note, "note")}

        def decide(page: LedgerTransaction) -> None:
            if page.state.domain is None:
                raise ConflictError("domain", None, "nobody has said whom this ledger is about", "ledger.bind('clinic')")
            if unspent and any(page.state.spent):
                why = "the ledger was spent under another policy"
                raise ConflictError("policy_hash", new[:16], why, "that policy, or an amendment, which is recorded")
            page.add("policy", {**body, "before": page.state.policy}, policy=new)

        self._turn((), decide)
        self.policy_hash = new

    def share(self, analyst: str, ceiling: object) -> None:
        """Limit what one analyst may spend of the budget; what she spent already counts. Others need a share from now on."""
        name = read_name(analyst, "analyst")
        limit = shared.read_share(ceiling, self.budget)

        def decide(page: LedgerTransaction) -> None:
            spent = shared.spent_by(name, page.entries(), limit)
            share = {"ceiling": page.last.number + 1, "spent": written(spent.totals)}
            page.add("share", {"analyst": name, "limit": limit.to_json(), "share": share}, shares=True)

        self._turn((), decide)

    def close(self) -> None:
        """Let go of the databases."""
        self._book.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Ledger({self.location!r}, domain={self.domain!r}, identity={self.identity!r})"

    # -- inside ------------------------------------------------------------------------------------------------

    def _turn(self, queries: Sequence[Statement], decide: Decide) -> Any:
        """Decide something on the end of the ledger, together with other threads that want to."""
        if self._turns[0] != os.getpid():  # a lock that another thread held when the process was copied is never released
            self._turns = (os.getpid(), WriteQueue(self._book.page))
        return self._turns[1].take(queries, decide)

    def _bind(self, domain: str | None, policy_hash: str | None) -> None:
        with self._book.reading() as page:
            state = page.state
        if state.domain is None and domain is not None:

            def decide(page: LedgerTransaction) -> State:
                if page.state.domain is not None:  # somebody was faster
                    return page.state
                body = {"domain": domain, "unit": self.budget.unit.value, "policy": policy_hash or ""}
                return page.add("bound", body, domain=domain, policy=policy_hash or "").state

            state = self._turn((), decide)
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

    def _asked(
        self,
        guarantee: Guarantee,
        question: object,
        key: str | None,
        analyst: str,
        data_version: str,
        policy_hash: str | None,
        text: str = "",
        door: str = "",
    ) -> ChargeRequest:
        return ChargeRequest(
            question=read_question(question),
            guarantee=guarantee,
            price=read_price(self.budget, guarantee),
            policy=self.policy_hash if policy_hash is None else read_name(policy_hash, "policy_hash"),
            data_version=read_name(data_version, "data_version", empty=True),
            analyst=read_name(analyst, "analyst", empty=True),
            key=None if key is None else read_name(key, "idempotency_key"),
            text=read_text(text, "text"),
            door=read_name(door, "door", empty=True),
        )

    def _receipt(self, asked: ChargeRequest, granted: charge.Grant) -> Receipt:
        number, attempt, answer, last = granted
        return Receipt(self.identity, number, attempt, asked.fingerprint, asked.guarantee, last.head, answer)

    def _own(self, receipt: object) -> Receipt:
        if not isinstance(receipt, Receipt):
            raise DataError("receipt", receipt, "it is not a receipt", "what ledger.reserve gave")
        if receipt.ledger != self.identity:
            raise ConflictError("receipt", receipt.name, "another ledger made it", "a receipt of this ledger")
        return receipt

    def _must_have_share(self, analyst: str, limit: Filter) -> None:
        with self._book.reading() as page:
            own = page.latest("analyst", digest(analyst))
            found = None if own is None else shared.share_spent(page, own).budget
        if found is None:
            self.share(analyst, limit)
        elif found != limit:
            why = f"{analyst} has a share of {found.ceiling}"
            raise ConflictError("shares", str(limit.ceiling), why, "that one, or ledger.share(...), which is recorded")
