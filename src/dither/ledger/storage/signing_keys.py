"""The signing keys of a ledger, and the file they are kept in: which key signs which entries.

The first line of a key file is the first key. Each rotation adds a line: the ledger, the number and the hash of the first
entry that the new key signed, and the key. A key that was thrown away is spelled `forgotten`. A file that was never rotated
is one line. While a rotation is under way its key is in a file of its own beside it, durable before anything is signed with
it.

Only who holds the write lock of the ledger changes these files, so they stand still while it is held. Whoever has the
ledger open looks at them before each transaction.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from dither.errors import ConflictError, LedgerError
from dither.ledger.storage.keyring import put, text_of

if sys.platform != "win32":
    import fcntl

FORGOTTEN = "forgotten"
SECRET = f"[0-9a-f]{{64}}|{FORGOTTEN}"
LINE = re.compile(rf"(\S+) ([1-9][0-9]{{0,9}}) ([0-9a-f]{{64}}) ({SECRET})")
PURPOSE = b"dither ledger key 1\n"


@dataclass(frozen=True)
class SigningKey:
    """A key, and from which entry on it signs."""

    secret: bytes | None  # None: thrown away
    first: int = 1
    hash: str = ""  # of that entry; empty for the first key


@dataclass(frozen=True)
class SigningKeys:
    """The keys of a ledger in the order of their entries; the last one is in force."""

    keys: tuple[SigningKey, ...]
    next: bytes | None = None  # made for a rotation; only the ledger tells whether that was written

    @property
    def current(self) -> SigningKey:
        """The key in force."""
        return self.keys[-1]

    @property
    def thrown_away(self) -> int:
        """The last entry whose own key was thrown away; 0 if all are here."""
        return max((new.first - 1 for old, new in pairwise(self.keys) if old.secret is None), default=0)

    def of(self, number: int) -> bytes | None:
        """The key that signs the entry with this number; None if it was thrown away."""
        return self.until(number).current.secret

    def until(self, number: int) -> SigningKeys:
        """The keys as they were when the entry with this number was written."""
        if type(number) is not int or number >= self.current.first:
            return self
        return replace(self, keys=tuple(key for key in self.keys if key.first <= number) or self.keys[:1])

    def followed_by(self, secret: bytes, first: int, hash_: str) -> SigningKeys:
        """With one more key, in force from the entry with that number and hash on."""
        return SigningKeys((*self.keys, SigningKey(secret, first, hash_)))

    def extends(self, earlier: SigningKeys) -> bool:
        """Whether these are the keys of an earlier look, and perhaps more; some may be thrown away."""
        starts = [(key.first, key.hash) for key in self.keys]
        return starts[: len(earlier.keys)] == [(key.first, key.hash) for key in earlier.keys]


def fingerprint(secret: bytes) -> str:
    """What a key can be named by in public."""
    return hashlib.sha256(PURPOSE + secret).hexdigest()


class KeyFile:
    """The key file of one ledger."""

    def __init__(self, path: Path, identity: str) -> None:
        self.path, self.identity = path, identity
        real = Path(os.path.realpath(path))  # by whichever link it is named; a loop of links is refused when it is read
        self.next_path = real.with_name(f"{real.name}.next-{identity}")  # the key of a rotation that is under way
        self._known: tuple[object, SigningKeys | None] = (None, None)  # how the files looked, and what was in them: in one

    def read(self) -> SigningKeys | None:
        """The keys as they are now; None where the key in force is not here."""
        seen = (_stamp(self.path), _stamp(self.next_path))
        before, keys = self._known
        if seen != before:
            found = self._load()
            # A file that is gone, or was put back from a backup, takes nothing from who has the ledger open.
            if keys is None or (found is not None and found.extends(keys)):
                keys = found
            self._known = (seen, keys)
        return keys

    def begin(self, secret: bytes) -> None:
        """Keep the key of a rotation before anything is signed with it. The key file is written anew as it is: one that
        cannot be exchanged, such as a single file mounted into a container, is found out before there is no way back."""
        path = Path(os.path.realpath(self.path))
        with _alone(path.parent):
            text = text_of(path, "key")
            if text is not None:
                put(path, text.removesuffix("\n"), over=True)
        put(self.next_path, secret.hex(), over=True, like=path)

    def complete(self, keys: SigningKeys) -> None:
        """Write down which key signs from where on, and drop the file of the rotation; twice is as good as once."""
        self._write(keys)
        self.discard()

    def discard(self) -> None:
        """Drop the key of a rotation that was not written."""
        try:
            self.next_path.unlink(missing_ok=True)
        except OSError as error:
            why = f"it is of a rotation that was cut off, and cannot be removed: {error.strerror}"
            instead = "opening the ledger as a user that can write to that folder"
            raise LedgerError("key", str(self.next_path), why, instead) from error
        self._known = (None, self._known[1])

    def forget(self, keys: SigningKeys) -> None:
        """Throw all keys away but the one in force."""
        self.must_be_own()
        self._write(SigningKeys((*(replace(key, secret=None) for key in keys.keys[:-1]), keys.current)))

    def must_be_own(self) -> None:
        """Refuse to throw keys away that another ledger may need."""
        if Path(os.path.realpath(self.path)).name != f"{self.identity}.key":
            why = "another ledger may use the same file, and could never be written again"
            instead = f"rotating without that; or a file of this ledger alone, whose name says so: {self.identity}.key"
            raise ConflictError("forget", str(self.path), why, instead)

    def _write(self, keys: SigningKeys) -> None:
        path = Path(os.path.realpath(self.path))
        with _alone(path.parent):  # two ledgers may share a file
            others = [line for line in (text_of(path, "key") or "").splitlines()[1:] if line.split(" ")[0] != self.identity]
            own = [f"{self.identity} {key.first} {key.hash} {_spelled(key.secret)}" for key in keys.keys[1:]]
            put(path, "\n".join([_spelled(keys.keys[0].secret), *others, *own]), over=True)
        self._known = (None, keys)

    def _load(self) -> SigningKeys | None:
        following = text_of(self.next_path, "key")  # first: once a rotation is complete, its key is in the other file
        text = text_of(self.path, "key")
        if text is None:
            return None
        first, *lines = text.splitlines() or [""]
        found = [LINE.fullmatch(line) for line in lines]
        if not re.fullmatch(SECRET, first) or None in found or (following and not re.fullmatch(SECRET, following.strip())):
            raise LedgerError("key", str(self.path), "it is not a key", "the key file that was made with the ledger")
        own = [SigningKey(_read(line[4]), int(line[2]), line[3]) for line in found if line and line[1] == self.identity]
        keys = (SigningKey(_read(first)), *own)
        if [key.first for key in keys] != sorted({key.first for key in keys}):
            raise LedgerError("key", str(self.path), "its keys are not in order", "the key file as dither wrote it")
        if keys[-1].secret is None:
            return None
        secret = None if not following else _read(following.strip())
        return SigningKeys(keys, None if secret in [key.secret for key in keys] else secret)


def _read(text: str) -> bytes | None:
    return None if text == FORGOTTEN else bytes.fromhex(text)


def _spelled(secret: bytes | None) -> str:
    return FORGOTTEN if secret is None else secret.hex()


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """While no other process changes a key file in this folder; a process that dies leaves no lock."""
    if sys.platform == "win32":
        yield
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        why, instead = f"it cannot be read: {error.strerror}", "a folder that this user can read and write to"
        raise LedgerError("folder", str(folder), why, instead) from error
    try:
        with suppress(OSError):  # not every file system has locks; it matters to ledgers that share a file, at one moment
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
