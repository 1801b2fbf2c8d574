"""Parameters in the address of a page: what is not known is refused, as the API refuses it."""

from __future__ import annotations

from dither.extras import needs
from dither.server.http.refusals import refused

with needs("dither[server]"):
    from starlette.requests import Request

LONGEST = 1000  # signs of one


def read_parameters(request: Request, *known: str, repeated: str = "") -> dict[str, list[str]]:
    """The values of each parameter that came.

    Args:
        request: with an address.
        known: which there may be, each once.
        repeated: the one that may come several times.

    Raises:
        Problem: another one came, or one twice, or one that is too long.
    """
    found: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        if name not in known and name != repeated:
            listed = ", ".join([*known, *([repeated] if repeated else [])]) or "none"
            raise refused(name[:100], "this page knows no such parameter", listed)
        if len(value) > LONGEST:
            raise refused(name, f"it has more than {LONGEST:,} signs", "a shorter one")
        if name in found and name != repeated:
            raise refused(name, "it stands twice in the address", "each parameter once")
        found.setdefault(name, []).append(value)
    return found
