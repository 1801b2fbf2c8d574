"""What columns of private values and histograms of counts are read from: lists, arrays, columns of data frames."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, TypeAlias

from dither.channels.labels import plain
from dither.errors import DataError
from dither.numeric.lattice import LARGEST_DECIMAL
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


def floats(array: Any, *, name: str) -> NDArray[np.float64]:
    """An array as doubles, in the same order: NaN for a missing value, infinite for what is too large."""
    import numpy as np

    if array.dtype.kind in "iu" or (array.dtype.kind == "f" and array.dtype.itemsize <= 8):
        return np.array(array, dtype=np.float64)
    if array.dtype.kind != "O":
        raise DataError(f"type of {name}", array.dtype, "these are no numbers", "an array of ints or doubles, or a list")
    return np.array([_float(value, f"{name}[{at}]") for at, value in enumerate(array.tolist())], dtype=np.float64)


def _float(value: Any, name: str) -> float:
    value = plain(value)
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return math.nan
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction, Decimal)):
        raise DataError(f"type of {name}", type(value).__name__, "it is no number", "an int, a float or a Decimal")
    if isinstance(value, Decimal) and value.is_finite() and value and value.adjusted() < -LARGEST_DECIMAL:
        return 0.0
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except ValueError:  # a signalling NaN
        return math.nan
