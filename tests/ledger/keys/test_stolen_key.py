"""Somebody has the key from before a rotation, and writes what they like into the ledger and its second place."""

from __future__ import annotations

import hmac
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dither import Ledger, pure
from dither.errors import DitherError, LedgerError, TamperError
from dither.ledger.access_log import PURPOSE as ACCESS
from dither.ledger.entries import countersignature
from dither.ledger.entries.charge_request import fingerprint
from dither.ledger.entries.entry import Entry, write
from dither.ledger.storage import signing_keys
from dither.ledger.storage.database import COLUMNS
from dither.ledger.witness import Witness

TENTH = pure("0.1")


class Thief:
    """Who has a key, and can write to the file of a ledger."""

    def __init__(self, place: Path, key: bytes) -> None:
        self.place, self.key = place, key

    def change(self, *statements: str) -> None:
        with closing(sqlite3.connect(self.place)) as link, link:
            for verb in ("update", "delete"):
                link.execute(f"DROP TRIGGER IF EXISTS entries_no_{verb}")
            for statement in statements:
                link.execute(statement)
        link.close()

    def put(self, last: Entry | None, kind: str, body: dict[str, Any], **told: Any) -> Entry:
        """An entry after another one, signed with the key that was taken; over the one that is there."""
        assert last is not None
        row, entry = write(self.key, last, kind, time=last.time, body=body, **told)
        self.change(f"DELETE FROM entries WHERE number = {row.number}")
        with closing(sqlite3.connect(self.place)) as link, link:
            link.execute(f"INSERT INTO entries ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        link.close()
        return entry


@pytest.fixture(params=[False, True], ids=["kept", "thrown away"])
def forget(request) -> bool:
    return request.param


@pytest.fixture
def rotated(tmp_path, forget):
    """A ledger of budget 1 with entries 1 to 8: rotated is 5, countersigned 6. It was open before, and is; and the thief."""
    (tmp_path / "clinic").mkdir()
    place = tmp_path / "clinic" / "a.ledger"
    countersignature._blocks.clear()
    with Ledger.create(place, budget=pure(1), domain="clinic", witness=tmp_path / "heads") as ledger, Ledger(place) as other:
        ledger.commit(ledger.reserve(TENTH, "question 1"), "1")
        ledger.record_refusal("SELECT 1", "no")
        other.remaining()
        assert ledger.handle.key is not None
        thief = Thief(place, ledger.handle.key)
        ledger.rotate_key(forget=forget)
        ledger.commit(ledger.reserve(TENTH, "question 2"), "2")
        yield ledger, other, thief


def charge(question: str, **changes: Any) -> dict[str, Any]:
    told = {"question": f'"{question}"', "guarantee": TENTH.to_json(), "policy": "", "data_version": "", "analyst": ""}
    body = {**told, "key": None, "until": 0, "share": None, "text": "", "door": "", **changes}
    return {**body, "fingerprint": fingerprint(body["question"], body["guarantee"], body["policy"], body["data_version"])}


def refused(do: Callable[[], object], why: type[DitherError] = TamperError) -> str:
    with pytest.raises(why) as found:
        do()
    return found.value.why


def open_and_ask(ledger: Ledger, question: str = "question 1") -> None:
    with Ledger(ledger.location) as again:
        again.reserve(TENTH, question)


def test_an_entry_more(rotated):
    ledger, other, thief = rotated
    thief.put(list(ledger.history())[-1], "reserved", charge("forged"), state=list(ledger.history())[-1].state)
    for user in (ledger, other):
        assert "key of this ledger" in refused(user.remaining)
        assert "key of this ledger" in refused(lambda user=user: user.reserve(TENTH, "new"))
    refused(lambda: open_and_ask(ledger))


@pytest.mark.parametrize("last", [2, 4, 5, 6])
@pytest.mark.parametrize("more", [0, 9])
@pytest.mark.parametrize("second", [False, True])
def test_the_end_cut_off_and_written_anew(rotated, tmp_path, last, more, second, forget):
    """Also without the second place: the key file knows the rotation. To 6 itself it is a roll-back like any other."""
    ledger, other, thief = rotated
    entries = list(ledger.history())
    thief.change(f"DELETE FROM entries WHERE number > {last}")
    end = entries[last - 1]
    for number in range(more):
        end = thief.put(end, "reserved", charge(f"forged {number}"), state=end.state)
    if second:
        assert refused(ledger.remaining)
        assert refused(other.remaining)
    why = refused(lambda: open_and_ask(ledger))
    assert last == 6 or more or "the key was rotated by entry 5, which it lacks" in why
    (tmp_path / "heads").unlink()
    if last == 6 and not more:
        return  # known limits: without a second place, a copy from after the rotation cannot be told
    assert refused(lambda: open_and_ask(ledger), LedgerError)
    ledger.handle.witness = None
    assert not ledger.verify().ok


def test_the_budget_in_the_first_entry(rotated, tmp_path):
    ledger, _, thief = rotated
    first = next(ledger.history())
    thief.put(replace(first, number=0, hash=""), "created", {**first.body, "budget": pure(100).to_json()}, state=first.state)
    refused(lambda: open_and_ask(ledger, "new"))
    assert not ledger.verify().ok


def test_a_charge_that_nobody_paid(rotated):
    """A charge of old is exchanged for that of another question: its answer would be computed for free."""
    ledger, other, thief = rotated
    before, old = list(ledger.history())[1:3]
    thief.put(before, "reserved", charge("a new question"), state=old.state)
    thief.change("DELETE FROM entries WHERE number = 4")
    for user in (ledger, other):
        refused(lambda user=user: user.reserve(TENTH, "a new question"))
        refused(lambda user=user: user.recall(TENTH, "a new question", idempotency_key="k"))
        refused(lambda user=user: list(user.history()))
        refused(lambda user=user: user.share("ana", pure(1)))
    assert not ledger.verify().ok
    refused(ledger.rotate_key)


def test_a_charge_from_after_the_rotation(rotated):
    ledger, other, thief = rotated
    before, own = list(ledger.history())[5:7]
    thief.put(before, "reserved", charge("a new question"), state=own.state)
    for user in (ledger, other):
        assert "key of this ledger" in refused(lambda user=user: user.reserve(TENTH, "a new question"))
        refused(lambda user=user: list(user.history()))
        assert not user.verify().ok


@pytest.mark.parametrize("cached", [False, True])
def test_a_history_of_their_own_up_to_the_rotation(rotated, cached):
    """All entries up to the handover anew, each after the other, each signed: only the new key tells."""
    ledger, other, thief = rotated
    entries = list(ledger.history())
    if not cached:
        countersignature._blocks.clear()
    end = entries[1]
    end = thief.put(end, "reserved", charge("forged"), state=entries[2].state)
    for entry in entries[3:5]:
        end = thief.put(end, entry.kind, dict(entry.body), state=entry.state, answer=entry.answer)
    for user in (ledger, other):
        refused(lambda user=user: user.reserve(TENTH, "forged"))
        refused(lambda user=user: list(user.history()))
        assert not user.verify().ok


def test_a_rotation_of_their_own(rotated, tmp_path):
    """The end cut off, and another key put in force by the old one."""
    ledger, other, thief = rotated
    entries, mine = list(ledger.history()), b"m" * 32
    thief.change("DELETE FROM entries WHERE number > 4")
    state = replace(entries[3].state, rotation=9)
    end = entries[3]
    for _ in range(4):
        end = thief.put(end, "reserved", charge("more"), state=end.state)
    end = thief.put(end, "rotated", {"key": signing_keys.fingerprint(mine)}, state=state)
    thief.key = mine
    thief.put(end, "countersigned", {"blocks": []}, state=state)
    (tmp_path / "heads").unlink()
    refused(lambda: open_and_ask(ledger))
    ledger.handle.witness = other.handle.witness = None
    for user in (ledger, other):
        refused(user.remaining)
        assert not user.verify().ok


def test_heads_of_the_second_place(rotated, tmp_path, forget):
    ledger, other, thief = rotated
    entries = list(ledger.history())
    watch = ledger.handle.witness
    assert watch is not None
    with closing(sqlite3.connect(tmp_path / "heads")) as link, link:
        for entry in (entries[7], entries[5]):  # from the rotation on, the old key signs no head
            mac = Witness._mac(watch, thief.key, entry.head, str(thief.place))
            link.execute("UPDATE heads SET count = ?, hash = ?, mac = ?", (*entry.head, mac))
            link.commit()
            assert "ledger's key" in refused(other.remaining)
            refused(lambda: open_and_ask(ledger))
    link.close()


def test_lines_of_the_access_log(rotated):
    ledger, other, thief = rotated
    with closing(sqlite3.connect(thief.place)) as link, link:
        [(record,)] = link.execute("SELECT record FROM access_log").fetchall()
        link.execute("UPDATE access_log SET mac = ?", (hmac.digest(thief.key, ACCESS + record.encode(), "sha256").hex(),))
    link.close()
    for user in (ledger, other):
        assert "key of this ledger" in refused(user.access_log.lines)
        assert not user.verify().ok


def test_who_takes_the_key_in_force_can_rotate_it_and_is_noticed(tmp_path):
    (tmp_path / "clinic").mkdir()
    place = tmp_path / "clinic" / "a.ledger"
    with Ledger.create(place, budget=pure(1), domain="clinic") as ledger:
        entries, mine = list(ledger.history()), b"m" * 32
        assert ledger.handle.key is not None
        thief = Thief(place, ledger.handle.key)
        state = replace(entries[-1].state, rotation=3)
        end = thief.put(entries[-1], "rotated", {"key": signing_keys.fingerprint(mine)}, state=state)
        thief.key = mine
        thief.put(end, "countersigned", {"blocks": []}, state=state)
        with pytest.raises(LedgerError, match="if that was not you, somebody else has your key"):
            ledger.remaining()
