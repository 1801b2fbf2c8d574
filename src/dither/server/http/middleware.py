"""What surrounds every request: its size and time while it comes, headers of the reply, the log, and one text for faults.

Headers that claim another address, path or method (X-Forwarded-Host, X-Original-URL, X-HTTP-Method-Override) are read
nowhere. Addresses are matched as they are: none is cleaned, and none redirected.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

from dither.extras import needs
from dither.server.core.problems import Problem
from dither.server.http.logs import LogLine, RequestLog, place_of, rounded_up
from dither.server.http.metrics import Metrics
from dither.server.http.problem_reply import problem_reply
from dither.server.http.refusals import fault, too_large, too_slow

with needs("dither[server]"):
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

BODY_SECONDS = 10.0
GONE = 499  # in logs and metrics: the client went away before a reply began
METHODS = frozenset({"GET", "POST", "DELETE", "HEAD", "PUT", "PATCH", "OPTIONS"})  # others are "-" in logs and metrics
FIXED = frozenset({"/mcp", "/openapi.json"})  # addresses without a template
SECURITY = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class Middleware:
    """Around the application, for each request."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        body_bytes: int,
        log: RequestLog,
        metrics: Metrics | None = None,
        body_seconds: float = BODY_SECONDS,
        larger: Mapping[str, int] | None = None,  # addresses whose bodies may have more bytes
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.app = app
        self.body_bytes, self.body_seconds = body_bytes, body_seconds
        self.log, self.metrics, self.clock, self.larger = log, metrics, clock, dict(larger or {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return  # nothing else is spoken here
        exchange = Exchange(scope, receive, send, self)
        start = self.clock()
        try:
            await exchange.run()
        finally:
            self._tell(scope, exchange, self.clock() - start)

    def _tell(self, scope: Scope, exchange: Exchange, seconds: float) -> None:
        state, took = scope.get("state", {}), rounded_up(seconds)
        method = scope["method"] if scope["method"] in METHODS else "-"
        route: str = getattr(scope.get("route"), "path", None) or (scope["path"] if scope["path"] in FIXED else "-")
        line = LogLine(method, route, exchange.status, took, state.get("token_id"), exchange.receipt, exchange.fault)
        self.log.write(line)
        if self.metrics is not None:
            self.metrics.count(method, route, exchange.status, took)
        release = state.get("release")
        if release is not None:
            release()


class Exchange:
    """One request and its reply."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, around: Middleware) -> None:
        self.scope, self._receive, self._send, self._around = scope, receive, send, around
        self.status = GONE  # until a reply has begun; stays so where the client went away
        self._gone = False
        self.receipt: str | None = None
        self.fault: str | None = None
        headers = dict(scope["headers"])
        self._length = headers.get(b"content-length", b"0")
        self._whole = self._length == b"0" and b"transfer-encoding" not in headers  # whether all of the body was read
        self._size = 0
        self._most = max(around.body_bytes, around.larger.get(scope["path"], 0))  # bytes of the body
        self._deadline: float | None = None
        self._problem: Problem | None = None  # of the body

    async def run(self) -> None:
        """Have it answered; whatever goes wrong is one reply."""
        try:
            if not self._length.isdigit() or len(self._length) > 15 or int(self._length) > self._most:
                self._problem = too_large(self._most)
                raise self._problem
            await self._around.app(self.scope, self.receive, self.send)
        except Exception as error:
            if self._gone:
                return  # nobody is there to be told
            if not isinstance(error, Problem):
                self.fault = place_of(error)
            if self.status == GONE:
                problem = self._problem or (error if isinstance(error, Problem) else fault())
                await problem_reply(problem)(self.scope, self.receive, self.send)
            # else half a reply was sent: the server ends the connection, and nothing more is said

    async def receive(self) -> Message:
        """The next part of the body: in time, and within the size."""
        if self._problem is not None:
            raise self._problem
        if self._whole:
            return self._noted(await self._receive())
        loop = asyncio.get_running_loop()
        if self._deadline is None:
            self._deadline = loop.time() + self._around.body_seconds
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            self._problem = too_slow(self._around.body_seconds)
            raise self._problem from None
        self._noted(message)
        self._size += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._size > self._most:
            self._whole = False
            self._problem = too_large(self._most)
            raise self._problem
        return message

    def _noted(self, message: Message) -> Message:
        self._gone |= message["type"] == "http.disconnect"
        return message

    async def send(self, message: Message) -> None:
        """A part of the reply; its head gets the headers that all replies have."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers: list[Any] = list(message.get("headers", []))
            names = {name.lower() for name, _ in headers}
            headers += [(name, value) for name, value in SECURITY if name not in names]
            if not self._whole:
                headers.append((b"connection", b"close"))  # what is left of the body is not waited for
            self.receipt = next((value.decode() for name, value in headers if name == b"dither-receipt"), None)
            message = {**message, "headers": headers}
        await self._send(message)
