"""A clock of the database that a test sets: SQLite's transactions take the machine's, PostgreSQL's the server's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

from dither.ledger.storage import postgres, sqlite

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Clock:
    """Both clocks: what is set is what the next transaction sees."""

    def __init__(self, link=None) -> None:
        self._link = link
        self.set(datetime(2030, 5, 17, 12, tzinfo=UTC))

    def set(self, now: datetime) -> None:
        self.now = now
        if self._link is not None:
            self._link.execute("UPDATE public.test_clock SET now = %s", (self.microseconds,))

    def move(self, **by: float) -> None:
        self.set(self.now + timedelta(**by))

    @property
    def microseconds(self) -> int:
        return (self.now - EPOCH) // timedelta(microseconds=1)


@contextmanager
def set_clock(monkeypatch, server: str | None) -> Iterator[Clock]:
    """For ledgers that are opened inside."""
    if server is None:
        clock = Clock()
        monkeypatch.setattr(sqlite, "time", SimpleNamespace(time_ns=lambda: clock.microseconds * 1000))
        yield clock
        return
    import psycopg

    with psycopg.connect(server, autocommit=True) as link:
        link.execute("DROP TABLE IF EXISTS public.test_clock")
        link.execute("CREATE TABLE public.test_clock AS SELECT 0::bigint AS now")
        monkeypatch.setattr(postgres, "CLOCK", "(SELECT now FROM public.test_clock)")
        yield Clock(link)
