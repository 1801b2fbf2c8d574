"""Into the page with a token, and out again."""

from __future__ import annotations

import re

from dither.extras import needs
from dither.server.core.callers import Caller
from dither.server.core.problems import Problem
from dither.server.http.authentication import GatewayOf, admitted
from dither.server.http.session_cookie import cookie_line
from dither.server.page.caller import FormOf, PageCaller, must_be_ours
from dither.server.page.render import page_reply, pages_of
from dither.server.page.route import PageRoute

with needs("dither[server]"):
    from fastapi import APIRouter
    from starlette.requests import Request
    from starlette.responses import RedirectResponse, Response

routes = APIRouter(route_class=PageRoute, include_in_schema=False)
HERE = re.compile(r"/(?![/\\])[!-\[\]-~]*")  # an address on this site: a second slash, or a backslash, would leave it
START = "/"


@routes.get("/")
async def start(caller: PageCaller) -> Response:
    """Where people begin."""
    return RedirectResponse(first_page(caller), 303)


def first_page(caller: Caller) -> str:
    """The first page that is somebody's: an auditor, for one, asks nothing."""
    return next(iter(pages_of(caller).values()))


def onward(wanted: str) -> str:
    """Where to go after the login: on this site, whatever was wanted."""
    return wanted if HERE.fullmatch(wanted) and not wanted.startswith("/login") else START


@routes.get("/login")
async def show(request: Request) -> Response:
    """The form for a token."""
    asked = request.query_params
    return _form(request, onward(asked.get("next", START)), ended="ended" in asked)


@routes.post("/login")
async def enter(request: Request, gateway: GatewayOf, form: FormOf) -> Response:
    """In with a token; a browser keeps it in a cookie."""
    wanted = onward(form.get("next", START))
    secret = form.get("token", "").strip()
    try:
        caller = await admitted(request, secret or None)
    except Problem as problem:
        return _form(request, wanted, problem)
    reply = RedirectResponse(first_page(caller) if wanted == START else wanted, 303)
    reply.headers["Set-Cookie"] = cookie_line(gateway.config, secret)
    return reply


@routes.post("/logout")
async def leave(request: Request, gateway: GatewayOf) -> Response:
    """Out: the browser forgets the token, which stays in force."""
    must_be_ours(request)
    reply = RedirectResponse("/login", 303)
    reply.headers["Set-Cookie"] = cookie_line(gateway.config, "")
    return reply


def _form(request: Request, wanted: str, problem: Problem | None = None, *, ended: bool = False) -> Response:
    status = 200 if problem is None else problem.status
    provider = getattr(request.app.state, "login", None) is not None
    return page_reply(None, "login.html", status=status, onward=wanted, problem=problem, ended=ended, provider=provider)
