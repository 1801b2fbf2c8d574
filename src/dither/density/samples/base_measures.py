"""Base measures of a private sample, before the data have a say: every multiset of k points once, or every sequence once.

A sample with c_1, ..., c_m points in the m cells is one multiset and k! / (c_1! ... c_m!) sequences. Both are products
over the cells, so the weights f_j(s) of all ways to put s points into the first j cells follow from f_(j-1):

    multisets     f_j(s) = sum over p <= s of f_(j-1)(p)                       (running sums)
    sequences     f_j(s) = sum over p <= s of f_(j-1)(p) s! / (p! (s - p)!)    (whole numbers), or divided by s!:
                  f_j(s)/s! = sum over p of f_(j-1)(p)/p! 1/(s - p)!           (in doubles, times x^s)

x is any positive number: it multiplies all samples of k points by the same x^k. x = k/m keeps doubles in range, and so
does dividing every cell's x^c/c! by that of c = floor(x), the largest.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from dither.noise.uniform_integers import choose, uniform

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TINY = 2.0**-900  # doubles below this are not relied upon


class WeightRow(NamedTuple):
    """Weights of numbers of points in the first cells, in doubles."""

    row: NDArray[np.float64]
    shift: int  # they are multiplied by 2^shift
    lost: bool  # whether some weight of a single cell was too small for doubles, and taken as the floor


class BaseMeasure(ABC):
    """A weight for each number of points in each cell."""

    def __init__(self, cells: int, points: int) -> None:
        self.cells, self.points = cells, points

    @property
    @abstractmethod
    def everything(self) -> int:
        """How many samples there are."""

    @abstractmethod
    def any(self) -> NDArray[np.int64]:
        """One of all samples, each equally likely: running totals over the cells."""

    @property
    def factor(self) -> Fraction:
        """What a rough weight of k points must be multiplied by to be a number of samples."""
        return Fraction(1)

    @property
    def spare_roundings(self) -> int:
        """Roundings along one path that `step` does not count."""
        return 0

    @abstractmethod
    def step(self, row: NDArray[np.float64], start: int, low: int, high: int, floor: float) -> WeightRow:
        """Rough weights of low..high points, from those of start, start + 1, ... in one cell less; each of the terms goes
        through no more roundings than `row` has entries, plus two, and loses 2^-1074 at most where it is too small."""

    @abstractmethod
    def choices(self, row: NDArray[np.float64], start: int, total: int, floor: float) -> NDArray[np.float64]:
        """Rough weights of start, start + 1, ... points so far, given that one more cell makes `total`."""

    @abstractmethod
    def whole_step(self, row: Sequence[int], start: int, low: int, high: int) -> list[int]:
        """What `step` gives, exactly, in whole numbers."""

    @abstractmethod
    def whole_choices(self, row: Sequence[int], start: int, total: int) -> list[int]:
        """What `choices` gives, exactly, in whole numbers."""


class MultisetMeasure(BaseMeasure):
    """Every multiset of points, once."""

    @property
    def everything(self) -> int:
        """C(k + m - 1, m - 1), one for each multiset."""
        return math.comb(self.points + self.cells - 1, self.cells - 1)

    def any(self) -> NDArray[np.int64]:
        """m - 1 bars among k points, in random places."""
        import numpy as np

        bars = np.sort(choose(self.points + self.cells - 1, self.cells - 1))
        return np.append(bars - np.arange(self.cells - 1), self.points).astype(np.int64)

    def step(self, row: NDArray[np.float64], start: int, low: int, high: int, floor: float) -> WeightRow:
        """Running sums; constant beyond the last entry."""
        import numpy as np

        sums = np.cumsum(row)
        found = np.full(high - low + 1, sums[-1])
        kept = sums[low - start :]  # not longer than what is wanted: bands do not fall
        found[: kept.size] = kept
        return WeightRow(found, 0, lost=False)

    def choices(self, row: NDArray[np.float64], start: int, total: int, floor: float) -> NDArray[np.float64]:
        """The weights of all numbers of points up to the total, unchanged."""
        return row[: total - start + 1]

    def whole_step(self, row: Sequence[int], start: int, low: int, high: int) -> list[int]:
        """Running sums of the weights of one cell less."""
        sums = list(accumulate(row))
        return [sums[min(s - start, len(sums) - 1)] for s in range(low, high + 1)]

    def whole_choices(self, row: Sequence[int], start: int, total: int) -> list[int]:
        """The weights of all numbers of points up to the total, unchanged."""
        return list(row[: total - start + 1])


class SequenceMeasure(BaseMeasure):
    """Every sequence of points, once: the law of the paper."""

    @property
    def everything(self) -> int:
        """m^k, one for each sequence."""
        return int(self.cells**self.points)

    def any(self) -> NDArray[np.int64]:
        """Every point in a random cell."""
        import numpy as np

        return np.cumsum(np.bincount(uniform(self.cells, self.points), minlength=self.cells)).astype(np.int64)

    @cached_property
    def tilt(self) -> float:
        """The x of the head, k/m: it keeps doubles in range."""
        return self.points / self.cells

    @cached_property
    def _shares(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """x^c / c! as mantissas and exponents of two, so that none is too small: two roundings for each unit of c."""
        import numpy as np

        mantissas, exponents = np.ones(self.points + 1), np.zeros(self.points + 1, dtype=np.int64)
        for c in range(1, self.points + 1):
            mantissas[c], more = math.frexp(mantissas[c - 1] * self.tilt / c)
            exponents[c] = exponents[c - 1] + more
        return mantissas, exponents

    def _window(self, first: int, last: int, floor: float) -> WeightRow:
        """x^c / c! for c in first..last, times a power of two that makes the largest of them about 1."""
        import numpy as np

        mantissas, exponents = (part[first : last + 1] for part in self._shares)
        top = int(exponents.max())
        found = np.ldexp(mantissas, np.maximum(exponents - top, -2000))
        small = found < TINY
        found[small] = floor
        return WeightRow(found, -top, lost=bool(small.any()))

    @cached_property
    def factor(self) -> Fraction:
        """k! / x^k, which turns a rough weight into a number of sequences."""
        return math.factorial(self.points) / Fraction(self.tilt) ** self.points

    @property
    def spare_roundings(self) -> int:
        """The roundings of x^c / c!, which add up to 2k."""
        return 2 * self.points

    def step(self, row: NDArray[np.float64], start: int, low: int, high: int, floor: float) -> WeightRow:
        """A convolution with x^c / c!, the weights of the new cell."""
        import numpy as np

        first = max(0, low - (start + row.size - 1))  # fewer points cannot be in this cell
        shares, shift, lost = self._window(first, high - start, floor)
        whole = np.convolve(row, shares)  # entry i is for start + first + i points
        return WeightRow(whole[low - start - first : high - start - first + 1], shift, lost)

    def choices(self, row: NDArray[np.float64], start: int, total: int, floor: float) -> NDArray[np.float64]:
        """Each weight times that of the points left for the last cell."""
        kept = row[: total - start + 1]
        found: NDArray[np.float64] = kept * self._window(total - start - kept.size + 1, total - start, floor).row[::-1]
        return found

    def whole_step(self, row: Sequence[int], start: int, low: int, high: int) -> list[int]:
        """Sums over every choice of the points that lie in the new cell."""
        return [sum(self.whole_choices(row, start, total)) for total in range(low, high + 1)]

    def whole_choices(self, row: Sequence[int], start: int, total: int) -> list[int]:
        """Each weight times the number of ways to choose the points of the last cell."""
        return [ways * math.comb(total, start + at) for at, ways in enumerate(row[: total - start + 1])]


BASES: dict[str, type[BaseMeasure]] = {"multisets": MultisetMeasure, "sequences": SequenceMeasure}
