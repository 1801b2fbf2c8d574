"""A ledger that is moved, backed up and restored is never spent twice."""

from __future__ import annotations

import os
import shutil
from fractions import Fraction

import pytest

from dither import Ledger, pure
from dither.errors import BudgetError, ConflictError, LedgerError, TamperError
from dither.ledger import open as keeping
from dither.ledger import relocation
from dither.ledger.relocation import backup_ledger, move_ledger, restore_ledger
from tests.ledger.children import fork, wait

TENTH = pure("0.1")


@pytest.fixture
def path(tmp_path, home):
    for name in ("clinic", "new", "apart", "backups"):
        (tmp_path / name).mkdir()
    return tmp_path / "clinic" / "a.ledger"


def spend(ledger, question):
    ledger.commit(ledger.reserve(TENTH, question), "42")


def used(location, **options):
    with Ledger(location, **options) as ledger:
        assert ledger.verify().ok
        return ledger.remaining().totals()[0]


@pytest.mark.parametrize("second", [False, True])
def test_a_moved_ledger_goes_on_and_its_old_file_is_refused(tmp_path, path, second):
    to, apart = tmp_path / "new" / "b.ledger", tmp_path / "apart" / "heads"
    with Ledger.create(path, budget=pure(1), domain="clinic", witness=apart if second else None) as running:
        spend(running, "question 1")
        move_ledger(path, to)
        with pytest.raises(ConflictError, match="was moved since"):  # a process that had it open
            spend(running, "question 2")
        with pytest.raises(ConflictError, match="was moved since"):
            running.remaining()
    with pytest.raises(ConflictError, match="is kept at"):
        Ledger(path)
    assert used(to) == Fraction(1, 10)
    with Ledger(to) as moved:
        assert moved.reserve(TENTH, "question 1").answer == "42"
        spend(moved, "question 2")
    assert used(to) == Fraction(2, 10)


def test_a_move_that_stops_in_the_middle_goes_on_and_leaves_nothing_to_spend(tmp_path, path, monkeypatch):
    to = tmp_path / "new" / "b.ledger"
    with Ledger.create(path, budget=pure(1), domain="clinic") as ledger:
        spend(ledger, "question 1")

    def stops(old, target):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(relocation, "_copied", stops)
        with pytest.raises(KeyboardInterrupt):
            move_ledger(path, to)
    with pytest.raises(ConflictError, match="is kept at"):
        Ledger(path)
    assert not to.exists()
    with pytest.raises(ConflictError, match="is kept at"):  # somewhere else is not where it was to go
        move_ledger(path, tmp_path / "new" / "c.ledger")
    move_ledger(path, to)
    assert used(to) == Fraction(1, 10)


def test_a_ledger_that_was_moved_and_deleted_is_not_moved_again_from_its_old_file(tmp_path, path):
    """Its old file knows less than was spent."""
    to = tmp_path / "new" / "b.ledger"
    Ledger.create(path, budget=pure(1), domain="clinic").close()
    move_ledger(path, to)
    with Ledger(to) as ledger:
        spend(ledger, "question")
    to.unlink()
    with pytest.raises(ConflictError, match="was kept there before"):
        move_ledger(path, to)


@pytest.mark.full("a PostgreSQL server")
def test_places_that_are_taken_or_that_are_no_files(tmp_path, path, server):
    with Ledger.create(path, budget=pure(1), domain="clinic") as ledger:
        spend(ledger, "question")
    (tmp_path / "new" / "taken").write_text("mine")
    for to in (tmp_path / "new" / "taken", path):
        with pytest.raises(ConflictError):
            move_ledger(path, to)
        with pytest.raises(ConflictError):
            backup_ledger(path, to)
    with pytest.raises(LedgerError, match="its folder does not exist"):
        move_ledger(path, tmp_path / "nowhere" / "b.ledger")
    for call in (move_ledger, backup_ledger):
        with pytest.raises(LedgerError, match="copies its own") as told:
            call(path, server)
        assert "pg_dump" in str(told.value)
        with pytest.raises(LedgerError):
            call(tmp_path / "new" / "none.ledger", tmp_path / "new" / "c.ledger")
    assert (tmp_path / "new" / "taken").read_text() == "mine"
    assert used(path) == Fraction(1, 10)  # a move that was refused has changed nothing


