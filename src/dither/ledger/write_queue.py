"""Taking turns: threads that want to write at the same moment share one transaction, and so one wait for the disk.

Whoever has the lock does her own work and that of all who wait for it. Then she rings: for those whose work is done, and for
one of the rest, who goes next; so the served do not queue for the lock, and the next one finds much to do together. The bell
saves time and decides nothing: whoever hears none looks herself whether her work is done or the lock is free.
Each piece of work is decided on its own, one after the other, on one page; a refusal concerns only its own. Nothing is
handed out before the transaction, and what follows it, has ended; if that fails, all of it fails. A thread that is
interrupted takes its work off the list, and holds nothing but the lock, so nobody waits for one who has gone.
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
PATIENCE = 0.05  # seconds to wait for a bell, which one who was interrupted does not ring

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
    """One list of waiting work for one ledger in one process."""

    def __init__(self, page: Callable[..., AbstractContextManager[LedgerTransaction]]) -> None:
        self._page = page
        self._waiting: list[Work] = []
        self._turn = threading.Lock()

    def take(self, queries: Sequence[Statement], decide: Decide) -> Any:
        """Decide on a page; the result, once it is durable."""
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
                self._ring()  # after the lock was let go: who comes later takes it herself
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
        """Her work and that of others. Those who were served leave first: what they ask next is often here in no time."""
        for _ in range(GLANCES):
            if not any(work.done for work in list(self._waiting)):
                break
            time.sleep(0.00001)
        others = [work for work in list(self._waiting) if work is not mine and not work.done]
        return [mine, *others[: MOST - 1]]

    def _ring(self) -> None:
        """For all who are served, and for the first of the rest."""
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
