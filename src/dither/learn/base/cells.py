"""Reading a table of features: shape and kind may be refused, a single cell never.

An error that depends on a cell is a bit about one person that nobody pays for. So what is no number is read as missing, and
the number of rows is never too small: no row at all is data like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    """The columns of an array, a list of rows, or a frame of pandas or polars."""
    if isinstance(table, Cells):
        return table
    if hasattr(table, "toarray") and hasattr(table, "nnz"):
        raise DataError("X", type(table).__name__, "sparse data is not supported", "X.toarray()")
    if hasattr(table, "columns") and hasattr(table, "__getitem__"):
        names = tuple(table.columns)
        arrays = tuple(np.asarray(table[name]) for name in names)
        strings = all(isinstance(name, str) for name in names)
        return Cells(tuple(_kind(one) for one in arrays), names if strings else None, len(table))
    array = np.asarray(table)
    if array.ndim != 2:
        why = f"Expected 2D array, got {'scalar' if array.ndim == 0 else f'{array.ndim}D'} array instead"
        ways = "one row for each record: Reshape your data with X.reshape(-1, 1) if it has a single feature"
        raise SizeError("X", array.shape, why, ways)
    if array.shape[1] == 0:
        why = f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required."
        raise SizeError("X", array.shape, why, "at least one column")
    array = _kind(array)
    return Cells(tuple(array[:, place] for place in range(array.shape[1])), None, len(array))


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
        return np.inf if value > 0 else -np.inf
    except Exception:
        return np.nan


def places(cell: NDArray[Any], values: tuple[Category, ...]) -> Integers:
    """The place of each cell in the list; -1 where it is not there."""
    by_value = {value: place for place, value in enumerate(values)}
    return np.array([_place(one, by_value) for one in cell.tolist()], dtype=np.int64)


def _place(value: Any, by_value: dict[Category, int]) -> int:
    try:
        return by_value.get(value, -1)
    except Exception:
        return -1