def test_a_backup_is_made_while_others_spend_and_is_refused_until_it_is_restored(tmp_path, path, home):
    copy = tmp_path / "backups" / "monday.ledger"
    with Ledger.create(path, budget=pure(1), domain="clinic") as running:
        spend(running, "question 1")
        key = backup_ledger(path, copy)
        assert key.is_relative_to(home)
        assert copy.stat().st_mode & 0o777 == 0o600
        assert [file.name for file in copy.parent.iterdir()] == ["monday.ledger"]
        spend(running, "question 2")
    with pytest.raises(ConflictError, match="is kept at"):
        Ledger(copy)
    with pytest.raises(ConflictError, match="a backup does not take the place"):
        restore_ledger(path, backup=copy, lost=None)
    path.unlink()
    with pytest.raises(LedgerError, match="no ledger"):
        Ledger(path)
    with pytest.raises(TamperError, match="was kept there and is gone"):
        Ledger.create(path, budget=pure(1), domain="clinic")
    restore_ledger(path, backup=copy, lost=("0.3", 0))
    assert used(path) == Fraction(4, 10)
    with Ledger(path) as ledger:
        assert [entry.kind for entry in ledger.history()][-2:] == ["moved", "reserved"]
        with pytest.raises(BudgetError):
            ledger.reserve(pure("0.7"), "too much")


def test_a_loss_above_the_rest_is_refused_and_nothing_can_be_spent(tmp_path, path):
    copy, there = tmp_path / "backups" / "monday.ledger", tmp_path / "new" / "a.ledger"
    Ledger.create(path, budget=pure(1), domain="clinic").close()
    backup_ledger(path, copy)
    path.unlink()
    for place in (there, path):  # also at its own place, where a copy would be taken
        with pytest.raises(BudgetError):
            restore_ledger(place, backup=copy, lost=(2, 0))
        with pytest.raises(LedgerError, match="no ledger"):
            Ledger(place)
        assert not list(place.parent.iterdir())
    restore_ledger(path, backup=copy, lost=(1, 0))  # the loss can be said again
    assert used(path) == 1


def test_on_another_host_it_needs_its_key_and_the_owners_word(tmp_path, path, monkeypatch):
    copy, there = tmp_path / "backups" / "monday.ledger", tmp_path / "new" / "a.ledger"
    with Ledger.create(path, budget=pure(1), domain="clinic") as ledger:
        spend(ledger, "question 1")
        key = backup_ledger(path, copy)
        identity = ledger.identity
    path.unlink()  # on the other host it is not there
    monkeypatch.setenv("DITHER_HOME", str(tmp_path / "another home"))
    with pytest.raises(LedgerError, match="can only be read"):  # the key was lost, or was not brought along
        restore_ledger(there, backup=copy, lost=None)
    (tmp_path / "another home" / "keys").mkdir(parents=True)
    shutil.copy(key, tmp_path / "another home" / "keys")
    restore_ledger(there, backup=copy, lost=None)
    assert used(there, identity=identity) == Fraction(1, 10)


def test_no_copy_is_restored_while_the_ledger_itself_stands(tmp_path, path):
    copy, there, on = tmp_path / "backups" / "monday.ledger", tmp_path / "new" / "a.ledger", tmp_path / "new" / "b.ledger"
    Ledger.create(path, budget=pure(1), domain="clinic").close()
    backup_ledger(path, copy)
    shutil.copy(path, there)
    for place, backup in ((there, None), (tmp_path / "new" / "c.ledger", copy)):
        with pytest.raises(ConflictError, match=f"stands at {path}"):
            restore_ledger(place, backup=backup, lost=None)
    there.unlink()
    move_ledger(path, on)
    with pytest.raises(ConflictError, match=f"stands at {on}"):  # it was moved after the backup
        restore_ledger(there, backup=copy, lost=None)
    on.write_bytes(b"broken")
    restore_ledger(there, backup=copy, lost=None)
    assert used(there) == 0


