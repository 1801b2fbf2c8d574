"""Scripts and styles."""

from __future__ import annotations

from typing import Annotated

from dither.extras import needs
from dither.server.core.problems import absent
from dither.server.page.assets import assets, digest
from dither.server.page.route import PageRoute

with needs("dither[server]"):
    from fastapi import APIRouter, Path
    from starlette.requests import Request
    from starlette.responses import Response

routes = APIRouter(route_class=PageRoute, include_in_schema=False)
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
Name = Annotated[str, Path(max_length=100)]


@routes.get("/assets/{version}/{name}")
async def asset(request: Request, version: Name, name: Name) -> Response:
    """A file of the version that runs."""
    found = assets().get(name)
    if found is None or version != digest():
        raise absent()
    headers = FOREVER | {"Content-Type": found.kind}
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(found.small, 200, headers | {"Content-Encoding": "gzip"})
    return Response(found.plain, 200, headers)
