"""Logins by OpenID Connect: to the provider, and back with a token. No parameter says where to go."""

from __future__ import annotations

from typing import Any

from dither.extras import needs
from dither.server.http.authentication import GatewayOf, client_of
from dither.server.http.documents import documented
from dither.server.http.replies import json_reply
from dither.server.http.routes.owner import token_facts
from dither.server.http.session_cookie import cookie_line
from dither.server.oidc.login import Login

with needs("dither[server]"):
    from fastapi import APIRouter
    from starlette.requests import Request
    from starlette.responses import Response

routes = APIRouter(tags=["login"])
OPEN: dict[str, Any] = {"openapi_extra": {"security": []}}  # who logs in has no token yet
# A browser that comes from the provider keeps a Strict cookie, and sends it with what a page of ours asks for next.
ENTERED = (
    b'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/">'
    b'<title>dither</title></head><body><p><a href="/">Go on</a></p></body></html>'
)
AWAY = documented("events", status=302)
AWAY["responses"][302] = {"description": "To the provider"}


def login_of(request: Request) -> Login:
    """The logins of an application."""
    login: Login = request.app.state.login
    return login


def only(values: list[str]) -> str | None:
    """The value of a parameter that came once; None of one that came twice, which may mean either."""
    return values[0] if len(values) == 1 else None


@routes.get("/v1/login", **AWAY | OPEN)
async def login(request: Request) -> Response:
    """To the provider, where people log in."""
    logins = login_of(request)
    url, cookie = await logins.begin()
    return Response(status_code=302, headers={"Location": url, "Set-Cookie": logins.cookie_line(cookie)})


@routes.get("/v1/login/callback", **documented("new token", status=200) | OPEN)
async def callback(request: Request, gateway: GatewayOf) -> Response:
    """From the provider, with a code: a token of the gateway. Its secret is told here, and never again; to a browser in a
    cookie."""
    logins, query = login_of(request), request.query_params
    issuers = query.getlist("iss")
    token, secret = await logins.finish(
        client_of(request),
        cookie=request.cookies.get(logins.cookie),
        state=only(query.getlist("state")),
        code=only(query.getlist("code")),
        issuer=only(issuers) or "" if issuers else None,
    )
    request.state.token_id = token.id
    ended = ("Set-Cookie", logins.cookie_line(""))
    if "text/html" not in request.headers.get("accept", ""):
        return json_reply({**token_facts(token), "secret": secret}, headers=dict([ended]))
    reply = Response(ENTERED, headers=dict([ended]), media_type="text/html")
    reply.headers.append("Set-Cookie", cookie_line(gateway.config, secret))
    return reply
