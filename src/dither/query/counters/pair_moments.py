"""Totals of two expressions, and what is estimated of them; vectors by which equations name the totals they are made of.

N, U, W, UU, UW, WW    how many rows have both, and the sums of u, w, u^2, uw and w^2
u, w                   x and y as shares of the way between their bounds
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Vector = tuple[Floats | float, ...]  # of N, U, W, UU, UW, WW and 1

N, U, W, UU, UW, WW, ONE = (tuple(float(at == place) for at in range(7)) for place in range(7))


def product_vector(p: Floats | float, m: Floats | float) -> Vector:
    """C(p, m)."""
    return (p * m, -m, -p, 0.0, 1.0, 0.0, 0.0)


def square_vector(p: Floats | float, again: Floats | float) -> Vector:
    """V(p)."""
    return (p * again, -p - again, 0.0, 1.0, 0.0, 0.0, 0.0)


def other_square_vector(m: Floats | float, again: Floats | float) -> Vector:
    """V'(m)."""
    return (m * again, 0.0, -m - again, 0.0, 0.0, 1.0, 0.0)


def weighted(*parts: tuple[Floats | float, Vector]) -> Vector:
    return tuple(sum((weight * vector[at] for weight, vector in parts), start=0.0) for at in range(7))


@dataclass(frozen=True)
class Sample:
    """Estimates of u and w, of totals with noise."""

    count: float
    sum_x: float
    sum_y: float
    xx: float
    xy: float
    yy: float

    @property
    def rows(self) -> float:
        """At least one."""
        return max(self.count, 1.0)

    @property
    def means(self) -> tuple[float, float]:
        first, second = (min(max(part / self.rows, 0.0), 1.0) for part in (self.sum_x, self.sum_y))
        return first, second

    @property
    def covariance(self) -> float:
        p, m = self.means
        found = self.xy - p * self.sum_y - m * self.sum_x + p * m * self.count
        return min(max(found / self.rows, -0.25), 0.25)

    @property
    def variances(self) -> tuple[float, float]:
        several = zip(self.means, (self.sum_x, self.sum_y), (self.xx, self.yy), strict=True)
        first, second = (
            max(squares - 2 * mean * total + mean**2 * self.count, 0.0) / self.rows for mean, total, squares in several
        )
        return first, second

    @property
    def slope(self) -> float:
        return self.covariance / self.variances[0] if self.variances[0] > 0 else 0.0
