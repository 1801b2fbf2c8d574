"""Taking turns: threads that want to write at the same moment share one transaction, and so one wait for the disk.

Whoever gets the lock does the work of all who wait; the others find theirs done. Each piece of work is decided on its own,
one after the other, on one page; a refusal concerns only its own. Nothing is handed out before the transaction, and what
follows it, has ended; if that fails, all of it fails.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from dither.errors import DitherError
from dither.ledger.page import Page
from dither.ledger.store import Query

MOST = 64  # pieces of work in one transaction

Decide = Callable[[Page], Any]


class Work:
    """A decision to be made on a page, the queries it needs, and what came of it."""

    def __init__(self, queries: Sequence[Query], decide: Decide) -> None:
        self.queries = queries
        self.decide = decide
        self.done = False
        self.result: Any = None
        self.error: BaseException | None = None


class Turns:
    """One queue for one ledger in one process."""

    def __init__(self, page: Callable[..., AbstractContextManager[Page]]) -> None:
        self._page = page
        self._waiting: list[Work] = []
        self._queue = threading.Lock()
        self._turn = threading.Lock()

    def take(self, queries: Sequence[Query], decide: Decide) -> Any:
        """Decide on a page; the result, once it is durable."""
        mine = Work(queries, decide)
        with self._queue:
            self._waiting.append(mine)
        with self._turn:
            while not mine.done:
                with self._queue:
                    together, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
                self._write(together)
        if mine.error is not None:
            raise mine.error
        return mine.result

    def _write(self, together: list[Work]) -> None:
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
                    work.error = error
        finally:
            for work in together:
                work.done = True
