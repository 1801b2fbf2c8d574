"""Routes of the page: a problem is a page too, and who has no valid token is sent to the login."""

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import urlencode

from dither.extras import needs
from dither.server.core.problems import Problem
from dither.server.http.authentication import gateway_of
from dither.server.http.session_cookie import cookie_line, cookie_secret
from dither.server.page.render import page_reply

with needs("dither[server]"):
    from fastapi.routing import APIRoute
    from starlette.requests import Request
    from starlette.responses import RedirectResponse, Response

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class PageRoute(APIRoute):
    """A route whose problems people read."""

    def get_route_handler(self) -> Handler:
        """What answers a request."""
        handler: Handler = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handler(request)
            except Problem as problem:
                return to_login(request) if problem.kind == "unauthorized" else problem_page(request, problem)

        return handled


def problem_page(request: Request, problem: Problem) -> Response:
    """A problem as a page of its own."""
    headers = {} if problem.retry_after is None else {"Retry-After": str(math.ceil(problem.retry_after))}
    caller = getattr(request.state, "caller", None)
    return page_reply(caller, "problem.html", status=problem.status, headers=headers, problem=problem)


def to_login(request: Request) -> Response:
    """To the login, and back afterwards. What the browser kept, if anything, is no token any more."""
    if request.headers.get("sec-fetch-site") == "cross-site" and request.method == "GET":
        # A link on another site brings no cookie, though there may be one: a page of ours that goes on at once does.
        return page_reply(None, "onward.html", onward=address_here(request))
    asked = {"next": address_here(request)} if request.method == "GET" else {}
    config = gateway_of(request).config
    kept = cookie_secret(request, config) is not None
    parameters = urlencode(asked | ({"ended": "1"} if kept else {}))
    reply = RedirectResponse(f"/login?{parameters}" if parameters else "/login", 303)
    if kept:  # one that did not come may be in force: a link on another site brings none
        reply.headers["Set-Cookie"] = cookie_line(config, "")
    return reply


def address_here(request: Request) -> str:
    """The address of a request on this site."""
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")
