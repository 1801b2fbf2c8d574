"""The access log: bounded, signed, beside the chain; in both kinds of database."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from dither import Ledger, pure
from dither.errors import DataError, LedgerError, TamperError
from dither.ledger import access_log
from dither.ledger.access_log import AccessLog
from dither.ledger.storage.signing_keys import KeyFile


def test_the_log_is_bounded_and_the_chain_does_not_grow(ledger, monkeypatch):
    """An asker who is refused for ever fills neither the chain nor the log, and washes out no export."""
    monkeypatch.setattr(access_log, "MOST", 5)
    receipt = ledger.reserve(pure("0.1"), "how many")
    ledger.commit(receipt, "42")
    ledger.record_export(receipt, "csv", analyst="ann")
    head, spent = ledger.head, ledger.remaining()
    for place in range(23):
        ledger.record_refusal(f"SELECT {place}" + "x" * 5000, "no such column" + "y" * 5000, analyst="eve")
    lines = ledger.access_log.lines()
    assert [line.number for line in lines if line.kind == "refused"] == [19, 20, 21, 22, 23]
    assert [line.body["what"] for line in lines if line.kind == "exported"] == ["csv"]
    assert all(len(line.body["text"]) == 2000 == len(line.body["why"]) for line in lines if line.kind == "refused")
    assert (ledger.head, ledger.remaining()) == (head, spent)
    assert ledger.verify([receipt]).ok


def test_what_is_no_text_or_no_receipt_is_refused(ledger):
    for bad in ({"text": 7, "why": "no"}, {"text": "a", "why": None}, {"text": "a", "why": "b", "analyst": "a\nb"}):
        with pytest.raises(DataError):
            ledger.record_refusal(**bad)
    with pytest.raises(DataError):
        ledger.record_export("receipt", "csv")
    assert ledger.access_log.lines() == []


def test_ledgers_that_were_made_before_get_their_log(tmp_path):
    place = tmp_path / "a.ledger"
    with Ledger.create(place, budget=pure(1), domain="clinic") as ledger:
        assert ledger.access_log.lines() == []
    with closing(sqlite3.connect(place)) as link, link:
        link.execute("DROP TABLE access_log")
    link.close()
    with Ledger(place) as ledger:
        assert ledger.access_log.lines() == []
        assert ledger.verify().ok
        ledger.record_refusal("SELECT 1", "no")
        assert len(ledger.access_log.lines()) == 1


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("UPDATE access_log SET record = replace(record, 'SELECT 2', 'SELECT 9')", "not written with the key"),
        ("UPDATE access_log SET mac = ''", "not written with the key"),
        ("UPDATE access_log SET record = x'00'", "not texts"),
        ("UPDATE access_log SET number = number + 1", "do not belong together"),
        ("UPDATE access_log SET kind = 'exported'", "do not belong together"),
        ("DELETE FROM access_log WHERE number = 2", "are missing"),
        ("DELETE FROM access_log WHERE number = 1", "are missing"),
    ],
)
def test_a_line_that_was_changed_or_is_missing_among_others_is_noticed(tmp_path, change, why):
    place = tmp_path / "a.ledger"
    with Ledger.create(place, budget=pure(1), domain="clinic") as ledger:
        for number in (1, 2, 3):
            ledger.record_refusal(f"SELECT {number}", "no")
        assert ledger.verify().ok
    with closing(sqlite3.connect(place)) as link, link:
        link.execute(change)
    link.close()
    with Ledger(place) as ledger:
        with pytest.raises(TamperError, match=why):
            ledger.access_log.lines()
        result = ledger.verify()
        assert not result.ok
        assert why in " ".join(result.faults)
        ledger.reserve(pure("0.1"), "the budget does not hang on it")


def test_lines_of_another_ledger_are_none_of_this_one(tmp_path):
    """Two ledgers may have one key file: a line that was carried over is noticed."""
    with Ledger.create(tmp_path / "a.ledger", budget=pure(1), domain="a") as ledger:
        ledger.record_refusal("SELECT 1", "no")
        other = AccessLog(ledger.handle.database, "another", ledger.handle.file)
        with pytest.raises(TamperError, match="belong together"):
            other.lines()
        unsigned = AccessLog(ledger.handle.database, ledger.identity, KeyFile(tmp_path / "none.key", ledger.identity))
        assert len(unsigned.lines()) == 1  # without the key it can be read
        with pytest.raises(LedgerError, match="only be read"):
            unsigned.add("refused", {})


@pytest.mark.parametrize("number", ["'x'", "9223372036854775807", "-3"])
def test_a_number_that_nobody_wrote_stops_the_log_alone(tmp_path, number):
    place = tmp_path / "a.ledger"
    with Ledger.create(place, budget=pure(1), domain="clinic") as ledger:
        ledger.record_refusal("SELECT 1", "no")
    with closing(sqlite3.connect(place)) as link, link:
        link.execute(f"UPDATE access_log SET number = {number}")
    link.close()
    with Ledger(place) as ledger:
        with pytest.raises(TamperError, match="no such line"):
            ledger.record_refusal("SELECT 2", "no")
        ledger.reserve(pure("0.1"), "the budget does not hang on it")
