"""Binomial confidence intervals: for the probability of a flip, from the share of many that fell one way.

Wilson's interval where both ways are frequent. Where few flips fell one way it holds too rarely (84% instead of 95%),
and the interval is the one that Chernoff's bound proves for any number: a sum of flips with mean n h is k or more with
probability at most exp(-n KL(k/n, h)) for h < k/n, and k or less for h > k/n. It is wider than it need be.
"""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING

from dither.errors import NumberError
from dither.numeric.number import NumberLike, rational
from dither.numeric.search import halve_arrays

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CLOSEST = Fraction(1, 10**12)  # that a confidence comes to one
PLENTY = 100  # so many flips of each kind make Wilson's interval good


def normal_quantile(confidence: NumberLike) -> float:
    """z with P(|Z| <= z) = confidence."""
    level = rational(confidence, name="confidence")
    if not 0 < level <= 1 - CLOSEST:
        raise NumberError("confidence", confidence, "it lies strictly between 0 and 1", "'0.95'")
    return NormalDist().inv_cdf(float((1 + level) / 2))


def wilson(share: NDArray[np.float64], count: int, z: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wilson's interval for the probability of a flip, from the share of so many."""
    import numpy as np

    scale = 1 + z * z / count
    centre = (share + z * z / (2 * count)) / scale
    half = z / scale * np.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return centre - half, centre + half


def interval(share: NDArray[np.float64], count: int, z: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wilson's interval; where few flips fell one way, the one that Chernoff's bound proves."""
    import numpy as np

    low, high = wilson(share, count, z)
    few = count * np.minimum(share, 1 - share) < PLENTY * max(1.0, (z / 2) ** 4)  # far out, "many" are more
    if few.any():
        far = -math.log(NormalDist().cdf(-z)) / count  # so large must the divergence be, for each side
        low[few], high[few] = _chernoff(share[few], far, down=True), _chernoff(share[few], far, down=False)
    return low, high


def _chernoff(share: NDArray[np.float64], far: float, *, down: bool) -> NDArray[np.float64]:
    """The h on one side with KL(share, h) = far, by halving; the end itself where there is none."""
    import numpy as np

    def outside(h: NDArray[np.float64]) -> NDArray[np.bool_]:
        with np.errstate(divide="ignore", invalid="ignore"):
            one = np.where(share > 0, share * np.log(share / h), 0.0)
            other = np.where(share < 1, (1 - share) * (np.log1p(-share) - np.log1p(-h)), 0.0)
        return ~(one + other < far)

    return halve_arrays(outside, share, np.full_like(share, 0.0 if down else 1.0), times=120)
