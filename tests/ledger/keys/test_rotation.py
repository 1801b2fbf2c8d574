"""A rotated key: who holds the old one writes nothing that counts; who has the ledger open goes on; no crash loses a key."""

from __future__ import annotations

import json
import os
import signal
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from dither import Ledger, pure
from dither.errors import ConflictError, DataError, LedgerError, TamperError
from dither.ledger import key_rotation
from dither.ledger.entries import countersignature
from dither.ledger.entries.transaction import LedgerTransaction
from dither.ledger.relocation import backup_ledger, move_ledger, restore_ledger
from dither.ledger.storage.database import TABLES, EntryRow, insert
from dither.ledger.storage.signing_keys import KeyFile, fingerprint
from dither.ledger.storage.sqlite import SqliteDatabase
from dither.ledger.verify import Audit, verify
from tests.ledger.children import fork, note, wait

TENTH = pure("0.1")
STEPS = {  # where a process is killed, and whether the new key is in force then
    "begin": (KeyFile, "begin", False),
    "entries": (LedgerTransaction, "rotate", False),
    "commit": (key_rotation, "finish_rotation", True),
    "file": (KeyFile, "_write", True),
    "complete": (KeyFile, "complete", True),
}


@pytest.fixture
def place(tmp_path) -> Path:
    (tmp_path / "clinic").mkdir()
    return tmp_path / "clinic" / "a.ledger"


def spend(ledger: Ledger, question: str) -> None:
    ledger.commit(ledger.reserve(TENTH, question), f"the answer of {question}")


def key_file(home: Path) -> Path:
    [file] = [file for file in (home / "keys").iterdir() if ".next" not in file.name]
    return file


def test_entries_before_and_after(ledger, home):
    spend(ledger, "question 1")
    ledger.record_refusal("SELECT 1", "no")
    first = key_file(home).read_text().strip()
    name = ledger.rotate_key()
    spend(ledger, "question 2")
    ledger.record_refusal("SELECT 2", "no")
    assert ledger.reserve(TENTH, "question 1").answer == "the answer of question 1"  # from before the rotation, for free
    assert ledger.handle.key is not None
    assert (fingerprint(ledger.handle.key), ledger.handle.key.hex() != first) == (name, True)
    kinds = [entry.kind for entry in ledger.history()]
    assert kinds == ["created", "bound", "reserved", "answered", "rotated", "countersigned", "reserved", "answered"]
    for result in (ledger.verify(), Ledger(ledger.location).verify()):
        assert result.ok, str(result)
        assert (result.signed, result.countersigned) == (True, 0)
    assert len(ledger.access_log.lines()) == 2
    assert not list((home / "keys").glob("*.next-*"))
    assert key_file(home).stat().st_mode & 0o777 == 0o600


def test_a_key_that_was_thrown_away(ledger, home):
    for turn in range(3):
        spend(ledger, f"question {turn}")
        ledger.rotate_key(forget=True)
    assert key_file(home).read_text().count("forgotten") == 3
    with Ledger(ledger.location) as again:
        assert again.reserve(TENTH, "question 0").answer == "the answer of question 0"
        spend(again, "question 3")
        result = again.verify()
    assert result.ok, str(result)
    assert result.countersigned == 13
    assert "1 to 13 was thrown away" in str(result)


def test_a_temporary_ledger():
    with Ledger.temporary(pure(1), domain="class") as ledger:
        ledger.rotate_key()
        spend(ledger, "question")
        assert ledger.verify().ok
        with pytest.raises(ConflictError, match="another ledger may use"):
            ledger.rotate_key(forget=True)
        with pytest.raises(DataError, match="truth value"):
            ledger.rotate_key(forget=1)  # type: ignore[arg-type]


def test_without_its_key_nothing_is_rotated(place, home):
    with Ledger.create(place, budget=pure(1), domain="clinic"):
        pass
    key_file(home).unlink()
    with Ledger(place) as ledger:
        with pytest.raises(LedgerError, match="only be read"):
            ledger.rotate_key()
        assert ledger.head.entries == 2


def test_two_ledgers_with_one_key_file(tmp_path, place):
    key = tmp_path / "keys" / "both.key"
    with (
        Ledger.create(place, budget=pure(1), domain="a", key=key) as one,
        Ledger.create(place.with_name("b.ledger"), budget=pure(1), domain="b", key=key) as other,
    ):
        one.rotate_key()
        spend(other, "question 1")
        other.rotate_key()
        for ledger in (one, other):
            spend(ledger, "question 2")
            with Ledger(ledger.location, key=key) as again:
                assert again.verify().ok
    with pytest.raises(ConflictError, match="were rotated"):  # a new ledger would begin with a key that somebody may have
        Ledger.create(place.with_name("c.ledger"), budget=pure(1), domain="c", key=key)


