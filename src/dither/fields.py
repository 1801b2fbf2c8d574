"""The fields of a class, in their order: of one that attrs made, or of a dataclass."""

from __future__ import annotations

import dataclasses

import attrs


def field_names(kind: type) -> list[str] | None:
    """Their names; None for a class that has no such fields."""
    if attrs.has(kind):
        return [field.name for field in attrs.fields(kind)]
    return [field.name for field in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else None
