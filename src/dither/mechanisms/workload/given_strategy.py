"""The strategy of a workload as it was given, checked: one that was computed, a matrix, or none."""

from __future__ import annotations

import math
import numbers
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dither.errors import DataError, NumberError, SizeError
from dither.mechanisms.protocol import MatrixLike
from dither.mechanisms.workload.column_norms import LARGEST_ENTRY
from dither.mechanisms.workload.strategy import Noise, Strategy, gaussian, laplace, norm_of
from dither.numeric.lattice import as_array

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_ANSWERS = 2**21  # queries times released numbers: the reconstruction is held in whole numbers
MOST_ROWS = 2**12
EXAMPLE = "rows of whole numbers, such as [[1, 0], [0, 1], [1, 1]]"


def read_strategy(
    value: Strategy | MatrixLike | None, queries: NDArray[np.float64], kind: Noise, *, swaps: bool
) -> Strategy:
    """The strategy that was given, as one or as a matrix; without any the best that is known for this noise."""
    if value is None:
        value = (laplace if kind == "laplace" else gaussian)(queries, replace=swaps)
    matrix = read_matrix(value.matrix if isinstance(value, Strategy) else value)
    if isinstance(value, Strategy):
        found = replace(value, matrix=matrix)
    else:
        norm = norm_of(matrix, kind, replace=swaps)
        found = Strategy(name="given", matrix=matrix, noise=kind, replace=swaps, norm=norm, rmse=math.nan)
    (rows, cells), wanted = matrix.shape, queries.shape[1]
    if cells != wanted:
        raise SizeError("shape of strategy", matrix.shape, "it has a column for each cell", f"{wanted} columns")
    if rows > MOST_ROWS or rows * len(queries) > MOST_ANSWERS:
        why = f"at most {MOST_ROWS} numbers are released, and 2^21 entries lead back to the queries"
        raise SizeError("strategy", (rows, len(queries)), why, "fewer queries")
    return found


def read_matrix(value: MatrixLike) -> NDArray[np.int64]:
    """A strategy of your own: a matrix of whole numbers, copied, so that nobody changes it later."""
    import numpy as np

    array = as_array(value, name="strategy")
    if array.ndim != 2 or array.size == 0:
        raise SizeError("shape of strategy", array.shape, "it takes one row for each released number", EXAMPLE)
    items = array.reshape(-1).tolist()
    if array.dtype.kind not in "iuO" or not all(is_whole(entry) for entry in items):
        raise DataError("strategy", array.dtype, "only whole numbers have an exact norm", EXAMPLE)
    if max(abs(int(entry)) for entry in items) > LARGEST_ENTRY:
        raise NumberError("strategy", "a large entry", "entries are at most 2^32 in size", EXAMPLE)
    matrix = array.astype(np.int64)
    matrix.setflags(write=False)
    return matrix


def is_whole(value: Any) -> bool:
    """Whether a value is an integer, and no truth value."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)
