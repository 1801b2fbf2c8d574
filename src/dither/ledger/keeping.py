"""Opening a ledger: the right one, in its place, with its key and its second place; or making one where none is.

What is refused, and why. Another identity than the policy names: a fresh ledger has a full budget. Another place than the
ledger was last at: two copies would be spent twice. A second place that does not know it: then an old copy cannot be told.
Another budget: the ceiling is a promise that was made. `moved=True` is the owner's word that the first copy is gone; it
leaves an entry.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dither.errors import ConflictError, DataError, LedgerError, TamperError
from dither.ledger import home, witness
from dither.ledger.ceiling import read_ceiling
from dither.ledger.entry import Head, read
from dither.ledger.page import Page
from dither.ledger.places import open_database
from dither.ledger.receipt import read_name
from dither.ledger.sqlite import SqliteDatabase
from dither.ledger.store import LAST, TABLES, Database, numbered, one
from dither.ledger.witness import Witness
from dither.privacy.filter import Filter, from_json


@dataclass(frozen=True)
class Kept:
    """An open ledger, found to be the right one."""

    database: Database
    witness: Witness | None
    key: bytes | None
    identity: str
    budget: Filter
    head: Head


def open_ledger(location: object, *, budget: object, second: object, key: object, identity: str | None, moved: bool) -> Kept:
    """The ledger at a location; made there if a budget is given and nothing is there."""
    if not isinstance(moved, bool):
        raise DataError("moved", moved, "it is not a truth value", "True, if the ledger was moved here")
    ceiling = None if budget is None else read_ceiling(budget)
    chosen = _path(key)
    with ExitStack() as opened:
        database = open_database(location)
        opened.callback(database.close)
        place2 = None if second is None else open_database(second, name="witness")
        if place2 is not None:
            opened.callback(place2.close)
        kept = _opened(database, place2, ceiling, chosen, identity, moved)
        opened.pop_all()  # all is well: they stay open
    return kept


def _opened(
    database: Database,
    place2: Database | None,
    ceiling: Filter | None,
    chosen: Path | None,
    identity: str | None,
    moved: bool,
) -> Kept:
    if database.distrust:
        why = f"{database.distrust}, and may forget what was spent"
        raise LedgerError("location", database.shown, why, "both set to on")
    _must_be_apart(database, place2)
    if not database.exists("entries"):
        _make(database, place2, ceiling, chosen, identity)
    elif ceiling is not None:
        _begin(database, place2, ceiling, chosen)
    with database.read(LAST, numbered(1)) as transaction:
        first = one(transaction.opened[1])
        if first is None:
            raise LedgerError("location", database.shown, "the ledger there has no first entry", "Ledger(..., budget=...)")
        found = str(read(first, None).body["ledger"])
        secret = home.load_key(home.key_file(found, chosen))
        start = read(first, secret)
        page = Page(transaction, secret, None)
        where = start if page.state.home == 1 else page.entry(page.state.home)
        head, asked_before = page.last.head, page.last.number > 3
    if where is None:
        raise TamperError("ledger", database.shown, "the entry that says where it is kept is missing", "ledger.verify()")
    _must_be(identity, found, database)
    kept = Kept(database, None, secret, found, from_json(start.body["budget"]), head)
    if ceiling is not None and ceiling != kept.budget:
        why = f"this ledger was made for {kept.budget.ceiling}"
        raise ConflictError("budget", str(ceiling.ceiling), why, "that budget, or none: Ledger(location)")
    if moved:
        return _move(kept, place2)
    return _in_place(kept, where.body, place2, asked_before)


# -- making ----------------------------------------------------------------------------------------------------------


def _make(
    database: Database, place2: Database | None, ceiling: Filter | None, chosen: Path | None, identity: str | None
) -> None:
    if ceiling is None or identity is not None:
        why = "there is no ledger" if identity is None else f"ledger {identity} is not there"
        instead = "Ledger(..., budget=...), which makes one" if identity is None else "the ledger that the policy names"
        raise LedgerError("location", database.shown, why, instead)
    known = home.remembered(database.place) or (None if place2 is None else witness.kept_for(place2, database.place))
    if known is not None:
        why = f"ledger {known} was kept there and is gone; a new one would start with a full budget"
        raise TamperError("location", database.shown, why, f"that ledger back, or another place ({home.folder()} remembers)")
    database.prepare(TABLES, ["entries"])
    _begin(database, place2, ceiling, chosen)


def _begin(database: Database, place2: Database | None, ceiling: Filter, chosen: Path | None) -> None:
    """The first entry, unless there is one."""
    with database.read(LAST) as transaction:
        if transaction.opened[0]:
            return
    identity = secrets.token_hex(16)
    beside = database.path.parent if isinstance(database, SqliteDatabase) else None
    key = home.make_key(home.key_file(identity, chosen), beside)
    if place2 is not None:
        witness.prepare(place2)
    with database.write(LAST) as transaction:
        page = Page(transaction, key, None)
        if page.is_empty:
            body = {"ledger": identity, "budget": ceiling.to_json(), **_places(database, place2)}
            page.add("created", body, spent=ceiling.nothing.totals, home=1)


def _places(database: Database, place2: Database | None) -> dict[str, Any]:
    return {"place": database.place, "witness": None if place2 is None else place2.shown}


# -- checking --------------------------------------------------------------------------------------------------------


def _in_place(kept: Kept, where: Mapping[str, Any], place2: Database | None, asked_before: bool) -> Kept:
    database = kept.database
    if where["place"] != database.place:
        why = f"this ledger is kept at {where['place']}: here is a copy, or it was moved"
        raise ConflictError("location", database.shown, why, "the original; or moved=True, once the original is gone")
    known = home.remembered(database.place)
    if known not in (None, kept.identity):
        why = f"ledger {known} was kept there; this is {kept.identity}"
        raise TamperError("location", database.shown, why, "the ledger that was there; moved=True if that is meant")
    recorded = where["witness"]
    if place2 is not None and place2.shown != recorded:
        why = f"the second place of this ledger is {recorded or 'none'}"
        raise ConflictError("witness", place2.shown, why, "that one, or moved=True, which records another")
    if place2 is None and recorded is not None:
        place2 = open_database(recorded, name="witness")
    if kept.key is not None:
        home.remember(database.place, kept.identity)
    if place2 is None:
        return kept
    if not place2.exists("heads"):
        if asked_before:
            raise _forgotten(place2)
        witness.prepare(place2)
    watch = Witness(place2, kept.identity, database.place, kept.key)
    if asked_before and watch.head() is None:
        raise _forgotten(place2)
    return Kept(database, watch, kept.key, kept.identity, kept.budget, kept.head)


def _move(kept: Kept, place2: Database | None) -> Kept:
    if place2 is not None:
        witness.prepare(place2)
    with kept.database.write(LAST) as transaction:
        page = Page(transaction, kept.key, kept.head)
        page.add("moved", _places(kept.database, place2), home=page.last.number + 1)
    home.remember(kept.database.place, kept.identity)
    watch = None if place2 is None else Witness(place2, kept.identity, kept.database.place, kept.key)
    return Kept(kept.database, watch, kept.key, kept.identity, kept.budget, page.last.head)


def _forgotten(place2: Database) -> TamperError:
    why = "it does not know this ledger, so an old copy could not be told from the newest"
    return TamperError("witness", place2.shown, why, "the second place as it was; moved=True starts a new one")


def _must_be(identity: str | None, found: str, database: Database) -> None:
    if identity is not None and read_name(identity, "identity") != found:
        why = f"the ledger there is {found}"
        raise ConflictError("identity", identity, f"{why}: not the one that is named", f"the right one at {database.shown}")


def _must_be_apart(database: Database, place2: Database | None) -> None:
    if place2 is None:
        return
    files = [each.path.parent for each in (database, place2) if isinstance(each, SqliteDatabase)]
    if database.place == place2.place or (len(files) == 2 and files[0] == files[1]):
        why = "it is the ledger's own folder or database: both would be put back together"
        raise ConflictError("witness", place2.shown, why, "a file on another disk, or postgresql://... on another server")


def _path(key: object) -> Path | None:
    if key is None:
        return None
    if not isinstance(key, (str, os.PathLike)) or not os.fspath(key):
        raise DataError("key", key, "it is not a path", "a file outside the ledger's folder")
    return Path(os.fspath(key))
