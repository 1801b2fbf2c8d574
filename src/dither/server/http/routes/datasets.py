"""Datasets, as their owners declared them; made-up rows; what is left of budgets; who asks."""

from __future__ import annotations

import asyncio
from typing import Annotated

from dither.extras import needs
from dither.server.core.problems import absent
from dither.server.http.authentication import CallerOf, GatewayOf
from dither.server.http.documents import documented
from dither.server.http.formats import CONTENT, Format, choose, rows_of, table_of
from dither.server.http.models import AnyDataset, NoParameters, SampleParameters
from dither.server.http.refusals import refused
from dither.server.http.replies import json_reply

with needs("dither[server]"):
    from fastapi import APIRouter, Path, Query
    from starlette.requests import Request
    from starlette.responses import Response

Nothing = Annotated[NoParameters, Query()]
routes = APIRouter(tags=["datasets"])
Name = Annotated[str, Path(max_length=200)]
SAMPLE: tuple[Format, ...] = ("json", "csv", "arrow")


@routes.get("/v1/me", **documented("me"))
async def me(caller: CallerOf, _: Nothing) -> Response:
    """Who the token is, and what it may ask about."""
    told = {"name": caller.name, "role": caller.role, "datasets": list(caller.datasets), "token": caller.token_id}
    return json_reply(told)


@routes.get("/v1/datasets", **documented("datasets"))
async def datasets(gateway: GatewayOf, caller: CallerOf, _: Nothing) -> Response:
    """What may be asked about: tables and columns with bounds and keys, as declared. Nothing is read."""
    return json_reply({"datasets": await gateway.datasets(caller)})


@routes.get("/v1/datasets/{name}", **documented("dataset"))
async def dataset(gateway: GatewayOf, caller: CallerOf, name: Name, _: Nothing) -> Response:
    """One dataset, as its owner declared it."""
    return json_reply(await gateway.dataset(caller, name))


@routes.get("/v1/datasets/{name}/questions", **documented("questions"))
async def first_questions(gateway: GatewayOf, caller: CallerOf, name: Name, _: Nothing) -> Response:
    """Questions to begin with, which fit the declared schema, and a price for them. Nothing is read."""
    return json_reply(await gateway.first_questions(caller, name))


@routes.get("/v1/datasets/{name}/sample", **documented("sample"))
async def sample(
    request: Request, gateway: GatewayOf, caller: CallerOf, name: Name, wanted: Annotated[SampleParameters, Query()]
) -> Response:
    """Made-up rows of the declared schema, to try a question with. No row of the data is read."""
    form = choose(request.headers.getlist("accept"), SAMPLE)
    tables = await gateway.sample(caller, name, wanted.rows)
    if wanted.table is not None:
        if wanted.table not in tables:
            raise absent()
        tables = {wanted.table: tables[wanted.table]}
    if form == "json":
        found = {each: await asyncio.to_thread(rows_of, stream) for each, stream in tables.items()}
        return json_reply({"tables": found}, headers={"Vary": "Accept"})
    if len(tables) != 1:
        raise refused("table", "such a format holds one table", f"table={next(iter(tables), 'visits')}")
    body = await asyncio.to_thread(table_of, next(iter(tables.values())), form)
    return Response(body, 200, {"Vary": "Accept", "Content-Type": CONTENT[form]})


@routes.get("/v1/budget", **documented("budget"))
async def budget(gateway: GatewayOf, caller: CallerOf, wanted: Annotated[AnyDataset, Query()]) -> Response:
    """What is left: of the budget, of the caller's share, and of its portion of today."""
    return json_reply({"budgets": await gateway.budget(caller, wanted.dataset)})
