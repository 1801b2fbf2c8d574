"""What owners are told of a dataset: its policy, where its rows and its ledger are, what is left, and whether it opens.

No row is read: of a private source it is looked up whether its files are there, by their names. Names of files are not
told, since names of folders can be cells. Passwords in addresses are left out, and keys are nowhere read.
"""

from __future__ import annotations

import threading
import tomllib
from pathlib import Path
from typing import Any, Literal

from dither.errors import DitherError, show
from dither.query.dataset import Dataset
from dither.query.policy.policy import Policy, read_policy
from dither.query.policy.table import Table
from dither.query.policy.toml_text import read_toml, toml_text
from dither.query.sources.find_source import find_source
from dither.query.sources.postgres_catalogue import is_address
from dither.server.core.processes.password_mask import masked, masked_policy

Json = dict[str, Any]
State = Literal["there", "missing", "unknown"]
SECONDS = 2.0  # for a look at the files of a table: a network drive may never answer, and the desk has more to do
LOOKS = 8  # such looks at a time
_looks = threading.BoundedSemaphore(LOOKS)


def owner_facts(dataset: Dataset, path: Path) -> Json:
    """All that an owner is told of a dataset that is open; `path` is that of its policy."""
    policy, ledger = dataset.policy, dataset.ledger
    left, stated = ledger.remaining(), policy.ledger
    text, in_force = _policy_text(path, policy)
    return {
        "opens": True,
        "domain": policy.domain,
        "unit": policy.unit.value,
        "data_version": policy.data_version,
        "made_up": policy.made_up,
        "per_question": None if policy.per_question is None else str(policy.per_question),
        "hash": policy.hash,
        "text": text,
        "in_force": in_force,
        "explain": policy.explain(),
        "tables": [_table(table, path.resolve().parent) for table in policy.tables],
        "ledger": {
            "location": masked(ledger.location),
            "identity": ledger.identity,
            "entries": ledger.head.entries,
            "witness": None if stated is None or stated.witness is None else masked(stated.witness),
            "shared_out": ledger.shared_out,
        },
        "budget": {"left": left.percent, "used": left.used, "words": left.words(), "budget": str(left.ceiling)},
    }


def closed_facts(error: Exception) -> Json:
    """The same of a dataset that does not open: why, where there are words for it."""
    if not isinstance(error, DitherError):
        return {"opens": False, "problem": None}
    came = "" if error.came is None else show(error.came)
    told = {"where": error.where, "came": came, "why": error.why, "instead": error.instead}
    return {"opens": False, "problem": {name: masked(text) for name, text in told.items()}}


def _policy_text(path: Path, policy: Policy) -> tuple[str | None, bool]:
    """The text of the file as it may be shown, and whether it states the policy in force: it may have been edited since."""
    try:
        text = toml_text(path)
        in_force = read_policy(read_toml(text)) == policy
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, DitherError):
        return None, False
    return masked_policy(text), in_force


def _table(table: Table, folder: Path) -> Json:
    stated = table.source or ""
    engine = "PostgreSQL" if is_address(stated) else "DuckDB"
    facts = {"name": table.name, "public": table.public, "source": masked(stated), "engine": engine}
    return facts | {"state": _state(table, folder)}


def _state(table: Table, folder: Path) -> State:
    """Whether the files of a table are there; unknown of a server, which is not asked, and where it takes long."""
    if table.source is None or is_address(table.source) or not _looks.acquire(blocking=False):
        return "unknown"
    found: list[State] = []

    def look() -> None:
        try:
            find_source(table.source or "", folder, "source", table.dialect)
            found.append("there")
        except Exception:
            found.append("missing")
        finally:
            _looks.release()

    thread = threading.Thread(target=look, name="dither-look", daemon=True)
    thread.start()
    thread.join(SECONDS)
    return found[0] if found else "unknown"
