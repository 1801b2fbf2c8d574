"""Rounding to whole multiples of a power of two: floor(x / 2^e + 1/2), ties upwards, exact and saturated, in 64 bits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    IntegerArray = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    FloatArray = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
    AnyArray = np.ndarray[tuple[int, ...], np.dtype[np.generic]]

LARGEST_INDEX = 2**62 - 1  # of a single value: two of them still add up inside 64 bits


def saturate(array: AnyArray) -> IntegerArray:
    """Integers of any width as int64, saturated."""
    import numpy as np

    if array.dtype.itemsize < 8:
        return array.astype(np.int64)
    native = array.astype(np.int64 if array.dtype.kind == "i" else np.uint64)
    low = -LARGEST_INDEX if array.dtype.kind == "i" else 0
    return np.asarray(np.clip(native, low, LARGEST_INDEX), dtype=np.int64)


def shift(array: AnyArray, exponent: int) -> IntegerArray:
    """floor(x / 2^exponent + 1/2) for integers, saturated."""
    import numpy as np

    if exponent > 0:
        wide: Any = array.astype(np.uint64 if array.dtype.kind == "u" else np.int64)
        place = wide.dtype.type(exponent)
        one = wide.dtype.type(1)
        return saturate((wide >> place) + ((wide >> (place - one)) & one))
    whole = saturate(array)
    most = LARGEST_INDEX >> -exponent
    shifted = np.clip(whole, -most, most) << -exponent
    shifted[whole > most], shifted[whole < -most] = LARGEST_INDEX, -LARGEST_INDEX
    return shifted


def round_floats(values: FloatArray, exponent: int) -> IntegerArray:
    """floor(x / 2^exponent + 1/2) exactly, saturated, NaN to 0.

    The scaling is exact unless it overflows (then it saturates) or underflows (then it rounds to 0 or -0, and so
    does the truth). x - floor(x) is exact, or for tiny negative x rounds to a number above 1/2, as the truth is.
    """
    import numpy as np

    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        scaled = np.ldexp(values, -exponent)
        scaled = np.clip(np.nan_to_num(scaled, nan=0.0, posinf=np.inf, neginf=-np.inf), -(2.0**62), 2.0**62)
        whole = np.floor(scaled)
        whole += (scaled - whole) >= 0.5
    return np.asarray(np.clip(whole.astype(np.int64), -LARGEST_INDEX, LARGEST_INDEX))


def round_float(value: float, exponent: int) -> int:
    """`round_floats` for one float."""
    try:
        scaled = math.ldexp(value, -exponent)
    except OverflowError:
        scaled = math.copysign(math.inf, value)
    if not abs(scaled) < 2.0**62:
        return 0 if math.isnan(scaled) else (LARGEST_INDEX if scaled > 0 else -LARGEST_INDEX)
    whole = math.floor(scaled)
    return max(-LARGEST_INDEX, min(LARGEST_INDEX, whole + (scaled - whole >= 0.5)))
