"""Somebody with access to the database, and without the key: whatever is changed is found, or plainly said not to be."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from dither import Ledger, pure
from dither.errors import ConflictError, LedgerError, TamperError
from dither.ledger.entries.entry import Head, read, write
from dither.ledger.storage.database import LAST, EntryRow, insert
from dither.ledger.witness import Witness

TENTH = pure("0.1")
COLUMNS = ("record", "hash", "mac", "answer", "about", "fingerprint", "key", "analyst")


def execute(location: str, statement: str, values: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    """As an intruder would: without dither, and with the triggers out of the way."""
    if location.startswith("postgresql"):
        import psycopg

        url, _, schema = location.partition("#")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"SET search_path TO {schema}")
            connection.execute("ALTER TABLE entries DISABLE TRIGGER USER")
            cursor = connection.execute(statement.replace("?", "%s"), values or None)
            return cursor.fetchall() if cursor.description else []
    with closing(sqlite3.connect(location)) as connection, connection:
        connection.execute("DROP TRIGGER IF EXISTS entries_no_update")
        connection.execute("DROP TRIGGER IF EXISTS entries_no_delete")
        found = connection.execute(statement, values).fetchall()
    connection.close()
    return found


def fill(ledger: Ledger) -> list:
    """A bit of everything."""
    ledger.share("ana", pure("0.5"))
    receipts = []
    for number in range(3):
        receipt = ledger.reserve(TENTH, f"question {number}", analyst="ana", idempotency_key=f"k{number}")
        receipts.append(receipt)
        if number < 2:
            ledger.commit(receipt, f"answer {number}")
    ledger.refund(receipts[2])
    ledger.reserve(TENTH, "question 1", analyst="ana", idempotency_key="again")
    ledger.amend("policy 2", loosens=True, note="more")
    return receipts


def test_a_whole_ledger_holds(ledger):
    receipts = fill(ledger)
    result = ledger.verify(receipts)
    assert result.ok
    assert result.signed
    assert not result.witnessed
    assert "without a second place, an old copy of the whole ledger put back cannot be detected" in str(result)
    assert "3 receipts" in str(result)


def test_every_column_of_every_entry_is_bound(ledger, location):
    fill(ledger)
    for entry in ledger.history():
        for column in COLUMNS:
            number = entry.number
            ((before,),) = execute(location, f"SELECT {column} FROM entries WHERE number = ?", (number,))
            changed: object
            if column == "about":
                changed = 1 if before is None else None
            elif before is None:
                changed = "ab"
            else:
                changed = str(before)[:-1] + ("0" if str(before)[-1] != "0" else "1")
            try:
                execute(location, f"UPDATE entries SET {column} = ? WHERE number = ?", (changed, number))
            except Exception as error:  # the index on answers refuses some changes itself
                assert "unique" in str(error).lower()  # noqa: PT017
                continue
            result = ledger.verify()
            assert not result.ok, (number, column)
            assert f"entry {number}" in result.faults[0]
            execute(location, f"UPDATE entries SET {column} = ? WHERE number = ?", (before, number))
    assert ledger.verify().ok


def test_rows_cannot_be_changed_by_accident(ledger, location):
    if location.startswith("postgresql"):
        import psycopg

        url, _, schema = location.partition("#")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"SET search_path TO {schema}")
            for statement in ("UPDATE entries SET answer = 'x'", "DELETE FROM entries", "TRUNCATE entries"):
                with pytest.raises(psycopg.Error, match="never changed"):
                    connection.execute(statement)
    else:
        connection = sqlite3.connect(location)
        for statement in ("UPDATE entries SET answer = 'x'", "DELETE FROM entries"):
            with pytest.raises(sqlite3.Error, match="never changed"):
                connection.execute(statement)
        connection.close()


def rewrite(location: str, number: int, change) -> None:
    """Change what an entry says and make all hashes after it right again, as far as that can be done without the key."""
    rows = execute(location, "SELECT number, record FROM entries WHERE number >= ? ORDER BY number", (number,))
    previous = None
    for place, text in rows:
        record = json.loads(text)
        if place == number:
            change(record)
        elif previous is not None:
            record["previous"] = previous
        text = json.dumps(record, sort_keys=True, separators=(",", ":"))
        previous = hashlib.sha256(text.encode()).hexdigest()
        execute(location, "UPDATE entries SET record = ?, hash = ? WHERE number = ?", (text, previous, place))


def test_editing_and_hashing_again_needs_the_key(ledger, location, home):
    fill(ledger)
    last = ledger.verify().entries
    rewrite(location, 4, lambda record: record["state"].update(spent=["0", "0"]))
    result = ledger.verify()
    assert not result.ok
    assert "key" in result.faults[0]
    with pytest.raises(TamperError):
        ledger.reserve(TENTH, "new", analyst="ana")
    # Without the key at hand the chain looks right, but its sums do not.
    shutil.rmtree(home / "keys")
    with Ledger(location) as reader:
        blind = reader.verify()
        assert not blind.signed
        assert "NOT CHECKED: signatures" in str(blind)
        assert not blind.ok
        assert blind.entries == last
        with pytest.raises(LedgerError, match="only be read"):
            reader.share("bob", pure(1))


def test_the_last_entry_is_checked_before_anything_is_built_on_it(ledger, location):
    ledger.reserve(pure("0.9"), "question")
    rewrite(location, 3, lambda record: record["state"].update(spent=["0", "0"]))
    with pytest.raises(TamperError):
        ledger.reserve(pure("0.9"), "another")
    with pytest.raises(TamperError):
        Ledger(location)


@pytest.mark.parametrize("number", [0, -5, -(2**31)])
def test_rows_before_the_first_are_found(ledger, location, number):
    fill(ledger)
    execute(location, f"INSERT INTO entries SELECT {number}, record, hash, mac, NULL, NULL, NULL, key, NULL FROM entries "
                      "WHERE number = 4")  # fmt: skip
    assert not ledger.verify().ok


def test_another_valid_answer_is_found(ledger, location):
    ledger.commit(ledger.reserve(TENTH, "question"), "42")
    ledger.reserve(TENTH, "another")
    execute(location, "UPDATE entries SET answer = ? WHERE number = 4", ('"another answer"',))
    assert "entry 4" in ledger.verify().faults[0]
    with pytest.raises(TamperError):
        ledger.reserve(TENTH, "question")


def test_an_answer_where_none_belongs_and_none_where_one_does(ledger, location):
    fill(ledger)
    execute(location, "UPDATE entries SET answer = NULL WHERE number = 5")
    assert "entry 5" in ledger.verify().faults[0]


def test_nonsense_in_the_columns_of_a_file_is_a_fault_and_no_crash(tmp_path):
    path = tmp_path / "a.ledger"
    with Ledger.create(path, budget=pure(1), domain="clinic") as ledger:
        ledger.commit(ledger.reserve(TENTH, "question"), "42")
        last = ledger.verify().entries
        for column in ("record", "mac", "hash", "answer"):
            for value in (b"blob", "é", 3, 1.5, "{}", "null"):
                ((before,),) = execute(str(path), f"SELECT {column} FROM entries WHERE number = ?", (last,))
                execute(str(path), f"UPDATE entries SET {column} = ? WHERE number = ?", (value, last))
                assert not ledger.verify().ok, (column, value)
                with pytest.raises(TamperError):
                    ledger.reserve(TENTH, "question")
                execute(str(path), f"UPDATE entries SET {column} = ? WHERE number = ?", (before, last))
        execute(str(path), "UPDATE entries SET number = 9223372036854775807 WHERE number = ?", (last,))
        assert not ledger.verify().ok


def test_receipts_that_were_forged(ledger):
    receipts = fill(ledger)
    answered = receipts[1]
    for changed in (
        {"fingerprint": "0" * 64},
        {"guarantee": pure("0.2")},
        {"number": 1},
        {"number": 999},
        {"answer": "another"},
        {"head": (receipts[0].head[0], "0" * 64)},
        {"head": (999, receipts[0].head[1])},
    ):
        forged = replace(answered, **{name: Head(*v) if name == "head" else v for name, v in changed.items()})
        for order in ([forged, *receipts], [*receipts, forged]):
            result = ledger.verify(order)
            assert len(result.faults) == 1, (changed, result.faults)
    assert ledger.verify([*receipts, replace(answered, answer="answer 1")]).ok


@pytest.mark.parametrize("what", ["middle", "swap"])
def test_removing_or_swapping_entries_is_found(ledger, location, what):
    fill(ledger)
    if what == "middle":
        execute(location, "DELETE FROM entries WHERE number = 5")
    else:
        for old, new in ((5, 105), (6, 5), (105, 6)):
            execute(location, "UPDATE entries SET number = ? WHERE number = ?", (new, old))
    assert not ledger.verify().ok


def test_cutting_the_tail_is_found_by_receipts_and_by_the_running_process(ledger, location):
    receipts = fill(ledger)
    execute(location, "DELETE FROM entries WHERE number > 6")
    with Ledger(location) as fresh:
        silent = fresh.verify()
        assert silent.ok
        assert "cannot be detected" in str(silent)
        told = fresh.verify(receipts)
        assert not told.ok
        assert any("saw it" in fault for fault in told.faults)
    with pytest.raises(TamperError, match="cut"):
        ledger.reserve(TENTH, "new", analyst="ana")
    with pytest.raises(TamperError):
        ledger.remaining()


# -- the second place --------------------------------------------------------------------------------------------------


@pytest.fixture
def apart(tmp_path) -> Path:
    folder = tmp_path / "another disk"
    folder.mkdir()
    return folder / "heads"


@pytest.fixture
def path(tmp_path) -> Path:
    folder = tmp_path / "clinic"
    folder.mkdir()
    return folder / "a.ledger"


def test_an_old_copy_put_back_is_refused_with_a_second_place(tmp_path, apart, path):
    place = path.parent
    with Ledger.create(path, budget=pure(1), domain="clinic", witness=apart) as ledger:
        first = ledger.reserve(TENTH, "question 1")
        ledger.commit(first, "1")
    shutil.copytree(place, tmp_path / "backup")
    with Ledger(path) as ledger:  # the ledger itself knows its second place
        for number in range(3):
            ledger.commit(ledger.reserve(TENTH, f"later {number}"), "2")
        result = ledger.verify([first])
        assert result.ok
        assert result.witnessed
        assert "the second place confirms" in str(result)
        shutil.rmtree(place)
        shutil.copytree(tmp_path / "backup", place)
        with pytest.raises(TamperError, match="replaced while it was open"):
            ledger.reserve(TENTH, "more")
    with pytest.raises(TamperError, match="old copy"):
        Ledger(path)
    with pytest.raises(TamperError, match="old copy"):
        Ledger(path, budget=pure(1), domain="clinic", witness=apart)
    with pytest.raises(ConflictError, match="a ledger already"):
        Ledger.create(path, budget=pure(1), domain="clinic", witness=apart)


def test_an_old_copy_written_over_the_file_in_place(tmp_path, apart, path):
    with Ledger.create(path, budget=pure(1), domain="clinic", witness=apart) as ledger:
        ledger.reserve(TENTH, "question 1")
    old = path.read_bytes()
    with Ledger(path) as ledger:
        ledger.reserve(TENTH, "question 2")
    path.write_bytes(old)
    with pytest.raises(TamperError, match="old copy"):
        Ledger(path)
    away = tmp_path / "away" / "heads"
    away.parent.mkdir()
    with pytest.raises(TamperError, match="old copy"):  # the former second place is still there, and is asked
        Ledger(path, moved=True, witness=away)
    apart.rename(apart.with_name("out of reach"))
    with Ledger(path, moved=True, witness=away) as moved:
        last = list(moved.history())[-1]
        assert (last.kind, last.body["former_confirmed"]) == ("moved", False)  # it cannot be hidden
    with pytest.raises(ConflictError, match="second place"):
        Ledger(path, witness=apart)


def test_a_ledger_that_was_moved_elsewhere_is_not_written_by_those_who_do_not_know(apart, path, tmp_path):
    with Ledger.create(path, budget=pure(1), domain="clinic") as before:
        before.reserve(TENTH, "question")
        with Ledger(path, moved=True, witness=apart) as after:
            for call in (lambda: before.reserve(TENTH, "more"), before.remaining, lambda: list(before.history())):
                with pytest.raises(ConflictError, match="moved since"):
                    call()
            after.reserve(TENTH, "more")
            assert after.verify().witnessed
    beside = apart.parent / "beside.ledger"
    path.rename(beside)
    with pytest.raises(ConflictError, match="own folder"):  # next to its recorded second place
        Ledger(beside, moved=True)


def test_history_asks_the_second_place_first(apart, path):
    with Ledger.create(path, budget=pure(1), domain="clinic", witness=apart) as ledger:
        ledger.commit(ledger.reserve(TENTH, "question"), "42")
        with Ledger(path) as reader:
            execute(str(path), "DELETE FROM entries WHERE number > 2")
            with pytest.raises(TamperError, match="old copy"):
                list(reader.history())


def test_two_ledgers_at_one_place_one_after_the_other(apart, path, tmp_path):
    with Ledger.create(path, budget=pure(1), domain="clinic", witness=apart) as retired:
        retired.reserve(TENTH, "question")
    path.unlink()
    other = tmp_path / "school" / "b.ledger"
    other.parent.mkdir()
    with Ledger.create(other, budget=pure(1), domain="school", witness=apart) as second:
        second.reserve(TENTH, "question")
    other.rename(path)
    with Ledger(path, moved=True) as moved:
        moved.reserve(TENTH, "question 2")
    with Ledger(path) as again:
        assert again.verify().witnessed


def test_a_refund_in_doubt_is_not_taken_for_untouched(apart, path, monkeypatch):
    with Ledger.create(path, budget=pure(1), domain="clinic", witness=apart) as ledger:
        receipt = ledger.reserve(TENTH, "question")
        with monkeypatch.context() as cut:
            cut.setattr(Witness, "advance", _powerless)
            with pytest.raises(LedgerError, match="written, but the second place"):
                ledger.refund(receipt)
        with pytest.raises(ConflictError, match="given back"):
            ledger.touch(receipt)
        with pytest.raises(ConflictError, match="given back"):
            ledger.refund(receipt)
        assert ledger.remaining().like(TENTH) == 10


def test_the_second_place_may_lag_by_what_nobody_used_and_catches_up(apart, path):
    with Ledger.create(path, budget=pure(1), domain="clinic", witness=apart) as ledger:
        ledger.reserve(TENTH, "question 1")
    heads = apart.read_bytes()
    with Ledger(path) as ledger:
        ledger.reserve(TENTH, "question 2")
    apart.write_bytes(heads)
    with Ledger(path) as ledger:
        assert ledger.verify().ok
        ledger.reserve(TENTH, "question 3")
    connection = sqlite3.connect(apart)
    assert connection.execute("SELECT count FROM heads").fetchall() == [(5,)]
    connection.close()


def test_a_forged_or_missing_second_place_is_refused(apart, path):
    with Ledger.create(path, budget=pure(1), domain="clinic", witness=apart) as ledger:
        for number in range(3):
            ledger.reserve(TENTH, f"question {number}")
        row = list(ledger.history())[2]
        connection = sqlite3.connect(apart)
        connection.execute("UPDATE heads SET count = ?, hash = ?", (row.number, row.hash))
        connection.commit()
        connection.close()
        with pytest.raises(TamperError, match="key"):
            ledger.reserve(TENTH, "more")
        result = ledger.verify()
        assert not result.ok
        assert "key" in result.faults[0]
    with pytest.raises(TamperError):
        Ledger(path)
    for left in apart.parent.iterdir():
        left.unlink()
    with pytest.raises(TamperError, match="does not know this ledger"):
        Ledger(path)
    with pytest.raises(TamperError, match="with a new one"):
        Ledger(path, moved=True, witness=apart)
    with Ledger(path, moved=True, witness=apart.with_name("new")) as ledger:  # the owner's word, and it is on record
        assert ledger.verify().witnessed


def test_an_idle_process_does_not_overtake_the_second_place(apart, path):
    """An old copy that grows again, by a process that never saw the newer one, is refused at the first step."""
    with Ledger.create(path, budget=pure(1), domain="clinic", witness=apart) as idle:
        with Ledger(path) as busy:
            for number in range(5):
                busy.commit(busy.reserve(TENTH, f"question {number}"), "42")
        execute(str(path), "DELETE FROM entries WHERE number > 2")
        for number in range(12):
            with pytest.raises(TamperError, match="old copy"):
                idle.reserve(TENTH, f"later {number}")
        with pytest.raises(TamperError, match="old copy"):
            idle.remaining()
        result = idle.verify()
        assert not result.ok
        assert not result.witnessed
        assert "confirms" not in str(result)
        assert result.entries == 2
    for options in ({}, {"moved": True}, {"moved": True, "witness": apart}):
        with pytest.raises(TamperError, match="old copy"):
            Ledger(path, **options)


def test_a_reader_without_the_key_hears_of_an_old_copy_too(apart, path, home):
    with Ledger.create(path, budget=pure(1), domain="clinic", witness=apart) as ledger:
        for number in range(3):
            ledger.reserve(TENTH, f"question {number}")
    execute(str(path), "DELETE FROM entries WHERE number > 3")
    shutil.rmtree(home / "keys")
    with pytest.raises(TamperError, match="old copy"):
        Ledger(path)


def test_two_branches_of_one_length(tmp_path, apart, path):
    with Ledger.create(path, budget=pure(1), domain="clinic", witness=apart) as ledger:
        ledger.reserve(TENTH, "question 1")
    old = path.read_bytes()
    with Ledger(path) as ledger:
        ledger.reserve(TENTH, "question 2")
    path.write_bytes(old)
    # The same length again, written with the key and without the second place.
    with closing(sqlite3.connect(path)) as connection, connection:
        last = EntryRow(*connection.execute(*LAST).fetchone())
        key = next((Path(os.environ["DITHER_HOME"]) / "keys").iterdir())
        secret = bytes.fromhex(key.read_text())
        entry = read(last, secret)
        body = {**entry.body, "question": '"another"'}
        row, _ = write(secret, entry, "reserved", time=entry.time, body=body, state=entry.state)
        connection.execute(*insert(row))
    connection.close()
    with pytest.raises(TamperError, match="old copy"):
        Ledger(path)


def test_a_second_place_that_was_wiped_after_one_question(apart, path):
    with Ledger.create(path, budget=pure(1)) as ledger:
        assert ledger.witness is None
    other = path.with_name("b.ledger")
    with Ledger.create(other, budget=pure(1), domain="clinic", witness=apart) as ledger:
        ledger.reserve(pure("0.9"), "question")
        connection = sqlite3.connect(apart)
        connection.execute("DELETE FROM heads")
        connection.commit()
        connection.close()
        with pytest.raises(TamperError, match="forgotten"):
            ledger.reserve(TENTH, "more")
        assert "does not know" in ledger.verify().faults[0]
    with pytest.raises(TamperError, match="does not know"):
        Ledger(other)


@pytest.mark.parametrize(
    ("column", "value"), [("mac", "é"), ("count", "abc"), ("hash", b"x"), ("place", 3), ("count", None)]
)
def test_a_second_place_full_of_nonsense(apart, path, column, value):
    with Ledger.create(path, budget=pure(1), domain="clinic", witness=apart) as ledger:
        ledger.reserve(TENTH, "question")
        connection = sqlite3.connect(apart)
        connection.execute("ALTER TABLE heads RENAME TO before")
        connection.execute("CREATE TABLE heads (ledger, place, count, hash, mac)")
        connection.execute("INSERT INTO heads SELECT * FROM before")
        connection.execute(f"UPDATE heads SET {column} = ?", (value,))
        connection.commit()
        connection.close()
        with pytest.raises(TamperError):
            ledger.reserve(TENTH, "more")
        assert not ledger.verify().ok
    with pytest.raises(TamperError):
        Ledger(path)


def _powerless(watch: Witness, head: Head, keys: object) -> Head:
    raise LedgerError("ledger", "here", "the power went", "a new start")


def test_a_move_that_was_cut_short_needs_no_hands(apart, path, tmp_path, monkeypatch):
    with Ledger.create(path, budget=pure(1), domain="clinic", witness=apart) as ledger:
        ledger.reserve(TENTH, "question")
    new = path.with_name("new.ledger")
    path.rename(new)
    with monkeypatch.context() as cut:
        cut.setattr(
            Witness, "advance", lambda self, head, keys: (_ for _ in ()).throw(LedgerError("a", "b", "the power went", "d"))
        )
        with pytest.raises(LedgerError, match="power"):
            Ledger(new, moved=True, witness=tmp_path / "another disk" / "second")
    with Ledger(new) as ledger:
        ledger.reserve(TENTH, "question 2")
        assert ledger.verify().witnessed


def test_an_emptied_table_is_no_fresh_start(apart, path, home):
    with Ledger.create(path, budget=pure(1), domain="clinic", witness=apart) as ledger:
        ledger.reserve(TENTH, "question")
        identity = ledger.identity
    execute(str(path), "DELETE FROM entries")
    with pytest.raises(LedgerError, match="is not there"):
        Ledger(path, budget=pure(1), domain="clinic", identity=identity)
    with pytest.raises(TamperError, match="full budget"):
        Ledger.create(path, budget=pure(1), domain="clinic")
    shutil.rmtree(home / "ledgers")
    with pytest.raises(TamperError, match="full budget"):
        Ledger.create(path, budget=pure(1), domain="clinic", witness=apart)
    assert execute(str(path), "SELECT count(*) FROM entries") == [(0,)]


@pytest.mark.full("a PostgreSQL server")
def test_the_second_place_in_postgresql(tmp_path, server):
    heads = f"{server}#heads_{os.getpid()}"
    path = tmp_path / "a.ledger"
    with Ledger.create(path, budget=pure(1), domain="clinic", witness=heads) as ledger:
        ledger.commit(ledger.reserve(TENTH, "question 1"), "1")
    old = path.read_bytes()
    with Ledger(path) as ledger:
        ledger.reserve(TENTH, "question 2")
    path.write_bytes(old)
    with pytest.raises(TamperError, match="old copy"):
        Ledger(path)


@pytest.mark.full("a PostgreSQL server")
def test_second_places_that_are_none(path, server):
    (path.parent / "inside").mkdir()
    for bad in (path.parent / "heads", path.parent / "inside" / "heads", path, 3, ""):
        with pytest.raises((ConflictError, LedgerError)):
            Ledger.create(path, budget=pure(1), domain="clinic", witness=bad)
    url = f"{server}#same_place"
    for other in ("same_place", "another_schema"):
        with pytest.raises(ConflictError, match="own folder or database"):
            Ledger.create(url, budget=pure(1), domain="clinic", witness=f"{server}#{other}")


# -- copies, new names, fresh starts ---------------------------------------------------------------------------------


def test_a_copy_is_refused_and_a_move_is_recorded(tmp_path):
    path, copy = tmp_path / "a.ledger", tmp_path / "b.ledger"
    with Ledger.create(path, budget=pure(1), domain="clinic") as ledger:
        ledger.reserve(TENTH, "question")
        identity = ledger.identity
    shutil.copy(path, copy)
    with pytest.raises(ConflictError, match="copy, or it was moved"):
        Ledger(copy)
    with pytest.raises(ConflictError):
        Ledger(copy, identity=identity)
    path.unlink()
    with Ledger(copy, moved=True) as moved:
        assert [entry.kind for entry in moved.history()][-1] == "moved"
        assert moved.remaining().like(TENTH) == 9
        assert moved.verify().ok
    with Ledger(copy) as again:
        again.reserve(TENTH, "question 2")
    with pytest.raises(TamperError, match="was kept there and is gone"):
        Ledger.create(path, budget=pure(1), domain="clinic")


def test_a_symbolic_link_is_the_same_ledger_and_a_hard_link_is_refused(tmp_path):
    path = tmp_path / "a.ledger"
    with Ledger.create(path, budget=pure(1), domain="clinic") as ledger:
        ledger.reserve(TENTH, "question")
    (tmp_path / "alias").symlink_to(path)
    with Ledger(tmp_path / "alias", budget=pure(1)) as alias:
        assert alias.remaining().like(TENTH) == 9
    os.link(path, tmp_path / "second")
    for name in ("second", "a.ledger"):
        with pytest.raises(LedgerError, match="two names"):
            Ledger(tmp_path / name)


def test_deleting_a_ledger_does_not_fill_the_budget_again(tmp_path):
    path = tmp_path / "a.ledger"
    Ledger.create(path, budget=pure(1), domain="clinic").close()
    path.unlink()
    with pytest.raises(TamperError, match="full budget"):
        Ledger.create(path, budget=pure(1), domain="clinic")
    path.write_bytes(b"")
    with pytest.raises(TamperError, match="full budget"):
        Ledger.create(path, budget=pure(1), domain="clinic")


def test_another_ledger_put_in_its_place_is_refused(tmp_path, home):
    path = tmp_path / "a.ledger"
    with Ledger.create(path, budget=pure(1), domain="clinic") as ledger:
        named = ledger.identity
    (home / "ledgers").rename(home / "elsewhere")  # a machine that does not remember
    path.unlink()
    with pytest.raises(LedgerError, match=named):
        Ledger(path, budget=pure(1), domain="clinic", identity=named)
    Ledger.create(path, budget=pure(1), domain="clinic").close()
    with pytest.raises(ConflictError, match="not the one that is named"):
        Ledger(path, identity=named)
    shutil.rmtree(home / "ledgers")
    (home / "elsewhere").rename(home / "ledgers")
    with pytest.raises(TamperError, match=named):
        Ledger(path)


def test_the_key_is_not_kept_with_the_ledger(tmp_path, home, path, monkeypatch):
    for bad in (path.parent / "key", path.parent / "inside" / "key"):
        with pytest.raises(ConflictError, match="folder of the ledger"):
            Ledger.create(path, budget=pure(1), domain="clinic", key=bad)
    with monkeypatch.context() as changed:
        changed.setenv("DITHER_HOME", str(path.parent))
        with pytest.raises(ConflictError, match="folder of the ledger"):
            Ledger.create(path, budget=pure(1), domain="clinic")
    assert not path.exists()
    elsewhere = tmp_path / "safe" / "clinic.key"
    with Ledger.create(path, budget=pure(1), domain="clinic", key=elsewhere) as ledger:
        ledger.reserve(TENTH, "question")
        assert elsewhere.stat().st_mode & 0o777 == 0o600
        assert path.stat().st_mode & 0o777 == 0o600
    with Ledger(path, key=elsewhere) as ledger:
        assert ledger.verify().signed
    with Ledger(path) as reader, pytest.raises(LedgerError, match="only be read"):
        reader.reserve(TENTH, "question 2")
    elsewhere.write_text("f" * 64)
    with pytest.raises(TamperError, match="key"):
        Ledger(path, key=elsewhere)
    elsewhere.write_text("no key")
    with pytest.raises(LedgerError, match="not a key"):
        Ledger(path, key=elsewhere)
    for bad in (3, ""):
        with pytest.raises(Exception, match="key"):
            Ledger(path, key=bad)
    assert not (home / "keys").exists()


def test_two_ledgers_may_share_a_key_and_a_second_place_but_not_a_head(tmp_path, apart, path):
    key = tmp_path / "safe" / "owner.key"
    with Ledger.create(path, budget=pure(1), domain="clinic", witness=apart, key=key) as one:
        one.reserve(TENTH, "question")
        with Ledger.create(path.with_name("b.ledger"), budget=pure(1), domain="school", witness=apart, key=key) as other:
            for number in range(3):
                other.reserve(TENTH, f"question {number}")
            assert one.verify().signed
            assert other.verify().witnessed
            connection = sqlite3.connect(apart)
            head = connection.execute("SELECT count, hash, mac FROM heads WHERE ledger = ?", (one.identity,)).fetchone()
            connection.execute("UPDATE heads SET count = ?, hash = ?, mac = ? WHERE ledger = ?", (*head, other.identity))
            connection.commit()
            with pytest.raises(TamperError, match="key"):
                other.remaining()
            connection.execute("UPDATE heads SET place = 'elsewhere' WHERE ledger = ?", (one.identity,))
            connection.commit()
            connection.close()
            with pytest.raises(TamperError, match="key"):
                one.remaining()


def test_a_head_of_the_same_length_is_not_replaced(apart):
    from dither.ledger import witness
    from dither.ledger.storage.locations import open_database
    from dither.ledger.storage.signing_keys import KeyFile, SigningKey, SigningKeys

    database = open_database(apart)
    witness.prepare(database)
    keys = SigningKeys((SigningKey(b"k" * 32),))
    (apart.parent / "a.key").write_text((b"k" * 32).hex())
    watch = Witness(database, "a" * 32, "here", KeyFile(apart.parent / "a.key", "a" * 32))
    assert watch.head() is None
    assert watch.advance(Head(5, "one"), keys) == Head(5, "one")
    assert watch.advance(Head(5, "other"), keys) == Head(5, "one")
    assert watch.advance(Head(4, "other"), keys) == Head(5, "one")
    assert watch.advance(Head(6, "next"), keys) == watch.head() == Head(6, "next")
    database.close()


def test_an_entry_of_another_version_is_told_as_such(path):
    Ledger.create(path, budget=pure(1), domain="clinic").close()
    with closing(sqlite3.connect(path)) as connection, connection:
        first = EntryRow(*connection.execute("SELECT * FROM entries WHERE number = 1").fetchone())
    record = first.record.replace('"entry":2', '"entry":3')
    later = first._replace(record=record, hash=hashlib.sha256(record.encode()).hexdigest())
    with pytest.raises(TamperError, match="of version 3 of entries, and this dither reads version 2"):
        read(later, None)
