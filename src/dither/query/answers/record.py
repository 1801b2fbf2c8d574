"""The record of an answer: its cells and words as JSON has them, and back. What is read may come from anybody."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias, get_args

from dither.errors import DataError, DitherError
from dither.privacy.records import refuse_newer

Column: TypeAlias = list[Any]
Kind = Literal["text", "boolean", "date", "timestamp", "whole", "number"]
STORED: dict[str, tuple[type, ...]] = {"boolean": (bool,), "whole": (int,), "number": (int, float)}  # others are texts
READ: dict[str, Callable[[str], datetime.date]] = {
    "date": datetime.date.fromisoformat,
    "timestamp": datetime.datetime.fromisoformat,
}  # from such a text
UNBOUNDED = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}  # JSON has no such numbers; public tables do
WORDS = ("sql", "price", "says", "note", "explained", "frame_kind", "unprotected")
TEXTS = (*WORDS, "confidence", "guarantee", "receipt", "released")
LISTS = ("keys", "aggregates")


@contextmanager
def refused(text: str, writer: str) -> Iterator[None]:
    """Around the reading of a record: whatever is wrong with it is one refusal."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        if isinstance(error, DitherError):
            raise
        raise DataError("answer", text, "dither did not write this", f"what {writer} gave") from error


def read_version(version: Any, newest: int) -> int:
    """The version of a record, from 1 to the newest that is read; a newer one is refused in words of its own."""
    refuse_newer("version of the answer", version, newest)
    if type(version) is not int or version < 1:
        raise ValueError("no version")
    return version


def check_record(found: Mapping[str, Any]) -> None:
    """Words are texts, and names are lists or mappings of texts."""
    whole = all(type(found[name]) is str for name in TEXTS if name in found)
    whole &= all(_is_texts(found[name]) for name in LISTS if name in found)
    said, constants, beyond = found.get("statements", {}), found.get("constants", {}), found.get("beyond")
    sides = found.get("open_keys", {})
    whole &= _are_rows(found.get("uninformative", {}), found) and isinstance(sides, dict)
    whole &= all(
        isinstance(one, dict) and _are_rows({name: rows}, found) for name, one in sides.items() for rows in one.values()
    )
    whole &= isinstance(said, dict) and _is_texts([*said.values()])
    whole &= isinstance(constants, dict) and all(isinstance(one, dict) for one in constants.values())
    whole &= beyond is None or (isinstance(beyond, dict) and all(type(one) in (int, type(None)) for one in beyond.values()))
    if not whole:
        raise ValueError("a part of another kind")


def _are_rows(uninformative: Any, found: Mapping[str, Any]) -> bool:
    """Whether they are places of rows, by names of columns."""
    if not isinstance(uninformative, dict) or not all(isinstance(rows, list) for rows in uninformative.values()):
        return False
    columns = found["columns"] if uninformative else {}
    return all(
        name in columns and all(type(row) is int and 0 <= row < len(columns[name]) for row in rows)
        for name, rows in uninformative.items()
    )


def _is_texts(several: Any) -> bool:
    return isinstance(several, list) and all(type(one) is str for one in several)


def plain_columns(columns: Mapping[str, Column]) -> dict[str, Column]:
    """Columns as JSON has them."""
    return {name: [_plain(cell) for cell in column] for name, column in columns.items()}


def read_columns(found: Mapping[str, Any]) -> dict[str, Column]:
    """The columns of a record as they were; refused where a cell is of another kind than `kinds` says."""
    kinds, columns = found["kinds"], found["columns"]
    read = {name: _cells(column, kinds[name]) for name, column in columns.items()}
    if not read or len({len(column) for column in read.values()}) != 1:
        raise ValueError("columns of different lengths, or none")
    return read


def _cells(column: Any, kind: Kind) -> Column:
    if not isinstance(column, list) or kind not in get_args(Kind):
        raise ValueError("no column")
    if kind == "number":
        column = [UNBOUNDED[cell] if isinstance(cell, str) else cell for cell in column]
    for cell in column:
        if cell is not None and type(cell) not in STORED.get(kind, (str,)):
            raise ValueError("a cell of another kind")
    read = READ.get(kind)
    return column if read is None else [None if cell is None else read(cell) for cell in column]


def _plain(cell: Any) -> Any:
    if isinstance(cell, float) and not math.isfinite(cell):
        return str(cell)
    return cell.isoformat() if isinstance(cell, datetime.date) else cell
