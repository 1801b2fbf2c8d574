"""The keyring, in ~/.dither (or $DITHER_HOME): the signing keys of ledgers, and which ledger was at which place.

The key, 32 random bytes in keys/, signs entries: whoever can write to the ledger's folder and does not have it cannot
forge an entry, nor a head in the second place. ledgers/ remembers places, so that none is started afresh; domains/, which
ledgers were made for a domain, so that an owner who makes a second one is told.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

from dither.errors import ConflictError, LedgerError

LEFT = " left"  # after the identity of a ledger that was moved away


def folder() -> Path:
    """The folder of keys and memories: $DITHER_HOME, or ~/.dither."""
    chosen = os.environ.get("DITHER_HOME")
    return Path(chosen) if chosen else Path.home() / ".dither"


def make_folder() -> None:
    """Make the folder, for its owner alone."""
    try:
        folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        why = f"it cannot be made: {error.strerror}"
        raise LedgerError("folder", str(folder()), why, "a folder that this user can write to") from error


def key_file(identity: str, chosen: Path | None) -> Path:
    """Where the key of this ledger is."""
    return folder() / "keys" / f"{identity}.key" if chosen is None else chosen


def must_be_apart(path: Path, ledger: Path | None, chosen: bool) -> None:
    """Refuse a key in the folder of the ledger: whoever takes the one would have the other."""
    if ledger is None:
        return
    folder_of_key = path.parent.resolve()
    own = folder().resolve()
    if folder_of_key.is_relative_to(ledger) if chosen else (own == ledger or ledger.is_relative_to(own)):
        why = "it lies in the folder of the ledger, so whoever takes the one has the other"
        raise ConflictError("key", str(path), why, "a file in another place, or none: then it goes to ~/.dither/keys")


def make_key(path: Path) -> bytes:
    """A new key, durable before it is used; or the one that is there, unless it was rotated or is none."""
    put(path, secrets.token_hex(32), over=False)
    text = text_of(path, "key") or ""
    if "\n" in text.strip():
        why = "it has keys of a ledger that were rotated: one of them may be known to others"
        raise ConflictError("key", str(path), why, "a file that is not there yet")
    if not re.fullmatch(r"[0-9a-f]{64}\n?", text):
        raise LedgerError("key", str(path), "it is not a key", "the key file that was made with the ledger")
    return bytes.fromhex(text)


def remembered(place: str) -> str | None:
    """The identity of the ledger that was at a place; None if nobody knows of one."""
    text = text_of(_place_file(place), "memory")
    return None if text is None else text.strip().removesuffix(LEFT)


def has_left(place: str) -> bool:
    """Whether the ledger that was at a place was moved away from it."""
    return (text_of(_place_file(place), "memory") or "").strip().endswith(LEFT)


def remember(place: str, identity: str, *, left: bool = False) -> None:
    """Keep in mind which ledger is at a place, or was and has left it."""
    if (remembered(place), has_left(place)) != (identity, left):
        put(_place_file(place), identity + (LEFT if left else ""), over=True)


def note_domain(domain: str, identity: str, place: str) -> None:
    """Keep in mind that a ledger was made for a domain."""
    put(_domain_folder(domain) / identity, json.dumps(place), over=True)


def places_of(domain: str) -> dict[str, str]:
    """The ledgers that were made for a domain by this account, and where; files that are gone are not listed."""
    found = _domain_folder(domain)
    noted = {file.name: text_of(file, "memory") for file in sorted(found.iterdir())} if found.is_dir() else {}
    places = {identity: str(json.loads(text)) for identity, text in noted.items() if text and text.startswith('"')}
    return {identity: place for identity, place in places.items() if "://" in place or Path(place).is_file()}


def _domain_folder(domain: str) -> Path:
    return folder() / "domains" / hashlib.sha256(domain.encode()).hexdigest()[:32]


def _place_file(place: str) -> Path:
    return folder() / "ledgers" / hashlib.sha256(os.fsencode(place)).hexdigest()[:32]


def text_of(path: Path, name: str) -> str | None:
    """What a small file holds; None if there is no such file."""
    try:
        return path.read_text(encoding="ascii")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise LedgerError(name, str(path), f"it cannot be read: {error}", "a file that this user can read") from error


def put(path: Path, text: str, *, over: bool, like: Path | None = None) -> None:
    """Write a small file so that it is whole and durable, or not there at all; one that is there stays, unless `over`: then
    whoever could read it, or the file `like`, still can."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            if over:
                _readable_as(file.fileno(), path if like is None else like)
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        if over or not path.exists():
            if over:
                draft.replace(path)
            else:
                os.link(draft, path)  # unlike a rename, never puts a new key over another one
        if hasattr(os, "O_DIRECTORY"):
            directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
            os.fsync(directory)
            os.close(directory)
    except FileExistsError:
        return  # somebody was faster; theirs is the one
    except OSError as error:
        raise LedgerError(
            "file", str(path), f"it cannot be written: {error}", "a folder that this user can write to"
        ) from error
    finally:
        draft.unlink(missing_ok=True)


def _readable_as(file: int, other: Path) -> None:
    """Give a new file the owner, the group and the rights of another one, where there is one."""
    if not hasattr(os, "fchmod") or not other.exists():
        return
    found, own = other.stat(), os.fstat(file)
    if own.st_gid != found.st_gid:
        with suppress(OSError):  # a group that this user is in
            os.fchown(file, -1, found.st_gid)
    same = os.fstat(file).st_gid == found.st_gid
    os.fchmod(file, found.st_mode & (0o777 if same else 0o707))  # what one group may read is not for another
    if own.st_uid != found.st_uid:
        with suppress(OSError):  # only root gives files away
            os.fchown(file, found.st_uid, -1)
