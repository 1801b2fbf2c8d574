"""One question, many who ask it at once: one computes, the others wait and get the same answer."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pyarrow
import pytest

import dither
from dither.errors import DataError, InProgressError, ReleaseError
from dither.ledger.ledger import Ledger
from dither.query import release as releasing
from dither.query.answers.batch_answer import BatchAnswer
from dither.query.engines.duckdb.run import Opened
from tests.ledger.children import fork, note, wait

COUNT = "SELECT COUNT(*) AS n FROM visits"
ROWS = pyarrow.table({"person": range(40)})


def visits(ledger: Ledger) -> dither.Dataset:
    return dither.protect(ROWS, name="visits", person="person", max_groups=1, max_rows_per_group=1, ledger=ledger)


@pytest.fixture
def slow(monkeypatch) -> list[int]:
    """Reading takes a while; who read."""
    readers, real = [], Opened.read

    def read(self, *given, **how):
        readers.append(threading.get_ident())
        time.sleep(0.3)
        return real(self, *given, **how)

    monkeypatch.setattr(Opened, "read", read)
    return readers


def test_threads_get_one_answer(location, slow):
    with Ledger.create(location, budget=dither.pure(1), domain="clinic") as ledger:
        quote = visits(ledger).quote(COUNT, epsilon="0.5")
        found: list[object] = []
        threads = [threading.Thread(target=lambda: found.append(quote.release().scalar())) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 8
        assert len(set(found)) == 1
        assert len(slow) == 1
        assert "0.5 left" in str(ledger.remaining())


def test_processes_get_one_answer(location, slow, tmp_path):
    seen, read = str(tmp_path / "seen"), str(tmp_path / "read")

    def ask() -> None:
        with Ledger(location) as own:
            note(seen, str(visits(own).quote(COUNT, epsilon="0.5").release().scalar()))
        for _ in slow:
            note(read, str(os.getpid()))

    with Ledger.create(location, budget=dither.pure(1), domain="visits") as ledger:
        visits(ledger)
        assert wait([fork(ask) for _ in range(6)]) == [0] * 6
        assert len(Path(seen).read_text().split()) == 6
        assert len(set(Path(seen).read_text().split())) == 1
        assert len(Path(read).read_text().split()) == 1
        assert "0.5 left" in str(ledger.remaining())


def values(answers: BatchAnswer) -> tuple[object, ...]:
    return tuple(answer.scalar() for answer in answers)


def test_a_batch_is_waited_for(tmp_path, slow):
    with Ledger.create(tmp_path / "a.ledger", budget=dither.pure(1), domain="clinic") as ledger:
        batch = visits(ledger).quote([COUNT, f"{COUNT} WHERE person > 3"], epsilon="0.5")
        found: list[object] = []
        threads = [threading.Thread(target=lambda: found.append(values(batch.release()))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 3
        assert len(set(found)) == 1


def test_waiting_is_bounded(tmp_path, monkeypatch):
    """The first reads until she is let go, so whoever waits without a bound would wait for ever."""
    reads, go, real = threading.Event(), threading.Event(), Opened.read

    def read(self, *given, **how):
        reads.set()
        assert go.wait(60)
        return real(self, *given, **how)

    monkeypatch.setattr(Opened, "read", read)
    with Ledger.create(tmp_path / "a.ledger", budget=dither.pure(1), domain="clinic") as ledger:
        quote = visits(ledger).quote(COUNT, epsilon="0.5")
        first = threading.Thread(target=quote.release)
        first.start()
        assert reads.wait(60)
        try:
            for seconds in (0, 0.05):
                with pytest.raises(InProgressError, match="being computed"):
                    quote.release(wait=seconds)
        finally:
            go.set()
            first.join()
        assert quote.release(wait=0).scalar() == quote.release().scalar()
        for wrong in (-1, float("nan"), float("inf"), "1", True, None):
            with pytest.raises(DataError, match="wait"):
                quote.release(wait=wrong)


def test_one_who_waits_takes_over_from_one_who_was_lost(tmp_path, monkeypatch):
    """The first fails after data was touched: her lease ends, and whoever waits computes under the same charge."""
    monkeypatch.setattr(releasing, "LEASE", 1)
    with Ledger.create(tmp_path / "a.ledger", budget=dither.pure(1), domain="clinic") as ledger:
        quote = visits(ledger).quote(COUNT, epsilon="0.5")
        with monkeypatch.context() as broken:
            broken.setattr(Opened, "read", lambda *_, **__: 1 / 0)
            with pytest.raises(ReleaseError):
                quote.release()
        with pytest.raises(InProgressError):  # at once: here it is known that nobody computes it
            quote.release()
        time.sleep(1.1)
        answer = quote.release(wait=10)
        assert answer.receipt.attempt == 2
        assert "0.5 left" in str(ledger.remaining())


def test_another_process_takes_over_when_the_lease_ends(tmp_path, monkeypatch):
    """It cannot know that nobody computes the answer any more: it waits for the lease."""
    monkeypatch.setattr(releasing, "LEASE", 1)
    place, seen = tmp_path / "a.ledger", str(tmp_path / "seen")
    with Ledger.create(place, budget=dither.pure(1), domain="visits") as ledger:
        quote = visits(ledger).quote(COUNT, epsilon="0.5")
        with monkeypatch.context() as broken:
            broken.setattr(Opened, "read", lambda *_, **__: 1 / 0)
            with pytest.raises(ReleaseError):
                quote.release()

    def ask() -> None:
        with Ledger(place) as own:
            note(seen, str(visits(own).quote(COUNT, epsilon="0.5").release(wait=10).receipt.attempt))

    assert wait([fork(ask)]) == [0]
    assert Path(seen).read_text().split() == ["2"]
