"""Geometric noise along two axes, in floats: the stochastic matrix of each axis, its inverse, and their Kronecker product.

With a = e^-rate, the matrix of one axis is A = D^-1 K, where K[i, j] = a^|i - j| and D = diag(z), z being the sums of the
rows of K; that of the grid is the Kronecker product of the two axes, A and B.

Theorem (inversion). The estimate F = (A')^-1 H (B')^-1, H being the shares of the reports, is unbiased; (A')^-1 = D K^-1 and
K^-1 = tridiag(-a, 1 + a^2, -a) / (1 - a^2) with 1 / (1 - a^2) at both ends.
Proof. The mean of H is A' F B. A' = K D^-1, as K is symmetric. K K^-1 = 1: row i of K times column j of the matrix above is
a^|i-j| (1 + a^2) - a a^|i-j+1| - a a^|i-j-1| = 0 off the diagonal and 1 - a^2 on it; likewise at the ends.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class AxisMatrices(NamedTuple):
    """One axis in floats: the matrix, and the inverse of its transpose."""

    matrix: NDArray[np.float64]
    inverse: NDArray[np.float64]


def axis_matrices(count: int, rate: float) -> AxisMatrices:
    """exp(-rate |i - j|) / z(i), and diag(z) times the inverse of exp(-rate |i - j|)."""
    import numpy as np

    if count == 1:
        return AxisMatrices(np.ones((1, 1)), np.ones((1, 1)))
    steps = np.arange(count)
    weights = np.exp(-rate * np.abs(steps[:, None] - steps[None, :]))
    z = weights.sum(axis=1)
    a, left = math.exp(-rate), -math.expm1(-2 * rate)  # 1 - a^2 without cancellation
    inverse = np.diag(np.full(count, (1 + a * a) / left))
    inverse[0, 0] = inverse[-1, -1] = 1 / left
    inverse[steps[1:], steps[:-1]] = inverse[steps[:-1], steps[1:]] = -a / left
    return AxisMatrices(weights / z[:, None], z[:, None] * inverse)


class KroneckerKernel:
    """Two independent axes as a kernel: products with the Kronecker product of their matrices; several vectors are rows."""

    def __init__(self, across: NDArray[np.float64], down: NDArray[np.float64]) -> None:
        self._across, self._down = across, down

    def push(self, prior: NDArray[np.float64]) -> NDArray[np.float64]:
        """How likely each cell is to be reported, from how likely each is (`prior`)."""
        return self._both(prior, self._across.T, self._down)

    def pull(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The mean of `values` over the reports of each true cell."""
        return self._both(values, self._across, self._down.T)

    def push_squares(self, prior: NDArray[np.float64]) -> NDArray[np.float64]:
        """`push` of `prior` with squared probabilities."""
        return self._both(prior, self._across.T**2, self._down**2)

    def _both(
        self, cells: NDArray[np.float64], left: NDArray[np.float64], right: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        import numpy as np

        return np.asarray(
            (left @ np.reshape(cells, (*np.shape(cells)[:-1], len(left), len(right))) @ right).reshape(np.shape(cells))
        )
