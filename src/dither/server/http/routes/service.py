"""Health, for whoever runs the gateway: no token, and nothing private."""

from __future__ import annotations

from dither.extras import needs
from dither.server.http.authentication import GatewayOf
from dither.server.http.documents import documented
from dither.server.http.replies import json_reply

with needs("dither[server]"):
    from fastapi import APIRouter
    from starlette.responses import Response

routes = APIRouter(tags=["service"])


@routes.get("/health", **documented("health"))
async def health(gateway: GatewayOf) -> Response:
    """Whether questions can be asked."""
    return json_reply(await gateway.health())
