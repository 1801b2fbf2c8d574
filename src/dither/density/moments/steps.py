"""Quantisation: a public interval, cut into a public number of steps; a value becomes a whole number from 0 to `steps`.

Values beyond the ends are moved to them; the others go to the nearest step. A place is a fixed map of one value into
0..steps, whatever doubles do on the way, so promises rest on the places and on nothing before them.

How near. A value, the lower end and their difference are doubles, off by half a unit in the last place of the larger end
(or of the width) each. Ends whose last place exceeds 1/1024 of a step are refused, so all this is below 1/256 of a step: a
place is off by at most `rounding` = (1/2 + 1/256) / steps of the width.

Counters of places are read here too: whole numbers of any length, and the weights by which counts and sums follow from them.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, SupportsIndex

from dither.density.histograms.columns import CountsLike, ValuesLike, read_numbers
from dither.errors import DataError, NumberError, SizeError
from dither.numeric.balls import round_down, round_up
from dither.numeric.lattice import as_array
from dither.numeric.number import NumberLike, integer, rational

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STEPS = 2**20  # rounding is then half a millionth of the width
MOST_STEPS = 2**24  # squares of places add up in halves of 32 bits
NEAR = Fraction(1, 2) + Fraction(1, 256)  # of a step


@dataclass(frozen=True)
class Quantisation:
    """A map of values from `low` to `high` onto whole numbers, 0 to `steps`."""

    low: Fraction
    high: Fraction
    steps: int  # a power of two

    @classmethod
    def read(cls, low: NumberLike, high: NumberLike, steps: SupportsIndex) -> Quantisation:
        """Refuse ends that do not rise, ends that doubles cannot tell apart, and steps that are no power of two."""
        a, b = rational(low, name="low"), rational(high, name="high")
        if not a < b:
            raise NumberError("low, high", (low, high), "the lower end lies below the upper one", "low=0, high=5000")
        count = integer(steps, name="steps", least=2)
        if count & (count - 1) or count > MOST_STEPS:
            raise NumberError("steps", steps, f"a power of two, up to {MOST_STEPS}, divides exactly", f"{STEPS}")
        ends = [round_up(max(abs(a), abs(b))), round_up(b - a)]
        if math.isinf(max(ends)) or Fraction(math.ulp(ends[0])) > (b - a) / count / 1024:
            why = "doubles of that size are too coarse, or there are none"
            raise NumberError("low, high", (low, high), why, "values less a public constant, or fewer steps")
        return cls(a, b, count)

    @property
    def width(self) -> Fraction:
        """The distance from the lower end to the upper one."""
        return self.high - self.low

    @property
    def rounding(self) -> Fraction:
        """How far a place may be off, as a share of the width."""
        return NEAR / self.steps

    def place(self, values: ValuesLike) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The place of each value, and whether there is a value at all: None and NaN are missing, and stand at 0."""
        import numpy as np

        found = read_numbers(values)
        there = np.logical_not(np.isnan(found))
        low, high = float(self.low), float(self.high)
        inside = np.clip(np.where(there, found, low), low, high) - low
        places = np.floor(inside / float(self.width) * self.steps + 0.5).astype(np.int64)
        return np.where(there, np.clip(places, 0, self.steps), 0), there

    def at(self, share: Fraction) -> float:
        """The value at a share of the width, cut to the ends."""
        return float(self.low + self.width * max(Fraction(0), min(Fraction(1), share)))

    def between(self, low: float, high: float) -> tuple[float, float]:
        """The values between two shares, and what rounding may have hidden beyond them, cut to the ends."""
        first = self.low + self.width * max(Fraction(0), Fraction(low) - self.rounding)
        last = self.low + self.width * min(Fraction(1), Fraction(high) + self.rounding)
        return round_down(first), round_up(last)


def exact_sum(values: NDArray[np.int64]) -> int:
    """The sum of numbers from 0 to 2^62, of any size: halves of 32 bits add up in 64, for up to 2^31 values."""
    import numpy as np

    return (int(np.sum(values >> 32)) << 32) + int(np.sum(values & 0xFFFFFFFF))


def read_whole(values: CountsLike, size: int) -> list[int]:
    """So many whole numbers of any length; refused by type and shape, never by value."""
    array = as_array(values, name="counters")
    if array.shape != (size,):
        raise SizeError("shape of counters", array.shape, f"there are {size} of them", "what count(values) gives")
    return [whole(item, "counters") for item in array.tolist()]


def whole(value: SupportsIndex, name: str) -> int:
    """A whole number of any length; refused by type, never by value."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)
    raise DataError(
        f"type of {name}", type(value).__name__, "counters are whole numbers", "sums of places, each from 0 to `steps`"
    )


def weights_of(degree: int, *, replaces: bool) -> Sequence[tuple[Fraction, ...]]:
    """How the count, the sum and the sum of squares follow from the numbers that are released (and from a public total)."""
    none, half, one = Fraction(0), Fraction(1, 2), Fraction(1)
    if degree == 1:
        return [(one, none), (half, half)] if replaces else [(one, one), (none, one)]
    if replaces:
        return [(one, none, none), (half, half, none), (half, half, -half)]
    return [(one, one, one), (none, half, one), (none, none, one)]
