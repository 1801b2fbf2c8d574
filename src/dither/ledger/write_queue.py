"""The write queue: group commit. Threads that write at the same moment share one transaction, and one wait for the disk.

The thread that has the lock does its own work and that of all who wait. Then it wakes those whose work is done, and one of
the rest, which goes next; so the served do not queue for the lock, and the next thread finds much to do together. Waking
saves time and decides nothing: a thread that is not woken looks after a while whether its work is done or the lock is free.
Each piece of work is decided on its own, one after the other, in one transaction; a refusal concerns only its own. Nothing
is handed out before the transaction, and what follows it, has ended; if that fails, all of it fails. A thread that is
interrupted takes its work off the list, and holds nothing but the lock, so nobody waits for one that has gone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Any

from dither.errors import DitherError, LedgerError
from dither.ledger.entries.transaction import LedgerTransaction
from dither.ledger.storage.database import Statement

MOST = 64  # pieces of work in one transaction
GLANCES = 16  # of some ten microseconds each, to let those leave who were served
PATIENCE = 0.05  # seconds to wait to be woken, which a thread that was interrupted does not do

Decide = Callable[[LedgerTransaction], Any]


class Work:
    """A decision to be made on a page, the queries it needs, and what came of it."""

    def __init__(self, queries: Sequence[Statement], decide: Decide) -> None:
        self.queries = queries
        self.decide = decide
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = False  # said last, when the result is durable: it may be read without the lock
        self.bell = threading.Lock()
        self.bell.acquire()

    def ring(self) -> None:
        with suppress(RuntimeError):  # it was rung before
            self.bell.release()


class WriteQueue:
    """The waiting work of all threads of a process for one ledger."""

    def __init__(self, page: Callable[..., AbstractContextManager[LedgerTransaction]]) -> None:
        self._page = page
        self._waiting: list[Work] = []
        self._turn = threading.Lock()

    @property
    def waiting(self) -> int:
        """How many pieces of work are in the queue, that being done included."""
        return len(self._waiting)

    def take(self, queries: Sequence[Statement], decide: Decide) -> Any:
        """What `decide` gives on a page, once that is durable; `queries` are those that it will ask."""
        mine = Work(queries, decide)
        try:
            self._waiting.append(mine)
            while not mine.done:
                if self._turn.locked():
                    mine.bell.acquire(timeout=PATIENCE)
                    continue
                with self._turn:
                    if not mine.done:
                        self._write(mine, self._gathered(mine))
                self.ring()  # after the lock is free: a thread that comes later takes it by itself
        finally:
            with suppress(ValueError):
                self._waiting.remove(mine)
        error, mine.error = mine.error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # an error that holds its own frame would keep an interrupted transaction open
        return mine.result

    def _gathered(self, mine: Work) -> list[Work]:
        """The work of this thread and of others. Those who were served leave first, since they often come back at once."""
        for _ in range(GLANCES):
            if not any(work.done for work in list(self._waiting)):
                break
            time.sleep(0.00001)
        others = [work for work in list(self._waiting) if work is not mine and not work.done]
        return [mine, *others[: MOST - 1]]

    def ring(self) -> None:
        """Wake all whose work is done, and the first of the rest."""
        waiting = list(self._waiting)
        rest = [work for work in waiting if not work.done]
        for work in waiting:
            if work.done or work is rest[0]:
                work.ring()

    def _write(self, mine: Work, together: list[Work]) -> None:
        try:
            with self._page(*(query for work in together for query in work.queries)) as page:
                for work in together:
                    try:
                        work.result = work.decide(page)
                    except DitherError as error:
                        work.error = error
        except BaseException as error:
            for work in together:
                if work.error is None:  # a refusal stays one: it wrote nothing
                    own = work is mine or isinstance(error, DitherError)
                    work.error = error if own else _stopped(type(error).__name__)
        for work in together:
            work.done = True


def _stopped(cause: str) -> LedgerError:
    why = f"the thread that wrote for several was stopped by {cause}; it is not certain what was written"
    return LedgerError("ledger", "turn", why, "the same question with the same idempotency key")
