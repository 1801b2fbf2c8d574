"""What was answered, and what was spent: stored answers, which cost nothing, and the ledger."""

from __future__ import annotations

from typing import Annotated

from dither.extras import needs
from dither.server.http.authentication import CallerOf, GatewayOf
from dither.server.http.documents import answered, documented
from dither.server.http.formats import choose
from dither.server.http.models import AnswersParameters, LedgerParameters, NoParameters, OneDataset
from dither.server.http.replies import json_reply, question_reply

with needs("dither[server]"):
    from fastapi import APIRouter, Path, Query
    from starlette.requests import Request
    from starlette.responses import Response

Nothing = Annotated[NoParameters, Query()]
routes = APIRouter(tags=["history"])
Id = Annotated[str, Path(alias="id", max_length=200)]


@routes.get("/v1/answers", **documented("answers"))
async def answers(gateway: GatewayOf, caller: CallerOf, wanted: Annotated[AnswersParameters, Query()]) -> Response:
    """Stored answers that the caller may see, the newest first: to use one again costs nothing."""
    found = await gateway.answers(caller, dataset=wanted.dataset, words=wanted.q, before=wanted.before, count=wanted.count)
    return json_reply({"answers": found})


@routes.get("/v1/answers/{id}", **answered())
async def answer(
    request: Request,
    gateway: GatewayOf,
    caller: CallerOf,
    which: Id,
    _: Nothing,
) -> Response:
    """A stored answer, by the name of its receipt."""
    form = choose(request.headers.getlist("accept"))
    return await question_reply(await gateway.answer(caller, which), form, located=False)


@routes.get("/v1/ledger", **documented("ledger"))
async def ledger(gateway: GatewayOf, caller: CallerOf, wanted: Annotated[LedgerParameters, Query()]) -> Response:
    """The last entries of a ledger, for owners and auditors."""
    return json_reply({"entries": await gateway.ledger(caller, wanted.dataset, last=wanted.last)})


@routes.post("/v1/ledger/verify", **documented("verify"))
async def verify(gateway: GatewayOf, caller: CallerOf, wanted: Annotated[OneDataset, Query()]) -> Response:
    """Check a ledger: its chain, its sums and its witness; for owners and auditors."""
    return json_reply(await gateway.verify(caller, wanted.dataset))
