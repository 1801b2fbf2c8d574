"""Quotes and questions: what it costs, the answer, and how far it is."""

from __future__ import annotations

import re
from typing import Annotated

from dither.extras import needs
from dither.server.core.gateway import PAGE
from dither.server.core.questions import Asked
from dither.server.http.authentication import CallerOf, GatewayOf
from dither.server.http.documents import answered, documented
from dither.server.http.events import events_reply
from dither.server.http.formats import ALL, SEVERAL, choose
from dither.server.http.models import NoParameters, QueryRequest, QuoteRequest
from dither.server.http.refusals import refused
from dither.server.http.replies import json_reply, question_reply, waiting_time
from dither.server.http.request_body import body_of

with needs("dither[server]"):
    from fastapi import APIRouter, Depends, Path, Query
    from starlette.requests import Request
    from starlette.responses import Response

Nothing = Annotated[NoParameters, Query()]
routes = APIRouter(tags=["questions"])
KEY = re.compile(r"[!-~]{1,200}")
POST_WAIT = 10.0
Id = Annotated[str, Path(alias="id", max_length=200)]


def key_of(values: list[str]) -> str | None:
    """The idempotency key of a request: the same key never pays twice."""
    if not values:
        return None
    if len(values) > 1 or not KEY.fullmatch(values[0]):
        raise refused("Idempotency-Key", "it is not one text of 1 to 200 visible signs", "a random text for each question")
    return values[0]


def asked_of(body: QueryRequest) -> Asked | str:
    """What is to be asked: a quote by its id, or a question with its price."""
    if body.quote is not None:
        if body.dataset is not None or body.sql is not None or body.slot is not None or body.stated():
            raise refused("quote", "a quote has its question and its price", '{"quote": "qt_..."} alone')
        return body.quote
    if body.dataset is None or body.sql is None:
        where = "dataset" if body.dataset is None else "sql"
        raise refused(where, "it is needed", '{"quote": "qt_..."}, or dataset, sql and a price')
    return Asked(body.dataset, body.sql, body.stated(), body.slot)


@routes.post("/v1/quotes", **documented("quote", QuoteRequest))
async def make_quote(
    request: Request,
    gateway: GatewayOf,
    caller: CallerOf,
    _: Nothing,
    body: Annotated[QuoteRequest, Depends(body_of(QuoteRequest))],
) -> Response:
    """What a question costs and how far its answer may be off. Reads no data, costs nothing."""
    door = "http" if "authorization" in request.headers else PAGE  # who has no token in the request has a cookie
    return json_reply(await gateway.quote(caller, body.asked(), door=door))


@routes.post("/v1/queries", **answered(QueryRequest))
async def ask(
    request: Request,
    gateway: GatewayOf,
    caller: CallerOf,
    _: Nothing,
    body: Annotated[QueryRequest, Depends(body_of(QueryRequest))],
) -> Response:
    """Ask a question: the ledger pays, then the data is read. 202 where it takes longer than the client would wait."""
    several = isinstance(body.sql, list) and len(body.sql) > 1
    form = choose(request.headers.getlist("accept"), SEVERAL if several else ALL)  # refused before anything is charged
    key, asked = key_of(request.headers.getlist("idempotency-key")), asked_of(body)
    wait = waiting_time(request.headers.getlist("prefer"), POST_WAIT)
    return await question_reply(await gateway.ask(caller, asked, key=key, wait=wait), form)


@routes.get("/v1/queries/{id}", **answered())
async def look(
    request: Request,
    gateway: GatewayOf,
    caller: CallerOf,
    which: Id,
    _: Nothing,
) -> Response:
    """A question that was asked: its answer, or how it stands. `Prefer: wait=30` waits for it."""
    form = choose(request.headers.getlist("accept"))
    wait = waiting_time(request.headers.getlist("prefer"), 0.0)
    return await question_reply(await gateway.question(caller, which, wait=wait), form)


@routes.get("/v1/queries/{id}/events", **documented("events"))
async def follow(gateway: GatewayOf, caller: CallerOf, which: Id, _: Nothing) -> Response:
    """How a question stands, as server-sent events, until it is done or failed."""
    return await events_reply(gateway.watch(caller, which))
