"""What is decided so far: facts of a policy, and what is still open."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class ColumnDecisions:
    """One column of a table."""

    facts: dict[str, Any] = field(default_factory=dict)  # as a policy states them; empty: nothing is decided yet
    left_out: str = ""  # why the policy does not have it


@dataclass
class TableDecisions:
    """One table."""

    name: str
    source: str  # as the policy states it
    written: dict[str, Any] = field(default_factory=dict)  # how its file is written
    whose: dict[str, Any] = field(default_factory=dict)  # person, owner or public
    limits: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, ColumnDecisions] = field(default_factory=dict)

    @property
    def has_limits(self) -> bool:
        """Whether somebody may have more than one row in it."""
        return "public" not in self.whose and self.whose.get("person") != "each row"


@dataclass
class Decisions:
    """A policy on its way."""

    name: str = "rows"  # of the file or database: ledgers are proposed by it
    domain: str | None = None
    values_from_data: bool = False  # whether the owner accepts values that were taken from the data
    budget: dict[str, str] | None = None
    per_question: dict[str, str] | None = None
    location: str | None = None
    witness: str | None = None  # '' for none
    tables: list[TableDecisions] = field(default_factory=list)
