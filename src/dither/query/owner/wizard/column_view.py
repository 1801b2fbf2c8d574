"""What is known of a column before its owner is asked, and whether a policy would take what she replies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dither.query.owner.type_inference import Inferred
from dither.query.owner.wizard.policy_text import path_key
from dither.query.policy.cell_format import CellFormat
from dither.query.policy.column import Type, read_column


@dataclass(frozen=True)
class ColumnView:
    """What is known of a column before its owner is asked."""

    table: str
    name: str
    kind: Type | None  # by a schema; None where cells are text, and the owner says what they hold
    is_person: bool
    out: str  # why it should be left out; '' if it may stay
    found: Inferred | None  # by its first cells, with consent
    seen: str  # values among these cells, for the owner's eyes
    of_table: CellFormat
    is_public: bool = False  # a column of a public table

    @property
    def key(self) -> str:
        """Where its steps are kept."""
        return f"{path_key(self.table)}.{path_key(self.name)}"


def fitting(view: ColumnView, facts: dict[str, Any], *wanted: str) -> dict[str, Any]:
    """Those of the facts that were asked for, once a policy would take all of them."""
    read_column(view.name, facts, "policy", view.of_table)
    return {fact: facts[fact] for fact in wanted}
