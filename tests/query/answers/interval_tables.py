"""Tables with intervals that no question gave: any keys, any numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from dither.query.answers.released import Released

ENDS = ("", "_low", "_high")


@dataclass(frozen=True)
class Table:
    """What charts and differences read of an answer."""

    columns: dict[str, list[Any]]
    kinds: dict[str, Any]
    keys: tuple[str, ...]
    aggregates: tuple[str, ...]
    confidence: Fraction = Fraction(19, 20)
    statements: dict[str, str] = field(default_factory=dict)
    uninformative: dict[str, list[int]] = field(default_factory=dict)
    sql: str = "SELECT ..."
    says: str = ""
    released: Released = field(default_factory=lambda: Released([]))
    receipt: Any = field(default_factory=lambda: SimpleNamespace(ledger="books", number=3))


def table(keys: dict[str, tuple[str, list[Any]]], numbers: dict[str, tuple[str, list[Any]]], **facts: Any) -> Table:
    """Keys by name with their kind and values; numbers by name with their kind and (value, low, high) for each row."""
    columns = {name: values for name, (_, values) in keys.items()}
    kinds = {name: kind for name, (kind, _) in keys.items()}
    for name, (kind, rows) in numbers.items():
        columns |= {name + end: [row[at] for row in rows] for at, end in enumerate(ENDS)}
        kinds |= {name + end: kind for end in ENDS}
    return Table(columns, kinds, tuple(keys), tuple(numbers), **facts)
