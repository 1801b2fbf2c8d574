"""Connections that are kept for the next one who needs them; each process has its own."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

C = TypeVar("C")
MOST_IDLE = 4

_ABANDONED: list[object] = []  # copied from another process: kept, since even closing them would disturb their owner


class Pool(Generic[C]):
    """A connection is used by one at a time, and closed instead of kept when something went wrong with it."""

    def __init__(self, make: Callable[[], C], close: Callable[[C], None]) -> None:
        self._make = make
        self._close = close
        self._idle: list[tuple[int, C]] = []
        weakref.finalize(self, _close_all, self._idle, close)

    @contextmanager
    def use(self) -> Iterator[C]:
        """A connection, for as long as the block lasts."""
        connection = self._take()
        try:
            yield connection
        except BaseException:
            self._close(connection)
            raise
        if len(self._idle) < MOST_IDLE:
            self._idle.append((os.getpid(), connection))
        else:
            self._close(connection)

    def close(self) -> None:
        """Close those that nobody uses."""
        _close_all(self._idle, self._close)

    def _take(self) -> C:
        while self._idle:
            process, connection = self._idle.pop()
            if process == os.getpid():
                return connection
            _ABANDONED.append(connection)
        return self._make()


def _close_all(idle: list[tuple[int, C]], close: Callable[[C], None]) -> None:
    while idle:
        process, connection = idle.pop()
        if process == os.getpid():
            close(connection)
        else:
            _ABANDONED.append(connection)