# -- crashes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("after", [False, True], ids=["before it", "after it"])
def test_killed_at_each_step(location, home, monkeypatch, step, after):
    """Either key state is completed by whoever opens it next; nothing is lost, and the ledger goes on."""
    with Ledger.create(location, budget=pure(1), domain="clinic") as ledger:
        spend(ledger, "question 1")
        identity = ledger.identity
    holder, name, in_force = STEPS[step]
    original, calls = getattr(holder, name), []

    def dies(*arguments, **named):
        calls.append(1)
        first = step == "commit" and len(calls) == 1  # the first call comes before the rotation
        if not after and not first:
            os.kill(os.getpid(), signal.SIGKILL)
        found = original(*arguments, **named)
        if not first:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    def child():
        with monkeypatch.context() as patch:
            patch.setattr(holder, name, dies)
            if step == "commit":
                patch.setattr("dither.ledger.owner.finish_rotation", dies)
            with Ledger(location) as ledger:
                if step == "commit":
                    calls.clear()
                ledger.rotate_key()

    assert wait([fork(child)]) == [-signal.SIGKILL]
    with Ledger(location, identity=identity) as ledger:
        kinds = [entry.kind for entry in ledger.history()]
        assert kinds[4:] == (["rotated", "countersigned"] if in_force else [])
        spend(ledger, "question 2")
        assert ledger.reserve(TENTH, "question 1").answer == "the answer of question 1"
        assert ledger.verify().ok, str(ledger.verify())
        assert not list((home / "keys").glob("*.next-*"))
        assert len(key_file(home).read_text().splitlines()) == (2 if in_force else 1)
        ledger.rotate_key()
        spend(ledger, "question 3")
        assert ledger.verify().ok


def test_open_elsewhere_while_a_rotation_was_cut_off(location, monkeypatch):
    """A process that has it open goes on with the new key, although no key file says yet that it is in force."""
    with Ledger.create(location, budget=pure(1), domain="clinic") as ledger, Ledger(location) as other:
        spend(ledger, "question 1")
        with monkeypatch.context() as patch:
            patch.setattr("dither.ledger.owner.finish_rotation", lambda database, file: None)
            ledger.rotate_key()
        for turn in (2, 3):
            spend(other, f"question {turn}")
            other.record_refusal("SELECT 1", "no")
        assert other.verify().ok, str(other.verify())
        with Ledger(location) as again:  # completes it
            assert again.verify().ok
        spend(other, "question 4")
        spend(ledger, "question 5")
        assert ledger.verify().ok


# -- others who have it open ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("forget", [False, True])
def test_processes_that_have_it_open(location, tmp_path, forget):
    """Two processes charge while the key is rotated: each charge counts, each entry has the key of its number."""
    log = tmp_path / "log"

    def child(who: str) -> None:
        with Ledger(location) as ledger:
            note(str(log), "open")
            for number in range(1_000_000):
                if len(log.read_text().splitlines()) >= 5:  # the rotations are over
                    break
                spend(ledger, f"{who} {number}") if number < 200 else ledger.remaining()
            spend(ledger, f"{who} last")

    with Ledger.create(location, budget=pure(100), domain="clinic") as ledger:
        children = [fork(lambda who=who: child(who)) for who in ("ana", "bob")]
        while not log.exists() or log.read_text().count("open") < 2:
            assert all(os.waitpid(one, os.WNOHANG) == (0, 0) for one in children)
        for _ in range(3):
            ledger.rotate_key(forget=forget)
            note(str(log), "rotated")
        assert wait(children) == [0, 0]
        result = ledger.verify()
        assert result.ok, str(result)
        kinds = [entry.kind for entry in ledger.history()]
        assert kinds.count("rotated") == kinds.count("countersigned") == 3
        assert kinds.count("reserved") == kinds.count("answered") >= 2


