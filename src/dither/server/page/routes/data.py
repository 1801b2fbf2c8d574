"""For owners: datasets, where their rows and their ledgers are, what is in force, what is left, and whether all is well."""

from __future__ import annotations

from dither.extras import needs
from dither.server.http.authentication import GatewayOf
from dither.server.page.caller import PageCaller
from dither.server.page.parameters import parameters_of
from dither.server.page.render import page_reply
from dither.server.page.route import PageRoute

with needs("dither[server]"):
    from fastapi import APIRouter
    from starlette.requests import Request
    from starlette.responses import Response

routes = APIRouter(route_class=PageRoute, include_in_schema=False)


@routes.get("/data")
async def show(request: Request, gateway: GatewayOf, caller: PageCaller) -> Response:
    """All datasets of an owner; one that does not open is shown as such."""
    caller.must("own")
    parameters_of(request)
    datasets = await gateway.owner_datasets(caller)
    return page_reply(caller, "data.html", datasets=datasets, health=await gateway.owner_health(caller))
