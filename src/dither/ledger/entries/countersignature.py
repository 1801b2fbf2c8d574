"""The countersignature of a key rotation: what the new key answers for, so that the old one need not be trusted any more.

A rotation writes two entries in one transaction: `rotated`, signed by the old key, names the fingerprint of the new one;
`countersigned`, the first that the new key signs, holds a SHA-256 of each block of BLOCK hashes of all entries before it.

Theorem. Once a rotation is written, an entry before it that `must_be_countersigned` lets pass is the one that stood there
when the whole ledger was audited for the rotation; whoever has the old key, and writes what they like into the ledger,
changes none.

    n        the number of the entry, below that of the countersignature
    h_n      the hash that the audit found for it

Proof. The key file names the hash of the countersignature, and the new key signed it, so its text is the owner's, whoever
wrote it there. It holds the SHA-256 of the hashes of n's block as the audit found them. The hashes now in that block have
the same SHA-256, each of 64 digits or the count of separators differs; so the n-th is h_n, unless SHA-256 has a collision.
The entry has the hash h_n, which `read` computed from its text; so its text is the one that was audited, likewise. Its
answer is bound by its text.

HMAC is symmetric: who can check a signature can make it. So an old key that is kept proves nothing beyond this; it is of
use for one thing, to restore a backup that was made before the rotation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dither.ledger.entries.entry import Entry, digest, read, tampered
from dither.ledger.storage.database import Statement, hashes, numbered, one
from dither.ledger.storage.signing_keys import SigningKey

BLOCK = 256
MOST_BLOCKS = 256  # that a process keeps: some 8 MB
Ask = Callable[[Statement], list[tuple[Any, ...]]]
_blocks: dict[tuple[str, int], tuple[str, ...]] = {}  # by the hash of the countersignature, which says what must be in them


class BlockDigests:
    """The digests of blocks of hashes, entry by entry."""

    def __init__(self) -> None:
        self._full: list[str] = []
        self._open: list[str] = []

    def add(self, hash_: str) -> None:
        """The hash of the next entry."""
        self._open.append(hash_)
        if len(self._open) == BLOCK:
            self._full.append(_digest(self._open))
            self._open = []

    def digests(self) -> list[str]:
        """Of all blocks so far; the last may not be full."""
        return [*self._full, *([_digest(self._open)] if self._open else [])]


def must_be_countersigned(entry: Entry, key: SigningKey, ask: Ask) -> None:
    """Refuse an entry from before a rotation that is not the one that the new key answers for."""
    block, place = divmod(entry.number - 1, BLOCK)
    if block < 0:
        raise tampered(entry.number, "somebody put it before the first")
    known = _blocks.get((key.hash, block))
    if known is None:
        known = _read_block(block, key, ask)
        if len(_blocks) >= MOST_BLOCKS:
            _blocks.clear()
        _blocks[key.hash, block] = known
    if place >= len(known) or known[place] != entry.hash:
        raise tampered(entry.number, "it is not the one that the new key answers for, since the key was rotated")


def _read_block(block: int, key: SigningKey, ask: Ask) -> tuple[str, ...]:
    row = one(ask(numbered(key.first)))
    mark = None if row is None else read(row, key.secret)
    if mark is None or mark.hash != key.hash or mark.kind != "countersigned":
        raise tampered(key.first, "it is not the countersignature that the key file names")
    found = [str(hash_) for _, hash_ in ask(hashes(block * BLOCK + 1, min((block + 1) * BLOCK, key.first - 1)))]
    signed = mark.body["blocks"]
    if block >= len(signed) or signed[block] != _digest(found):
        raise tampered(block * BLOCK + 1, f"it or one of the {len(found)} from it on was changed after the key was rotated")
    return tuple(found)


def _digest(found: list[str]) -> str:
    return digest("\n".join(found))
