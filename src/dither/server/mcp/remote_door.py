"""The door over HTTP, for a process beside the model: who asks is whose token it has."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

from dither.client.gateway import RemoteGateway
from dither.client.quote import RemoteQuote
from dither.errors import (
    BudgetError,
    ConflictError,
    DitherError,
    GatewayError,
    InProgressError,
    LedgerError,
    ReleaseError,
    show,
)
from dither.query.answers.free_answer import FreeAnswer
from dither.server.core.problems import Kind, Problem
from dither.server.core.questions import Asked
from dither.server.mcp.answer_facts import answer_facts, dataset_facts, declared_keys
from dither.server.mcp.door import AGAIN, WAIT, Json, old_quote, quote_facts

LIFE = 600.0  # seconds of a quote, as in `core/recent_quotes.py`
MOST_QUOTES = 1000
KINDS: tuple[tuple[type[DitherError], Kind], ...] = (
    (BudgetError, "budget"),
    (ConflictError, "conflict"),
    (InProgressError, "in-progress"),
    (ReleaseError, "failed"),
    (LedgerError, "unavailable"),
    (GatewayError, "unavailable"),
)
Found = TypeVar("Found")


class RemoteDoor:
    """A gateway over HTTP. Quotes are kept here, so that `ask` takes those of this process alone."""

    def __init__(self, gateway: RemoteGateway) -> None:
        self._gateway = gateway
        self._quotes: OrderedDict[str, tuple[RemoteQuote, float]] = OrderedDict()

    async def names(self) -> list[str]:
        """The datasets that may be asked about."""
        return await _told(lambda: list(self._gateway.datasets))

    async def datasets(self) -> list[Json]:
        """Their declared facts."""
        several = await _told(self._gateway.all_datasets)
        return [dataset_facts(vars(one)) for one in several]

    async def quote(self, asked: Asked) -> Json:
        """Price, error and what is left, and the id to ask by."""
        made: RemoteQuote = await _told(lambda: self._gateway[asked.dataset].quote(asked.sql, **asked.terms))
        now = time.monotonic()
        while self._quotes and (len(self._quotes) >= MOST_QUOTES or next(iter(self._quotes.values()))[1] < now - LIFE):
            self._quotes.popitem(last=False)
        self._quotes[made.id] = made, now
        told = {"id": made.id, "dataset": made.dataset, "free": made.free, "price": made.price, "errors": made.errors}
        told |= {"confidence": str(made.confidence), "left": made.told.whole("left"), "words": made.words}
        return quote_facts(told | {"unprotected": made.unprotected, "explain": made.explain()})

    async def ask(self, quote: str) -> Json:
        """The answer to what was quoted; a quote has one key, and is charged once."""
        made, at = self._quotes.get(quote, (None, 0.0))
        if made is None or time.monotonic() - at > LIFE:
            raise old_quote()
        try:
            answer = await _told(lambda: made.release(wait=WAIT))
        except Problem as problem:
            if problem.kind == "in-progress":
                return {"state": "running", "instead": AGAIN}
            raise
        dataset = await _told(lambda: self._gateway[made.dataset])
        replay = isinstance(answer, FreeAnswer) or answer.is_replay
        declared = declared_keys({"tables": dataset.tables})
        return await asyncio.to_thread(answer_facts, answer.to_json(), declared, replay=replay)

    async def budget(self) -> list[Json]:
        """What is left."""
        found = await _told(lambda: [self._gateway[name].remaining() for name in self._gateway.datasets])
        return [{name: part for name, part in vars(one).items() if part is not None} for one in found]


async def _told(work: Callable[[], Found]) -> Found:
    """What a call over HTTP gives, in a thread of its own; its refusal as a problem."""
    try:
        return await asyncio.to_thread(work)
    except DitherError as error:
        kind: Kind = next((kind for known, kind in KINDS if isinstance(error, known)), "refused")
        instead = "" if "gateway.datasets" in error.instead else error.instead  # a model has a tool for it
        told = Problem(kind, error.why, instead, error.where, show(error.came), error=type(error).__name__)
        raise told from None
