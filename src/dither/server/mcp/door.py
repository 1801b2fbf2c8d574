"""Ways to a gateway for tools: in its own process, by a caller; or over HTTP, by `dither.connect`. Each has one asker.

Theorem. Whatever tools are called, and with whatever arguments, what is charged is charged to the analyst of the token, and
her share of each ledger, and its portion of today, are never exceeded.

Proof. No argument of a tool is a name, a share, a budget or a policy (`arguments.py` refuses all that it does not list), and
a door has its asker from the token, before any argument is read. All that charges is `Gateway.ask`, here or behind HTTP,
which takes the name and the portion from the caller; the ledger admits a charge only within them, in the transaction that
records it (`ledger/ledger.py`, `reserve`). ∎
"""

from __future__ import annotations

from typing import Any, Protocol

from dither.server.core.problems import Problem
from dither.server.core.questions import Asked

Json = dict[str, Any]
WAIT = 25.0  # seconds for an answer in one call; the next call goes on waiting
OLD = "it is older than ten minutes, or was never made"
AGAIN = "ask with the same quote again, which costs nothing more"
QUOTED = ("free", "price", "epsilon", "confidence", "errors", "left", "words", "unprotected", "explain", "slot")


class Door(Protocol):
    """What tools call; a refusal is a `Problem`."""

    async def names(self) -> list[str]:
        """The datasets that may be asked about."""

    async def datasets(self) -> list[Json]:
        """Their declared facts."""

    async def quote(self, asked: Asked) -> Json:
        """Price, error and what is left, and the id to ask by."""

    async def ask(self, quote: str) -> Json:
        """The answer to what was quoted."""

    async def budget(self) -> list[Json]:
        """What is left."""


def quote_facts(told: Json) -> Json:
    """What a model is told of a quote."""
    return {"quote": told["id"], "dataset": told["dataset"]} | {name: told[name] for name in QUOTED if name in told}


def old_quote() -> Problem:
    """Of an id that is none, or not any more."""
    return Problem("refused", where="quote", why=OLD, instead="quote first, then ask with the id that it gives")
