"""Logarithms of tails of noise, in floats, to about 1e-11 of a probability: for intervals, which leave room for that.

A truncated law needs care at its edge, where a tail is the difference of two that are nearly equal:

    geometric   P(m <= X <= B) is a finite geometric series, in closed form
    Gaussian    a narrow interval is integrated, by Gauss and Legendre with 12 points on 0.1 deviations at most: with
                x up to 40 deviations the integrand is e^(2 t) or less on -1..1, and what is left out is below 1e-23 of it.
                On a wider interval the farther tail is at most e^(-0.1 x) of the nearer, and the difference loses a digit
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from dither.noise.laplace import DiscreteLaplace
from dither.noise.truncation import Truncated

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FAR = 36.0  # deviations; erfc underflows at 38
NARROW = 0.1  # deviations
POINTS = 12


def log_normal_tail(x: float) -> float:
    """ln P(Z >= x) for a standard normal Z, to about 1e-12 of itself."""
    if x < 0:
        return math.log1p(-math.erfc(-x / math.sqrt(2)) / 2)
    if x < FAR:
        return math.log(math.erfc(x / math.sqrt(2)) / 2)
    y = 1 / (x * x)  # far out by Mills' ratio: the series alternates, so the error is below its first term left out, 945 y^5
    return -x * x / 2 - math.log(x * math.sqrt(2 * math.pi)) + math.log1p(-y + 3 * y**2 - 15 * y**3 + 105 * y**4)


def log_normal_between(low: float, high: float) -> float:
    """ln P(low <= Z <= high) for a standard normal Z and 0 < low + high; -inf where the interval is empty."""
    import numpy as np

    if high <= low:
        return -math.inf
    if high - low > NARROW:
        near, far = log_normal_tail(low), log_normal_tail(high)
        return near + math.log(-math.expm1(far - near))
    points, weights = np.polynomial.legendre.leggauss(POINTS)
    middle, half = (low + high) / 2, (high - low) / 2
    along = points * half
    relative = float(np.sum(weights * np.exp(-along * (middle + along / 2))))
    return -middle * middle / 2 + math.log(half * relative) - math.log(2 * math.pi) / 2


def log_truncated_tail(law: Truncated, m: NDArray[np.int64]) -> Any:
    """ln P(X >= m), for each m: of the side on which the tail is smaller, or of what the other side leaves."""
    import numpy as np

    bound = law.bound
    right = _right_tail(law, np.clip(m, 1, bound + 1))
    left = np.exp(_right_tail(law, np.clip(1 - m, 1, bound + 1)))  # P(X <= m - 1) = P(X >= 1 - m)
    return np.where(m > 0, right, np.log1p(-left))


def _right_tail(law: Truncated, m: NDArray[np.int64]) -> Any:
    """ln P(X >= m) for m from 1 to bound + 1, where it is -inf."""
    import numpy as np

    whole, bound = law.law, law.bound
    if isinstance(whole, DiscreteLaplace):
        rate = float(whole.rate)  # sums of q^x: from m to B, and from -B to B
        steps = bound + 1 - m
        with np.errstate(divide="ignore"):
            some = -rate * m + np.log(-np.expm1(-rate * steps))
        return some - math.log(-math.expm1(-rate * (bound + 1)) + math.exp(-rate) * -math.expm1(-rate * bound))
    spread = math.sqrt(whole.sigma2)  # type: ignore[attr-defined]
    edge = (bound + 0.5) / spread
    kept = math.log1p(-2 * math.exp(log_normal_tail(edge)))
    found = [log_normal_between((int(one) - 0.5) / spread, edge) - kept for one in m.ravel()]
    return np.array(found).reshape(m.shape)
