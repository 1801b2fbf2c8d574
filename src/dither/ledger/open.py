"""Opening a ledger: the right one, in its place, with its key and its second place; or making one where none is.

What is refused, and why. Another identity than the policy names: a fresh ledger has a full budget. Another place than the
ledger was last at: two copies would be spent twice. A second place that does not know it: then an old copy cannot be told.
Another budget: the ceiling is a promise that was made. `moved=True` is the owner's word that the first copy is gone; it
leaves an entry.
"""

from __future__ import annotations

import os
import secrets
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dither.errors import ConflictError, DataError, LedgerError, TamperError
from dither.ledger import witness
from dither.ledger.entries.budget import BudgetLike, read_ceiling
from dither.ledger.entries.entry import Entry, Head, read
from dither.ledger.entries.texts import read_name
from dither.ledger.entries.transaction import LedgerTransaction
from dither.ledger.storage import keyring as home
from dither.ledger.storage.database import LAST, TABLES, Database, numbered, one
from dither.ledger.storage.locations import LocationLike, open_database
from dither.ledger.storage.sqlite import SqliteDatabase
from dither.ledger.witness import Witness
from dither.privacy.budget.filter import Filter, from_json


@dataclass(frozen=True)
class OpenLedger:
    """An open ledger, found to be the right one."""

    database: Database
    key: bytes | None
    identity: str
    budget: Filter
    where: Entry  # says where it is kept
    unused: bool  # nothing happened since that was written
    witness: Witness | None = None


def open_ledger(
    location: LocationLike,
    *,
    budget: BudgetLike | None,
    second: LocationLike | None,
    key: LocationLike | None,
    identity: str | None,
    moved: bool,
) -> OpenLedger:
    """The ledger at a location; made there if a budget is given and nothing is there."""
    if not isinstance(moved, bool):
        raise DataError("moved", moved, "it is not a truth value", "True, if the ledger was moved here")
    if identity is not None:
        read_name(identity, "identity")
    ceiling, chosen = None if budget is None else read_ceiling(budget), _path(key)
    with ExitStack() as opened:  # closes the databases, unless all is well in the end
        database = _open(opened, location, "location")
        given = None if second is None else _open(opened, second, "witness")
        _must_be_apart(database, given)
        if _is_empty(database):
            _make(database, given, ceiling, chosen, identity)
        kept = _find(database, chosen)
        if identity not in (None, kept.identity):
            why = f"the ledger there is {kept.identity}: not the one that is named"
            raise ConflictError("identity", identity, why, f"the right one at {database.shown}")
        if ceiling is not None and not ceiling.has_ceiling_of(kept.budget):
            why = f"this ledger was made for {kept.budget.ceiling}"
            raise ConflictError("budget", str(ceiling.ceiling), why, "that budget, or none: Ledger(location)")
        recorded, old = kept.where.body["witness"], None
        if given is None and recorded is not None:
            given = _open(opened, recorded, "witness")
        _must_be_apart(database, given)
        if chosen is not None:
            home.must_be_apart(chosen, database.path.parent if isinstance(database, SqliteDatabase) else None, True)
        if moved and given is not None and recorded is not None and given.place != kept.where.body["witness_place"]:
            old = _old_head(opened, kept, recorded)
        if not moved:
            _must_be_in_place(kept, given)
        if given is not None:
            kept = _watched(kept, given, known=not moved or given.place == kept.where.body["witness_place"])
        if moved:
            _move(kept, given, old)
        if kept.key is not None:
            home.remember(database.place, kept.identity)
        opened.pop_all()
    return kept


def _open(opened: ExitStack, location: LocationLike, name: str) -> Database:
    database = open_database(location, name=name)
    opened.callback(database.close)
    if database.distrust:
        raise LedgerError(name, database.shown, f"{database.distrust}, and may forget what was spent", "both set to on")
    return database


# -- making ----------------------------------------------------------------------------------------------------------


def _is_empty(database: Database) -> bool:
    if not database.exists("entries"):
        return True
    with database.read(LAST) as transaction:
        return not transaction.opened[0]


def _make(
    database: Database, second: Database | None, ceiling: Filter | None, chosen: Path | None, named: str | None
) -> None:
    """Tables, key and first entry. Several may do so at the same moment: one of them writes the entry."""
    if ceiling is None or named is not None:
        why = "there is no ledger" if named is None else f"ledger {named} is not there"
        instead = "Ledger(..., budget=...), which makes one" if named is None else "the ledger that the policy names"
        raise LedgerError("location", database.shown, why, instead)
    known = home.remembered(database.place) or next(
        iter([] if second is None else witness.kept_at(second, database.place)), None
    )
    if known is not None and _is_empty(database):  # not made by somebody else this very moment
        why = f"ledger {known} was kept there and is gone; a new one would start with a full budget"
        raise TamperError("location", database.shown, why, f"that ledger back, or another place ({home.folder()} remembers)")
    identity = secrets.token_hex(16)
    file = home.key_file(identity, chosen)
    home.must_be_apart(file, database.path.parent if isinstance(database, SqliteDatabase) else None, chosen is not None)
    database.prepare(TABLES, ["entries"])
    if second is not None:
        witness.prepare(second)
    with database.write(LAST) as transaction:
        if transaction.opened[0]:
            return
        page = LedgerTransaction(transaction, home.make_key(file), None)
        body = {"ledger": identity, "budget": ceiling.to_json(), **_places(database, second)}
        page.add("created", body, spent=ceiling.nothing.totals, home=1)


