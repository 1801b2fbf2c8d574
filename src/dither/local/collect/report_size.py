"""The size of one report in bytes, from the record of its survey alone: reports have no length of their own on the wire.

A report is a whole number in 1, 2 or 4 bytes, the fewest that hold all numbers of its survey; or a bit for each value. A
record comes from strangers: numbers in it are bounded before anything is computed from them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dither.errors import DataError

LARGEST = 2**32  # different reports: what four bytes hold


def report_size(record: dict[str, object]) -> int:
    """Bytes of one report of the survey that a `record` describes; a DataError where it does not say."""
    kind = record.get("kind")
    if not isinstance(kind, str) or kind not in SIZES:
        raise DataError("record", kind, "there is no survey of that name", ", ".join(SIZES))
    try:
        return SIZES[kind](record)
    except (KeyError, TypeError, ValueError) as error:
        why = f"it does not say how large a report is: {error}"
        raise DataError("record", kind, why, "what dither wrote, or size=") from error


def _number(count: int) -> int:
    """Bytes of a whole number below a count."""
    if not 0 < count <= LARGEST:
        raise ValueError(f"{count} different reports")
    return 1 if count <= 2**8 else 2 if count <= 2**16 else 4


def _values(record: dict[str, Any]) -> int:
    if not isinstance(record["domain"], list) or not record["domain"]:
        raise TypeError("its domain is no list of values")
    return len(record["domain"])


def _field(record: dict[str, Any], name: str) -> int:
    if type(record[name]) is not int or not 0 < record[name] <= LARGEST:
        raise TypeError(f"its {name} is no whole number in range")
    return int(record[name])


SIZES: dict[str, Callable[[dict[str, Any]], int]] = {
    "coin flip": lambda record: 1,
    "direct": lambda record: _number(_values(record)),
    "duchi": lambda record: 1,
    "grid": lambda record: _number(_field(record, "width") * _field(record, "height")),
    "hadamard": lambda record: _number(1 << _values(record).bit_length()),
    "hashing": lambda record: _number(_field(record, "seeds") * _field(record, "cells")),
    "heavy hitters": lambda record: 4,
    "hybrid": lambda record: _number(_field(record, "reports") + 2 if "reports" in record else 2),
    "longitudinal": lambda record: _number(_values(record)),
    "noisy number": lambda record: _number(_field(record, "steps") + 1),
    "piecewise": lambda record: _number(_field(record, "reports")),
    "subset": lambda record: -(-_values(record) // 8),
    "unary": lambda record: -(-_values(record) // 8),
}
