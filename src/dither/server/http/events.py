"""Progress as server-sent events: `queued`, `running`, `done`, `failed`, with whole seconds and no fraction."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

from dither.extras import needs

with needs("dither[server]"):
    from starlette.responses import Response, StreamingResponse

HEARTBEAT = 15.0  # seconds after which a comment keeps proxies from ending the connection


async def events_reply(states: AsyncIterator[dict[str, Any]], heartbeat: float = HEARTBEAT) -> Response:
    """The states of a question as they come. The first is waited for, so that a refusal is a reply of its own."""
    first = await anext(states)
    headers = {"X-Accel-Buffering": "no"}  # proxies pass each event on at once
    return StreamingResponse(_events(first, states, heartbeat), 200, headers, "text/event-stream")


async def _events(
    first: dict[str, Any], states: AsyncIterator[dict[str, Any]], heartbeat: float
) -> AsyncGenerator[bytes, None]:
    yield _event(first)
    upcoming = asyncio.ensure_future(anext(states, None))
    try:
        while True:
            done, _ = await asyncio.wait({upcoming}, timeout=heartbeat)
            if not done:
                yield b": still there\n\n"
                continue
            state = upcoming.result()
            if state is None:
                return
            yield _event(state)
            upcoming = asyncio.ensure_future(anext(states, None))
    finally:
        upcoming.cancel()


def _event(state: dict[str, Any]) -> bytes:
    return f"event: {state['state']}\ndata: {json.dumps(state)}\n\n".encode()
