"""One spelling for each question: what decides the released numbers, and nothing else.

Two texts with the same plan and the same noise have the same spelling, so that the ledger answers the second from what it
stored for the first. Names of columns in the answer, HAVING, ORDER BY and LIMIT come after the release and are left out.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

from dither.query.column import Column, Key
from dither.query.options import tightened
from dither.query.relation import Scan
from dither.query.table import Table

if TYPE_CHECKING:
    from dither.query.choice import Choice
    from dither.query.part import Part
    from dither.query.quote import Quote

VERSION = 1
MOST_KEYS = 100  # that are spelled out


def question(quote: Quote) -> dict[str, object]:
    """The question as the ledger keeps it."""
    return {**_counters(quote), **({"parts": [_part(part) for part in quote.parts]} if quote.parts else {})}


def _counters(quote: Quote) -> dict[str, object]:
    plan, strategy, bounding = quote.plan, quote.strategy, quote.bounding
    limits = tightened(plan, quote.dataset.policy)
    return {
        "dither": VERSION,
        "table": plan.table.name if isinstance(plan.relation, Scan) else plain(plan.relation),
        "where": plain(plan.where),
        "groups": [{"by": plain(group.by), "keys": _keys(group.keys)} for group in plan.groups],
        "families": [plain(family) for family in strategy.families],
        "bounding": [bounding.way, bounding.groups, bounding.rows, bounding.resolution],
        "noise": [repr(mechanism) for mechanism in quote.noise],
        **({"max_groups": limits} if limits else {}),
        **({} if quote.choice is None else {"choice": _choice(quote.choice)}),
    }


def batch_question(quotes: Sequence[Quote], parts: Sequence[Part]) -> dict[str, object]:
    """A batch as the ledger keeps it: parts that several questions share are spelled once."""
    spelled = []
    for quote in quotes:
        own = [next(at for at, part in enumerate(parts) if part is mine) for mine in quote.parts]
        spelled.append({**_counters(quote), "parts": own})
    return {"dither": VERSION, "batch": spelled, "parts": [_part(part) for part in parts]}


def _choice(choice: Choice) -> dict[str, object]:
    """What is counted for it, how a person is bounded, and the rule."""
    bounding = choice.bounding
    limits = [bounding.way, bounding.groups, bounding.rows, bounding.resolution]
    return {"family": plain(choice.family), "bounding": limits, **choice.spelled()}


def _part(part: Part) -> dict[str, object]:
    """What is counted, how a person is bounded, and the mechanism."""
    bounding, by = part.bounding, part.plan.groups[-1]
    limits = [bounding.way, bounding.groups, bounding.rows, bounding.resolution]
    return {"by": plain(by.by), "keys": _keys(by.keys), "family": plain(part.family), "bounding": limits, **part.spelled()}


def _keys(keys: tuple[Key, ...] | None) -> object:
    """The keys, or the hash of many; nothing where nobody declared them."""
    if keys is None:
        return None
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
