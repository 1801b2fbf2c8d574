"""Moving a ledger to another place, backing it up while others use it, and putting a backup to use.

Why nothing is spent twice by a move. The original is told its new place first, by an entry of its own: from then on every
process that has it open, and everybody who opens it, is refused there. Only then it is copied, that entry included, and the
copy is at the place that it names. Whoever stops in between finds no ledger to spend, and goes on with the same command.

A backup is a copy at another place, so it is refused until it is put to use. What was spent after it was made is not in it:
whoever restores one says what that was at most, and that is charged before anything else. While the ledger itself
stands at its place, in a file of this machine, no backup is restored elsewhere.
"""

from __future__ import annotations

import glob
import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from dither.errors import ConflictError, DitherError, LedgerError
from dither.ledger.discovery import OpenLedger, find_ledger
from dither.ledger.handle import LedgerHandle
from dither.ledger.ledger import Ledger
from dither.ledger.open import Loss, must_be_apart, open_ledger, place_facts
from dither.ledger.storage import keyring
from dither.ledger.storage.locations import LocationLike, open_database
from dither.ledger.storage.sqlite import SqliteDatabase
from dither.ledger.witness import Witness, kept_at

IN_POSTGRESQL = "pg_dump and pg_restore; then dither ledger restore, at the new address"


def move_ledger(location: LocationLike, to: LocationLike, *, key: Path | None = None) -> None:
    """Bring a ledger in a file to another place on this machine; the old file stays, and is refused."""
    with ExitStack() as opened:
        old, new = _file(opened, location, "location"), _file(opened, to, "to")
        kept = find_ledger(old, key)
        begun = kept.where.body["place"] == new.place != old.place  # a move that was stopped goes on
        _one_name(new.path)
        if not (begun and new.path.exists()):  # it did not come there yet
            if keyring.remembered(new.place) is not None:  # also after a move that was stopped: never an old state again
                why = "a ledger was kept there before"
                raise ConflictError("to", new.shown, why, "a name that no ledger had")
            _must_be_free(new)
            if not begun:
                with Ledger(location, key=key) as ledger:  # found to be the right one
                    _leave(ledger, new, key)
            keyring.remember(old.place, kept.identity, left=True)  # also older copies are refused there
            with _copied(old, new.path):
                pass
    with Ledger(to, key=key, identity=kept.identity):
        pass  # opens it: signatures, place and second place are checked


def _leave(ledger: Ledger, new: SqliteDatabase, key: Path | None) -> None:
    """Tell a ledger its new place; from here on there is no way back, so what would be refused there is refused before."""
    second = None if ledger.handle.witness is None else ledger.handle.witness.database
    must_be_apart(new, second)
    if second is not None and kept_at(second, new.place):
        raise ConflictError("to", new.shown, "a ledger was kept there before", "a name that no ledger had")
    keyring.must_be_apart(keyring.key_file(ledger.identity, key), new.path.parent, key is not None)
    with _writing(new.path) as draft:
        probe = draft.with_name(f"{draft.name}-name")
        os.link(draft, probe)  # not every file system has links
        probe.unlink()
    with ledger.handle.page() as page:
        page.add("moved", {**place_facts(new, second), "former_confirmed": True}, home=page.last.number + 1)


def backup_ledger(location: LocationLike, to: LocationLike, *, key: Path | None = None) -> Path:
    """Copy a ledger in a file while others use it. Gives the key file, which is not in the copy and is kept apart."""
    with ExitStack() as opened:
        old, new = _file(opened, location, "location"), _file(opened, to, "to")
        _must_be_free(new)
        kept = find_ledger(old, key)
        with _copied(old, new.path):
            pass
    return keyring.key_file(kept.identity, key)


