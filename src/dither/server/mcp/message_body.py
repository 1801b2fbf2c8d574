"""The body of a message over HTTP: read within its limit, and refused in our own words where it is no message at all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dither.server.core.problems import Problem

if TYPE_CHECKING:
    from starlette.types import Message, Receive


async def whole_body(receive: Receive, most: int) -> Receive:
    """The body once more, for whoever reads it next. The library below would repeat a wrong one in its reply."""
    body = bytearray()
    more = True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > most:
            raise Problem("too-large", why=f"the request has more than {most:,} bytes", instead="a shorter one")
    if not is_message(bytes(body)):
        why = "it is no message of the Model Context Protocol"
        raise Problem("refused", where="body", why=why, instead="a client of that protocol, with this address and token")
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": bytes(body), "more_body": False}

    return again


def is_message(body: bytes) -> bool:
    """Whether it is a request, or a notification."""
    try:
        found: Any = json.loads(body)
    except (ValueError, RecursionError):
        return False
    if not isinstance(found, dict) or found.keys() - {"jsonrpc", "id", "method", "params"}:
        return False
    whole = found.get("jsonrpc") == "2.0" and isinstance(found.get("method"), str)
    return whole and isinstance(found.get("params", {}), dict) and isinstance(found.get("id", 0), (int, str))
