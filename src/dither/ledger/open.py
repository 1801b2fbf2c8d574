"""Opening a ledger: the right one, in its place, with its key and its second place. `create_ledger` makes one where none is.

What is refused, and why. Another identity than the policy names: a fresh ledger has a full budget. Another place than the
ledger was last at: two copies would be spent twice. A second place that does not know it: then an old copy cannot be told.
Another budget: the ceiling is a promise that was made. A place where a ledger was and is gone: a new one would start with a
full budget. `moved=True` is the owner's word that the first copy is gone; it leaves an entry.
"""

from __future__ import annotations

import os
import secrets
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from dither.errors import ConflictError, DataError, LedgerError, TamperError
from dither.ledger import witness
from dither.ledger.access_log import AccessLog
from dither.ledger.discovery import OpenLedger, find_ledger
from dither.ledger.entries.budget import BudgetLike, read_ceiling
from dither.ledger.entries.charge_request import read_request
from dither.ledger.entries.decisions import reserve
from dither.ledger.entries.entry import Head
from dither.ledger.entries.texts import read_name
from dither.ledger.entries.transaction import LedgerTransaction
from dither.ledger.key_rotation import finish_rotation, hand_over
from dither.ledger.storage import keyring as home
from dither.ledger.storage.database import LAST, TABLES, Database
from dither.ledger.storage.locations import LocationLike, open_database
from dither.ledger.storage.signing_keys import SigningKey, SigningKeys
from dither.ledger.storage.sqlite import SqliteDatabase
from dither.ledger.verify import Audit
from dither.ledger.witness import Witness
from dither.numeric.number import NumberLike
from dither.privacy.guarantee.definitions import approx

TEMPORARY = "temporary-"  # how the identity of a throw-away begins, in its receipts too
Loss: TypeAlias = tuple[NumberLike, NumberLike]  # epsilon and delta that were spent at most, and are on no record
TAKEN = "there is a ledger already"
HOW_TO_MAKE = "Ledger.create(..., budget=...), which makes one"
HOW_TO_COPY = "the original; dither ledger move, which takes it along; dither ledger restore, if it is gone"
HOW_TO_MOVE = "the ledger that the policy names, brought here by: dither ledger move"


def open_ledger(
    location: LocationLike,
    *,
    budget: BudgetLike | None,
    second: LocationLike | None,
    key: LocationLike | None,
    identity: str | None,
    moved: bool,
    lost: Loss | None = None,
    analyst: str = "",
    place: str | None = None,
    old_key: bool = False,
) -> OpenLedger:
    """The ledger at a location, which is of that budget if one is given; what was `lost` by a move is charged with it.
    A `place` is where it will be, if it is a draft that gets its name later; with `old_key` it may be older than its key."""
    if not isinstance(moved, bool):
        raise DataError("moved", moved, "it is not a truth value", "True, if the ledger was moved here")
    if identity is not None:
        read_name(identity, "identity")
    ceiling, chosen = None if budget is None else read_ceiling(budget), _path(key)
    with ExitStack() as opened:  # closes the databases, unless all is well in the end
        database = _open(opened, location, "location")
        given = None if second is None else _open(opened, second, "witness")
        must_be_apart(database, given)
        if _is_empty(database):
            why = "there is no ledger" if identity is None else f"ledger {identity} is not there"
            raise LedgerError("location", database.shown, why, HOW_TO_MAKE if identity is None else HOW_TO_MOVE)
        kept = find_ledger(database, chosen, old_key=old_key)
        if identity not in (None, kept.identity):
            why = f"the ledger there is {kept.identity}: not the one that is named"
            raise ConflictError("identity", identity, why, f"the right one at {database.shown}")
        if ceiling is not None and not ceiling.has_ceiling_of(kept.budget):
            why = f"this ledger was made for {kept.budget.ceiling}"
            raise ConflictError("budget", str(ceiling.ceiling), why, "that budget, or none: Ledger(location)")
        recorded, old = kept.where.body["witness"], None
        if given is None and recorded is not None:
            given = _open(opened, recorded, "witness")
        must_be_apart(database, given)
        if chosen is not None:
            home.must_be_apart(chosen, database.path.parent if isinstance(database, SqliteDatabase) else None, True)
        if moved and given is not None and recorded is not None and given.place != kept.where.body["witness_place"]:
            old = _old_head(opened, kept, recorded)
        if not moved:
            _must_be_in_place(kept, given)
        if given is not None:
            kept = _watched(kept, given, known=not moved or given.place == kept.where.body["witness_place"])
        if moved:
            kept = _move(kept, given, old, lost, analyst, place)
        if place is None:
            finish_rotation(database, kept.file)
        if kept.keys is not None and place is None and not kept.identity.startswith(TEMPORARY):
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


