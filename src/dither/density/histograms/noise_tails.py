"""Tail bounds of sums of independent noise (Chernoff): one for flat histograms, for trees and for their running sums.

Theorem. Let Q = sum_i R_i N_i with independent integer noise N_i, every |R_i| <= 1 and sum_i R_i^2 <= V. Then for s > 0

    P(|Q| >= t) <= 2 exp(V f(s) - s t),    and for several such sums together at most the sum of these

    two-sided geometric    f(s) = -ln(1 - (sinh(s/2) / sinh(r/2))^2) for s < r, r the rate: N has exactly this ln E e^(sN)
    rounded Gaussian       f(s) = p s^2 / 2, p = sigma2 + 1/12 + 4 sum_(j>0) e^(-2 (pi j)^2 sigma2) (1/(2 pi j)^2 + sigma2)

Proof. Markov's inequality for e^(sQ) and e^(-sQ) leaves ln E e^(s R_i N) <= R_i^2 f(s) to be shown, for |R_i| <= 1. For the
geometric, f(x)/x^2 rises with x: sinh(x/2)^2 / x^2 does, and so does -ln(1 - y) / y. For the rounded Gaussian f(x)/x^2 is
constant, and f is an upper bound: P(N = k) is the density of a normal plus a uniform variable on [-1/2, 1/2], at k; so by
Poisson's formula E e^(sN) = e^(sigma2 s^2 / 2) sinh(s/2) / (s/2) * (1 + sum over j != 0 of
(-1)^j e^(-2 (pi j)^2 sigma2 + 2 pi i j s sigma2) s / (s + 2 pi i j)). The terms j and -j together are at most
2 e^(-2 (pi j)^2 sigma2) s^2 (1/(2 pi j)^2 + sigma2), as |sin x| <= |x|; and ln(sinh(x)/x) <= x^2/6, ln(1 + y) <= y.

With q = e^(-2 pi^2 sigma2) the sum over j is at most q/24 + sigma2 min(q / (1 - q^3), 1 / sqrt(8 pi sigma2)).

Running sums. If the R_i are 1, S_k = N_1 + ... + N_k is a martingale and e^(sS_k) a submartingale, so Doob's inequality
gives P(max_k |S_k| >= t) <= 2 E e^(sS_m) e^(-st): all m running sums together cost no more than the last one alone.

One sum by itself. Next to Q is Q' = sum_i R_i X_i of continuous noise: the rounded Gaussian is X rounded, and the geometric
is floor(A) - floor(B) where X = A - B for two exponential variables. So |Q - Q'| is at most h times the sum of the |R_i|,
which is at most sqrt(V n) for n draws; h = 1/2 and h = 1.

    Gaussian    Q' is normal
    Laplace     P(|Q'| > k s) <= E g(Y) for Y exponential with mean 1, s the deviation of Q', and g(y) = P(|Z| > k / sqrt(y))
                for y <= k^2 / 3; beyond, g is the tangent there

Proof. A Laplace variable of deviation d is d sqrt(Y) Z, Y exponential and Z normal. So Q' is s sqrt(M) Z with M = sum_i p_i
Y_i and p_i = R_i^2 / sum_j R_j^2. The curve y -> P(|Z| > k / sqrt(y)) is convex up to k^2 / 3 and concave beyond, so g is
convex and no less; by Jensen E g(M) is at most sum_i p_i E g(Y_i) = E g(Y). With the curve in place of g that would be
e^(-sqrt(2) k), the tail of one Laplace variable; what is added is what the tangent lies above the curve.

Widths are computed in doubles and made wider by one part in 2^20, thousands of times what doubles can be off.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

from dither.mechanisms.additive.additive import log_odds
from dither.mechanisms.workload.chernoff import TILTS
from dither.mechanisms.workload.workload import WIDER
from dither.noise.gaussian import RoundedGaussian
from dither.noise.laplace import DiscreteLaplace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SPREAD = tuple(1.06**k for k in range(-16, 17))  # around the best tilt of a normal variable


def sum_width(
    law: DiscreteLaplace | RoundedGaussian, *, squares: float | NDArray[np.float64], events: int = 1, level: Fraction
) -> float:
    """A t with P(|Q| >= t) adding up to 1 - level at most: over the V of a list, each taken `events` times."""
    import numpy as np

    listed = np.atleast_1d(np.asarray(squares, dtype=np.float64))
    most, outside = float(listed.max()), log_odds(2 * events, level)
    gaussian = isinstance(law, RoundedGaussian)
    rate = law.rate.bounds().lower if isinstance(law, DiscreteLaplace) else math.sqrt(2 / proxy(law.sigma2))
    middle = math.sqrt((outside + math.log(listed.size)) / most)  # the best one if all V were the largest and f a parabola
    tilts = [middle * factor for factor in SPREAD]
    if not gaussian:
        tilts = [*TILTS, *(tilt for tilt in tilts if tilt < TILTS[-1])]
    best = math.inf
    for tilt in tilts:
        f = tilt**2 if gaussian else geometric_cumulant(rate, tilt)
        together = most * f + math.log(float(np.exp((listed - most) * f).sum()))
        best = min(best, (outside + together) / (rate * tilt))
    return best * WIDER


def single_widths(
    law: DiscreteLaplace | RoundedGaussian, *, squares: NDArray[np.float64], draws: int, level: Fraction
) -> NDArray[np.float64]:
    """For each V of a list, a t with P(|Q| >= t) at most 1 - level and half of it on either side: each sum by itself."""
    import numpy as np

    outside = log_odds(2, level)
    if isinstance(law, RoundedGaussian):
        chernoff = np.sqrt(2 * proxy(law.sigma2) * outside * squares)
        half = float(1 - level) / 2  # 0 beyond what doubles hold
        deviation, off, times = math.sqrt(law.sigma2), 0.5, -NormalDist().inv_cdf(half) if half > 0 else math.inf
    else:
        rate = law.rate.bounds().lower
        middle = math.sqrt(outside / max(float(squares.max()), 1.0))
        chernoff = np.full(squares.shape, math.inf)
        for tilt in (*TILTS, *(middle * factor for factor in SPREAD if middle * factor < TILTS[-1])):
            chernoff = np.minimum(chernoff, (outside + squares * geometric_cumulant(rate, tilt)) / (rate * tilt))
        deviation, off, times = math.sqrt(2) / rate, 1.0, laplace_deviations(float(1 - level))
    coupled = times * deviation * np.sqrt(squares) + off * np.sqrt(squares * draws)
    return np.minimum(chernoff, coupled) * WIDER


@lru_cache(maxsize=64)
def laplace_deviations(outside: float) -> float:
    """The k of the last theorem: a weighted sum of Laplace variables is beyond k deviations no more often than this."""
    low, high = 0.1, 60.0
    if not mixture_tail(high) < outside:  # beyond what doubles tell apart
        return math.inf
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if mixture_tail(middle) <= outside else (middle, high)
    return high


def mixture_tail(k: float) -> float:
    """The bound of the last theorem: the tail of one Laplace variable, and what the tangent lies above the curve."""
    first = k * k / 3
    steps = [first + 0.05 * step for step in range(800)]
    curve = sum(
        math.erfc(k / math.sqrt(2 * at)) * (math.exp(-at) - math.exp(-after)) for at, after in itertools.pairwise(steps)
    )
    slope = math.sqrt(2 / math.pi) * math.exp(-1.5) * 1.5 * math.sqrt(3)  # of the curve at s = k^2 / 3, times k^2
    tangent = math.exp(-first) * (math.erfc(math.sqrt(1.5)) + slope / (k * k))
    return math.exp(-math.sqrt(2) * k) + tangent - curve


def variance(law: DiscreteLaplace | RoundedGaussian) -> float:
    """The variance of the noise, in doubles: for expected errors, which promise nothing."""
    if isinstance(law, RoundedGaussian):
        return float(law.sigma2) + 1 / 12
    return 0.5 / math.sinh(min(float(law.rate) / 2, 300)) ** 2


def proxy(sigma2: Fraction) -> float:
    """The p of the theorem: rounded Gaussian noise has tails no heavier than a normal variable of this variance."""
    size = float(sigma2)
    q = math.exp(-2 * math.pi**2 * size)
    series = size * min(q / -math.expm1(-6 * math.pi**2 * size), 1 / math.sqrt(8 * math.pi * size))
    return size + 1 / 12 + 4 * (q / 24 + series)


def geometric_cumulant(rate: float, tilt: float) -> float:
    """f(rate * tilt), the cumulant generating function of two-sided geometric noise, without overflow at large rates."""
    at = rate * tilt
    ratio = math.exp((at - rate) / 2) * math.expm1(-at) / math.expm1(-rate)
    return -math.log1p(-(ratio**2))
