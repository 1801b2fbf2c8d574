"""How far the sum of several noisy counts of people may be off: all have the same noise and the same weight.

Laplace noise of scale 1, k times: the sum is a difference of two gamma variables G and H of k, so that

    P(G - H > t) = E P(G > t + H) = e^-t sum over j < k and i <= j of t^(j-i)/(j-i)! C(k+i-1, i) 2^-(k+i),

by P(G > x) = e^-x sum x^j/j! and E H^i e^-H / i! = C(k+i-1, i) 2^-(k+i): terms that are not negative, so that nothing is
lost in doubles. A discrete Laplace variable is within 1 of a Laplace variable, a rounded normal one within 1/2 of a normal
one; where that matters (small scales), the discrete law itself is added up.
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

from dither.mechanisms.additive.gaussian import Gaussian
from dither.mechanisms.additive.geometric import Geometric
from dither.numeric.search import halve

WIDE = 256  # the scale from which discrete noise is as continuous as matters
ROOM = 1e-9  # relative, for the rounding of doubles


def sum_of_counts(mechanism: Geometric | Gaussian, count: int, alpha: float) -> int:
    """What |the sum of the noise of so many counts| exceeds with probability alpha at most."""
    if isinstance(mechanism, Gaussian):
        deviation = math.sqrt(mechanism.law.sigma2 * count)
        return math.ceil(-NormalDist().inv_cdf(alpha / 2) * deviation * (1 + ROOM) + count / 2)
    rate = float(mechanism.law.rate.bounds().lower)
    return _of_laplace(rate, count, alpha)


@cache
def _of_laplace(rate: float, count: int, alpha: float) -> int:
    far = 2 * count * (math.log(1 / alpha) + 40)  # in scales: far beyond
    if rate * WIDE < 1:
        _, found = halve(lambda t: 2 * _tail(t, count) <= alpha, 0.0, far, enough=lambda a, b: b - a <= ROOM * b)
        return math.ceil(found / rate * (1 + ROOM)) + count
    return _of_discrete(rate, count, alpha)


def _tail(t: float, count: int) -> float:
    """P(sum of so many Laplace variables > t)."""
    powers, found = [1.0], 0.0
    for j in range(1, count):
        powers.append(powers[-1] * t / j)  # t^j / j!
    weights = [math.comb(count + i - 1, i) * 0.5 ** (count + i) for i in range(count)]
    for j in range(count):
        found += math.fsum(powers[j - i] * weights[i] for i in range(j + 1))
    return found * math.exp(-t)


def _of_discrete(rate: float, count: int, alpha: float) -> int:
    """The same of the discrete law, whose transform is a power: added up from the far end."""
    import numpy as np

    q = math.exp(-rate)
    size = 1 << max(6, math.ceil(math.log2((math.sqrt(count) * 40 + 80) / rate + 4 * count)))
    angles = np.arange(size // 2 + 1) * (2 * math.pi / size)
    transform = ((1 - q) ** 2 / (1 - 2 * q * np.cos(angles) + q * q)) ** count
    law = np.fft.irfft(transform, size)
    tails = np.cumsum(np.maximum(law[1 : size // 2][::-1], 0.0))[::-1]  # of 1 and more, 2 and more, ...
    beyond = np.nonzero(2 * tails <= alpha * (1 - ROOM) - 1e-12 * alpha)[0]
    return int(beyond[0])
