"""What is left of a budget, as the page shows it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from dither.server.core.callers import ROLES, Caller
from dither.server.core.gateway import Gateway
from dither.server.core.problems import Problem
from dither.server.page.facts.stored_facts import StoredFacts, stored_facts

Json = dict[str, Any]
SENTENCES = {
    "add/remove one person": "means_person",
    "replace one person": "means_replace",
    "add/remove one row": "means_row",
    "replace one row": "means_replace_row",
}


@dataclass(frozen=True)
class BarFacts:
    """What is left of one limit."""

    left: str
    fraction: str  # that is left, from 0 to 1
    budget: str | None
    counts: bool  # whether there is a question to count by
    like: int | None  # how many such questions; None where the limit does not count their price
    next: str | None = None


@dataclass(frozen=True)
class BudgetFacts:
    """The limits of one dataset."""

    dataset: str
    whole: BarFacts | None = None  # None: it cannot be told now
    share: BarFacts | None = None
    today: BarFacts | None = None
    lacks_share: bool = False
    sentence: str = ""  # the text that says what the budget means
    means: Json | None = None
    last: StoredFacts | None = None
    last_means: Json | None = None
    shares: list[Json] | None = None  # for owners


async def budget_facts(gateway: Gateway, caller: Caller, dataset: str) -> BudgetFacts:
    """The limits of a dataset for a caller; the last question that the caller paid for is what they are counted by."""
    try:
        found = await gateway.answers(caller, dataset=dataset, own=True, count=1)
        like = None if not found else await _price(gateway, caller, found[0]["id"])
        told = (await gateway.budget(caller, dataset, details=True, like=like))[0]
        owns = caller.role in ROLES["own"]
        shares = (await gateway.shares(caller, dataset))["shares"] if owns else None
    except Problem as problem:
        if problem.kind != "unavailable":
            raise
        return BudgetFacts(dataset)
    counts, share, today = like is not None, told["share"], told["today"]
    return BudgetFacts(
        dataset,
        _bar(told, counts),
        None if share is None else _bar(share, counts),
        None if today is None else _bar(today, counts),
        lacks_share=share is None and told["shared_out"],
        sentence=SENTENCES[told["unit"]],
        means=told["means"],
        last=stored_facts(found[0]) if counts else None,
        last_means=told["like_means"],
        shares=shares,
    )


async def _price(gateway: Gateway, caller: Caller, receipt: str) -> str | None:
    """What an answer was charged, as JSON; with its whole batch."""
    record = json.loads((await gateway.answer(caller, receipt)).answer or "{}")
    stored = json.loads(record.get("receipt", "{}")).get("guarantee")
    return stored if isinstance(stored, str) else None


def _bar(told: Json, counts: bool) -> BarFacts:
    fraction = min(1.0, max(0.0, 1 - told["used"]))
    begins = told.get("next")
    return BarFacts(
        told["left"],
        f"{fraction:.4f}",
        told.get("budget"),
        counts,
        told.get("like"),
        None if begins is None else begins[:16].replace("T", " "),
    )