def _places(database: Database, second: Database | None) -> dict[str, Any]:
    return {
        "place": database.place,
        "witness": None if second is None else second.shown,
        "witness_place": None if second is None else second.place,
    }


# -- checking --------------------------------------------------------------------------------------------------------


def _find(database: Database, chosen: Path | None) -> OpenLedger:
    with database.read(LAST, numbered(1)) as transaction:
        first = one(transaction.opened[1])
        if first is None:
            raise TamperError(
                "location", database.shown, "the ledger there has lost its first entry", "the ledger as it was"
            )
        identity = str(read(first, None).body["ledger"])
        key = home.load_key(home.key_file(identity, chosen))
        start, page = read(first, key), LedgerTransaction(transaction, key, None)
        where = start if page.state.home == 1 else page.entry(page.state.home)
    if where is None:
        raise TamperError("location", database.shown, "the entry that says where it is kept is missing", "ledger.verify()")
    return OpenLedger(database, key, identity, from_json(start.body["budget"]), where, page.last.number == where.number)


def _must_be_in_place(kept: OpenLedger, second: Database | None) -> None:
    database, where = kept.database, kept.where.body
    if where["place"] != database.place:
        why = f"this ledger is kept at {where['place']}: here is a copy, or it was moved"
        raise ConflictError("location", database.shown, why, "the original; or moved=True, once the original is gone")
    if second is not None and second.place != where["witness_place"]:
        why = f"the second place of this ledger is {where['witness'] or 'none'}"
        raise ConflictError("witness", second.shown, why, "that one, or moved=True, which records another")
    remembered = home.remembered(database.place)
    for known in (
        [] if remembered is None else [remembered],
        [] if second is None else witness.kept_at(second, database.place),
    ):
        if known and kept.identity not in known:
            why = f"ledger {known[0]} was kept there; this is {kept.identity}"
            raise TamperError("location", database.shown, why, "the ledger that was there; moved=True if that is meant")


def _watched(kept: OpenLedger, second: Database, *, known: bool) -> OpenLedger:
    """With its second place, which must know the ledger if anything ever happened in it."""
    if not second.exists("heads"):
        if known and not kept.unused:
            raise _forgotten(second)
        witness.prepare(second)
    watch = Witness(second, kept.identity, kept.database.place, kept.key)
    if known and not kept.unused and watch.head() is None:
        raise _forgotten(second)
    return replace(kept, witness=watch)


def _old_head(opened: ExitStack, kept: OpenLedger, recorded: str) -> Head | None:
    """What the former second place knows, where it can still be asked."""
    try:
        former = _open(opened, recorded, "witness")
        if not former.exists("heads"):
            return None
        return Witness(former, kept.identity, kept.where.body["place"], kept.key).head()
    except TamperError:
        raise
    except LedgerError:
        return None


def _move(kept: OpenLedger, second: Database | None, old: Head | None) -> None:
    seen = None if kept.witness is None else kept.witness.head()
    with kept.database.write(LAST) as transaction:
        page = LedgerTransaction(transaction, kept.key, seen)
        if old is not None:
            page.must_hold(old)
        body = {**_places(kept.database, second), "former_confirmed": old is not None or seen is not None}
        page.add("moved", body, home=page.last.number + 1)


def _forgotten(second: Database) -> TamperError:
    why = "it does not know this ledger, so an old copy could not be told from the newest"
    return TamperError("witness", second.shown, why, "the second place as it was, or moved=True with a new one")


def _must_be_apart(database: Database, second: Database | None) -> None:
    """What is kept in one folder, or in one database, is put back together."""
    if second is None:
        return
    if isinstance(database, SqliteDatabase) and isinstance(second, SqliteDatabase):
        together = second.path.is_relative_to(database.path.parent)
    else:
        together = database.place.rpartition("/")[0] == second.place.rpartition("/")[0]
    if together:
        why = "it is in the ledger's own folder or database: both would be put back together"
        raise ConflictError("witness", second.shown, why, "a file on another disk, or postgresql://... on another server")


def _path(key: LocationLike | None) -> Path | None:
    if key is None:
        return None
    if not isinstance(key, (str, os.PathLike)) or not isinstance(os.fspath(key), str) or not os.fspath(key):
        raise DataError("key", key, "it is not a path", "a file outside the ledger's folder")
    try:
        return Path(str(os.fspath(key))).expanduser()
    except RuntimeError as error:
        raise DataError("key", key, str(error), "a file outside the ledger's folder") from error
