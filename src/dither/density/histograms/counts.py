"""A histogram as an engine returns it: one whole number for each cell, where a person is one count in one cell.

Counts are moved into 0..2^35 first. That is a contraction in every cell, so a person still moves one cell by at most one;
and running sums over up to 2^27 cells stay within 64 bits.
"""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

from dither.density.histograms.columns import CountsLike
from dither.errors import DataError, SizeError
from dither.numeric.lattice import as_array

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LARGEST_COUNT = 2**35


def read_counts(value: CountsLike, *, cells: int, name: str = "counts", most: int = LARGEST_COUNT) -> NDArray[np.int64]:
    """One count for each cell; refused by type and shape, never by size."""
    import numpy as np

    array = as_array(value, name=name)
    if array.shape != (cells,):
        instead = f"a list of {cells}, such as Bins.count(values)"
        raise SizeError(f"shape of {name}", array.shape, "there is one count for each cell", instead)
    if array.dtype.kind in "iu":
        return np.clip(array, 0, most).astype(np.int64)
    items = array.tolist()
    if array.dtype.kind != "O" or not all(isinstance(x, numbers.Integral) and not isinstance(x, bool) for x in items):
        raise DataError(f"type of {name}", array.dtype, "a histogram counts", "whole numbers, one for each cell")
    return np.array([max(0, min(most, int(item))) for item in items], dtype=np.int64)


def read_rows_of_counts(value: Any, *, cells: int, rows: int, most: int) -> list[NDArray[np.int64]]:
    """Histograms side by side, from a list of them; where there is one, the histogram itself."""
    if rows == 1:
        return [read_counts(value, cells=cells, most=most)]
    found: Any = value if isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) == 2 else ()
    if not 1 <= len(found) <= rows:  # fewer cost no more: others would be empty for everybody
        why, instead = "there is one row for each histogram", f"a list of {rows} histograms"
        raise SizeError("counts", len(found), why, instead)
    return [read_counts(row, cells=cells, most=most) for row in found]
