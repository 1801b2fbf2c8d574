"""What is left of a budget, as people outside see it: of the whole, of a share, of today's portion, and in questions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from dither.errors import DataError, DitherError, GuaranteeError
from dither.ledger.entries.budget import Remaining
from dither.numeric.enclosure import exp
from dither.numeric.number import exact
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.text import four_digits
from dither.query.dataset import Dataset

Json = dict[str, Any]
SPARE = Fraction(1, 10**6)  # a delta at which a rho is told as an epsilon
LARGE = 14  # an epsilon above which e^epsilon is more than a million, and says little


def budget_facts(dataset: Dataset, message: Json) -> Json:
    """What is left for `analyst`; with `details`, also what the numbers mean, and how many questions of the price `like`."""
    ledger = dataset.ledger
    whole, details = ledger.remaining(), bool(message.get("details"))
    like = None if message.get("like") is None else Guarantee.from_json(message["like"])
    found = _left(whole, "of the budget", like) | {"budget": str(whole.ceiling)}
    if details:
        delta = told_delta(whole.ceiling)
        found |= {"unit": str(ledger.budget.unit), "means": meaning(whole.ceiling, delta)}
        found |= {"like_means": None if like is None else meaning(like, delta), "shared_out": ledger.shared_out}
    try:
        own = ledger.remaining(message["analyst"])
    except DataError:
        return found | {"share": None, "today": None}
    share = _left(own, "of your share", like) | {"budget": str(own.ceiling)}
    if message["daily"] is None:
        return found | {"share": share, "today": None}
    day = ledger.remaining_today(message["analyst"], Guarantee.from_json(message["daily"]))
    return found | {
        "share": share,
        "today": _left(day, "of today's portion", like) | {"next": day.next_begins.isoformat()},
    }


def share_facts(dataset: Dataset, message: Json) -> Json:
    """What each of `names`, and of those whom the policy names, has of the budget, and what is left of it; for owners."""
    facts = dataset.policy.ledger
    stated = () if facts is None else (name for name, _ in facts.shares)
    return {"shares": list(_shares(dataset, {*message["names"], *stated})), "shared_out": dataset.ledger.shared_out}


def _shares(dataset: Dataset, names: Iterable[str]) -> Iterable[Json]:
    for name in sorted(names):
        try:
            own = dataset.ledger.remaining(name)
        except DataError:
            continue  # who has none
        yield {"name": name, "budget": str(own.ceiling), "left": own.percent, "used": own.used}


def _left(remaining: Remaining, of: str, like: Guarantee | None) -> Json:
    told: Json = {"left": remaining.percent, "used": remaining.used, "words": remaining.words(of=of)}
    if like is None:
        return told
    try:
        return told | {"like": remaining.like(like)}
    except GuaranteeError:  # a share or a portion that does not count such a price
        return told | {"like": None}


def meaning(guarantee: Guarantee, delta: Fraction) -> Json | None:
    """A guarantee as an epsilon at a delta, and how many times as likely an answer may be: both rounded up.

    Proof that neither is too small: the epsilon of a charge is exact, and `Guarantee.epsilon` is not below the epsilon that
    holds; the enclosure of its exponential holds the true one, and `four_digits` rounds the upper end up. ∎
    """
    try:
        found = guarantee.epsilon(delta)
    except DitherError:
        return None
    if not 0 <= found < math.inf:
        return None
    charge, epsilon = guarantee.charge(), exact(found, name="epsilon")
    if charge.epsilon is not None and charge.delta <= delta and float(charge.epsilon) <= found:
        epsilon = charge.epsilon  # 1/10 is what the owner wrote, and no float
    times = four_digits(exp(epsilon).upper) if found <= LARGE else None
    return {"epsilon": four_digits(epsilon), "delta": four_digits(delta) if delta else None, "times": times}


def told_delta(ceiling: Guarantee) -> Fraction:
    """The delta at which a budget is told as an epsilon: its own; where it counts rho, which is no epsilon, some more."""
    charge = ceiling.charge()
    return charge.delta if charge.epsilon is not None else charge.delta + SPARE
