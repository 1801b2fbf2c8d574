"""How much PostgreSQL may take for one question: `[engine]` in a policy. No matter of privacy, so not in its hash."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dither.errors import PolicyError

SIZE, TIME = re.compile(r"[1-9][0-9]{0,8}(kB|MB|GB)"), re.compile(r"[1-9][0-9]{0,5}(s|min|h)")
FACTS = {"work_mem", "time_limit"}


@dataclass(frozen=True)
class EngineFacts:
    """Limits of PostgreSQL for one question; None for what its role has."""

    work_mem: str | None = None  # for each sort and hash table, such as "256MB"
    time_limit: str | None = None  # for one SELECT, such as "30min"; beyond it, the release fails


def read_engine(stated: Mapping[str, Any]) -> EngineFacts:
    """The facts, each in PostgreSQL's own spelling."""
    for fact, spelled, example in (("work_mem", SIZE, '"256MB"'), ("time_limit", TIME, '"30min"')):
        given = stated.get(fact)
        if given is not None and not (isinstance(given, str) and spelled.fullmatch(given)):
            raise PolicyError(f"engine.{fact}", given, "it is no amount that PostgreSQL reads", example)
    return EngineFacts(stated.get("work_mem"), stated.get("time_limit"))
