"""`dither.create_ledger`: the ledger that a policy names, made once, and its identity put into the policy.

A policy without an identity would take any ledger at its place, also a fresh one with a full budget: so it is asked nothing.
With it, policy and data that were copied elsewhere find no ledger there, or a copy that is refused.
"""

from __future__ import annotations

import os
import re
import secrets
import tomllib
from pathlib import Path
from typing import Any

from dither.arguments import argument_errors
from dither.errors import ConflictError, DataError, PolicyError
from dither.ledger.ledger import Ledger
from dither.ledger.open import TAKEN
from dither.ledger.storage import keyring
from dither.query.policy.policy import LedgerFacts, load_policy, read_policy
from dither.query.policy.toml_text import MARK, toml_text

HOME = "~/.dither/"  # where keys are: another folder under $DITHER_HOME


@argument_errors
def create_ledger(policy: str | Path, *, write: bool = False) -> str:
    """Make the ledger that a policy file names, with its budget and its second place. Gives its identity.

    Args:
        policy: a TOML file, see `dither policy init`.
        write: put the identity into the file; otherwise it is yours to do: `identity = "..."` under [ledger].

    Raises:
        PolicyError: the file cannot be read, names no ledger, or the identity cannot be written into it.
        ConflictError: the policy has an identity already, or there is a ledger.
        TamperError: there was a ledger, and it is gone.
        LedgerError: it cannot be kept there.
        DataError: `policy` is no path.

    Example:
        >>> import tempfile, pathlib, dither
        >>> folder = tempfile.TemporaryDirectory()
        >>> file = pathlib.Path(folder.name, "policy.toml")
        >>> _ = file.write_text('''
        ... version = 1
        ... domain = "people"
        ... ledger = { location = "people.ledger", budget = { epsilon = "3" } }
        ... [tables.people]
        ... person = "each row"
        ... columns = { age = { type = "integer", bounds = [0, 100] } }
        ... ''')
        >>> identity = dither.create_ledger(file, write=True)
        >>> identity in file.read_text()
        True
        >>> folder.cleanup()
    """
    if not isinstance(policy, (str, Path)):
        raise DataError("policy", policy, "it is not a path", "'policy.toml'")
    if not isinstance(write, bool):
        raise DataError("write", write, "it is not a truth value", "True, to put the identity into the file")
    path = Path(policy)
    stated, facts = load_policy(path), ledger_facts(path)
    if facts.identity is not None:
        why = f"the policy names ledger {facts.identity}: one ledger is made for one policy"
        instead = "dither ledger move, if that one is elsewhere"
        raise ConflictError("ledger.identity", str(path), why, instead)
    if write:  # what cannot be written is said before a ledger is made
        by_hand = f"dither ledger create --policy {path}, and the line that it prints, written under [ledger] by hand"
        with_identity(path, secrets.token_hex(16), by_hand)
        if not os.access(path, os.W_OK) or not os.access(path.resolve().parent, os.W_OK):
            raise PolicyError("policy", str(path), "it cannot be written", "a file that this user can write to")
    location, second = place(facts.location, path), None if facts.witness is None else place(facts.witness, path)
    if facts.witness is not None and facts.witness.startswith(HOME):
        keyring.make_folder()
    try:
        made = Ledger.create(location, budget=facts.budget, witness=second, domain=stated.domain, policy_hash=stated.hash)
    except ConflictError as error:
        if error.why != TAKEN:
            raise
        instead = f"its identity, which dither ledger show {location} tells, written under [ledger] by hand"
        raise ConflictError("ledger.location", error.came, TAKEN, instead) from error
    made.close()
    identity = made.identity
    keyring.note_domain(stated.domain, identity, location)
    if write:
        line = f'identity = "{identity}", written under [ledger] by hand'
        _replace(path, with_identity(path, identity, line), line)
    return identity


def ledger_facts(path: Path) -> LedgerFacts:
    """What a policy file says of its ledger."""
    facts = load_policy(path).ledger
    if facts is None:
        why = "a policy names the ledger that keeps the budget"
        raise PolicyError("ledger", None, why, '[ledger] location = "clinic.ledger"')
    return facts


def place(location: str, policy: Path) -> str:
    """Where a ledger is: relative to the folder of its policy."""
    if "://" in location:
        return location
    if location.startswith(HOME):
        return str(keyring.folder() / location.removeprefix(HOME))
    return str(policy.resolve().parent / Path(location).expanduser())


def with_identity(path: Path, identity: str, instead: str) -> str:
    """The text of a policy with an identity in it, and nothing else changed."""
    text = toml_text(path, ends_of_lines=True)
    mark = MARK if path.read_bytes().startswith(MARK.encode()) else ""  # stays where an editor put it
    line = f'identity = "{identity}"'
    headed, count = re.subn(r"(?m)^([ \t]*\[[ \t]*ledger[ \t]*\][^\r\n]*)(\r?)$", rf"\1\2\n{line}\2", text, count=1)
    if not count:
        headed, count = re.subn(r"(?m)^([ \t]*ledger[ \t]*=[ \t]*\{)", rf"\1 {line},", text, count=1)
    expected: dict[str, Any] = tomllib.loads(text)
    expected["ledger"] = {**expected["ledger"], "identity": identity}
    try:
        found = tomllib.loads(headed)
    except tomllib.TOMLDecodeError:
        found = {}
    if not count or found != expected:
        why = "the place for the identity was not found in the file"
        raise PolicyError("ledger", str(path), why, instead)
    read_policy(found)
    return mark + headed


def _replace(path: Path, text: str, instead: str) -> None:
    """Whole, or as it was; nobody may read more of it meanwhile."""
    target = path.resolve()
    beside = target.with_name(f"{target.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(target.stat().st_mode & 0o7777)
        beside.replace(target)
    except OSError as error:
        why = f"the ledger was made, and the file cannot be written: {error.strerror}"
        raise PolicyError("policy", str(path), why, instead) from error
    finally:
        beside.unlink(missing_ok=True)
