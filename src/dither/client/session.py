"""A session with a gateway: its address and token, and requests that are repeated where that is safe."""

from __future__ import annotations

import json
import math
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dither.client.address import Address
from dither.client.exchange import LostError, Reply, Request, exchange
from dither.client.parts import read_json
from dither.client.problems import AGAIN, error_of, kind_of
from dither.client.token import Token
from dither.errors import DitherError, GatewayError, NumberError

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0  # seconds between two tries, where the gateway names none; doubled each time
LOST = "gateway"  # where there is no whole reply
LARGE = 256 * 2**20  # bytes of a reply that holds an answer: a million cells, and what was released for them


@dataclass(frozen=True, repr=False)
class Session:
    """Where a gateway is, who asks, and for how long to try."""

    address: Address
    token: Token
    timeout: float  # seconds for a reply, repeated requests among them
    tls: ssl.SSLContext | None = field(compare=False)
    sleep: Callable[[float], None] = field(default=time.sleep, compare=False)

    def __repr__(self) -> str:
        return f"Session({self.address})"

    def get(self, path: str, *, most: int | None = None) -> dict[str, Any] | list[Any]:
        """The JSON of a page."""
        request = Request("GET", path) if most is None else Request("GET", path, most=most)
        reply = self.send(request)
        return read_json(reply.body, reply.kind, path)

    def post(self, path: str, told: dict[str, Any]) -> dict[str, Any] | list[Any]:
        """The JSON that is replied to an object. What is posted may come twice: it must change nothing, or have a key."""
        reply = self.send(Request("POST", path, body=as_json(told)))
        return read_json(reply.body, reply.kind, path)

    def send(self, request: Request, *, wait: float | None = None) -> Reply:
        """The reply to a request, below 300; sent again after a lost connection, and where the gateway says: later.

        The latter for `wait` seconds; left out, for as long as a reply may take.

        Raises:
            GatewayError: nobody is there, or what is there is no gateway, or it does not take the token.
            DitherError: what the gateway refuses, as it would be refused here.
        """
        start, pause, arrived = time.monotonic(), FIRST_PAUSE, False  # whether it may have arrived
        end = start + self.timeout + (wait or 0.0)
        while True:
            left = max(end - time.monotonic(), 0.01)
            found, named = self._try(request, left, arrived)
            if isinstance(found, Reply):
                return found
            arrived = True
            rest = pause if named is None else max(named, FIRST_PAUSE)
            pause = min(2 * pause, LONGEST_PAUSE)
            lost = isinstance(found, GatewayError) and found.where == LOST
            last = end if wait is None or lost else start + wait
            if time.monotonic() + rest >= last:
                raise found
            self.sleep(rest)

    def _try(self, request: Request, left: float, arrived: bool) -> tuple[Reply | DitherError, float | None]:
        """A reply; or the error that stands if it is not tried again, with the seconds that the gateway wants in between."""
        try:
            reply = exchange(self.address, self.token, request, seconds=left, tls=self.tls)
        except LostError as lost:
            found = GatewayError(LOST, str(self.address), lost.why, "its address, or once it runs: dither serve")
            if not lost.sent and not arrived:  # nothing was asked, and nobody is there: who waits should know
                raise found from None
            return found, None
        if 200 <= reply.status < 300:
            return reply, None
        error = error_of(reply, self.token)
        if kind_of(reply) not in AGAIN:
            raise error
        return error, reply.retry_after


def as_json(told: dict[str, Any]) -> bytes:
    """An object as it is sent."""
    try:
        return json.dumps(told, allow_nan=False).encode()
    except ValueError:
        raise NumberError("term", math.nan, "it is not finite", "a number such as '0.5'") from None
