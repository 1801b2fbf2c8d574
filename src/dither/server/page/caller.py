"""Who looks at a page, and what came in a form."""

from __future__ import annotations

from typing import Annotated, TypeAlias
from urllib.parse import parse_qs

from dither.extras import needs
from dither.server.core.callers import Caller
from dither.server.core.problems import Problem
from dither.server.http.authentication import admitted, gateway_of
from dither.server.http.refusals import refused
from dither.server.http.session_cookie import cookie_secret, is_same_origin

with needs("dither[server]"):
    from fastapi import Depends
    from starlette.requests import Request

FORM = "application/x-www-form-urlencoded"
FIELDS = 2000  # of a form
Form: TypeAlias = dict[str, str]


async def page_caller(request: Request) -> Caller:
    """Who has the cookie; what changes something must come from a page of ours."""
    must_be_ours(request)
    secret = cookie_secret(request, gateway_of(request).config)
    if secret is None:
        raise Problem("unauthorized")
    caller = await admitted(request, secret)
    request.state.caller = caller
    return caller


def must_be_ours(request: Request) -> None:
    """Refuse what another site sends."""
    if request.method not in ("GET", "HEAD") and not is_same_origin(request):
        raise Problem("forbidden", why="the form was not sent by a page of this gateway", instead="the page itself")


async def form_of(request: Request) -> Form:
    """The fields of a form, each of which comes once."""
    must_be_ours(request)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        raise refused("Content-Type", "it is no form", FORM, status=415)
    try:
        text = (await request.body()).decode("utf-8")
        found = parse_qs(text, keep_blank_values=True, errors="strict", max_num_fields=FIELDS)
    except ValueError:
        raise refused("form", "it cannot be read", "the fields of the page, in UTF-8") from None
    return {name: _one(name, values) for name, values in found.items()}


def _one(name: str, values: list[str]) -> str:
    if len(values) > 1:
        raise refused(name[:100], "it stands twice in the form", "each field once")
    return values[0].replace("\r\n", "\n")


PageCaller: TypeAlias = Annotated[Caller, Depends(page_caller)]
FormOf: TypeAlias = Annotated[Form, Depends(form_of)]
