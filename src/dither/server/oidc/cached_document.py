"""A document of the provider that is kept for a while: one request at a time, few in a row, none while it is fresh.

Theorem. In any time T at most 1 + T/pause requests leave for a document, and at most 1 + T/minute of them because somebody
asked for a newer one, whoever asks and how often.

Proof. A request leaves only in `_load`, under the lock, when the clock is at least `_next`, which is set to now + pause
before it leaves. `newer` calls `_load` only when the clock is at least `_newer_from`, which is set to now + minute under
the same lock before. ∎
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from dither.server.oidc.refusals import ProviderError

FRESH = 3600.0  # seconds
PAUSE = 5.0  # between two requests
MINUTE = 60.0  # between two requests for something newer
T = TypeVar("T")
Clock = Callable[[], float]


class CachedDocument(Generic[T]):
    """What `load` gives, for an hour."""

    def __init__(self, load: Callable[[], T], clock: Clock) -> None:
        self._load_it, self._clock = load, clock
        self._lock = threading.Lock()
        self._kept: tuple[T, float] | None = None  # and until when it is fresh
        self._next = self._newer_from = float("-inf")

    def get(self, *, wait: bool) -> T:
        """The document; where it has to be asked for, and somebody does already, `wait` for it or fail at once.

        Raises:
            ProviderError: there is none.
        """
        kept = self._kept
        if kept is not None and self._clock() < kept[1]:
            return kept[0]
        if not self._lock.acquire(blocking=wait):
            raise ProviderError
        try:
            if self._kept is not None and self._clock() < self._kept[1]:
                return self._kept[0]  # who had the lock before has asked
            return self._load()
        finally:
            self._lock.release()

    def newer(self) -> T | None:
        """One that was asked for now; None where that was less than a minute ago, or fails: then the old one stays."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            now = self._clock()
            if now < max(self._newer_from, self._next):
                return None
            self._newer_from = now + MINUTE
            return self._load()
        except ProviderError:
            return None
        finally:
            self._lock.release()

    def _load(self) -> T:
        now = self._clock()
        if now < self._next:
            raise ProviderError
        self._next = now + PAUSE
        found = self._load_it()
        self._kept = found, now + FRESH
        return found