def test_a_backup_that_is_older_than_the_second_place_saw(tmp_path, path):
    copy, apart = tmp_path / "backups" / "monday.ledger", tmp_path / "apart" / "heads"
    with Ledger.create(path, budget=pure(1), domain="clinic", witness=apart) as ledger:
        spend(ledger, "question 1")
        backup_ledger(path, copy)
        spend(ledger, "question 2")
    path.unlink()
    with pytest.raises(TamperError, match="old copy"):
        restore_ledger(path, backup=copy, lost=("0.1", 0))
    (tmp_path / "later").mkdir()
    with pytest.raises(TamperError):  # the old second place is still asked where it can be
        restore_ledger(path, backup=copy, lost=("0.1", 0), witness=tmp_path / "later" / "heads")
    apart.unlink()
    restore_ledger(path, backup=copy, lost=("0.1", 0), witness=tmp_path / "later" / "heads")
    assert used(path) == Fraction(2, 10)


def test_a_ledger_that_moves_while_it_is_being_opened_is_refused(tmp_path, path, monkeypatch):
    """Planted: its place was looked at before the move, and noted after it; so both places could be spent."""
    to, opened = tmp_path / "new" / "b.ledger", keeping.open_ledger
    Ledger.create(path, budget=pure(1), domain="clinic").close()

    def meanwhile(*places, **options):
        found = opened(*places, **options)
        monkeypatch.setattr(keeping, "open_ledger", opened)
        move_ledger(path, to)
        return found

    monkeypatch.setattr(keeping, "open_ledger", meanwhile)
    with pytest.raises(ConflictError, match="was moved since"):
        Ledger(path)
    assert used(to) == 0


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("second", [False, True])
def test_a_move_that_is_killed_before_or_after_the_copy_has_its_name(tmp_path, path, after, second):
    to, apart, link = tmp_path / "new" / "b.ledger", tmp_path / "apart" / "heads", os.link
    with Ledger.create(path, budget=pure(1), domain="clinic", witness=apart if second else None) as ledger:
        spend(ledger, "question 1")

    def dies(draft, name):
        if after or name != to:
            link(draft, name)
        if name == to:
            os._exit(9)

    def move():
        os.link = dies
        move_ledger(path, to)

    assert wait([fork(move)]) == [9]
    assert to.exists() == after
    with pytest.raises(ConflictError, match="is kept at"):
        Ledger(path)
    move_ledger(path, to)
    assert used(to) == Fraction(1, 10)
    move_ledger(path, to)  # it is there: nothing happens
    assert used(to) == Fraction(1, 10)


def test_what_would_be_refused_at_the_new_place_is_refused_before_the_ledger_leaves(tmp_path, path, monkeypatch):
    apart, key = tmp_path / "apart", tmp_path / "backups" / "clinic.key"
    with Ledger.create(path, budget=pure(1), domain="clinic", witness=apart / "heads", key=key) as ledger:
        spend(ledger, "question 1")
    for to in (apart / "b.ledger", key.parent / "b.ledger"):
        with pytest.raises(ConflictError, match="in the"):
            move_ledger(path, to, key=key)

    def fails(draft, name):
        raise PermissionError("no links here")

    with monkeypatch.context() as patch:
        patch.setattr(os, "link", fails)
        with pytest.raises(LedgerError, match="no links here"):
            move_ledger(path, tmp_path / "new" / "b.ledger", key=key)
    assert not list((tmp_path / "new").iterdir())
    assert used(path, key=key) == Fraction(1, 10)


def test_an_older_copy_at_a_place_that_the_ledger_left_is_refused(tmp_path, path):
    """Planted: the first file says that the ledger is at the second place, which it has left since."""
    second, third = tmp_path / "new" / "b.ledger", tmp_path / "apart" / "c.ledger"
    Ledger.create(path, budget=pure(1), domain="clinic").close()
    move_ledger(path, second)
    with Ledger(second) as ledger:
        spend(ledger, "question 1")
    move_ledger(second, third)
    second.unlink()
    shutil.copy(path, second)
    with pytest.raises(ConflictError, match="was moved away from there"):
        Ledger(second)
    with pytest.raises(ConflictError, match="was moved away from there"):
        move_ledger(path, second)
    second.unlink()
    with pytest.raises(TamperError, match="was kept there and is gone"):
        Ledger.create(second, budget=pure(1))
    assert used(third) == Fraction(1, 10)
    third.unlink()
    restore_ledger(second, backup=path, lost=("0.1", 0))  # the owner's word
    assert used(second) == Fraction(1, 10)
