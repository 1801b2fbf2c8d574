"""What is left: of the budget, of the caller's share and of today; in questions, and in plain words."""

from __future__ import annotations

from dither.extras import needs
from dither.server.http.authentication import GatewayOf
from dither.server.page.caller import PageCaller
from dither.server.page.facts.budget_facts import budget_facts
from dither.server.page.parameters import parameters_of
from dither.server.page.render import page_reply
from dither.server.page.route import PageRoute

with needs("dither[server]"):
    from fastapi import APIRouter
    from starlette.requests import Request
    from starlette.responses import Response

routes = APIRouter(route_class=PageRoute, include_in_schema=False)


@routes.get("/budget")
async def budget(request: Request, gateway: GatewayOf, caller: PageCaller) -> Response:
    """The budgets of all datasets of the caller, or of one."""
    asked = parameters_of(request, "dataset")
    names = gateway.dataset_names(caller)
    if "dataset" in asked:
        names = [(await gateway.dataset(caller, asked["dataset"]))["name"]]  # absent where it is not the caller's
    return page_reply(caller, "budget.html", budgets=[await budget_facts(gateway, caller, name) for name in names])
