"""Nodes and mechanisms as JSON, for what is stored: a format that ledgers hold already.

A node is spelled `{"is": code, field: ...}`, with the stable `code` of its class and the names of its fields; never with the
name of a class or its `repr`, which may change when the code is rebuilt. docs/formats.md lists all codes with their fields,
and a test compares it. Values that JSON does not have are spelled by codes too, so that no text of an analyst is read as
one: `{"is": "fraction", "value": "1/3"}`.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Sequence
from enum import Enum
from fractions import Fraction

from dither.density.histograms.axis import Bins
from dither.fields import field_names
from dither.numeric.number import Number
from dither.query.policy.column import Column
from dither.query.policy.table import Table


def spell(node: object) -> object:
    """Texts, whole numbers, lists and mappings; tables and columns are names, since the policy's hash covers the rest."""
    if node is None or type(node) in (str, int, bool):  # most are, and a list may have thousands
        return node
    if isinstance(node, (Column, Table)):
        return node.name
    if isinstance(node, tuple):
        return [spell(part) for part in node]
    if isinstance(node, Enum):
        return str(node.value)
    if isinstance(node, Fraction):
        return {"is": "fraction", "value": str(node)}
    if isinstance(node, Number):
        return {"is": "number", "value": node.to_json()}
    if isinstance(node, datetime.datetime):
        return {"is": "timestamp", "value": node.isoformat()}
    if isinstance(node, datetime.date):
        return {"is": "date", "value": node.isoformat()}
    if isinstance(node, Bins):
        edges = hashlib.sha256(node.edges.astype("<f8").tobytes()).hexdigest()
        return {"is": "bins", "cells": node.size, "edges": edges}
    names = spelled_attributes(type(node))
    if names is not None:
        later: dict[str, object] = getattr(node, "later_fields", {})  # left out where they are what was meant before
        names = [name for name in names if name not in later or later[name] != getattr(node, name)]
        return {"is": code_of(type(node)), **{spelled_as(node, name): spell(getattr(node, name)) for name in names}}
    assert node is None or isinstance(node, (str, bool, int)), f"{type(node)} has no spelling"
    return node


def spelled_attributes(kind: type) -> Sequence[str] | None:
    """What is spelled of a class: its fields, unless it says otherwise. None for a class without fields."""
    stated: Sequence[str] | None = getattr(kind, "spelled_attributes", None)
    return field_names(kind) if stated is None else stated


def spelled_as(node: object, field: str) -> str:
    """The name of a field in what is stored: its own, unless the class says otherwise."""
    names: dict[str, str] = getattr(node, "spelled_fields", {})
    return names.get(field, field)


def code_of(kind: type) -> str:
    """The code of a class: its own, since an inherited one would spell two kinds alike. Classes of one family may share
    the code of the family where something else that is spelled is each one's own."""
    tells_apart = set(spelled_attributes(kind) or ()) - set(field_names(kind) or ())
    own = vars(kind).keys() & {"code", *tells_apart}
    code = getattr(kind, "code", None) if own else None
    assert isinstance(code, str), f"{kind} has no code of its own"
    return code
