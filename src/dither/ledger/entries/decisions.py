"""The decisions of a ledger: what a page allows. Each is all or nothing, and writes at most one entry.

reserve   the same key must mean the same question; a question that has an answer gets it; one that is being computed
          is not computed twice; a new one is charged, to the budget and to the analyst's share, within her day's portion
touch     data is read for a receipt that another process made
commit    the first answer under a receipt stays
refund    a charge for which nothing was touched, that nobody ran again and that has no answer
export    only an answer that is stored can be handed out
bind      a ledger is about one domain, once and for all
amend     another policy is in force from now on; stored answers do not answer under it
"""

from __future__ import annotations

from typing import NamedTuple

from dither.errors import ConflictError, InProgressError
from dither.ledger.entries.budget import give_back, pay, read_price
from dither.ledger.entries.charge_request import ChargeRequest
from dither.ledger.entries.daily_portions import must_fit_today, spent_today
from dither.ledger.entries.entry import Entry, State, digest
from dither.ledger.entries.largest_price import Limits
from dither.ledger.entries.receipt import Receipt
from dither.ledger.entries.shares import charged_share, returned_share, share_spent
from dither.ledger.entries.transaction import LedgerTransaction
from dither.privacy.budget.filter import Filter, Spent
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import Unit


class Grant(NamedTuple):
    """What `reserve` decided: the charge, which attempt at its answer, the answer if it has one, the last entry, and what is
    outside the guarantee, as it was said at the charge."""

    number: int
    attempt: int
    answer: str | None
    last: Entry
    unprotected: str = ""


def reserve(
    page: LedgerTransaction, budget: Filter, asked: ChargeRequest, lease: int, portion: Filter | None = None
) -> Grant:
    """Charge for a question, or find it charged already; a `portion` is the most that the analyst may spend today."""
    if page.state.domain is None:
        raise ConflictError("domain", None, "nobody has said whom this ledger is about", "Ledger(..., domain='clinic')")
    if page.state.policy != asked.policy:
        why = "the policy was changed since this ledger was opened"
        raise ConflictError("policy_hash", asked.policy, why, "opening the ledger again with the policy in force")
    same_key = page.latest("key", asked.key_tag)
    if same_key is not None:
        _must_agree(same_key, asked)
    until = page.now + lease * 1_000_000
    charged = page.latest("fingerprint", asked.fingerprint)
    if charged is not None:
        state = page.latest("about", charged.number)
        if state is None or state.kind != "refunded":
            again = _again(page, charged, state, asked, until, bound=same_key is not None)
            return again._replace(unprotected=charged.body.get("unprotected", ""))

    def limits() -> Limits:  # looked up for a refusal alone
        return _limits(page, budget, asked.analyst, portion)

    share = charged_share(page, asked, limits)
    if portion is not None:
        must_fit_today(page, asked.analyst, asked.guarantee, portion, limits)
    spent = pay(Spent(budget, page.state.spent), asked.price, asked.guarantee, whose="the ledger", limits=limits)
    entry = page.add("reserved", {**asked.record, "until": until, "share": share}, spent=spent.totals)
    return Grant(entry.number, 1, None, entry, asked.unprotected)


def _limits(page: LedgerTransaction, budget: Filter, analyst: str, portion: Filter | None) -> Limits:
    """All that a charge to an analyst must fit."""
    states = [Spent(budget, page.state.spent)]
    if page.state.shares and (own := page.latest("analyst", digest(analyst))) is not None:
        states.append(share_spent(page, own))
        if portion is not None:
            states.append(spent_today(page, analyst, portion).spent)
    return Limits(states, budget.ceiling.charge().delta)


def recall(page: LedgerTransaction, budget: Filter, asked: ChargeRequest) -> Grant | None:
    """The answer of a question that has one; None if there is none. Never charges."""
    charged = page.latest("fingerprint", asked.fingerprint)
    state = None if charged is None else page.latest("about", charged.number)
    if state is None or state.answer is None:
        return None
    return reserve(page, budget, asked, 0)


def touch(page: LedgerTransaction, receipt: Receipt) -> None:
    """Write down that data is touched, where only an entry can tell the process that made the receipt."""
    charged, state = _charge_of(page, receipt)
    if state is None:
        page.add("touched", {"receipt": charged.number, "attempt": 1, "until": charged.body["until"]})


def renew(page: LedgerTransaction, receipt: Receipt, lease: int) -> None:
    """Write down that an answer is still being computed, unless it is there or somebody else took over."""
    charged, state = _charge_of(page, receipt)
    latest = 1 if state is None else state.body["attempt"]
    if (state is None or state.answer is None) and receipt.attempt == latest:
        page.add("renewed", {"receipt": charged.number, "attempt": latest, "until": page.now + lease * 1_000_000})


