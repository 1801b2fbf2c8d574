"""Error bars: how far noise reaches, in sums of several noisy numbers and in averages. Knows no data until it is released.

One number: the exact law decides (`half_width`). Several: discrete noise lies close to continuous noise, so the tails of the
continuous law, moved by that distance, are an upper bound.

    discrete Laplace    floor(E) - floor(E') with exponential E, E': within 1 of the Laplace variable E - E'
    rounded Gaussian    within 1/2 of the normal variable that was rounded

Tails of w1 L1 + w2 L2 (Laplace of scale b, weights times b): (w1^2 exp(-t/w1) - w2^2 exp(-t/w2)) / (w1^2 - w2^2);
for w1 = w2 = w, (1 + t/2w) exp(-t/w). For three and more, `density.fieller.quantile`.

Averages. With released A = a + noise, B = b + noise and the true fraction u = a / (a + b), the number
T(u) = (1-u) A - u B is (1-u) noise - u noise': its law is known for every u. All u for which |T(u)| stays within the
quantile q(u) form a set that covers the true u with the stated probability, whatever a and b are (Fieller). It is inverted
on 256 cells: in a cell q is at most its larger end, since q falls up to u = 1/2 and rises from there (Proschan 1965: of
symmetric log-concave variables, the more equal the weights of a sum, the more peaked it is). From the counters of a
variance A is high + middle/2 and B low + middle/2; the weights are 1-u, 1/2-u and u. Up to u = 1/2 the largest of their
sizes falls, so do the sum of the two largest and the sum of all or stay: the weights at a larger u lie below weights that
are more equal than those at a smaller one, and q falls as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from dither.density.moments.ratio_intervals import CounterNoise, quantile
from dither.mechanisms.additive.additive import half_width
from dither.noise.laplace import DiscreteLaplace
from dither.numeric.balls import round_up

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dither.mechanisms.additive.gaussian import Gaussian
    from dither.mechanisms.additive.geometric import Geometric

CELLS = 256
ROOM = 1 + 1e-9  # for the rounding of doubles in what follows


def sum_error(mechanism: Geometric | Gaussian, weights: Sequence[Fraction], confidence: Fraction) -> float:
    """The half-width of a weighted sum of noisy numbers."""
    sizes = [abs(weight) for weight in weights if weight]
    if len(sizes) == 1:
        return round_up(half_width(mechanism.law, confidence, 1) * sizes[0])
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
    low, high = 0.0, max(scales) * (math.log(1 / alpha) + 10) * len(scales)
    for _ in range(200):
        middle = (low + high) / 2
        if _laplace_tail(scales, middle) > alpha:
            low = middle
        else:
            high = middle
        if high - low <= 1e-12 * high:
            break
    return high


def _laplace_tail(scales: list[float], t: float) -> float:
    large = max(scales)
    x, ratio = t / large, min(scales) / large
    if len(scales) == 1:
        return math.exp(-x)
    if ratio > 0.999:
        return math.exp(-x) * (1 + x / 2)
    return (math.exp(-x) - ratio**2 * math.exp(-x / ratio)) / (1 - ratio**2)


def quantiles(mechanism: Geometric | Gaussian, confidence: Fraction, *, of_squares: bool = False) -> NDArray[np.float64]:
    """q at the ends of the cells, for `fractions`: `spread` of the sizes 1 - u and u (and 1/2 - u), for all u at once."""
    import numpy as np

    law, alpha = mechanism.law, float(1 - confidence)
    u = np.arange(CELLS // 2 + 1) / CELLS
    if of_squares:
        half = quantile(np.stack([1 - u, 0.5 - u, u], axis=-1), noise_of(mechanism), -math.log(alpha))
    elif isinstance(law, DiscreteLaplace):
        half = (1 - u) * _two_laplace_quantiles(u / (1 - u), alpha) / float(law.rate) + 1
    else:
        half = -NormalDist().inv_cdf(alpha / 2) * math.sqrt(law.sigma2) * np.hypot(1 - u, u) + 0.5
    return np.concatenate([half, half[-2::-1]]) * ROOM


def _two_laplace_quantiles(ratio: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """As `_laplace_quantile`, for the scales 1 and each ratio from 0 to 1."""
    import numpy as np

    alike = ratio > 0.999
    square = np.where(alike, 0.0, ratio**2)
    steep = 1 / np.maximum(ratio, 1e-9)  # of a scale that is 0 nothing is left, its square being 0
    low, high = np.zeros(len(ratio)), np.full(len(ratio), 2 * (math.log(1 / alpha) + 10))
    for _ in range(60):  # halves to below the rounding of a double
        middle = (low + high) / 2
        first = np.exp(-middle)
        tail = np.where(alike, first * (1 + middle / 2), (first - square * np.exp(-middle * steep)) / (1 - square))
        above = tail > alpha
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return high


def fractions(above: Any, below: Any, limits: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The ends of the intervals for u = a / (a + b), one for each pair of released numbers."""
    import numpy as np

    ends = np.arange(CELLS + 1) / CELLS
    room = np.maximum(limits[:-1], limits[1:])
    lows, highs = [], []
    for start in range(0, len(above), 4096):
        a, b = (np.asarray(part[start : start + 4096], dtype=np.float64)[:, None] for part in (above, below))
        total = a + b
        with np.errstate(divide="ignore", invalid="ignore"):
            first, last = (a - room) / total, (a + room) / total
        first, last = np.minimum(first, last), np.maximum(first, last)
        flat = total == 0  # then T is the same for every u
        first = np.where(flat, np.where(np.abs(a) <= room, 0.0, 2.0), first)
        last = np.where(flat, np.where(np.abs(a) <= room, 1.0, -1.0), last)
        first, last = np.maximum(first, ends[:-1]), np.minimum(last, ends[1:])
        fits = first <= last
        none = np.logical_not(fits.any(axis=1))  # noise beyond its quantile for every u: the nearest cell
        nearest = np.argmin(np.abs(a - total * (ends[:-1] + ends[1:]) / 2) - room, axis=1)
        fits[none, nearest[none]] = True
        first, last = np.where(none[:, None], ends[:-1], first), np.where(none[:, None], ends[1:], last)
        lows.append(np.where(fits, first, np.inf).min(axis=1))
        highs.append(np.where(fits, last, -np.inf).max(axis=1))
    empty = np.empty(0)
    low, high = (np.concatenate([empty, *parts]) for parts in (lows, highs))
    return np.maximum(low - 1e-12, 0.0), np.minimum(high + 1e-12, 1.0)


def average_error(
    mechanism: Geometric | Gaussian, size: float, unit: float, confidence: Fraction, *, of_squares: bool = False
) -> float:
    """About how far the fraction of an average may be off where `size` rows count; `unit` is what a row adds to A + B.

    At a bound one noisy number decides (from the counters of a variance, half of another besides), which is the worst case
    to first order; noise as large as the total leaves nothing.
    """
    reach = spread(mechanism, [1.0, 0.5] if of_squares else [1.0], float(1 - confidence))
    return min(1.0, reach / (size * unit))
