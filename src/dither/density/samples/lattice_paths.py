"""Lattice paths: samples whose running totals stay inside a band, how many there are, and one of them at random.

A sample is a path s_1 <= ... <= s_m = k of running totals over the cells, the band is low_j <= s_j <= high_j. With f_j(s)
as in `samples/base_measures.py`, zero outside the band, there are V = f_m(k) of them; and backwards from s_m = k, s_(j-1)
= p is chosen with weight f_(j-1)(p) times that of s_j - p points in cell j, so that every sample comes with its own weight
over V.

In doubles. All terms are positive, so a sum is off by a relative error only: a term that goes through N roundings is off by
a factor between (1 - u)^N and (1 + u)^N, u = 2^-53. Rows are multiplied by powers of two, exactly, so that their largest
entry lies near 2^900. Products of small entries may lose 2^-1074 each, which is nothing beside sums above 2^-1000. What lies
below that before a row is multiplied, or below 2^-900 afterwards, is set to zero in one run and to that bound in a second
one: the truth lies between the two. Where doubles leave a draw undecided everything is computed again in whole numbers
(`noise/lazy_weights.py`).
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from flint import arb, ctx

from dither.density.samples.base_measures import TINY, BaseMeasure
from dither.noise.lazy_weights import FIRST_PRECISION, by_floats
from dither.numeric.enclosure import to_ball

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

UNIT = 2.0**-53
HIGHEST = 900  # the largest entry of a row lies near 2^900
LOST = 2.0**-1000  # sums of products below this are not relied upon


class PathWeights(NamedTuple):
    """f_0, ..., f_m in doubles; row j multiplied by 2^shifts[j]."""

    rows: list[NDArray[np.float64]]
    shifts: list[int]
    flushed: bool  # whether an entry was too small to be relied upon


class LatticePaths:
    """All samples whose running totals stay inside one band."""

    def __init__(self, base: BaseMeasure, low: NDArray[np.int64], high: NDArray[np.int64]) -> None:
        self._base = base
        self.low, self.high = [0, *low.tolist()], [0, *high.tolist()]  # before the first cell there are no points

    # -- roughly -----------------------------------------------------------------------------------------------

    @cached_property
    def rough(self) -> PathWeights:
        """The weights in doubles, from below: what was too small is set to zero."""
        return self._run(0.0, None)

    @cached_property
    def lifted(self) -> PathWeights:
        """The weights from above: what was too small for doubles is set to its bound."""
        return self._run(TINY, self.rough.shifts) if self.rough.flushed else self.rough

    def _run(self, floor: float, shifts: list[int] | None) -> PathWeights:
        import numpy as np

        with np.errstate(over="ignore", invalid="ignore"):  # from above only, and then nothing is said from above
            return self._fill(floor, shifts)

    def _fill(self, floor: float, shifts: list[int] | None) -> PathWeights:
        import numpy as np

        rows, found, flushed, shift = [np.array([2.0**HIGHEST])], [HIGHEST], False, HIGHEST
        for j in range(1, len(self.low)):
            row, more, lost = self._base.step(rows[-1], self.low[j - 1], self.low[j], self.high[j], floor)
            shift += more
            small = row < LOST
            row[small] = LOST if floor else 0.0
            more = HIGHEST - math.frexp(float(row.max()))[1] if shifts is None else shifts[j] - shift
            row = np.ldexp(row, more)
            shift += more
            flushed |= lost or bool(small.any() or (row < TINY).any())
            row[row < TINY] = floor
            rows.append(row)
            found.append(shift)
        return PathWeights(rows, found, flushed)

    @cached_property
    def doubts(self) -> list[float]:
        """By how much, relatively, the entries of each row can be off through rounding."""
        roundings, found = self._base.spare_roundings, [0.0]
        for row in self.rough.rows[:-1]:
            roundings += row.size + 2
            found.append(roundings * UNIT * (1 + 2.0**-10))  # the powers of 1 + u exceed 1 + N u by less than that
        return found

    @property
    def log_total(self) -> float:
        """The logarithm of V, for planning: not a bound of anything."""
        value, shift = float(self.rough.rows[-1][-1]), self.rough.shifts[-1]
        if value == 0:  # lost altogether
            return math.log(self._base.everything)
        factor = self._base.factor
        return math.log(value) - shift * math.log(2) + math.log(factor.numerator) - math.log(factor.denominator)

    def total(self) -> arb:
        """V, as a ball: from doubles at the first precision of a draw, exactly at any higher one."""
        if ctx.prec > FIRST_PRECISION:
            return arb(self.whole[-1][-1])
        low, high = float(self.rough.rows[-1][-1]), float(self.lifted.rows[-1][-1])
        doubt = arb(0, 2 * self.doubts[-1])
        around = arb(low).union(arb(high)) * (1 + doubt)
        return around * arb(2) ** -self.rough.shifts[-1] * to_ball(self._base.factor)

    # -- exactly -----------------------------------------------------------------------------------------------

    @cached_property
    def whole(self) -> list[list[int]]:
        """f_0, ..., f_m in whole numbers."""
        rows = [[1]]
        for j in range(1, len(self.low)):
            rows.append(self._base.whole_step(rows[-1], self.low[j - 1], self.low[j], self.high[j]))
        return rows

    # -- draws -------------------------------------------------------------------------------------------------

    def draw(self) -> NDArray[np.int64]:
        """One of the samples: its running totals."""
        import numpy as np

        found = np.empty(len(self.low) - 1, dtype=np.int64)
        found[-1] = total = self.low[-1]
        for j in range(len(found) - 1, 0, -1):
            total = found[j - 1] = self.low[j] + self._before(j, int(total))
        return found

    def _before(self, j: int, total: int) -> int:
        start = self.low[j]
        if start == min(self.high[j], total):
            return 0  # there is no choice
        weights = self._base.choices(self.rough.rows[j], start, total, 0.0)
        return by_floats(
            weights, self.doubt(j, total, weights), lambda: self._base.whole_choices(self.whole[j], start, total)
        )

    def doubt(self, j: int, total: int, weights: NDArray[np.float64]) -> float:
        """How far a share of these `weights`, of row `j` for a `total`, can be off: they, one product, and their sums."""
        if not weights.sum() >= TINY:  # terms that were lost altogether may matter
            return 1.0
        doubt = 4 * (self.doubts[j] + (weights.size + 2 + self._base.spare_roundings) * UNIT)
        if self.rough.flushed:  # of the row, or of the shares of the last cell
            above = self._base.choices(self.lifted.rows[j], self.low[j], total, TINY)
            doubt += 4 * float((above - weights).sum() / weights.sum())
        return doubt
