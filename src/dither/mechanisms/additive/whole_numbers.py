"""Private values that must be integers: refused by their type, never by what they are."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING

from dither.errors import DataError
from dither.numeric.lattice import Lattice
from dither.numeric.number import RealLike

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dither.numeric.lattice import AnyArray

INSTEAD = "int(value) if it is whole; Laplace or Gaussian, or integers=False, for real values"


def whole_number(value: RealLike) -> int:
    """One integer; a float is refused even where it is whole, and so is a truth value."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)
    raise DataError("type of value", type(value).__name__, "only whole numbers have a place here", INSTEAD)


def whole_numbers(array: AnyArray) -> NDArray[np.int64]:
    """An array of integers, in 64 bits, saturated."""
    if array.dtype.kind == "O":
        good = all(isinstance(x, numbers.Integral) and not isinstance(x, bool) for x in array.reshape(-1))
    else:
        good = array.dtype.kind in "iu"
    if not good:
        raise DataError("type of value", array.dtype, "only whole numbers have a place here", INSTEAD)
    return Lattice(1).indices(array)
