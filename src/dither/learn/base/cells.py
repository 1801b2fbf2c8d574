"""Reading a table of features: shape and kind may be refused, a single cell never.

An error that depends on a cell is a bit about one person that nobody pays for. So what is no number is read as missing, and
the number of rows is never too small: no row at all is data like any other.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from dither.errors import DataError, SizeError
from dither.learn.base.columns import Category, CategoryColumn, Column, NumberColumn

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
EXACT = 2.0**53  # floats hold whole numbers up to here
TEXTS = ("str", "string", "string[python]", "string[pyarrow]", "categorical", "large_string", "string_view")  # of frames
TEXT_KINDS = "UST"  # of arrays; one of objects says nothing of its cells, and each of them is read by itself
TO_NUMBERS = "a list of its categories; or numbers, such as X.astype(float) has them"


@frozen
class Cells:
    """Columns as they came, each an array, all of one length; with their names where they have some."""

    columns: tuple[NDArray[Any], ...]
    names: tuple[str, ...] | None
    rows: int
    texts: frozenset[int] = frozenset()  # places of columns whose kind says, whatever is in them, that they hold texts

    @property
    def shape(self) -> tuple[int, int]:
        """As of an array: what scikit-learn asks for the number of features."""
        return self.rows, len(self.columns)


def read_cells(table: Any) -> Cells:
    """The columns of an array, a list of rows, a frame of pandas or polars, or a table of pyarrow."""
    if isinstance(table, Cells):
        return table
    if hasattr(table, "toarray") and hasattr(table, "nnz"):
        raise DataError("X", type(table).__name__, "sparse data is not supported", "X.toarray()")
    if hasattr(table, "columns") and hasattr(table, "__getitem__"):
        names = tuple(getattr(table, "column_names", table.columns))  # in pyarrow, `columns` are the columns themselves
        if len(set(names)) < len(names):
            raise DataError("X", list(names), "two columns have one name", "a frame whose columns have different names")
        series = [table[name] for name in names]
        arrays = tuple(_unmerged(one) for one in series)
        kinds = [str(getattr(one, "dtype", getattr(one, "type", ""))).lower() for one in series]  # `type` in pyarrow
        texts = frozenset(at for at, kind in enumerate(kinds) if kind in TEXTS or arrays[at].dtype.kind in TEXT_KINDS)
        strings = all(isinstance(name, str) for name in names)
        return Cells(tuple(_kind(one) for one in arrays), names if strings else None, len(table), texts)
    array = as_array(table, 2, "X")
    if array.ndim != 2:
        why = f"Expected 2D array, got {'scalar' if array.ndim == 0 else f'{array.ndim}D'} array instead"
        ways = "one row for each record: Reshape your data with X.reshape(-1, 1) if it has a single feature"
        raise SizeError("X", f"{array.ndim} dimensions", why, ways)
    if array.shape[1] == 0:
        why = "0 feature(s) (shape=(, 0)) while a minimum of 1 is required."  # how many rows there are is not told
        raise SizeError("X", "no columns", why, "at least one column")
    array = _kind(array)
    columns = tuple(array[:, place] for place in range(array.shape[1]))
    return Cells(columns, None, len(array), frozenset(range(len(columns)) if array.dtype.kind in TEXT_KINDS else ()))


def as_array(values: Any, depth: int, where: str) -> NDArray[Any]:
    """An array as it is; a list by its shape, whatever single cells are: no kind is inferred from one that is no number."""
    if not isinstance(values, (list, tuple)):
        return _unmerged(values)
    with suppress(Exception), warnings.catch_warnings(action="ignore"):  # a list in a cell, or whatever: no array of numbers
        plain = np.asarray(values)
        if plain.dtype.kind in "biuf" and not _merges(plain):
            return plain
    if depth == 1 and _is_nested(values):
        depth = 2  # a column, as an array of numbers would be
    if depth == 2 and not all(isinstance(row, (list, tuple, np.ndarray)) for row in values):
        raise SizeError(
            where, "a list", "Expected 2D array, got 1D array instead", "one list for each row: Reshape your data"
        )
    sizes = {len(row) for row in values} if depth == 2 else set()
    if len(sizes) > 1:
        raise SizeError(where, "rows of several lengths", "each row has one cell for each column", "rows of one length")
    found = np.empty((len(values), *sizes), dtype=object)
    for place, one in enumerate(values):
        if depth == 2:
            for column, cell in enumerate(one):
                found[place, column] = cell
        else:
            found[place] = one
    return found


def _is_nested(values: list[Any] | tuple[Any, ...]) -> bool:
    """Whether each entry is a row of one length: the shape of a table, whatever its cells are."""
    rows = [one for one in values if isinstance(one, (list, tuple)) or (isinstance(one, np.ndarray) and one.ndim == 1)]
    return 0 < len(rows) == len(values) and len({len(row) for row in rows}) == 1


def _merges(array: NDArray[Any]) -> bool:
    """Whether whole numbers may have been rounded: beside one missing or broken number they all become floats."""
    return array.dtype.kind == "f" and bool((np.abs(array) >= EXACT).any())


def _unmerged(column: Any) -> NDArray[Any]:
    """A column as an array; as objects where one row's cell would make others, persons of large numbers say, alike."""
    array = np.asarray(column)
    listed = getattr(column, "to_list", None) or getattr(column, "to_pylist", None)  # pandas and polars; pyarrow
    if listed is None or array.ndim != 1 or not _merges(array):
        return array
    found = np.empty(len(array), dtype=object)
    found[:] = listed()
    return found


