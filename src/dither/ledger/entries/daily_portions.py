"""Daily portions: the most that an analyst may spend of her share in one UTC day. A day gives nothing back: no refill.

What she spent today is read off her charges, in the transaction that makes the next one: those after her last charge that
is dated before midnight, without those that were refunded. The portion is a guarantee, and its filter adds up their prices,
so it does not matter how her share counts, or whether it was changed in between. An answer that is stored costs nothing.

Theorem. Let an analyst's charges be made with one portion. Whatever the clock of the database does, charges that are dated
on n days pay at most n portions together. If it is never set back, those of each day pay at most one.

    d      a day by that clock
    p(d)   her last charge that is dated on day d or before it, by the order of entries
    S(d)   her charges after p(d - 1), up to and with p(d)

Proof. A charge that is dated d stands at or before p(d), so each charge is in one S(d); and S(d) has one only if p(d) is
not p(d - 1), that is, if p(d) is dated d. So at most n of the S(d) are not empty. When p(d) was made, her last charge dated
before d was p(d - 1): those between the two are not dated before d, or p(d - 1) would be later. So the portion's filter
admitted the prices of all of S(d) that were not refunded by then; a later refund takes away from them. Two charges cannot
both be made from one state, since no two transactions overlap. If the clock is never set back, S(d) are the charges that
are dated d.

A charge whose date lies ahead, since the clock was wrong, counts until its day is over: so a clock that is set back, and
forth again, gives nothing. Charges from before she had a share do not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from dither.errors import BudgetError, ConflictError, GuaranteeError
from dither.ledger.entries.budget import Remaining, beyond, read_price
from dither.ledger.entries.entry import Entry, digest
from dither.ledger.entries.largest_price import Limits, told_price
from dither.ledger.entries.shares import read_share
from dither.ledger.entries.transaction import LedgerTransaction
from dither.privacy.budget.filter import ApproxFilter, Filter, Spent
from dither.privacy.budget.filter_state import added
from dither.privacy.guarantee.guarantee import Guarantee

DAY = 86_400_000_000  # microseconds
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class RemainingToday(Remaining):
    """What is left of the portion of a day."""

    next_begins: datetime  # in UTC: when all of a portion may be spent again


def read_portion(daily: Guarantee, budget: Filter) -> Filter:
    """The filter that keeps a portion."""
    if not isinstance(daily, Guarantee):
        raise GuaranteeError("daily", daily, "the portion of a day is a guarantee", "pure('0.1'), or zcdp('0.001')")
    return _portion(daily, budget)


@lru_cache(maxsize=256)
def _portion(daily: Guarantee, budget: Filter) -> Filter:
    return read_share(daily, budget, name="daily")


def must_fit_today(
    page: LedgerTransaction,
    analyst: str,
    guarantee: Guarantee,
    portion: Filter,
    limits: Callable[[], Limits] | None = None,
) -> None:
    """Refuse a charge that is more than what is left of the portion of this day."""
    if not page.state.shares:
        why = "a portion of a day is part of a share, and this ledger has no shares"
        raise ConflictError("daily", str(portion.ceiling), why, "a share first: ledger.share(name, ...)")
    price = read_price(portion, guarantee)
    today = spent_today(page, analyst, portion)
    if portion.paid(today.spent, price) is not None:
        return
    every = Limits([today.spent], portion.ceiling.charge().delta) if limits is None else limits()
    if portion.paid(portion.nothing, price) is None:
        counts = ", of which rhos are added up at half its delta," if isinstance(portion, ApproxFilter) else ""
        told, instead = told_price(guarantee, every.delta), every.proposal(guarantee) or "a question with a smaller price"
        why = f"{analyst} may spend {portion.ceiling} in a day{counts or ','} and it costs more than all of that"
        raise BudgetError("price", str(told), why, instead)
    lasting = Limits(every.states[:-1], every.delta)  # a new day does not change what is left of these
    later = f", or this one from {today.next_begins:%Y-%m-%d %H:%M} UTC on" if lasting.admit(guarantee) else ""
    raise beyond(today, guarantee, every, whose=f"the portion of this day of {analyst}", later=later)


def spent_today(page: LedgerTransaction, analyst: str, portion: Filter) -> RemainingToday:
    """What is left of the portion of this day, by the clock of the database."""
    charges = _charges_today(page, analyst)
    totals = portion.nothing.totals
    for text, times in Counter(charge.body["guarantee"] for charge in charges).items():  # most have one of a few prices
        try:
            price = read_price(portion, Guarantee.from_json(text))
        except GuaranteeError:
            why = f"{analyst} paid {Guarantee.from_json(text)} today, which has no price under it"
            raise ConflictError("daily", str(portion.ceiling), why, "a portion that counts as her share does") from None
        totals = added(totals, tuple(part * times for part in price))
    day = max([page.now, *(charge.time for charge in charges)]) // DAY
    return RemainingToday(Spent(portion, totals), EPOCH + timedelta(days=day + 1))


def _charges_today(page: LedgerTransaction, analyst: str) -> list[Entry]:
    """Her charges after the last that is dated before midnight, without those that were refunded."""
    midnight = page.now // DAY * DAY
    found: list[Entry] = []
    refunded: set[int] = set()
    for entry in page.backward("analyst", digest(analyst)):
        if entry.kind == "refunded":
            refunded.add(entry.body["receipt"])
        elif entry.kind == "reserved":
            if entry.time < midnight:
                break
            if entry.number not in refunded:
                found.append(entry)
    return found