def commit(page: LedgerTransaction, receipt: Receipt, answer: str) -> str:
    """Store an answer, unless there is one; the one that is stored."""
    charged, state = _charge_of(page, receipt)
    if state is not None and state.answer is not None:
        return state.answer
    if receipt.attempt > (1 if state is None else state.body["attempt"]):
        raise ConflictError("receipt", receipt.name, "there was no such attempt", "a receipt that reserve gave")
    page.add("answered", {"receipt": charged.number, "attempt": receipt.attempt, "sha256": digest(answer)}, answer)
    return answer


def refund(page: LedgerTransaction, budget: Filter, receipt: Receipt) -> None:
    """Give a charge back. The caller knows that no data was touched for its first attempt."""
    charged, state = _charge_of(page, receipt)
    if state is not None:
        raise ConflictError("receipt", receipt.name, "its answer was computed elsewhere meanwhile", "that answer")
    analyst, guarantee = charged.body["analyst"], Guarantee.from_json(charged.body["guarantee"])
    spent = give_back(Spent(budget, page.state.spent), read_price(budget, guarantee))
    share = returned_share(page, analyst, guarantee)
    page.add("refunded", {"receipt": charged.number, "analyst": analyst, "share": share}, spent=spent.totals)


def must_be_answered(page: LedgerTransaction, receipt: Receipt) -> None:
    """Refuse a receipt without a stored answer: only one that is stored can be handed out."""
    _, state = _charge_of(page, receipt)
    if state is None or state.answer is None:
        raise ConflictError("receipt", receipt.name, "it has no answer yet", "a receipt whose answer is stored")


def bind(page: LedgerTransaction, domain: str, policy: str, unit: Unit) -> State:
    """Write down whom the ledger is about, unless somebody did; the state after it."""
    if page.state.domain is not None:
        return page.state
    return page.add("bound", {"domain": domain, "unit": unit.value, "policy": policy}, domain=domain, policy=policy).state


def amend(page: LedgerTransaction, policy: str, *, loosens: bool, note: str, unspent: bool) -> None:
    """Put another policy in force; with `unspent`, only while nothing is spent."""
    if page.state.domain is None:
        raise ConflictError("domain", None, "nobody has said whom this ledger is about", "ledger.bind('clinic')")
    if unspent and any(page.state.spent):
        why = "the ledger was spent under another policy"
        raise ConflictError("policy_hash", policy[:16], why, "that policy, or an amendment, which is recorded")
    body = {"policy": policy, "loosens": loosens, "note": note, "before": page.state.policy}
    page.add("policy", body, policy=policy)


def _charge_of(page: LedgerTransaction, receipt: Receipt) -> tuple[Entry, Entry | None]:
    """The entry that charged, and the last one about it: what the ledger says, not what the receipt does."""
    charged, state = page.entry(receipt.number), page.latest("about", receipt.number)
    if charged is None or charged.kind != "reserved" or charged.body["fingerprint"] != receipt.fingerprint:
        raise ConflictError("receipt", receipt.name, "this ledger never made it", "a receipt that reserve gave")
    if state is not None and state.kind == "refunded":
        raise ConflictError("receipt", receipt.name, "its charge was given back", "a new reserve")
    return charged, state


def _again(
    page: LedgerTransaction, charged: Entry, state: Entry | None, asked: ChargeRequest, until: int, *, bound: bool
) -> Grant:
    """A question that was charged before: its answer, or the right to compute it again."""
    # What the key stands for from now on.
    names = {"key": asked.key, "analyst": asked.analyst, "fingerprint": asked.fingerprint}
    if state is not None and state.answer is not None:
        if asked.key is not None and not bound:
            page.add("replayed", {"receipt": charged.number, **names})
        return Grant(charged.number, state.body["attempt"], state.answer, page.last)
    running = charged if state is None else state
    if running.time <= page.now < running.body["until"]:  # a clock that was set back does not lock anybody out
        left = -(-(running.body["until"] - page.now) // 1_000_000)
        why, instead = "its answer is being computed", f"asking again; at most {left} s from now it may be computed anew"
        raise InProgressError("receipt", charged.number, why, instead)
    attempt = (1 if state is None else int(state.body["attempt"])) + 1
    body = {"receipt": charged.number, "attempt": attempt, "until": until, **names}
    return Grant(charged.number, attempt, None, page.add("rerun", body))


def _must_agree(earlier: Entry, asked: ChargeRequest) -> None:
    """One key stands for one question of one analyst."""
    if (earlier.body["fingerprint"], earlier.body["analyst"]) != (asked.fingerprint, asked.analyst):
        why = "it was used for another question, price, policy, data version or analyst"
        raise ConflictError("idempotency_key", asked.key, why, "a new key for a new question")