def test_threads_charge_while_the_key_is_rotated(ledger):
    ledger.share("ana", pure(1))
    stop, errors = threading.Event(), []

    def charge(who: int) -> None:
        try:
            for number in range(1000):
                if stop.is_set():
                    return
                ledger.reserve(pure("0.0001"), f"{who} {number}", analyst="ana")
                ledger.remaining("ana")
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=charge, args=(who,)) for who in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        ledger.rotate_key()
    stop.set()
    for thread in threads:
        thread.join()
    assert not errors
    assert ledger.verify().ok


def test_two_who_rotate_at_once(location):
    def child() -> None:
        with Ledger(location) as ledger:
            ledger.rotate_key()
            spend(ledger, f"question of {os.getpid()}")

    with Ledger.create(location, budget=pure(1), domain="clinic") as ledger:
        assert wait([fork(child) for _ in range(3)]) == [0, 0, 0]
        assert [entry.kind for entry in ledger.history()].count("rotated") == 3
        assert ledger.verify().ok


def test_a_machine_without_the_new_key_is_told_so(location, home):
    """Several gateways on one PostgreSQL have a copy of the key file each."""
    with Ledger.create(location, budget=pure(1), domain="clinic") as ledger:
        copy = key_file(home).read_text()
        name = ledger.rotate_key()
        spend(ledger, "question 1")
    new = key_file(home).read_text()
    key_file(home).write_text(copy)
    with pytest.raises(LedgerError, match=f"entry 3 handed over to another key, {name[:16]}"):
        Ledger(location)
    key_file(home).write_text(new)
    with Ledger(location) as ledger:
        assert ledger.verify().ok


# -- moves and backups ------------------------------------------------------------------------------------------------


def test_moves_and_backups_after_a_rotation(tmp_path, place):
    to, copy = tmp_path / "b.ledger", tmp_path / "backup"
    with Ledger.create(place, budget=pure(1), domain="clinic") as ledger:
        spend(ledger, "question 1")
        ledger.rotate_key(forget=True)
    move_ledger(place, to)
    backup_ledger(to, copy)
    to.unlink()
    restore_ledger(to, backup=copy, lost=("0.1", 0))
    with Ledger(to) as ledger:
        assert ledger.verify().ok
        assert ledger.remaining().like(TENTH) == 8


@pytest.mark.parametrize("second", [False, True])
def test_a_backup_from_before_a_rotation(tmp_path, place, home, second):
    copy, apart, another = tmp_path / "backup", tmp_path / "apart", tmp_path / "another"
    with Ledger.create(place, budget=pure(1), domain="clinic", witness=apart if second else None) as ledger:
        spend(ledger, "question 1")
        ledger.record_refusal("SELECT 1", "no")
        backup_ledger(place, copy)
        ledger.rotate_key()
        stolen = ledger.handle.key
        spend(ledger, "question 2")
    place.unlink()
    with pytest.raises(TamperError, match="rotated by entry 5"):
        restore_ledger(place, backup=copy, lost=("0.1", 0))
    assert not place.exists()
    if second:
        with pytest.raises(TamperError, match="lacks entry"):  # the second place saw what came later
            restore_ledger(place, backup=copy, lost=("0.1", 0), old_key=True)
        apart.unlink()
    restore_ledger(place, backup=copy, lost=("0.1", 0), old_key=True, witness=another if second else None)
    with Ledger(place) as ledger:
        assert [entry.kind for entry in ledger.history()][4:] == ["moved", "reserved", "rotated", "countersigned"]
        assert ledger.handle.key not in (None, stolen)
        assert ledger.reserve(TENTH, "question 1").answer == "the answer of question 1"
        assert ledger.remaining().like(TENTH) == 8
        spend(ledger, "question 3")
        assert len(ledger.access_log.lines()) == 1
        assert ledger.verify().ok, str(ledger.verify())
    assert len(key_file(home).read_text().splitlines()) == 2


def test_a_backup_whose_key_was_thrown_away(tmp_path, place):
    copy = tmp_path / "backup"
    with Ledger.create(place, budget=pure(1), domain="clinic") as ledger:
        backup_ledger(place, copy)
        ledger.rotate_key(forget=True)
    place.unlink()
    with pytest.raises(ConflictError, match="thrown away"):
        restore_ledger(place, backup=copy, lost=None, old_key=True)


def test_blocks_of_entries(place, monkeypatch):
    """Histories of every length around the size of a block."""
    monkeypatch.setattr(countersignature, "BLOCK", 3)
    with Ledger.create(place, budget=pure(100), domain="clinic") as ledger:
        for turn in range(7):
            ledger.reserve(TENTH, f"question {turn}")
            ledger.rotate_key(forget=turn % 2 == 0)
            countersignature._blocks.clear()
            assert len(list(ledger.history())) == 5 + 3 * turn
        assert ledger.verify().ok


