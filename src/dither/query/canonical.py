"""One spelling for each question: what decides the released numbers, and nothing else.

Two texts with the same plan and the same noise have the same spelling, so that the ledger answers the second from what it
stored for the first. Names of columns in the answer, HAVING, ORDER BY and LIMIT come after the release and are left out.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

from dither.query.bounding import Bounding
from dither.query.column import Column, Key
from dither.query.plan import Plan
from dither.query.relation import Scan
from dither.query.strategy import Strategy
from dither.query.table import Table

VERSION = 1
MOST_KEYS = 100  # that are spelled out


def question(plan: Plan, strategy: Strategy, bounding: Bounding, noise: tuple[Any, ...]) -> dict[str, object]:
    """The question as the ledger keeps it."""
    return {
        "dither": VERSION,
        "table": plan.table.name if isinstance(plan.relation, Scan) else plain(plan.relation),
        "where": plain(plan.where),
        "groups": [{"by": plain(group.by), "keys": _keys(group.keys)} for group in plan.groups],
        "families": [plain(family) for family in strategy.families],
        "bounding": [bounding.way, bounding.groups, bounding.rows, bounding.resolution],
        "noise": [repr(mechanism) for mechanism in noise],
    }


def _keys(keys: tuple[Key, ...]) -> object:
    """The keys, or the hash of many."""
    spelled = [plain(key) for key in keys]
    if len(spelled) <= MOST_KEYS:
        return spelled
    return {"count": len(spelled), "sha256": hashlib.sha256(json.dumps(spelled).encode()).hexdigest()}


def plain(node: object) -> object:
    """Texts, whole numbers, lists and mappings; tables and columns are names, since the policy's hash covers the rest."""
    if isinstance(node, (Column, Table)):
        return node.name
    if is_dataclass(node) and not isinstance(node, type):
        return {"is": type(node).__name__, **{field.name: plain(getattr(node, field.name)) for field in fields(node)}}
    if isinstance(node, tuple):
        return [plain(part) for part in node]
    if isinstance(node, Enum):
        return str(node.value)
    if isinstance(node, (Fraction, datetime.date)):  # not a text: texts of an analyst must not be spelled like these
        return {"is": type(node).__name__, "value": str(node)}
    return node
