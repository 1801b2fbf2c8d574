"""For owners: what a new policy would change, and tokens."""

from __future__ import annotations

from typing import Annotated, Any

from dither.extras import needs
from dither.server.core.tokens import Token
from dither.server.http.authentication import CallerOf, GatewayOf
from dither.server.http.documents import documented
from dither.server.http.models import DiffRequest, NoParameters, TokenRequest
from dither.server.http.refusals import refused
from dither.server.http.replies import json_reply
from dither.server.http.request_body import body_of

with needs("dither[server]"):
    from fastapi import APIRouter, Depends, Path, Query
    from starlette.responses import Response

Nothing = Annotated[NoParameters, Query()]
routes = APIRouter(tags=["owner"])
Id = Annotated[str, Path(alias="id", max_length=200)]


def token_facts(token: Token) -> dict[str, Any]:
    """What is told of a token; its secret is not known here."""
    times = {name: getattr(token, name) for name in ("created", "expires", "revoked", "last_day")}
    facts = {"id": token.id, "name": token.name, "role": token.role, "datasets": list(token.datasets), "daily": token.daily}
    return facts | {name: None if time is None else time.isoformat() for name, time in times.items()}


@routes.post("/v1/policy/diff", **documented("diff", DiffRequest))
async def diff(
    gateway: GatewayOf,
    caller: CallerOf,
    _: Nothing,
    body: Annotated[DiffRequest, Depends(body_of(DiffRequest))],
) -> Response:
    """What a policy would change of the one in force, fact by fact, and whether it loosens anything."""
    return json_reply(await gateway.policy_diff(caller, body.dataset, body.policy))


@routes.post("/v1/tokens", **documented("new token", TokenRequest, 201))
async def create_token(
    gateway: GatewayOf,
    caller: CallerOf,
    _: Nothing,
    body: Annotated[TokenRequest, Depends(body_of(TokenRequest))],
) -> Response:
    """A new token. Its secret is told here, and never again."""
    share = {} if body.share is None else {name: text for name, text in body.share if text is not None}
    if body.share is not None and not share:
        raise refused("share", "it states epsilon or rho, and perhaps delta", '{"epsilon": "0.5", "delta": "1e-7"}')
    share |= {} if body.daily is None else {"daily": body.daily}
    token, secret = await gateway.create_token(
        caller, name=body.name, role=body.role, datasets=body.datasets, share=share, days=body.days
    )
    return json_reply({**token_facts(token), "secret": secret}, 201)


@routes.get("/v1/tokens", **documented("tokens"))
async def list_tokens(gateway: GatewayOf, caller: CallerOf, _: Nothing) -> Response:
    """All tokens, without their secrets."""
    return json_reply({"tokens": [token_facts(token) for token in await gateway.list_tokens(caller)]})


@routes.delete("/v1/tokens/{id}", **documented("token"))
async def revoke_token(gateway: GatewayOf, caller: CallerOf, which: Id, _: Nothing) -> Response:
    """Let a token end now."""
    return json_reply(token_facts(await gateway.revoke_token(caller, which)))
