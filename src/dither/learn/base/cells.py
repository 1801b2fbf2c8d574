"""Reading a table of features: shape and kind may be refused, a single cell never.

An error that depends on a cell is a bit about one person that nobody pays for. So what is no number is read as missing, and
the number of rows is never too small: no row at all is data like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from dither.errors import DataError, SizeError
from dither.learn.base.columns import Category, CategoryColumn, Column, NumberColumn

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]


@frozen
class Cells:
    """Columns as they came, each an array, all of one length; with their names where they have some."""

    columns: tuple[NDArray[Any], ...]
    names: tuple[str, ...] | None
    rows: int

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
        arrays = tuple(np.asarray(table[name]) for name in names)
        strings = all(isinstance(name, str) for name in names)
        return Cells(tuple(_kind(one) for one in arrays), names if strings else None, len(table))
    array = as_array(table, 2, "X")
    if array.ndim != 2:
        why = f"Expected 2D array, got {'scalar' if array.ndim == 0 else f'{array.ndim}D'} array instead"
        ways = "one row for each record: Reshape your data with X.reshape(-1, 1) if it has a single feature"
        raise SizeError("X", f"{array.ndim} dimensions", why, ways)
    if array.shape[1] == 0:
        why = "0 feature(s) (shape=(, 0)) while a minimum of 1 is required."  # how many rows there are is not told
        raise SizeError("X", "no columns", why, "at least one column")
    array = _kind(array)
    return Cells(tuple(array[:, place] for place in range(array.shape[1])), None, len(array))


def as_array(values: Any, depth: int, where: str) -> NDArray[Any]:
    """An array as it is; a list by its shape, whatever single cells are: no kind is inferred from one that is no number."""
    if not isinstance(values, (list, tuple)):
        return np.asarray(values)
    with suppress(ValueError):  # a list in a cell: no array of numbers has that shape
        plain = np.asarray(values)
        if plain.dtype.kind in "biuf":
            return plain
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


def _kind(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind == "c":
        raise DataError("X", str(array.dtype), "Complex data not supported", "real numbers")
    if array.dtype.kind in "mM":
        raise DataError("X", str(array.dtype), "a date is no number", "days since a date of yours, as numbers")
    return array


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


def _place(value: Any, by_value: dict[Category, int]) -> int:
    return by_value.get(value, -1) if isinstance(value, (str, int, float)) else -1