def test_a_key_that_may_be_in_use_is_not_overwritten(location, home, monkeypatch):
    """A rotation is written and not yet in the key file: whoever rotates next completes it first."""
    with Ledger.create(location, budget=pure(1), domain="clinic") as ledger, Ledger(location) as other:
        with monkeypatch.context() as patch:
            patch.setattr("dither.ledger.owner.finish_rotation", lambda database, file: None)
            ledger.rotate_key()
        [file] = (home / "keys").glob("*.next-*")
        before = file.read_text()
        told = (other.handle.file, other.access_log, Audit(()))
        assert other._decide((), lambda page: key_rotation.hand_over(page, *told)) is None
        assert (file.read_text(), other.head.entries) == (before, 4)
        other.rotate_key()
        assert other.verify().ok
        assert other.head.entries == 6


@pytest.mark.parametrize("lie", ["blocks", "handover", "alone"])
def test_a_rotation_that_was_not_what_it_says(place, monkeypatch, lie):
    """Rightly signed, and told wrong: the audit finds it."""
    with Ledger.create(place, budget=pure(1), domain="clinic") as ledger:
        add = LedgerTransaction.add

        def lies(page, kind, body, answer=None, **changes):
            if lie == "alone" and kind == "countersigned":
                kind, body = "policy", {"policy": "", "before": "", "loosens": False, "note": ""}
            if lie == "handover" and kind == "rotated":
                changes = {"rotation": 2}
            if lie == "blocks" and kind == "countersigned":
                body = {"blocks": ["0" * 64]}
            return add(page, kind, body, answer, **changes)

        monkeypatch.setattr(LedgerTransaction, "add", lies)
        with suppress(LedgerError):
            ledger.rotate_key()
        monkeypatch.undo()
        faults = verify(ledger.handle.database, None, ledger.handle.file, (), None).faults
        words = {"blocks": "other entries", "handover": "add up", "alone": "countersigns at once"}[lie]
        assert any(words in fault for fault in faults), faults


def test_key_files_that_are_none(place, home):
    with Ledger.create(place, budget=pure(1), domain="clinic") as ledger:
        ledger.rotate_key()
    text = key_file(home).read_text()
    first, line = text.splitlines()
    bad = [line, f"{first}\n{line}x", f"{first}\n{line}\n{line}", f"{first}\n\n{line}", "forgotten2", "é"]
    for wrong in bad:
        key_file(home).write_text(wrong)
        with pytest.raises(LedgerError, match="key"):
            Ledger(place)
    key_file(home).write_text(f"forgotten\n{line}\n")
    with Ledger(place) as ledger:
        assert ledger.verify().countersigned == 3
    key_file(home).write_text(text)
    with Ledger(place) as ledger:
        file = key_file(home)
        for wrong in (None, first):  # gone, or put back from before: who has it open goes on, and rotates nothing
            file.unlink(missing_ok=True)
            if wrong is not None:
                file.write_text(wrong)
            spend(ledger, f"question {wrong}")
            with pytest.raises(LedgerError, match="not the file that was read before"):
                ledger.rotate_key()
        file.write_text(text)
        ledger.rotate_key()
        assert ledger.verify().ok


def test_a_stored_ledger_of_an_earlier_version(place, home):
    """Entries as they were written before there were rotations, with their key."""
    stored = json.loads((Path(__file__).parents[2] / "golden" / "formats" / "ledger-entry-2.json").read_text())
    rows = [EntryRow(*row) for row in stored["rows"]]
    database = SqliteDatabase(place)
    database.prepare(TABLES, ["entries"])
    with database.write() as transaction:
        for row in rows:
            transaction.do(insert(row))
    database.close()
    (home / "keys").mkdir(parents=True)
    identity = json.loads(rows[0].record)["body"]["ledger"]
    (home / "keys" / f"{identity}.key").write_text(stored["key"] + "\n")
    with Ledger(place, moved=True) as ledger:
        before = ledger.remaining()
        ledger.rotate_key(forget=True)
        assert ledger.remaining() == before
        assert ledger.verify().ok, str(ledger.verify())
    with Ledger(place) as ledger:
        assert [entry.hash for entry in ledger.history(1, len(rows))] == [row.hash for row in rows]
