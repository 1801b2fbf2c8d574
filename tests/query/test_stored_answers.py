"""An answer that is stored: found before anything is opened, and the same whatever became of the data."""

from __future__ import annotations

import pyarrow.parquet
import pytest

import dither
from dither.errors import ConflictError, DataError
from dither.query.engines.duckdb.run import DuckDBEngine
from dither.query.sources.source import ParquetFiles
from tests.query.clinics import clinic, ledger, visits

COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def closed(monkeypatch):
    """From now on whoever touches an engine or a source fails the test."""

    def close() -> None:
        for owner, verb in (
            (DuckDBEngine, "opened"),
            (DuckDBEngine, "rehearse"),
            (DuckDBEngine, "table"),
            (ParquetFiles, "schema"),
        ):
            monkeypatch.setattr(owner, verb, lambda *_, **__: pytest.fail("the engine was asked"))

    return close


def test_it_needs_no_engine_and_no_rows(tmp_path, closed):
    path = tmp_path / "visits.parquet"
    pyarrow.parquet.write_table(visits(), path)
    data = clinic(tmp_path, str(path))
    first = data.quote(COUNT, epsilon=1).release()
    entries = data.ledger.head.entries
    path.unlink()
    closed()
    again = data.quote(f"{COUNT} -- again", epsilon=1).release(threads=2)
    assert (again.scalar(), again.receipt.number) == (first.scalar(), first.receipt.number)
    assert data.ledger.head.entries == entries  # nothing is written for a reader


def test_batches_too(tmp_path, closed):
    data = clinic(tmp_path)
    batch = data.quote([COUNT, f"{COUNT} WHERE age > 40"], epsilon=1)
    first = batch.release()
    closed()
    assert [answer.columns for answer in batch.release()] == [answer.columns for answer in first]


def test_a_key_is_bound_and_checked_without_an_engine(tmp_path, closed):
    data = clinic(tmp_path)
    quote, other = data.quote(COUNT, epsilon=1), data.quote(f"{COUNT} WHERE age > 40", epsilon=1)
    first, second = quote.release(), other.release()
    closed()
    assert quote.release(idempotency_key="k").scalar() == first.scalar()
    with pytest.raises(ConflictError, match="another question"):
        other.release(idempotency_key="k")
    assert other.release(idempotency_key="l").scalar() == second.scalar()
    assert [entry.kind for entry in data.ledger.history()][-2:] == ["replayed", "replayed"]


def test_another_price_version_or_policy_has_no_stored_answer(tmp_path):
    book = ledger(tmp_path)
    numbers = set()
    for version in ("monday", "tuesday"):
        data = clinic(tmp_path, ledger=book, data_version=version)
        for price in (1, 2):
            numbers.add(data.quote(COUNT, epsilon=price).release().receipt.number)
    assert len(numbers) == 4
    stale = data.quote(COUNT, epsilon=1)
    book.amend("0" * 64, loosens=True, note="another policy")
    with pytest.raises(ConflictError):
        stale.release()


def test_recall_charges_nothing_and_gives_what_reserve_gives(tmp_path):
    with dither.Ledger.create(tmp_path / "a.ledger", budget=dither.pure(1), domain="clinic") as book:
        price = dither.pure("0.25")
        assert book.recall(price, "q") is None
        assert book.head.entries == 2
        receipt = book.reserve(price, "q")
        assert book.recall(price, "q") is None  # charged, and not answered yet
        book.touch(receipt)
        book.commit(receipt, "42")
        found = book.recall(price, "q")
        assert found == book.reserve(price, "q")
        assert found is not None
        assert found.answer == "42"
        assert book.recall(price, "q", data_version="other") is None
        assert book.recall(dither.pure("0.5"), "q") is None
        book.refund(book.reserve(price, "given back"))
        assert book.recall(price, "given back") is None
        with pytest.raises(DataError):
            book.recall(price, 7)


def test_the_second_place_knows_of_an_answer_before_it_is_shown(tmp_path, monkeypatch):
    (tmp_path / "own").mkdir()
    place = tmp_path / "own" / "a.ledger"
    with dither.Ledger.create(place, budget=dither.pure(1), domain="c", witness=tmp_path / "b.witness") as book:
        price = dither.pure("0.25")
        receipt = book.reserve(price, "q")
        book.touch(receipt)
        book.commit(receipt, "42")
        monkeypatch.setattr(type(book.handle), "publish", lambda *_: (_ for _ in ()).throw(ConflictError("w", 1, "no", "")))
        with pytest.raises(ConflictError):
            book.recall(price, "q")
