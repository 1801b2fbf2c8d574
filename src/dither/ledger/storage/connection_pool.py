"""A connection pool: idle connections are kept for the next user; each process has its own.

A file database and fork: SQLite remembers, per process, which locks it holds on a file, and a copied process inherits that
memory but not the locks. It would then write without them, into a log that its parent may delete. So before a process is
copied, all idle connections to files are closed, and those in use are waited for. If one is still in use then (by the very
thread that copies the process, say), the copy refuses to open ledgers in files.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from dither.errors import LedgerError

C = TypeVar("C")
MOST_IDLE = 4
PATIENCE = 10.0  # seconds that a copy of the process waits for transactions to end

_ABANDONED: list[object] = []  # copied from another process: kept, since even closing them would disturb their owner


class _User:
    """A transaction that is under way: an object of its own, so that it can be referred to weakly."""


class _Files:
    """All connections of this process to files."""

    def __init__(self) -> None:
        self.pools: weakref.WeakSet[Pool[Any]] = weakref.WeakSet()
        self.gate = threading.Lock()
        self.users: weakref.WeakSet[_User] = weakref.WeakSet()  # weak: one who was interrupted anywhere is gone by itself
        self.copying = False
        self.torn = False  # this process was copied while a file was in use

    def begin(self, user: _User) -> None:
        while True:
            with self.gate:
                if not self.copying:
                    self.users.add(user)
                    break
            time.sleep(0.001)
        if self.torn:
            self.users.discard(user)
            why = "this process was copied (fork) in the middle of a transaction on a ledger"
            raise LedgerError("ledger", os.getpid(), why, "a process that is started afresh (spawn)")

    def before_copy(self) -> None:
        with self.gate:
            self.copying = True
        until = time.monotonic() + PATIENCE
        while len(self.users) and time.monotonic() < until:
            time.sleep(0.001)
        self.gate.acquire()  # until the copy is made
        for pool in list(self.pools):
            pool.close()

    def after_in_parent(self) -> None:
        self.copying = False
        self.gate.release()

    def after_in_child(self) -> None:
        self.torn = self.torn or len(self.users) > 0
        self.gate = threading.Lock()  # the old one is held by a thread that is not here
        self.users, self.copying = weakref.WeakSet(), False


_files = _Files()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_files.before_copy, after_in_parent=_files.after_in_parent, after_in_child=_files.after_in_child
    )


class Pool(Generic[C]):
    """A connection is used by one at a time; when something went wrong with one, all idle ones are closed with it."""

    def __init__(self, make: Callable[[], C], close: Callable[[C], None], *, file: bool) -> None:
        self._make = make
        self._close = close
        self._file = file
        self._idle: list[tuple[int, C]] = []
        weakref.finalize(self, _close_all, self._idle, close)
        if file:
            _files.pools.add(self)

    @contextmanager
    def use(self) -> Iterator[C]:
        """A connection, for as long as the block lasts."""
        user = _User()
        if self._file:
            _files.begin(user)
        try:
            connection = self._take()
            try:
                yield connection
            except BaseException:
                self._close(connection)
                self.close()
                raise
            if len(self._idle) < MOST_IDLE:
                self._idle.append((os.getpid(), connection))
            else:
                self._close(connection)
        finally:
            _files.users.discard(user)

    def close(self) -> None:
        """Close the idle connections."""
        _close_all(self._idle, self._close)

    @property
    def idle(self) -> int:
        """How many connections wait for the next user."""
        return len(self._idle)

    def _take(self) -> C:
        while True:
            try:
                process, connection = self._idle.pop()
            except IndexError:
                return self._make()
            if process == os.getpid():
                return connection
            _ABANDONED.append(connection)


def _close_all(idle: list[tuple[int, C]], close: Callable[[C], None]) -> None:
    while True:
        try:
            process, connection = idle.pop()
        except IndexError:
            return
        if process == os.getpid():
            close(connection)
        else:
            _ABANDONED.append(connection)
