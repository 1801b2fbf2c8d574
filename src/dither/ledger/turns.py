"""Taking turns: threads that want to write at the same moment share one transaction, and so one wait for the disk.

Whoever comes while nobody writes does the work of all who wait; when it is done she wakes them, and the first of those who
came meanwhile goes on. Each piece of work is decided on its own, one after the other, on one page; a refusal concerns
only its own. Nothing is handed out before the transaction, and what follows it, has ended; if that fails, all of it fails.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from dither.errors import DitherError, LedgerError
from dither.ledger.page import Page
from dither.ledger.store import Query

MOST = 64  # pieces of work in one transaction

Decide = Callable[[Page], Any]


class Work:
    """A decision to be made on a page, the queries it needs, and what came of it."""

    def __init__(self, queries: Sequence[Query], decide: Decide) -> None:
        self.queries = queries
        self.decide = decide
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = False
        self.wake = threading.Lock()  # held until there is something to do or to take home
        self.wake.acquire()


class Turns:
    """One queue for one ledger in one process."""

    def __init__(self, page: Callable[..., AbstractContextManager[Page]]) -> None:
        self._page = page
        self._waiting: list[Work] = []
        self._leader: Work | None = None  # who writes, or is about to
        self._queue = threading.Lock()

    def take(self, queries: Sequence[Query], decide: Decide) -> Any:
        """Decide on a page; the result, once it is durable."""
        mine = Work(queries, decide)
        with self._queue:
            self._waiting.append(mine)
            if self._leader is None:
                self._leader = mine
                mine.wake.release()
        try:
            mine.wake.acquire()
        except BaseException:  # interrupted: somebody else must go on
            self._leave(mine)
            raise
        if not mine.done:
            self._lead(mine)
        if mine.error is not None:
            raise mine.error
        return mine.result

    def _lead(self, mine: Work) -> None:
        """Do what is waiting, one's own among it, and pass the turn on."""
        together: list[Work] = []
        try:
            with self._queue:
                together = self._waiting[:MOST]
                del self._waiting[: len(together)]
            self._write(mine, together)
        finally:
            for work in together:
                if not work.done:  # interrupted between two lines
                    work.error, work.done = work.error or _stopped("an interrupt"), True
                if work is not mine:
                    work.wake.release()
            self._leave(mine)

    def _leave(self, mine: Work) -> None:
        """Wait no longer; where one's turn had come, the next one has it."""
        with self._queue:
            if mine in self._waiting:
                self._waiting.remove(mine)
            if self._leader is mine:
                self._leader = self._waiting[0] if self._waiting else None
                if self._leader is not None:
                    self._leader.wake.release()

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
