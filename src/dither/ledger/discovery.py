"""The ledger that is found in a database: its identity, its keys, its budget, and the entry that says where it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dither.errors import ConflictError, LedgerError, TamperError
from dither.ledger.entries.entry import Entry, read
from dither.ledger.entries.transaction import LedgerTransaction, in_force
from dither.ledger.storage import keyring
from dither.ledger.storage.database import LAST, Database, EntryRow, numbered, one
from dither.ledger.storage.signing_keys import KeyFile, SigningKeys
from dither.ledger.witness import Witness
from dither.privacy.budget.filter import Filter, from_json


@dataclass(frozen=True)
class OpenLedger:
    """An open ledger, found to be the right one."""

    database: Database
    file: KeyFile
    keys: SigningKeys | None  # as they are in force; None where they are not here
    identity: str
    budget: Filter
    where: Entry  # says where it is kept
    unused: bool  # nothing happened since that was written
    witness: Witness | None = None
    outdated: bool = False  # from before a rotation of its key: it goes on with a new one


def find_ledger(database: Database, chosen: Path | None, *, old_key: bool = False) -> OpenLedger:
    """The ledger in a database. With `old_key` also one from before a rotation: a backup, by the owner's word."""
    with database.read(numbered(1)) as transaction:
        first = one(transaction.opened[0])
        if first is None:
            why = "the ledger there has lost its first entry"
            raise TamperError("location", database.shown, why, "the ledger as it was")
        identity = str(read(first, None).body["ledger"])
    file = KeyFile(keyring.key_file(identity, chosen), identity)
    while True:
        keys = file.read()
        try:
            return _find(database, file, keys, identity, old_key=old_key)
        except LedgerError:
            if file.read() == keys:  # otherwise the key was rotated meanwhile
                raise


def _find(database: Database, file: KeyFile, keys: SigningKeys | None, identity: str, *, old_key: bool) -> OpenLedger:
    with database.read(LAST) as transaction:
        last, outdated = one(transaction.opened[0]), False
        if old_key and keys is not None and last is not None:
            known = in_force(keys, last, transaction.ask)
            keys = _as_then(known, last, file)
            outdated = keys != known
        page = LedgerTransaction(transaction, keys, None)
        start, where = page.entry(1), page.entry(page.state.home)
    if start is None or where is None:
        raise TamperError("location", database.shown, "the entry that says where it is kept is missing", "ledger.verify()")
    told = (from_json(start.body["budget"]), where, page.last.number == where.number)
    return OpenLedger(database, file, page.keys, identity, *told, outdated=outdated)


def _as_then(keys: SigningKeys, last: EntryRow, file: KeyFile) -> SigningKeys:
    """The keys when the last entry was written; refused where they are not kept."""
    then = keys.until(last.number)
    if then.current.secret is None:
        why = f"its key was thrown away when it was rotated (entry {keys.current.first - 1}), so nothing shows who wrote it"
        raise ConflictError("backup", str(file.path), why, "a backup that was made after the key was rotated")
    return then
