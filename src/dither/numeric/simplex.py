"""The nearest point of a simplex: no entry below 0, and a total that is given.

Theorem. The nearest point, in squares, is x_i = max(y_i - c, 0), with the one c for which the total is right. With y sorted
from the largest, c = (y_1 + .. + y_k - total) / k for the last k with y_k above it.

Proof. The set is convex, so there is one nearest point, and Lagrange's conditions tell it: y_i - x_i is one number c where
x_i > 0, and at most c elsewhere. The entries that are kept are then the largest ones, and their total says what c is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def nearest(values: NDArray[np.float64], total: float) -> NDArray[np.float64]:
    """The nearest point to one number or more, for a total above 0."""
    import numpy as np

    below = values - values.max()  # the largest is surely kept, and large numbers leave the total its digits
    falling = np.sort(below)[::-1]
    cuts = (np.cumsum(falling) - total) / np.arange(1, values.size + 1)
    last = np.flatnonzero(falling > cuts)[-1]
    found: NDArray[np.float64] = np.maximum(below - cuts[last], 0.0)
    return found
