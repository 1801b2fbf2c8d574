"""Error bars: how far noise reaches, in sums of several noisy numbers and in averages. Knows no data until it is released.

One number: the exact law decides (`half_width`). Several: discrete noise lies close to continuous noise, so the tails of the
continuous law, moved by that distance, are an upper bound.

    discrete Laplace    floor(E) - floor(E') with exponential E, E': within 1 of the Laplace variable E - E'
    rounded Gaussian    within 1/2 of the normal variable that was rounded

Tails of w1 L1 + w2 L2 (Laplace of scale b, weights times b): (w1^2 exp(-t/w1) - w2^2 exp(-t/w2)) / (w1^2 - w2^2);
for w1 = w2 = w, (1 + t/2w) exp(-t/w). For three and more, `density/moments/ratio_intervals.py`.

Averages. With released A = a + noise, B = b + noise the fraction u = a / (a + b) is the share of a sum in a total, and its
interval is Fieller's, there; of the nearest cell, where noise is beyond its quantile for every u. From the counters of a
variance A is high + middle/2 and B low + middle/2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from dither.density.moments.ratio_intervals import CounterNoise, quantile, share_quantiles, shares_within
from dither.mechanisms.additive.additive import half_width, log_odds
from dither.noise.laplace import DiscreteLaplace
from dither.numeric.balls import round_up
from dither.numeric.search import halve

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dither.mechanisms.additive.gaussian import Gaussian
    from dither.mechanisms.additive.geometric import Geometric

ROOM = 1 + 1e-9  # for the rounding of doubles in what follows


def sum_error(mechanism: Geometric | Gaussian, weights: Sequence[Fraction], confidence: Fraction) -> float:
    """The half-width of a weighted sum of noisy numbers."""
    sizes = [abs(weight) for weight in weights if weight]
    if len(sizes) == 1:
        return round_up(half_width(mechanism.law, confidence, 1) * sizes[0]) + 0.0  # a zero without a sign
    return spread(mechanism, [float(size) for size in sizes], float(1 - confidence)) * ROOM


def spread(mechanism: Geometric | Gaussian, sizes: Sequence[float], alpha: float) -> float:
    """The (1 - alpha) quantile of |sum of sizes times noise|, from above."""
    law = mechanism.law
    if len(sizes) > 2:
        import numpy as np

        return float(quantile(np.array([sizes]), noise_of(mechanism), -math.log(alpha))[0])
    if isinstance(law, DiscreteLaplace):
        scale = 1 / float(law.rate)
        return _laplace_quantile([size * scale for size in sizes], alpha) + sum(sizes)
    deviation = math.sqrt(law.sigma2) * math.hypot(*sizes)
    return -NormalDist().inv_cdf(alpha / 2) * deviation + sum(sizes) / 2


def noise_of(mechanism: Geometric | Gaussian, one: int = 1) -> CounterNoise:
    """The noise of a number in which `one` is a row."""
    law = mechanism.law
    if isinstance(law, DiscreteLaplace):
        return CounterNoise(round_up(1 / (Fraction(law.rate.bounds().lower) * one)), 1 / one)
    return CounterNoise(math.sqrt(law.sigma2) / one * ROOM, 0.5 / one, normal=True)


def _laplace_quantile(scales: list[float], alpha: float) -> float:
    """Where the tail of a sum of Laplace variables falls below alpha."""
    far = max(scales) * (math.log(1 / alpha) + 10) * len(scales)
    near = halve(lambda t: _laplace_tail(scales, t) <= alpha, 0.0, far, enough=lambda low, high: high - low <= 1e-12 * high)
    return near[1]


def _laplace_tail(scales: list[float], t: float) -> float:
    large = max(scales)
    x, ratio = t / large, min(scales) / large
    if len(scales) == 1:
        return math.exp(-x)
    if ratio > 0.999:
        return math.exp(-x) * (1 + x / 2)
    return (math.exp(-x) - ratio**2 * math.exp(-x / ratio)) / (1 - ratio**2)


def quantiles(mechanism: Geometric | Gaussian, confidence: Fraction, *, of_squares: bool = False) -> NDArray[np.float64]:
    """What noise stays within for each cell of u, for `fractions`."""
    import numpy as np

    of_total, of_sum = ((1.0, 1.0, 1.0), (1.0, 0.5, 0.0)) if of_squares else ((1.0, 1.0), (1.0, 0.0))
    return share_quantiles(np.array(of_total), np.array(of_sum), noise_of(mechanism), log_odds(1, confidence))


def fractions(above: Any, below: Any, limits: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The ends of the intervals for u = a / (a + b), one for each pair of released numbers."""
    import numpy as np

    a, b = (np.asarray(part, dtype=np.float64) for part in (above, below))
    return shares_within(a + b, a, limits)


def average_error(
    mechanism: Geometric | Gaussian, size: float, unit: float, confidence: Fraction, *, of_squares: bool = False
) -> float:
    """About how far the fraction of an average may be off where `size` rows count; `unit` is what a row adds to A + B.

    At a bound one noisy number decides (from the counters of a variance, half of another besides), which is the worst case
    to first order; noise as large as the total leaves nothing.
    """
    reach = spread(mechanism, [1.0, 0.5] if of_squares else [1.0], float(1 - confidence))
    return min(1.0, reach / (size * unit))
