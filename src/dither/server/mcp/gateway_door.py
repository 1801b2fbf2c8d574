"""The door in the gateway's own process: who asks is the caller of the token, and nothing is kept."""

from __future__ import annotations

import asyncio

from dither.server.core.callers import Caller
from dither.server.core.gateway import Gateway
from dither.server.core.problems import Problem
from dither.server.core.questions import Asked
from dither.server.mcp.answer_facts import answer_facts, dataset_facts, declared_keys
from dither.server.mcp.door import AGAIN, WAIT, Json, old_quote, quote_facts


class GatewayDoor:
    """A gateway, and a caller of it."""

    def __init__(self, gateway: Gateway, caller: Caller) -> None:
        self._gateway, self._caller = gateway, caller

    async def names(self) -> list[str]:
        """The datasets that may be asked about."""
        return [str(one["name"]) for one in await self._gateway.datasets(self._caller)]

    async def datasets(self) -> list[Json]:
        """Their declared facts."""
        return [dataset_facts(one) for one in await self._gateway.datasets(self._caller)]

    async def quote(self, asked: Asked) -> Json:
        """Price, error and what is left, and the id to ask by."""
        return quote_facts(await self._gateway.quote(self._caller, asked, door="mcp"))

    async def ask(self, quote: str) -> Json:
        """The answer to what was quoted; the same quote is the same question, and is charged once."""
        try:
            question = await self._gateway.ask(self._caller, quote, key=f"mcp-{quote}", wait=WAIT, door="mcp")
        except Problem as problem:
            raise old_quote() if problem.kind == "absent" else problem from None
        if question.problem is not None:
            raise question.problem
        if question.answer is None:
            return {"state": question.state, "seconds": question.elapsed(), "instead": AGAIN}
        declared = declared_keys(await self._gateway.dataset(self._caller, question.dataset))
        return await asyncio.to_thread(answer_facts, question.answer, declared, replay=question.replay)

    async def budget(self) -> list[Json]:
        """What is left."""
        return await self._gateway.budget(self._caller)
