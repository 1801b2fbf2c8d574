"""Entries written *with* the key that tell one lie each: `verify` goes through the sums and finds every one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dither import Ledger, Number, pure
from dither.ledger.entries.charge_request import fingerprint
from dither.ledger.entries.entry import Entry, digest, write
from dither.ledger.storage.database import insert

TENTH = pure("0.1")


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "a.ledger", budget=pure("0.5"), domain="clinic", policy_hash="p") as made:
        made.commit(made.reserve(TENTH, "question 1", idempotency_key="k"), "42")  # entries 3 and 4
        made.reserve(TENTH, "question 2")  # entry 5
        yield made


def forge(ledger: Ledger, kind: str, body: dict, *, answer: str | None = None, after: Entry | None = None, **state) -> None:
    """One more entry, rightly signed."""
    key = bytes.fromhex(next((Path(ledger.location).parent / "home" / "keys").iterdir()).read_text())
    last = list(ledger.history())[-1] if after is None else after
    row, _ = write(key, last, kind, time=last.time, body=body, state=replace(last.state, **state), answer=answer)
    with ledger.handle.database.write() as transaction:
        transaction.do(insert(row))


def charge(question: str, **changes: object) -> dict:
    body = {"question": f'"{question}"', "guarantee": TENTH.to_json(), "policy": "p", "data_version": "", "analyst": "",
            "key": None, "until": 0, "share": None, **changes}  # fmt: skip
    body.setdefault("fingerprint", fingerprint(body["question"], body["guarantee"], body["policy"], body["data_version"]))
    return body


def spent(tenths: int) -> tuple[Number, Number]:
    return (Number(tenths) / 10, Number(0))


def test_the_truth_passes(ledger):
    forge(ledger, "reserved", charge("new"), spent=spent(3))
    forge(ledger, "touched", {"receipt": 6, "attempt": 1, "until": 0})
    forge(ledger, "rerun", {"receipt": 6, "attempt": 2, "until": 0, "key": None, "analyst": "", "fingerprint": "x"})
    forge(ledger, "answered", {"receipt": 6, "attempt": 2, "sha256": digest("1")}, answer="1")
    forge(ledger, "replayed", {"receipt": 6, "key": "late", "analyst": "", "fingerprint": "x"})
    forge(ledger, "refunded", {"receipt": 5, "analyst": "", "share": None}, spent=spent(2))
    assert ledger.verify().ok, str(ledger.verify())


@pytest.mark.parametrize(
    ("kind", "body", "state", "words"),
    [
        ("reserved", charge("new"), {"spent": spent(2)}, "add up"),
        ("reserved", charge("new"), {"spent": (Number("0.3"), Number("1/10"))}, "add up"),
        ("reserved", charge("new", guarantee=pure("0.9").to_json()), {"spent": spent(11)}, "left of"),
        ("reserved", charge("new", fingerprint="0" * 64), {"spent": spent(3)}, "fingerprint"),
        ("reserved", charge("new", policy="q"), {"spent": spent(3)}, "policy"),
        ("reserved", charge("new", share={"ceiling": 1, "spent": []}), {"spent": spent(3)}, "no shares"),
        ("reserved", charge("new", guarantee="nonsense"), {"spent": spent(3)}, "entry 6"),
        ("reserved", charge("new"), {"spent": spent(3), "domain": "other"}, "add up"),
        ("reserved", charge("new"), {"spent": spent(3), "home": 2}, "add up"),
        ("reserved", charge("new"), {"spent": spent(3), "shares": True}, "add up"),
        ("answered", {"receipt": 3, "attempt": 1, "sha256": digest("1")}, {}, "answer already"),
        ("answered", {"receipt": 2, "attempt": 1, "sha256": digest("1")}, {}, "no charge"),
        ("answered", {"receipt": 77, "attempt": 1, "sha256": digest("1")}, {}, "no charge"),
        ("answered", {"receipt": 5, "attempt": 1, "sha256": digest("1")}, {"spent": spent(0)}, "add up"),
        ("rerun", {"receipt": 3, "attempt": 2, "until": 0, "key": None}, {}, "answer already"),
        ("touched", {"receipt": 3, "attempt": 1, "until": 0}, {}, "answer already"),
        ("touched", {"receipt": 5, "attempt": 2, "until": 0}, {}, "no such attempt"),
        ("rerun", {"receipt": 5, "attempt": 3, "until": 0, "key": None}, {}, "no such attempt"),
        ("answered", {"receipt": 5, "attempt": 2, "sha256": digest("1")}, {}, "no such attempt"),
        ("replayed", {"receipt": 5, "key": "x", "analyst": "", "fingerprint": "y"}, {}, "had no answer"),
        ("refunded", {"receipt": 3, "analyst": "", "share": None}, {"spent": spent(1)}, "was used"),
        ("refunded", {"receipt": 99, "analyst": "", "share": None}, {"spent": spent(1)}, "no charge"),
        ("refunded", {"receipt": 5, "analyst": "", "share": None}, {"spent": spent(0)}, "add up"),
        ("refunded", {"receipt": 5, "analyst": "", "share": {"ceiling": 1, "spent": []}}, {"spent": spent(1)}, "share"),
        (
            "bound",
            {"domain": "other", "unit": "add/remove one person", "policy": ""},
            {"domain": "other", "policy": ""},
            "before",
        ),
        ("created", {"ledger": "x", "budget": "y"}, {}, "made once"),
        ("policy", {"policy": "q", "before": "p", "loosens": True, "note": ""}, {"policy": "r"}, "add up"),
        (
            "share",
            {"analyst": "ana", "limit": pure(1).to_json(), "share": {"ceiling": 6, "spent": []}},
            {"shares": True},
            "entry 6",
        ),
        ("moved", {}, {"home": 2}, "add up"),
        ("moved", {}, {}, "add up"),
    ],
)
def test_one_lie(ledger, kind, body, state, words):
    with ledger.handle.database.write() as transaction:  # the index on answers would refuse some lies by itself
        transaction.do(("DROP INDEX entries_one_answer", ()))
    forge(ledger, kind, body, answer="1" if kind == "answered" else None, **state)
    result = ledger.verify()
    assert len(result.faults) == 1, result.faults
    assert "entry 6" in result.faults[0]
    assert words in result.faults[0]


def test_an_entry_that_follows_another_one_than_the_last(ledger):
    entries = list(ledger.history())
    forge(ledger, "reserved", charge("new"), after=replace(entries[-1], hash=entries[-2].hash), spent=spent(3))
    assert "does not follow" in ledger.verify().faults[0]


def test_a_gap_in_the_numbers(ledger):
    last = list(ledger.history())[-1]
    forge(ledger, "reserved", charge("new"), after=replace(last, number=7), spent=spent(3))
    assert "missing" in ledger.verify().faults[0]


def test_a_share_that_forgets(ledger):
    ledger.share("ana", pure("0.3"))
    ledger.reserve(TENTH, "question 3", analyst="ana")
    assert ledger.verify().ok
    share = {"ceiling": 6, "spent": ["1/10", "0"]}
    forge(ledger, "reserved", charge("new", analyst="ana", share=share), spent=spent(4))
    assert "share is not what its entries add up to" in ledger.verify().faults[0]


@pytest.mark.parametrize("kind", ["touched", "rerun"])
def test_a_refund_after_data_was_touched(ledger, kind):
    body = {"receipt": 5, "attempt": 1 if kind == "touched" else 2, "until": 0, "key": None}
    forge(ledger, kind, body)
    assert ledger.verify().ok
    forge(ledger, "refunded", {"receipt": 5, "analyst": "", "share": None}, spent=spent(1))
    assert "was used" in ledger.verify().faults[0]