def _kind(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind == "c":
        raise DataError("X", str(array.dtype), "Complex data not supported", "real numbers")
    if array.dtype.kind in "mM":
        raise DataError("X", str(array.dtype), "a date is no number", "days since a date of yours, as numbers")
    return array


def check_kinds(cells: Cells, columns: Sequence[Column], names: Sequence[str]) -> None:
    """Refuse bounds of numbers for a column that holds texts by its kind: what is no number would count as the middle."""
    for at in cells.texts:
        column = columns[at]
        if isinstance(column, NumberColumn):
            why = "the column holds texts, and these are bounds of numbers"
            raise DataError(f"bounds[{names[at]!r}]", (column.low, column.high), why, TO_NUMBERS)


def scaled(cells: Cells, columns: Sequence[Column]) -> tuple[Floats, Integers]:
    """Numbers as u between -1 and 1, and categories as places in their lists (-1: in none), a row each.

    Each is computed from its own cell by operations that IEEE 754 rounds in one way, so no other row can change it.
    """
    pairs = list(zip(cells.columns, columns, strict=True))
    numbers = [_numbers(cell, column) for cell, column in pairs if isinstance(column, NumberColumn)]
    codes = [places(cell, column.values) for cell, column in pairs if isinstance(column, CategoryColumn)]
    return (
        np.stack(numbers, axis=1) if numbers else np.zeros((cells.rows, 0)),
        np.stack(codes, axis=1) if codes else np.zeros((cells.rows, 0), dtype=np.int64),
    )


def _numbers(cell: NDArray[Any], column: NumberColumn) -> Floats:
    values = as_floats(cell)
    inside = np.clip(np.where(np.isnan(values), column.middle, values), column.low, column.high)
    return np.clip((inside - column.middle) / column.half, -1.0, 1.0)


def as_floats(cell: NDArray[Any]) -> Floats:
    """Numbers; what is none is NaN."""
    if cell.dtype.kind in "biuf":
        with np.errstate(over="ignore"):
            return cell.astype(np.float64)
    return np.array([_float(one) for one in cell.tolist()], dtype=np.float64)


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.inf if isinstance(value, int) and value > 0 else -np.inf
    except Exception:  # whatever a cell is, it is a number or it is none
        return np.nan


def places(cell: NDArray[Any], values: tuple[Category, ...]) -> Integers:
    """The place of each cell in the list; -1 where it is not there."""
    by_value = {value: place for place, value in enumerate(values)}
    return np.array([_place(one, by_value) for one in cell.tolist()], dtype=np.int64)


def _place(value: Any, by_value: dict[Any, int]) -> int:
    if isinstance(value, Decimal) and value.is_nan():
        return -1  # one kind of NaN has no hash
    return by_value.get(value, -1) if isinstance(value, (str, int, float, Decimal)) else -1
