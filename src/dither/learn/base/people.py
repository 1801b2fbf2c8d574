"""Several rows of one person: the first `max_rows` of them count, in the order in which they stand.

Which of her rows count depends on her rows alone, so nobody else's rows change when she comes or goes. A row that says of
nobody whose it is (None or NaN) is left out.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from dither.errors import DataError, SizeError
from dither.learn.base.cells import read_entries
from dither.numeric.columns import plain

UNCOUNTED = "rows without a person"
NAMING = (str, bytes, int, float, bool, date, datetime, UUID)


def kept_rows(person: Any, count: int, max_rows: int) -> NDArray[np.bool_]:
    """For each row whether it counts."""
    ids = read_person(person, count)
    kept, seen = np.zeros(count, dtype=bool), dict[Any, int]()
    for place, whose in enumerate(ids.tolist()):
        key = _key(whose)
        if key is None:
            continue
        seen[key] = seen.get(key, 0) + 1
        kept[place] = seen[key] <= max_rows
    return kept


def person_numbers(person: Any, count: int) -> NDArray[np.int64]:
    """A number for each row that is the same for rows of one person; -1 for rows of nobody, which do not count."""
    numbers: dict[Any, int] = {}
    keys = [_key(whose) for whose in read_person(person, count).tolist()]
    return np.array([-1 if key is None else numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def check_persons(ids: Any, max_rows: int, ways: str) -> None:
    """Several rows of a person can be counted only where somebody says whose each row is."""
    if ids is None and max_rows > 1:
        why = "nobody says whose a row is, so the rows of a person cannot be counted"
        raise DataError("max_rows", max_rows, why, ways)


def read_person(person: Any, count: int) -> NDArray[Any]:
    """One value for each row that says whose it is."""
    ids = read_entries(person)
    if ids.ndim != 1:
        raise SizeError("person", ids.shape, "it is one value for each row", "the column that says whose a row is")
    if len(ids) != count:
        raise SizeError("person", "another length than X", "it is one value for each row", "one value for each row of X")
    if ids.dtype.kind == "c":
        raise DataError("person", str(ids.dtype), "complex numbers name nobody", "texts or whole numbers")
    return ids


def _key(whose: Any) -> Any:
    """Return what names a person; None for NaN, a list in a cell, and values of classes whose equality may raise."""
    value = plain(whose)
    if type(value) is Decimal:
        return None if value.is_nan() else value  # one kind of NaN raises where it is compared
    try:
        known = type(value) in NAMING or type(value).__module__.startswith("pandas.")  # its Timestamp is a datetime
        hash(value)  # of a datetime this asks its time zone, which may be anybody's code
        return value if known and isinstance(value, NAMING) and value == value else None
    except Exception:  # whatever it is, it names somebody or nobody
        return None
