"""Columns of private values as they are handed in, read cell by cell.

Theorem. What is read of one cell depends on that cell and on the type and dtype of its container alone, which are public; no
cell raises or warns.
Proof. A list becomes an array of objects, an entry at a time: numpy infers no type from all of them. A column becomes an
array of its dtype, or one of objects where that dtype, or a mask, may hold missing cells, whether or not it does.
Then `plain` and `_float` look at one cell, and catch what it raises.  ∎
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PLAIN = (str, int, float, bool, bytes, type(None))
KINDS = {**dict.fromkeys("biuf", "numbers"), **dict.fromkeys("UT", "texts"), **dict.fromkeys("mM", "dates")}
KINDS |= {"S": "bytes", "c": "complex numbers"}  # of dtypes of numpy; objects say nothing of their cells
NAMES = {
    "numbers": ("int", "uint", "float", "double", "halffloat", "bool", "decimal"),
    "texts": ("str", "large_string", "categorical", "enum"),
    "dates": ("date", "time", "duration"),
    "bytes": ("binary", "large_binary", "fixed_size_binary"),
}  # how dtypes of pandas, polars and Arrow begin
FLOATS = ("float", "double", "halffloat")


def read_column(values: Any) -> NDArray[Any]:
    """Read a list, an array, or a column of a frame; what is none of these as numpy does."""
    import numpy as np

    if is_list(values):
        return objects(values)
    if isinstance(values, np.ma.MaskedArray):  # objects, whether or not the mask hides a cell
        found, hidden = np.asarray(values).astype(object), np.ma.getmaskarray(values)
        found[hidden if hidden.dtype == bool else ...] = None  # of structures: none of them is a number or a text
        return found
    listed = getattr(values, "to_list", None) or getattr(values, "to_pylist", None)  # pandas and polars; pyarrow
    if listed is None and getattr(values, "ndim", 0) == 1:
        listed = getattr(values, "tolist", None)  # arrays of pandas, such as `frame["who"].array`
    dtype = _dtype(values)
    plain_array = dtype is None or isinstance(dtype, np.dtype) or str(dtype).lower().startswith(FLOATS)
    if listed is None or plain_array:  # a missing float is NaN; a missing whole number would make floats of all
        return np.asarray(values)
    try:
        return objects(listed())
    except Exception:  # a cell that its own type does not allow, such as a text that is not UTF-8
        return objects([_cell(values, place) for place in range(len(values))])


def declared_kind(column: Any) -> str:
    """Return what the dtype of a column declares, a key of `NAMES`; '' for lists, objects and what is not known."""
    import numpy as np

    dtype = _dtype(column)
    dtype = getattr(
        getattr(dtype, "categories", None), "dtype", getattr(dtype, "value_type", dtype)
    )  # of pandas; of pyarrow
    if isinstance(dtype, np.dtype):
        return KINDS.get(dtype.kind, "")
    name = str(dtype).lower()
    return next((kind for kind, starts in NAMES.items() if name.startswith(starts)), "")


def is_list(values: Any) -> bool:
    """True for a list, a tuple, a range: a sequence that declares no type of its entries."""
    typed = hasattr(values, "__array__") or isinstance(values, (str, bytes, bytearray, memoryview))
    return isinstance(values, Sequence) and not typed


def objects(cells: Sequence[Any]) -> NDArray[Any]:
    """Return an array of objects, filled one by one: all at once, numpy would look into all of them."""
    import numpy as np

    found = np.empty(len(cells), dtype=object)
    for place, one in enumerate(cells):
        found[place] = one
    return found


def plain(cell: Any) -> Any:
    """Return a number or a text as one of Python's, of no derived class; None for a cell that raises."""
    if type(cell) in PLAIN:
        return cell
    try:
        if type(cell).__module__ == "numpy" and not hasattr(cell, "__len__") and cell.dtype.kind in "biufcUS":
            return float(cell) if cell.dtype.kind == "f" else cell.item()
        if isinstance(cell, str):
            return str.__str__(cell)
        if isinstance(cell, int):
            return int.__int__(cell)
        return float.__float__(cell) if isinstance(cell, float) else cell
    except Exception:  # whatever a cell is, it is a value or it is missing
        return None


def as_floats(column: NDArray[Any]) -> NDArray[np.float64]:
    """Return numbers, and texts of numbers, as the nearest doubles: infinite beyond the largest, NaN for anything else."""
    import numpy as np

    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):  # a warning tells as much as an error
        if column.dtype.kind in "biuf":
            return column.astype(np.float64)
        return np.array([_float(cell) for cell in column.tolist()], dtype=np.float64)


def _float(cell: Any) -> float:
    value = plain(cell)
    try:
        return math.nan if getattr(value, "ndim", 0) else float(value)  # an array in a cell is no number
    except OverflowError:
        return _sign(value) * math.inf
    except Exception:
        return math.nan


def _sign(value: Any) -> float:
    try:
        return 1.0 if value > 0 else -1.0
    except Exception:
        return math.nan


def _dtype(column: Any) -> Any:
    return getattr(column, "dtype", getattr(column, "type", None))  # `type` in pyarrow


def _cell(column: Any, place: int) -> Any:
    try:
        cell = getattr(column, "iloc", column)[place]
        return cell.as_py() if hasattr(cell, "as_py") else cell
    except Exception:
        return None