def create_ledger(
    location: LocationLike,
    *,
    budget: BudgetLike,
    second: LocationLike | None = None,
    key: LocationLike | None = None,
    temporary: bool = False,
) -> str:
    """Make a ledger where none is and none was: tables, key and first entry. Gives its identity.

    Several may try at the same moment: one of them writes the entry, the others are refused.
    """
    ceiling, chosen = read_ceiling(budget), _path(key)
    identity = (TEMPORARY if temporary else "") + secrets.token_hex(16)
    with ExitStack() as opened:
        database = _open(opened, location, "location")
        given = None if second is None else _open(opened, second, "witness")
        must_be_apart(database, given)
        if not _is_empty(database):
            raise _taken(database)
        known = home.remembered(database.place) or next(
            iter([] if given is None else witness.kept_at(given, database.place)), None
        )
        if known is not None and _is_empty(database):  # not made by somebody else this very moment
            why = f"ledger {known} was kept there and is gone; a new one would start with a full budget"
            instead = f"that ledger back; or dither ledger restore, from a backup ({home.folder()} remembers)"
            raise TamperError("location", database.shown, why, instead)
        file = home.key_file(identity, chosen)
        home.must_be_apart(file, database.path.parent if isinstance(database, SqliteDatabase) else None, chosen is not None)
        database.prepare(TABLES, ["entries"])
        if given is not None:
            witness.prepare(given)
        with database.write(LAST) as transaction:
            if transaction.opened[0]:
                raise _taken(database)
            page = LedgerTransaction(transaction, SigningKeys((SigningKey(home.make_key(file)),)), None)
            body = {"ledger": identity, "budget": ceiling.to_json(), **place_facts(database, given)}
            page.add("created", body, spent=ceiling.nothing.totals, home=1)
    return identity


def _taken(database: Database) -> ConflictError:
    return ConflictError("location", database.shown, TAKEN, f"Ledger({database.shown!r}), which opens it, or another place")


def place_facts(database: Database, second: Database | None) -> dict[str, Any]:
    return {
        "place": database.place,
        "witness": None if second is None else second.shown,
        "witness_place": None if second is None else second.place,
    }


# -- checking --------------------------------------------------------------------------------------------------------


def _must_be_in_place(kept: OpenLedger, second: Database | None) -> None:
    database, where = kept.database, kept.where.body
    if where["place"] != database.place:
        why = f"this ledger is kept at {where['place']}: here is a copy, or it was moved"
        raise ConflictError("location", database.shown, why, HOW_TO_COPY)
    if second is not None and second.place != where["witness_place"]:
        why = f"the second place of this ledger is {where['witness'] or 'none'}"
        raise ConflictError(
            "witness", second.shown, why, "that one; or dither ledger restore --witness, which records another"
        )
    remembered = home.remembered(database.place)
    if home.has_left(database.place):
        why = f"ledger {remembered} was moved away from there: here is an older copy"
        raise ConflictError("location", database.shown, why, HOW_TO_COPY)
    for known in (
        [] if remembered is None else [remembered],
        [] if second is None else witness.kept_at(second, database.place),
    ):
        if known and kept.identity not in known:
            why = f"ledger {known[0]} was kept there; this is {kept.identity}"
            raise TamperError(
                "location", database.shown, why, "the ledger that was there; dither ledger restore, if that is meant"
            )


