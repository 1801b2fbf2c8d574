"""Who asks: the token of a request, which is looked up for each, and the requests that one token keeps open."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from typing import Annotated, TypeAlias

from dither.extras import needs
from dither.server.core.callers import Caller
from dither.server.core.gateway import Gateway
from dither.server.http.address import address_of
from dither.server.http.refusals import too_many
from dither.server.http.session_cookie import cookie_secret, is_same_origin

with needs("dither[server]"):
    from fastapi import Depends
    from starlette.requests import Request

MOST_OPEN = 32  # requests of one token at a time; one that waits for an answer is open


class OpenRequests:
    """How many requests of each token are open, so that one analyst does not take all connections."""

    def __init__(self, most: int = MOST_OPEN) -> None:
        self.most = most
        self._counts: Counter[str] = Counter()

    def enter(self, token_id: str) -> None:
        """One more, or a refusal."""
        if self._counts[token_id] >= self.most:
            raise too_many(self.most)
        self._counts[token_id] += 1

    def leave(self, token_id: str) -> None:
        """One less; who has none is forgotten."""
        self._counts[token_id] -= 1
        if self._counts[token_id] <= 0:
            del self._counts[token_id]


def secret_of(values: list[str]) -> str | None:
    """The secret in `Authorization: Bearer ...`; None where there is none, or more than one."""
    scheme, _, secret = values[0].partition(" ") if len(values) == 1 else ("", "", "")
    return secret.strip() or None if scheme.lower() == "bearer" else None


def gateway_of(request: Request) -> Gateway:
    """The gateway that an application belongs to."""
    gateway: Gateway = request.app.state.gateway
    return gateway


async def caller_of(request: Request) -> Caller:
    """Who asks: by `Authorization`, or by the cookie of a browser if a page of ours asks; refused without a token."""
    values = request.headers.getlist("authorization")
    secret = secret_of(values)
    if not values and is_same_origin(request):
        secret = cookie_secret(request, gateway_of(request).config)
    return await admitted(request, secret)


async def admitted(request: Request, secret: str | None) -> Caller:
    """Who has this secret; from now on the request is one of the token's open ones."""
    gateway = gateway_of(request)
    caller = await asyncio.to_thread(gateway.caller, secret, client_of(request))  # it reads a database
    request.state.token_id = caller.token_id
    opened: OpenRequests = request.app.state.open_requests
    opened.enter(caller.token_id)
    request.state.release = partial(opened.leave, caller.token_id)
    return caller


def client_of(request: Request) -> str:
    """The address that a request came from."""
    peer = request.client.host if request.client else None
    return address_of(peer, request.headers.getlist("x-forwarded-for"), proxy=gateway_of(request).config.proxy)


CallerOf: TypeAlias = Annotated[Caller, Depends(caller_of)]
GatewayOf: TypeAlias = Annotated[Gateway, Depends(gateway_of)]
