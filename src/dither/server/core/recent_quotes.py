"""Quotes of the last ten minutes, by id: who asks by the id of a quote has seen the price and the error first."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from dither.server.core.callers import Caller
from dither.server.core.problems import absent
from dither.server.core.questions import Asked

LIFE = 600  # seconds
MOST = 10_000


class RecentQuotes:
    """What was quoted to whom."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._quotes: OrderedDict[str, tuple[Asked, str, float]] = OrderedDict()

    def add(self, caller: Caller, asked: Asked) -> tuple[str, str]:
        """The id of a quote, and until when it can be asked by it."""
        self._forget()
        id, now = f"qt_{secrets.token_hex(12)}", self._clock()  # noqa: A001
        self._quotes[id] = asked, caller.name, now
        until = datetime.now(UTC) + timedelta(seconds=LIFE)
        return id, until.strftime("%Y-%m-%dT%H:%M:%SZ")

    def find(self, caller: Caller, id: str) -> Asked:  # noqa: A002
        """What was quoted under that id to this caller; a problem where it is old, unknown or somebody else's."""
        self._forget()
        asked, name, _ = self._quotes.get(id, (None, "", 0.0))
        if asked is None or name != caller.name:
            raise absent()
        return asked

    def _forget(self) -> None:
        old = self._clock() - LIFE
        while self._quotes and (len(self._quotes) >= MOST or next(iter(self._quotes.values()))[2] < old):
            self._quotes.popitem(last=False)
