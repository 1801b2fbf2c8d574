"""How much PostgreSQL may take for one question, and which version of it the owner takes: `[engine]` in a policy.

No matter of what is promised, so not in its hash.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dither.errors import PolicyError

SIZE, TIME = re.compile(r"[1-9][0-9]{0,8}(kB|MB|GB)"), re.compile(r"[1-9][0-9]{0,5}(s|min|h)")
FACTS = {"work_mem", "time_limit", "server_version"}
CERTIFIED = (15, 16, 18)  # versions of PostgreSQL: the conformance suite has run on these
OLDEST = 15  # nothing older was ever looked at, and its makers do not mend it any more
NEWEST = 99


@dataclass(frozen=True)
class EngineFacts:
    """Limits of PostgreSQL for one question; None for what its role has."""

    work_mem: str | None = None  # for each sort and hash table, such as "256MB"
    time_limit: str | None = None  # for one SELECT, such as "30min"; beyond it, the release fails
    server_version: int | None = None  # by the owner's word: a version that the conformance suite did not run on

    @property
    def uncertified(self) -> str | None:
        """What everybody is told who relies on the owner's word; None where there is no need of it."""
        if self.server_version is None or self.server_version in CERTIFIED:
            return None
        return (
            f"PostgreSQL {self.server_version} by the owner's word: not certified, the conformance suite was not run on it"
        )


def read_engine(stated: Mapping[str, Any]) -> EngineFacts:
    """The facts, each in PostgreSQL's own spelling."""
    for fact, spelled, example in (("work_mem", SIZE, '"256MB"'), ("time_limit", TIME, '"30min"')):
        given = stated.get(fact)
        if given is not None and not (isinstance(given, str) and spelled.fullmatch(given)):
            raise PolicyError(f"engine.{fact}", given, "it is no amount that PostgreSQL reads", example)
    version = stated.get("server_version")
    if version is not None and (type(version) is not int or not OLDEST <= version <= NEWEST):
        why = f"it is no version of PostgreSQL from {OLDEST} on; nobody has looked at what older ones compute"
        raise PolicyError("engine.server_version", version, why, "17")
    return EngineFacts(stated.get("work_mem"), stated.get("time_limit"), version)
