"""What columns of private values and histograms of counts are read from: lists, arrays, columns of data frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, TypeAlias

from dither.errors import DataError
from dither.numeric.columns import as_floats, declared_kind, read_column
from dither.numeric.number import RealLike

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class SupportsArray(Protocol):
    """An array of numpy, or a column of a data frame, which gives one."""

    def __array__(self) -> NDArray[Any]: ...


CountsLike: TypeAlias = Sequence[SupportsIndex] | SupportsArray  # whole numbers, one for each cell
ValuesLike: TypeAlias = Sequence[RealLike | None] | SupportsArray  # numbers, one a person; None for a missing one
EstimatesLike: TypeAlias = Sequence[RealLike] | SupportsArray  # numbers that were released, or are public
ColumnsLike: TypeAlias = list[Any] | tuple[Any, ...]  # one column of values for each axis


def read_numbers(values: ValuesLike, *, name: str = "values") -> NDArray[np.float64]:
    """Read private numbers as doubles, in their order: NaN for what is missing or no number, infinite for what is too large.

    The container may be refused for its shape or the kind that it declares; a cell never (`numeric/columns.py`).
    """
    if isinstance(values, (bytes, bytearray, memoryview)):
        raise DataError(
            f"type of {name}", type(values).__name__, "raw bytes say nothing about numbers", "an array, or a list"
        )
    kind, array = declared_kind(values), read_column(values)
    if isinstance(values, str) or array.ndim != 1:
        raise DataError(f"shape of {name}", array.shape, "one value a person, in one list", "[1.5, 2, 0]")
    if kind not in ("", "numbers"):
        raise DataError(f"type of {name}", kind, "these are no numbers", "an array of ints or doubles, or a list")
    return as_floats(array)


def size_or_type(given: Any) -> str:
    """Return the length of a list, or the type of anything else: what an error may say of private cells."""
    return f"a list of {len(given)}" if isinstance(given, (list, tuple)) else type(given).__name__
