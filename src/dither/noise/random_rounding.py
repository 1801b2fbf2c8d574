"""Random (stochastic) rounding: a real number to one of the two integers beside it, so that its mean is the number itself.

Theorem. For a uniform real V in [0, 1), floor(t + V) is k + 1 with probability t - k and k otherwise, k = floor(t); so its
mean is t. Proof. floor(t + V) = k + 1 exactly when V >= 1 - (t - k).

V is revealed from the left. Its first 52 bits and t in floats settle nearly all draws: t is off by less than a bound that is
computed exactly beforehand, so where the sum lies further than that from a whole number its floor is certain. For the rest
t is taken as a fraction, and bits are appended to the same V until the floor is certain.

Values are moved into [low, high] first. NaN counts as 0, as on a lattice. Nothing is refused for what it is; only what
is no number at all is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dither.errors import DataError
from dither.noise.bernoulli import Bernoulli
from dither.noise.entropy import _rehearsal, stream
from dither.numeric.balls import round_down, round_up
from dither.numeric.columns import is_list, plain, read_column
from dither.numeric.lattice import LARGEST_DECIMAL, as_array
from dither.numeric.number import RealLike

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEADING = 52  # bits of V that a float holds with room to spare
UNIT = Fraction(1, 2**52)
COARSEST = Fraction(1, 2**12)  # where floats know less than this of t, fractions are used throughout
LARGEST_WHOLE = 2**53


def round_randomly(values: Iterable[RealLike], *, low: Fraction, high: Fraction, steps: int) -> NDArray[np.int64]:
    """Each value, moved into [low, high], as a whole number 0..steps whose mean is (value - low) / (high - low) * steps."""
    array = _numbers(values)
    if _rehearsal.get() is None and array.dtype == np.float64:
        found = _by_floats(array.astype(np.float64), low, high, steps)
        if found is not None:
            return found
    listed = [place_of(value, low, high, steps) for value in array.tolist()]
    return np.array([round_place(place) for place in listed], dtype=np.int64)


def _by_floats(array: NDArray[np.float64], low: Fraction, high: Fraction, steps: int) -> NDArray[np.int64] | None:
    """Random rounding of doubles by their 53 bits; None where the bounds are too far apart for floats to settle it."""
    start, scale = round_down(low), round_down(steps / (high - low))
    if not (math.isfinite(start) and 1e-290 < scale < 1e290):
        return None
    offset = (low - Fraction(start)) * steps / (high - low)
    # the difference, the scale and the product are each off by a unit in the last place at most; then the sum with V,
    # and what is not yet known of V
    doubt = offset + (steps + 1 + offset) * 5 * UNIT
    if doubt > COARSEST:
        return None
    value = np.nan_to_num(array, nan=0.0, posinf=math.inf, neginf=-math.inf)
    below, above = value <= round_down(low), value >= round_up(high)
    words = stream().words(value.size) >> np.uint64(64 - LEADING)
    with np.errstate(over="ignore", invalid="ignore"):
        t = (np.where(below | above, start, value) - start) * scale
    total = t + words.astype(np.float64) * float(UNIT)
    found = np.floor(total).astype(np.int64)
    for at in np.flatnonzero(np.abs(total - np.rint(total)) <= float(doubt) * (1 + 1e-9)).tolist():
        found[at] = round_place(place_of(float(value[at]), low, high, steps), int(words[at]), LEADING)
    found[below], found[above] = 0, steps
    return found


def place_of(value: Any, low: Fraction, high: Fraction, steps: int) -> Fraction:
    """Where a value lies between low (0) and high (steps), exactly."""
    return (_inside(value, low, high) - low) / (high - low) * steps


def _inside(value: Any, low: Fraction, high: Fraction) -> Fraction:
    """The value clamped to the bounds, exactly."""
    if isinstance(value, Decimal):
        if value.is_nan() or (value.is_finite() and value and value.adjusted() < -LARGEST_DECIMAL):
            value = 0
        elif value.is_infinite() or (value and value.adjusted() > LARGEST_DECIMAL):
            return low if value.is_signed() else high
    if isinstance(value, float) and not math.isfinite(value):
        if not math.isnan(value):
            return high if value > 0 else low
        value = 0
    return max(low, min(high, Fraction(value)))


def round_place(place: Fraction, leading: int = 0, known: int = 0) -> int:
    """floor(place + V), for a V whose first bits may be known."""
    whole, rest = divmod(place, 1)
    if rest == 0:
        return int(whole)
    if _rehearsal.get() is not None:
        return int(whole) + Bernoulli(rest).sample()
    while True:
        least = math.floor(place + Fraction(leading, 1 << known))
        most = math.ceil(place + Fraction(leading + 1, 1 << known)) - 1  # V lies strictly below
        if least == most:
            return least
        leading, known = (leading << 64) | stream().word(), known + 64


def _numbers(values: Iterable[RealLike]) -> NDArray[np.generic]:
    """A row of numbers: doubles where these hold them all, otherwise a list of whatever they are."""
    array = read_column(values) if is_list(values) else as_array(values, name="values")
    if array.ndim != 1:
        raise DataError("values", array.shape, "the numbers of many people come in one list", "[1.5, 2, 0]")
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        return array.astype(np.float64)
    if array.dtype.kind in "iu" and (array.size == 0 or max(-int(array.min()), int(array.max())) <= LARGEST_WHOLE):
        return array.astype(np.float64)
    if array.dtype.kind not in "iuO":
        raise DataError("values", array.dtype, "these are no numbers", "an array of ints or doubles, or a list of numbers")
    listed = [plain(value) for value in array.tolist()]
    for at, value in enumerate(listed):
        if type(value) not in (int, float, Fraction, Decimal):
            raise DataError(f"type of values[{at}]", type(value).__name__, "it is no number", "an int, a float or a Decimal")
    if all(isinstance(value, float) or (isinstance(value, int) and abs(value) <= LARGEST_WHOLE) for value in listed):
        return np.array(listed, dtype=np.float64)
    exact = np.empty(len(listed), dtype=np.object_)
    exact[:] = listed
    return exact
