"""Key rotation: a ledger goes on with a new signing key, and the old one signs nothing that counts any more.

    begin       the new key is put beside the key file, durable
    hand over   two entries in one transaction: the old key names the new one, the new one countersigns all before it
    complete    the key file says from which entry on the new key signs

Why no crash loses a key or a ledger. A key is durable before it signs. All three steps are taken under the ledger's write
lock. Stopped before the transaction ends, the ledger knows nothing of the new key, and whoever comes next drops it. Stopped
after it, the last entry is signed with the key beside the file; whoever comes next finds that and completes the file. The
file is completed only in a transaction after one that showed the entries and ended, so what it names is durable. Every
rotation makes a key of its own: one that lay about since a crash may be known to whoever took the old one.
"""

from __future__ import annotations

import secrets

from dither.errors import LedgerError
from dither.ledger.access_log import AccessLog
from dither.ledger.entries.entry import tampered
from dither.ledger.entries.transaction import LedgerTransaction
from dither.ledger.storage.database import LAST, Database
from dither.ledger.storage.signing_keys import KeyFile, SigningKeys
from dither.ledger.verify import Audit


def finish_rotation(database: Database, file: KeyFile) -> None:
    """Complete a rotation that was written, and drop one that was not."""
    durable = None
    while file.next_path.exists() and file.read() is not None:
        with database.write(LAST) as transaction:
            keys = file.read()
            written = None if keys is None else LedgerTransaction(transaction, keys, None).keys
            if keys is None or written is None:
                return
            if written == keys:  # it was not written, or the file knows of it
                file.discard()
            elif written == durable:
                file.complete(written)
            durable = written


def hand_over(page: LedgerTransaction, file: KeyFile, log: AccessLog, audit: Audit) -> SigningKeys | None:
    """Write a rotation on a page, after an `audit` of what is before; gives the keys, once the page is durable.

    None, and nothing is written, where another rotation is not finished.
    """
    found = file.read()
    if page.keys is None or found is None:
        raise LedgerError(
            "key", str(file.path), "without its key a ledger can only be read", "the key file that was made with it"
        )
    if found.next is not None:  # that key may be in use
        return None
    for entry in page.entries(1 if audit.last is None else audit.last.entries + 1):
        audit.follow(entry)
    if audit.last != page.last.head:
        raise tampered(page.last.number, "it is not what the audit before the rotation found")
    old, new = page.keys.current.secret, secrets.token_bytes(32)
    file.begin(new)
    again = file.read()
    if again is None or again.next != new:  # the file is gone, or an older one was put there: nobody would find the new key
        raise LedgerError("key", str(file.path), "it is not the file that was read before", "the key file as it was")
    log.sign_again(page.transaction, old, new)
    page.rotate(new, audit.blocks)
    return page.keys


def forget_keys(database: Database, file: KeyFile) -> None:
    """Throw away all keys but the one in force."""
    with database.write(LAST):
        keys = file.read()
        if keys is not None and keys.next is None:
            file.forget(keys)