def _watched(kept: OpenLedger, second: Database, *, known: bool) -> OpenLedger:
    """With its second place, which must know the ledger if anything ever happened in it."""
    if not second.exists("heads"):
        if known and not kept.unused:
            raise _forgotten(second)
        witness.prepare(second)
    watch = Witness(second, kept.identity, kept.database.place, kept.file)
    if known and not kept.unused and watch.head() is None:
        raise _forgotten(second)
    return replace(kept, witness=watch)


def _old_head(opened: ExitStack, kept: OpenLedger, recorded: str) -> Head | None:
    """What the former second place knows, where it can still be asked."""
    try:
        former = _open(opened, recorded, "witness")
        if not former.exists("heads"):
            return None
        return Witness(former, kept.identity, kept.where.body["place"], kept.file).head()
    except TamperError:
        raise
    except LedgerError:
        return None


def _move(
    kept: OpenLedger, second: Database | None, old: Head | None, lost: Loss | None, analyst: str, place: str | None
) -> OpenLedger:
    seen = None if kept.witness is None else kept.witness.head()
    with kept.database.write(LAST) as transaction:
        page = LedgerTransaction(transaction, kept.keys, seen)
        if old is not None:
            page.must_hold(old)
        body = {**place_facts(kept.database, second), "former_confirmed": old is not None or seen is not None}
        body |= {} if place is None else {"place": place}
        where = page.add("moved", body, home=page.last.number + 1)
        if lost is not None:  # in the same transaction: there is no moment at which it can be spent and this is not counted
            question = {"lost before entry": page.last.number}
            told: dict[str, Any] = {"in_force": page.state.policy, "policy_hash": None, "data_version": "", "key": None}
            told |= {"text": "what was spent after the backup", "analyst": analyst}
            price = approx(*lost, unit=kept.budget.unit)
            reserve(page, kept.budget, read_request(kept.budget, price, question, **told), 1)
        log = AccessLog(kept.database, kept.identity, kept.file)
        if kept.outdated and hand_over(page, kept.file, log, Audit(())) is None:  # others may have its key
            why = "a rotation of the ledger that is gone was cut off, and its key is there"
            raise LedgerError("key", str(kept.file.next_path), why, "that file moved away, if the ledger is gone indeed")
    return replace(kept, where=where, keys=page.keys)


def _forgotten(second: Database) -> TamperError:
    why = "it does not know this ledger, so an old copy could not be told from the newest"
    return TamperError(
        "witness", second.shown, why, "the second place as it was; or dither ledger restore --witness, with a new one"
    )


def must_be_apart(database: Database, second: Database | None) -> None:
    """What is kept in one folder, or in one database, is put back together."""
    if second is None:
        return
    if isinstance(database, SqliteDatabase) and isinstance(second, SqliteDatabase):
        together = second.path.is_relative_to(database.path.parent)
    else:
        together = database.place.rpartition("/")[0] == second.place.rpartition("/")[0]
    if together:
        why = "it is in the ledger's own folder or database: both would be put back together"
        instead = "a folder of its own for the ledger; or a file on another disk, or postgresql://... on another server"
        raise ConflictError("witness", second.shown, why, instead)


def _path(key: LocationLike | None) -> Path | None:
    if key is None:
        return None
    if not isinstance(key, (str, os.PathLike)) or not isinstance(os.fspath(key), str) or not os.fspath(key):
        raise DataError("key", key, "it is not a path", "a file outside the ledger's folder")
    try:
        return Path(str(os.fspath(key))).expanduser()
    except RuntimeError as error:
        raise DataError("key", key, str(error), "a file outside the ledger's folder") from error
