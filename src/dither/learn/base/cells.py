"""Tables, labels and persons as they are handed in: shape and kind may be refused, a single cell never.

An error that depends on a cell is a bit about one person that nobody pays for. So what is no number is read as missing, and
the number of rows is never too small: no row at all is data like any other. Each cell is read by itself
(`numeric/columns.py` has the proof), and so is each row of a list (`read_cells`).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from dither.errors import DataError, SizeError
from dither.learn.base.columns import Category, CategoryColumn, Column, NumberColumn
from dither.numeric.columns import KINDS, PLAIN, as_floats, declared_kind, is_list, objects, plain, read_column

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
TO_NUMBERS = "a list of its categories; or numbers, such as X.astype(float) has them"


@frozen
class Cells:
    """The columns of a table, each an array, all of one length; with their names where they have some."""

    columns: tuple[NDArray[Any], ...]
    names: tuple[str, ...] | None
    rows: int
    kinds: tuple[str, ...] = ()  # what each dtype declares: 'numbers', 'texts', ...; '' where it declares nothing

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of an array, which scikit-learn asks for the number of features."""
        return self.rows, len(self.columns)


def read_cells(table: Any, width: int | None = None) -> Cells:
    """Read an array, a list of rows, a frame of pandas or polars, or a table of pyarrow.

    A list of rows has no shape. With a public `width`, a row that has another length, or is no row, is one of missing cells;
    of one column, what is no row is the cell. Without a width, rows must agree on their length: whoever hands them in
    vouches for that.
    """
    if isinstance(table, Cells):
        return table
    if hasattr(table, "toarray") and hasattr(table, "nnz"):
        raise DataError("X", type(table).__name__, "sparse data is not supported", "X.toarray()")
    if hasattr(table, "columns") and hasattr(table, "__getitem__"):
        names = tuple(getattr(table, "column_names", table.columns))  # in pyarrow, `columns` are the columns themselves
        if len(set(names)) < len(names):
            raise DataError("X", list(names), "two columns have one name", "a frame whose columns have different names")
        series = [table[name] for name in names]
        kinds = tuple(map(declared_kind, series))
        columns = tuple(map(read_column, series))
        strings = all(isinstance(name, str) for name in names)
        found = Cells(columns, names if strings else None, len(table), kinds)
    else:
        array = _read_rows(table, width) if is_list(table) else read_column(table)
        if array.ndim != 2:
            why = f"Expected 2D array, got {'scalar' if array.ndim == 0 else f'{array.ndim}D'} array instead"
            ways = "one row for each record: Reshape your data with X.reshape(-1, 1) if it has a single feature"
            raise SizeError("X", f"{array.ndim} dimensions", why, ways)
        if array.shape[1] == 0:
            why = "0 feature(s) (shape=(, 0)) while a minimum of 1 is required."  # how many rows there are is not told
            raise SizeError("X", "no columns", why, "at least one column")
        columns = tuple(array[:, place] for place in range(array.shape[1]))
        found = Cells(columns, None, len(array), (KINDS.get(array.dtype.kind, ""),) * len(columns))
    for kind in found.kinds:
        if kind == "complex numbers":
            raise DataError("X", kind, "Complex data not supported", "real numbers")
        if kind == "dates":
            raise DataError("X", kind, "a date is no number", "days since a date of yours, as numbers")
    return found


def read_entries(values: Any) -> NDArray[Any]:
    """Read labels, targets or persons. An entry of a list that is a list of one is its content, whatever the others are."""
    return objects([_content(one) for one in values]) if is_list(values) else read_column(values)


def _content(entry: Any) -> Any:
    cells = _listed(entry)
    return cells[0] if cells is not None and len(cells) == 1 else entry


def _listed(entry: Any) -> Sequence[Any] | None:
    """Return the cells of a list, a tuple or an array of one axis; None for anything else, and never raise."""
    try:
        if isinstance(entry, list):
            return list.copy(entry)
        if isinstance(entry, tuple):
            return tuple.__getitem__(entry, slice(None))
        row = np.asarray(entry) if hasattr(entry, "__array__") else None
        return None if row is None or row.ndim != 1 else row.tolist()
    except Exception:  # whatever an entry is, it is a row or it is none
        return None


def _read_rows(table: Sequence[Any], width: int | None) -> NDArray[Any]:
    rows = [_listed(row) for row in table]
    if width is None:
        sizes = {-1 if row is None else len(row) for row in rows} or {-1}
        if -1 in sizes:
            raise SizeError(
                "X", "a list", "Expected 2D array, got 1D array instead", "a list for each row: Reshape your data"
            )
        if len(sizes) > 1:
            ways = "rows of one length; or bounds by column, which say how many there are: other rows are then missing"
            raise SizeError("X", "rows of several lengths", "each row has one cell for each column", ways)
        width = sizes.pop()
    found = np.empty((len(rows), width), dtype=object)
    for place, row in enumerate(rows):
        if row is None and width == 1:
            found[place, 0] = table[place]
        elif row is not None and len(row) == width:
            for column, cell in enumerate(row):
                found[place, column] = cell
    return found


def check_kinds(cells: Cells, columns: Sequence[Column], names: Sequence[str]) -> None:
    """Refuse bounds or categories of another kind than a column declares: each of its cells would be missing."""
    for kind, column, name in zip(cells.kinds, columns, names, strict=False):  # rows of a dataset declare their kinds there
        where = f"bounds[{name!r}]"
        if isinstance(column, NumberColumn) and kind in ("texts", "bytes"):
            why = f"the column holds {kind}, and these are bounds of numbers"
            raise DataError(where, (column.low, column.high), why, TO_NUMBERS)
        if isinstance(column, CategoryColumn) and is_other_kind(kind, column.values):
            why = f"the column holds {kind}, and none of these is one, so each row would be in no category"
            raise DataError(where, list(column.values), why, "the categories as they stand in the column")


def is_other_kind(kind: str, values: Sequence[Category]) -> bool:
    """True if a column of this declared kind can hold none of the values."""
    texts = [isinstance(one, str) for one in values]
    return kind != "" and not (kind == "texts" and any(texts)) and not (kind == "numbers" and not all(texts))


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


def places(cell: NDArray[Any], values: tuple[Category, ...]) -> Integers:
    """The place of each cell in the list; -1 where it is not there."""
    by_value = {value: place for place, value in enumerate(values)}
    return np.array([_place(one, by_value) for one in cell.tolist()], dtype=np.int64)


def _place(cell: Any, by_value: dict[Any, int]) -> int:
    value = plain(cell)
    if type(value) is Decimal:
        return -1 if value.is_nan() else by_value.get(value, -1)  # one kind of NaN has no hash
    return by_value.get(value, -1) if type(value) in PLAIN else -1