def restore_ledger(
    location: LocationLike,
    *,
    backup: LocationLike | None,
    lost: Loss | None,
    analyst: str = "",
    witness: LocationLike | None = None,
    key: Path | None = None,
    old_key: bool = False,
) -> None:
    """Put a backup to use at a place, by the owner's word that the ledger itself is gone; what was `lost` is charged.

    Without a `backup` the ledger is at `location` already, as after pg_restore. Where there are shares, the loss is that of
    `analyst`. A new second place is `witness`; the old one refuses a backup that is older than what it saw. A backup from
    before a rotation of the key is refused, unless with `old_key`: the owner's word that nobody forged it who had that key.
    """
    told: dict[str, Any] = {"second": witness, "key": key, "lost": lost, "analyst": analyst, "old_key": old_key}
    told |= {"budget": None, "identity": None, "moved": True}
    if backup is None:
        with ExitStack() as opened:
            there = open_database(location)
            opened.callback(there.close)
            if there.exists("entries"):
                _must_be_gone(find_ledger(there, key, old_key=old_key), there.place)
        kept = open_ledger(location, **told)
        with closing(LedgerHandle(kept.database, kept.witness, kept.file, kept.where.number)) as handle:
            handle.open()  # the second place knows of it
        return
    with ExitStack() as opened:
        old, new = _file(opened, backup, "backup"), _file(opened, location, "location")
        _one_name(new.path)
        if new.exists("entries"):
            why = "there is a ledger: a backup does not take the place of one that can be spent"
            raise ConflictError("location", new.shown, why, "that ledger; or its file moved away, if it is broken")
        _must_be_gone(find_ledger(old, key, old_key=old_key), new.place)
        with _copied(old, new.path) as draft:  # what was lost is in it before it gets its name, and can be spent
            kept = open_ledger(draft, **told, place=new.place)
            handle = LedgerHandle(kept.database, kept.witness, kept.file, kept.where.number)
            opened.callback(handle.close)
            with closing(kept.database), handle.reading() as page:
                head = page.last.head
        keyring.remember(new.place, kept.identity)
        if kept.witness is not None and kept.keys is not None:
            Witness(kept.witness.database, kept.identity, new.place, kept.file).advance(head, kept.keys)
    if kept.outdated:
        with Ledger(location, key=key, identity=kept.identity):
            pass  # opens it: the rotation is completed


def _must_be_gone(kept: OpenLedger, place: str) -> None:
    """Refuse a second copy while the ledger itself stands where it is kept, in a file that can be looked at from here."""
    looked, at = {place}, str(kept.where.body["place"])
    while at not in looked and Path(at).is_file():
        looked.add(at)
        try:
            with closing(SqliteDatabase(Path(at))) as database:
                found = find_ledger(database, None)
        except (DitherError, OSError):
            return  # it cannot be read: it is as good as gone
        if found.identity != kept.identity:
            return
        if found.where.body["place"] == at:
            why = f"the ledger itself stands at {at}: two copies would be spent twice"
            raise ConflictError(
                "location", place, why, "dither ledger move, from there; or that file moved away, if it is broken"
            )
        at = str(found.where.body["place"])  # it was moved on


def _file(opened: ExitStack, location: LocationLike, name: str) -> SqliteDatabase:
    database = open_database(location, name=name)
    opened.callback(database.close)
    if not isinstance(database, SqliteDatabase):
        raise LedgerError(name, database.shown, "a server copies its own databases", IN_POSTGRESQL)
    return database


def _must_be_free(new: SqliteDatabase) -> None:
    if new.path.exists():
        raise ConflictError("to", new.shown, "there is a file already", "a name that is free")


def _one_name(path: Path) -> None:
    """Take away the name of the draft, where a process was stopped after the copy got its own."""
    for draft in path.parent.glob(f"{glob.escape(path.name)}.copy-*") if path.exists() else ():
        if draft.samefile(path):
            draft.unlink()


@contextmanager
def _copied(old: SqliteDatabase, target: Path) -> Iterator[Path]:
    """A copy of a ledger, as a draft that gets its name when this ends: all of it or nothing."""
    with _writing(target) as draft:
        with closing(sqlite3.connect(old.path)) as source, closing(sqlite3.connect(draft)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # no second file beside it while it gets its name
        yield draft
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        os.link(draft, target)  # unlike a rename, never over another file
        folder = os.open(target.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


@contextmanager
def _writing(target: Path) -> Iterator[Path]:
    """A new file beside a target, for this user alone, gone when this ends."""
    draft = target.with_name(f"{target.name}.copy-{secrets.token_hex(8)}")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        yield draft
    except DitherError:
        raise
    except (OSError, sqlite3.Error) as error:
        raise LedgerError(
            "to", str(target), f"it cannot be written: {error}", "a folder that this user can write to"
        ) from None
    finally:
        draft.unlink(missing_ok=True)
