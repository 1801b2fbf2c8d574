"""HTTP/1.1 with a limit that the server does not have: the head of a request comes in time, or the connection ends.

Without it somebody who opens connections and says nothing, or says it a sign at a time, takes all that may be open.
"""

from __future__ import annotations

import asyncio

from dither.extras import needs

with needs("dither[server]"):
    from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0


class TimedProtocol(H11Protocol):
    """One connection."""

    head_seconds = HEAD_SECONDS
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """It is open: a request is waited for."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """A part of a request. Its body has a limit of its own, in the middleware."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self._forget()
        super().connection_lost(exc)

    def _waits(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _watch(self) -> None:
        if not self._waits():
            self._forget()
        elif self._timer is None:
            self._timer = self.loop.call_later(self.head_seconds, self._late)

    def _forget(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        self._timer = None
        if self._waits() and not self.transport.is_closing():
            self.transport.close()
