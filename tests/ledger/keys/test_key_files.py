"""Key files during a rotation: which are found out too late to be exchanged, who can read them, under which names."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from dither import Ledger, pure
from dither.errors import ConflictError, LedgerError
from dither.ledger import discovery, handle
from dither.ledger.relocation import backup_ledger, restore_ledger
from dither.ledger.storage import keyring
from dither.ledger.storage.signing_keys import KeyFile

TENTH = pure("0.1")


@pytest.fixture
def place(tmp_path) -> Path:
    (tmp_path / "clinic").mkdir()
    (tmp_path / "keys").mkdir()
    return tmp_path / "clinic" / "a.ledger"


def test_a_long_ledger_is_restored_from_a_short_backup_with_a_new_second_place(tmp_path, place):
    """Its new key signs from an earlier entry on than the rotation that the key file knows."""
    copy, apart, another = tmp_path / "backup", tmp_path / "apart", tmp_path / "another"
    with Ledger.create(place, budget=pure(1), domain="clinic", witness=apart) as ledger:
        backup_ledger(place, copy)
        for turn in range(6):
            ledger.reserve(TENTH, f"question {turn}")
        ledger.rotate_key()
    place.unlink()
    apart.unlink()
    restore_ledger(place, backup=copy, lost=("0.6", 0), old_key=True, witness=another)
    with Ledger(place) as ledger:
        ledger.reserve(TENTH, "question 7")
        assert (ledger.remaining().like(TENTH), ledger.verify().witnessed, ledger.verify().ok) == (3, True, True)


def test_the_head_is_signed_with_the_keys_of_its_own_page(tmp_path, place, monkeypatch):
    """A thread that read just before a rotation ends just after it, before the second place hears of the new key."""
    looked, go, real = threading.Event(), threading.Event(), handle.LedgerTransaction

    def slow(*told, **named):
        found = real(*told, **named)
        if threading.current_thread() is reader:
            looked.set()
            go.wait(20)
        return found

    with Ledger.create(place, budget=pure(1), domain="clinic", witness=tmp_path / "apart") as ledger:
        reader = threading.Thread(target=ledger.remaining)
        monkeypatch.setattr(handle, "LedgerTransaction", slow)
        publish = ledger.handle.publish

        def late(*told):
            go.set()
            reader.join()
            publish(*told)

        reader.start()
        assert looked.wait(20)
        monkeypatch.setattr(ledger.handle, "publish", late)
        ledger.rotate_key()
    with Ledger(place) as ledger:
        ledger.reserve(TENTH, "question 1")
        assert ledger.verify().ok


def test_a_key_file_that_cannot_be_exchanged_is_found_out_before_anything_is_signed(tmp_path, place, monkeypatch):
    """As one that is mounted into a container by itself: files can be made beside it, and are gone with the container."""
    key, real = tmp_path / "keys" / "a.key", Path.replace

    def busy(draft, target):
        if target == key:
            raise OSError(16, "Device or resource busy")
        return real(draft, target)

    with Ledger.create(place, budget=pure(1), domain="clinic", key=key) as ledger:
        monkeypatch.setattr(Path, "replace", busy)
        with pytest.raises(LedgerError, match="busy"):
            ledger.rotate_key()
        assert [entry.kind for entry in ledger.history()] == ["created", "bound"]
        ledger.reserve(TENTH, "question 1")
        assert ledger.verify().ok
    assert [file.name for file in key.parent.iterdir()] == ["a.key"]


@pytest.mark.skipif(not hasattr(os, "fchown"), reason="files have no groups")
def test_whoever_could_read_a_key_still_can(tmp_path, place, monkeypatch):
    key = tmp_path / "keys" / "a.key"
    with Ledger.create(place, budget=pure(1), domain="clinic", key=key) as ledger:
        key.chmod(0o640)
        if os.getuid() == 0:
            os.chown(key, 4321, 4322)
        before, during, complete = key.stat(), list[os.stat_result](), KeyFile.complete

        def seen(file, keys):
            during.append(file.next_path.stat())
            complete(file, keys)

        monkeypatch.setattr(KeyFile, "complete", seen)
        ledger.rotate_key()
    for found in (during[0], key.stat()):
        assert (found.st_mode, found.st_uid, found.st_gid) == (before.st_mode, before.st_uid, before.st_gid)


@pytest.mark.skipif(not hasattr(os, "fchown"), reason="files have no groups")
def test_what_one_group_could_read_is_not_shown_to_another(tmp_path, monkeypatch):
    file = tmp_path / "a.key"
    file.write_text("a")
    file.chmod(0o640)
    before, real = file.stat(), os.fstat
    monkeypatch.setattr(keyring.os, "fstat", lambda one: os.stat_result([*real(one)[:5], before.st_gid + 1, *real(one)[6:]]))
    monkeypatch.setattr(keyring.os, "fchown", lambda *_told: (_ for _ in ()).throw(PermissionError()))
    keyring.put(file, "b", over=True)
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("b\n", 0o600)


def test_a_link_is_the_file_that_it_names(tmp_path, place):
    shared, link = tmp_path / "keys" / "shared.key", tmp_path / "home" / "keys"
    with Ledger.create(place, budget=pure(1), domain="clinic", key=shared) as ledger:
        link.mkdir(parents=True)
        name = link / f"{ledger.identity}.key"
        name.symlink_to(shared)
        with Ledger(place) as other:  # by the link
            assert other.handle.file.next_path == ledger.handle.file.next_path
            with pytest.raises(ConflictError, match="another ledger may use"):
                other.rotate_key(forget=True)
            other.rotate_key()
        ledger.reserve(TENTH, "question 1")
        assert ledger.verify().ok
    assert name.is_symlink()


def test_opened_while_the_key_is_rotated(place, monkeypatch):
    """Between its look at the key file and its look at the ledger."""
    with Ledger.create(place, budget=pure(1), domain="clinic") as ledger:
        real, rotations = discovery._find, [ledger.rotate_key]

        def late(*told, **named):
            if rotations:
                rotations.pop()()
            return real(*told, **named)

        monkeypatch.setattr(discovery, "_find", late)
        with Ledger(place) as other:
            other.reserve(TENTH, "question 1")
            assert other.verify().ok
    assert not rotations
