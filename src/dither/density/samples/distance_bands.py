"""The Kolmogorov-Smirnov distance of a sample from the data, in whole numbers, and the band of samples that lie no further.

    n, k       rows (public) and points of the sample; g their greatest common divisor, a = n/g, b = k/g
    C_j        rows in the first j cells, moved into 0..n
    s_j        points in the first j cells
    level      max over j < m of |a s_j - b C_j|: n KS = level * g/k, where KS is the Kolmogorov-Smirnov distance

A level is a whole number, and s lies within level u exactly when (b C_j - u)/a <= s_j <= (b C_j + u)/a for all j < m.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dither.numeric.search import first_integer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class DistanceBands:
    """The levels of all samples around one data set."""

    def __init__(self, counts: NDArray[np.int64], rows: int, points: int) -> None:
        import numpy as np

        common = math.gcd(rows, points)
        self._a, self._b, self._points = rows // common, points // common, points
        self.furthest = rows * self._b  # no sample lies further off
        # Moving the running totals into 0..n lets a row move each of them by one at most, as before.
        self._targets = np.clip(np.cumsum(counts)[:-1], 0, rows) * self._b

    def level(self, totals: NDArray[np.int64]) -> int:
        """How far a sample, given by its running totals, lies from the data."""
        import numpy as np

        return int(np.abs(totals[:-1] * self._a - self._targets).max())

    def band(self, level: int) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """The least and the largest running totals of samples within a level; None where there is no such sample."""
        import numpy as np

        low = np.append(np.maximum(-((level - self._targets) // self._a), 0), self._points)
        high = np.append(np.minimum((self._targets + level) // self._a, self._points), self._points)
        # Totals do not fall, so the bound of one cell bounds all after it, or before it.
        low = np.maximum.accumulate(low)
        high = np.minimum.accumulate(high[::-1])[::-1]
        return None if (low > high).any() else (low, high)

    def nearest(self) -> int:
        """The level of the nearest sample."""
        return first_integer(lambda level: self.band(level) is not None)
