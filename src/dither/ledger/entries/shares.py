"""Shares: limits for single analysts under the common budget. Colluders add up; the common ceiling holds whatever they do.

An entry that changes what an analyst has spent says so: the entry that set her limit, and her totals after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from dither.errors import ConflictError, DataError, GuaranteeError, TamperError, UnitError
from dither.ledger.entries.budget import BudgetLike, give_back, pay, read_ceiling, read_price
from dither.ledger.entries.charge_request import ChargeRequest
from dither.ledger.entries.entry import Entry, digest, written
from dither.ledger.entries.largest_price import Limits
from dither.ledger.entries.texts import read_name
from dither.ledger.entries.transaction import LedgerTransaction
from dither.privacy.budget.filter import Filter, Spent, from_json
from dither.privacy.budget.filter_state import added
from dither.privacy.guarantee.guarantee import Guarantee

Share = dict[str, object]  # "ceiling": number of the entry with the limit; "spent": totals under it


def read_share(ceiling: BudgetLike, budget: Filter, *, name: str = "share") -> Filter:
    """The limit of one analyst."""
    limit = read_ceiling(ceiling, name=name)
    if limit.unit is not budget.unit:
        raise UnitError(name, str(limit.ceiling), f"the budget is about '{budget.unit}'", "the same unit")
    return limit


def read_shares(shares: Mapping[str, BudgetLike] | None) -> dict[str, Filter]:
    """The limits of several analysts, by name."""
    if shares is None:
        return {}
    if not isinstance(shares, Mapping):
        raise DataError("shares", shares, "it is not a mapping of names to limits", "{'ana': pure(1)}")
    return {read_name(name, "analyst"): read_ceiling(limit, name="share") for name, limit in shares.items()}


def spent_by(analyst: str, entries: Iterable[Entry], limit: Filter) -> Spent:
    """What an analyst has spent so far, under a limit that comes after."""
    prices = {}
    for entry in entries:
        if entry.kind == "reserved" and entry.body["analyst"] == analyst:
            prices[entry.number] = read_price(limit, Guarantee.from_json(entry.body["guarantee"]))
        elif entry.kind == "refunded":
            prices.pop(entry.body["receipt"], None)
    total = limit.nothing.totals
    for price in prices.values():
        total = added(total, price)
    return Spent(limit, total)


def share_spent(page: LedgerTransaction, own: Entry) -> Spent:
    """What the last entry of an analyst says that she has spent."""
    share = own.body["share"]
    limit = own if own.kind == "share" else page.entry(share["ceiling"])
    if limit is None:
        raise TamperError("ledger entry", share["ceiling"], "a share was set there, and it is missing", "ledger.verify()")
    return from_json(limit.body["limit"]).stored(share["spent"])


def set_share(page: LedgerTransaction, analyst: str, limit: Filter) -> None:
    """Write down the limit of an analyst; what she spent already counts."""
    try:
        spent = spent_by(analyst, page.entries(), limit)
    except GuaranteeError as error:
        why = f"what {analyst} spent before has no price under it"
        raise ConflictError("share", str(limit.ceiling), why, "one with a delta: approx(1, '1e-7')") from error
    share = {"ceiling": page.last.number + 1, "spent": written(spent.totals)}
    page.add("share", {"analyst": analyst, "limit": limit.to_json(), "share": share}, shares=True)


def charged_share(page: LedgerTransaction, asked: ChargeRequest, limits: Callable[[], Limits]) -> Share | None:
    """The analyst's share after a charge; None where the ledger has no shares."""
    if not page.state.shares:
        return None
    own = page.latest("analyst", digest(asked.analyst))
    if own is None:
        why = "this ledger is shared out, and there is no share of that name"
        raise ConflictError("analyst", asked.analyst, why, "a name with a share; the owner calls ledger.share(name, ...)")
    before = share_spent(page, own)
    price = read_price(before.budget, asked.guarantee)
    whose = f"the share of {asked.analyst}"
    return _written(own, pay(before, price, asked.guarantee, whose=whose, limits=limits))


def returned_share(page: LedgerTransaction, analyst: str, guarantee: Guarantee) -> Share | None:
    """The share after a refund; None where the analyst has none."""
    own = page.latest("analyst", digest(analyst))
    if own is None:
        return None
    before = share_spent(page, own)
    return _written(own, give_back(before, read_price(before.budget, guarantee)))


def _written(own: Entry, spent: Spent) -> Share:
    return {"ceiling": own.body["share"]["ceiling"], "spent": written(spent.totals)}
