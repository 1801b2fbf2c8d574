"""The ledger: one privacy budget a domain, across all users, never overspent, never forgotten.

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

from collections.abc import Mapping
from typing import Any, Self, SupportsIndex

from dither.arguments import argument_errors
from dither.errors import ConflictError, DataError, LedgerError
from dither.ledger import open as keeping
from dither.ledger.entries import decisions as charge
from dither.ledger.entries import shares as shared
from dither.ledger.entries.budget import BudgetLike
from dither.ledger.entries.charge_request import ChargeRequest, QuestionLike, read_lease, read_request
from dither.ledger.entries.daily_portions import read_portion
from dither.ledger.entries.receipt import Receipt
from dither.ledger.entries.texts import plain_text, read_name
from dither.ledger.entries.unused_receipts import begin_refund, break_seal, in_doubt, seal
from dither.ledger.handle import LedgerHandle
from dither.ledger.owner import LedgerOwner
from dither.ledger.storage.database import latest, numbered
from dither.ledger.storage.locations import LocationLike
from dither.ledger.storage.temporary import TemporaryPlaces
from dither.privacy.budget.filter import Filter
from dither.privacy.guarantee.guarantee import Guarantee

LONGEST_ANSWER = 64_000_000


@argument_errors
class Ledger(LedgerOwner):
    """The ledger of a privacy budget, opened. `Ledger.create` makes one; `Ledger.temporary` makes a throw-away.

    Args:
        location: a file, or an address such as 'postgresql://host/database#schema'.
        budget: what it was made for, if that is to be checked: any other is refused.
        domain: whom it is about: one name for all data that shares people. It is bound to it once.
        policy_hash: the policy that must be in force; with a new domain, the first one.
        shares: the most that single analysts may spend of the budget, by name.
        witness: a second place on another disk or server, which remembers the head: then an old copy is noticed.
        key: the file of the signing key; left out, one under `DITHER_HOME` or ~/.dither.
        identity: of the one ledger that is meant: any other is refused.
        moved: the owner's word that the ledger was moved here and the first copy is gone; it is recorded.

    Raises:
        LedgerError: it cannot be read there, or there is none.
        TamperError: an entry was changed, the end was cut, or an old copy was put back.
        ConflictError: it is about another domain, policy, budget, identity or place than was given.
        GuaranteeError, NumberError, UnitError: what is given as a budget or a share is none.
        DataError: a name, a path or a flag is of the wrong kind.

    Example:
        >>> import tempfile, dither
        >>> folder = tempfile.TemporaryDirectory()
        >>> ledger = dither.Ledger.create(folder.name + "/clinic.ledger", budget=dither.pure(1), domain="clinic")
        >>> receipt = ledger.reserve(dither.pure("0.25"), "how many visits?")
        >>> ledger.touch(receipt)  # now the data is read, and noise is added
        >>> ledger.commit(receipt, "42")
        '42'
        >>> ledger.reserve(dither.pure("0.25"), "how many visits?").answer  # asked again, it is free
        '42'
        >>> print(ledger.remaining())
        75%: ε = 0.75 left of ε = 1 (add/remove one person)
        >>> folder.cleanup()
    """

    _temporary: TemporaryPlaces | None = None  # removed with whoever has it

    def __init__(
        self,
        location: LocationLike,
        *,
        budget: BudgetLike | None = None,
        domain: str | None = None,
        policy_hash: str | None = None,
        shares: Mapping[str, BudgetLike] | None = None,
        witness: LocationLike | None = None,
        key: LocationLike | None = None,
        identity: str | None = None,
        moved: bool = False,
    ) -> None:
        limits = _read_facts(domain, policy_hash, shares)
        kept = keeping.open_ledger(location, budget=budget, second=witness, key=key, identity=identity, moved=moved)
        super().__init__(LedgerHandle(kept.database, kept.witness, kept.file, kept.where.number), kept.identity, kept.budget)
        try:
            self.handle.open()
            self._bind(domain, policy_hash)
            for analyst, limit in limits.items():
                self._must_have_share(analyst, limit)
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(
        cls,
        location: LocationLike,
        *,
        budget: BudgetLike,
        domain: str | None = None,
        policy_hash: str | None = None,
        shares: Mapping[str, BudgetLike] | None = None,
        witness: LocationLike | None = None,
        key: LocationLike | None = None,
    ) -> Self:
        """Make a ledger where none is: a full budget, made once. Whoever comes later opens it: `Ledger(location)`.

        Args:
            location: as of `Ledger`.
            budget: all that may ever be spent: `pure`, `approx`, `zcdp`, or a filter of `dither.filter`.
            domain: as of `Ledger`, like all that follow.
            policy_hash: the first policy.
            shares: the most that single analysts may spend.
            witness: a second place.
            key: where the signing key is made.

        Raises:
            ConflictError: there is a ledger already.
            TamperError: there was one, and it is gone: a new one would start with a full budget.
            LedgerError: it cannot be kept there.
            GuaranteeError, NumberError, UnitError: what is given as a budget or a share is none.
        """
        _read_facts(domain, policy_hash, shares)  # what is wrong with them is said before anything is made
        identity = keeping.create_ledger(location, budget=budget, second=witness, key=key)
        return cls(
            location, domain=domain, policy_hash=policy_hash, shares=shares, witness=witness, key=key, identity=identity
        )

    @classmethod
    def temporary(cls, budget: BudgetLike, *, domain: str | None = None) -> Self:
        """A throw-away, for classes and experiments: it forgets what was spent when it is closed or the program ends.

        It lies in a new folder of its own under the system's folder for such files. Its receipts say that it is temporary.
        Who asks about real people with it, and again with another, has spent both budgets, and nobody counts.

        Args:
            budget: as of `Ledger.create`.
            domain: as of `Ledger`.

        Raises:
            GuaranteeError, NumberError, UnitError: what is given as a budget is none.

        Example:
            >>> import dither
            >>> with dither.Ledger.temporary(dither.pure(1), domain="class") as ledger:
            ...     ledger.reserve(dither.pure("0.1"), "how many?").name.startswith("temporary-")
            True
        """
        _read_facts(domain, None, None)
        places = TemporaryPlaces()
        identity = keeping.create_ledger(places.ledger, budget=budget, key=places.key, temporary=True)
        made = cls(places.ledger, domain=domain, key=places.key, identity=identity)
        made._temporary = places
        return made

    def close(self) -> None:
        """Close the connections to the databases; a temporary ledger is then gone."""
        super().close()
        if self._temporary is not None:
            self._temporary.remove()

    # -- the verbs ---------------------------------------------------------------------------------------------

    def reserve(
        self,
        guarantee: Guarantee,
        question: QuestionLike,
        *,
        idempotency_key: str | None = None,
        analyst: str = "",
        data_version: str = "",
        lease: SupportsIndex = 300,
        policy_hash: str | None = None,
        text: str = "",
        door: str = "",
        unprotected: str = "",
        daily: Guarantee | None = None,
    ) -> Receipt:
        """Charge for a question; or give the receipt, and the stored answer, of the same question asked before.

        Args:
            guarantee: the price: what the answer promises.
            question: a text, or nested mappings and lists of texts and whole numbers; equal ones are the same question.
            idempotency_key: a name for this charge; it stands for one question, and never pays twice.
            analyst: who asks; needed where the ledger is shared out.
            data_version: a label that the owner sets when the data changes.
            lease: seconds during which nobody else may compute the same answer.
            policy_hash: refuses the question unless that policy is in force.
            text: the question as it was asked, for the history.
            door: the way by which it came, for the history.
            unprotected: what the guarantee does not cover, in words, for the receipt and the history.
            daily: the most that the analyst may spend of her share in one UTC day; never a refill of it.

        Raises:
            BudgetError: less is left of the budget, of the analyst's share, or of its daily portion, than the price.
            GuaranteeError, NumberError, UnitError: the budget does not count such a guarantee.
            ConflictError: another policy is in force, the key stands for another question, or there is no such share.
            InProgressError: somebody else computes this answer now.
            LedgerError: the ledger cannot be written; nothing is granted.
        """
        seconds, most = read_lease(lease), None if daily is None else read_portion(daily, self.budget)
        told: dict[str, Any] = {"data_version": data_version, "analyst": analyst, "key": idempotency_key}
        told |= {"text": text, "door": door, "unprotected": unprotected}
        asked = read_request(self.budget, guarantee, question, in_force=self.policy_hash, policy_hash=policy_hash, **told)
        granted: charge.Grant = self._decide(
            asked.queries, lambda page: charge.reserve(page, self.budget, asked, seconds, most)
        )
        if granted.last.kind == "reserved" and granted.last.number == granted.number:
            seal(self.identity, granted.number)
        return self._receipt(asked, granted)

    def recall(
        self,
        guarantee: Guarantee,
        question: QuestionLike,
        *,
        idempotency_key: str | None = None,
        analyst: str = "",
        data_version: str = "",
        policy_hash: str | None = None,
    ) -> Receipt | None:
        """The receipt with the stored answer of the same `question` at the same `guarantee`; None if there is none yet.

        Charges nothing. `idempotency_key`, `analyst`, `data_version` and `policy_hash` are as in `reserve`.
        """
        told: dict[str, Any] = {"data_version": data_version, "analyst": analyst, "key": idempotency_key}
        asked = read_request(self.budget, guarantee, question, in_force=self.policy_hash, policy_hash=policy_hash, **told)
        if idempotency_key is not None:  # what the key stands for is written down
            granted = self._decide(asked.queries, lambda page: charge.recall(page, self.budget, asked))
        else:
            with self.handle.reading() as page:
                granted = charge.recall(page, self.budget, asked)
                head, keys = page.last.head, page.keys
            if granted is not None:
                self.handle.publish(head, keys)  # the second place knows of an answer before it is shown
        return None if granted is None else self._receipt(asked, granted)

    def touch(self, receipt: Receipt, *, lease: SupportsIndex | None = None) -> None:
        """Say that data is about to be read for a `receipt`: its charge cannot be given back from now on. With a `lease`,
        that it is still being read: nobody else computes the answer for so many seconds more."""
        own = self._own(receipt)
        if lease is not None:
            self._decide((), lambda page: charge.renew(page, own, read_lease(lease)))
        elif not break_seal(self.identity, own.number):  # made elsewhere: only an entry can tell its maker
            self._decide((), lambda page: charge.touch(page, own))

    def commit(self, receipt: Receipt, answer: str) -> str:
        """Store the `answer` of a `receipt`; gives the stored one, another if somebody was faster. Show only that."""
        own = self._own(receipt)
        text = plain_text(answer, "answer")
        if len(text) > LONGEST_ANSWER:
            raise DataError("answer", text, f"it is longer than {LONGEST_ANSWER} characters", "a shorter one")
        break_seal(self.identity, own.number)
        queries = (numbered(own.number), latest("about", own.number))
        stored: str = self._decide(queries, lambda page: charge.commit(page, own, text))
        return stored

    def refund(self, receipt: Receipt) -> None:
        """Give back the charge of a `receipt` that this process made, before `touch`; ConflictError otherwise."""
        own = self._own(receipt)
        if not begin_refund(self.identity, own.number):
            why = "data may have been touched for it, or another process made it, or it was given back"
            raise ConflictError("receipt", own.name, why, "a receipt that reserve gave here and that was not used")
        try:
            self._decide((), lambda page: charge.refund(page, self.budget, own))
        except LedgerError:  # a second try will tell; until then nobody takes the charge for untouched
            in_doubt(self.identity, own.number)
            raise

    def __repr__(self) -> str:
        return f"Ledger({self.location!r}, domain={self.domain!r}, identity={self.identity!r})"

    # -- inside ------------------------------------------------------------------------------------------------

    def _receipt(self, asked: ChargeRequest, granted: charge.Grant) -> Receipt:
        number, attempt, answer, last, outside = granted
        return Receipt(self.identity, number, attempt, asked.fingerprint, asked.guarantee, last.head, answer, outside)


def _read_facts(domain: str | None, policy_hash: str | None, shares: Mapping[str, BudgetLike] | None) -> dict[str, Filter]:
    """The shares as limits; refused where a name is none."""
    if domain is not None:
        read_name(domain, "domain")
    if policy_hash is not None:
        read_name(policy_hash, "policy_hash", empty=True)
    return shared.read_shares(shares)
