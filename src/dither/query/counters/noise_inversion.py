"""How far a weighted sum of many independent noises reaches, off its characteristic function: no wider than it must be.

Theorem. Let S be the sum of s_i Z_i, each Z_i two-sided geometric or rounded normal, N normal of deviation t and independent
of it, f the characteristic function of S + N, P a period and x at most P/2. With r = P(|S + N| > P/2),

    P(|S| > x + 5 t) <= (1 - F(x) + r) / Phi(5)     F(x) = 2x/P + sum over k >= 1 of 2/(pi k) sin(2 pi k x / P) f(2 pi k / P)

Proof. S and N are symmetric and independent: where |S| > x + 5 t, |S + N| > x unless N is beyond 5 t towards zero, so that
P(|S + N| > x) >= Phi(5) P(|S| > x + 5 t). F(x) is the Fourier series of the probability that S + N, taken modulo P to
-P/2..P/2, is within x; a sum that is beyond x and comes back within it was beyond P - x >= P/2.

    f_Z(u) of a geometric       (1 - a)^2 / (1 - 2 a cos u + a^2)
    f_Z(u) of a rounded normal  sum over whole m of e^(-v (u - 2 pi m)^2 / 2) sinc((u - 2 pi m)/2), by Poisson summation

Error. P/2 is where Chernoff's bound of S (`counters/noise_sums.py`) has r below 1e-6 alpha, N being smaller than 5 t beside
it. Terms beyond t 2 pi k / P = 9 add up to less than 1e-16. Doubles: terms add up to less than 2/pi (1 + ln(their number)),
below 10 in size, each off by at most 1e-15 times the number of noises. A thousandth of alpha is left for all of it; where
that is not enough, or alpha is below 1e-6, nothing is said.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from dither.noise.laplace import DiscreteLaplace
from dither.numeric.search import halve
from dither.query.counters.noise_sums import Noise, NoiseSum

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEAST_ALPHA = Fraction(1, 10**6)
LEAST_VARIANCE = {False: 1, True: 1e-12}  # of a rounded normal: below, more terms of its sum matter; of a geometric law
DOUBLES = 1e-14  # what all terms are off by, for each noise
SMOOTH = 1 / 400  # of the deviation of S: that of N
ROOM = 5  # deviations of N
FAR = 9  # deviations, in the exponent of f: e^(-81/2)
LEFT = Fraction(1, 1000)  # of alpha, for rounding and what is cut
WIDER = 1 + 1e-9


@lru_cache(maxsize=1024)
def sum_reach(noises: tuple[Noise, ...], times: tuple[int, ...], sizes: tuple[float, ...], confidence: Fraction) -> float:
    """The least that is known of what |sum of sizes times noises| stays within; sizes are not negative."""
    import numpy as np

    known = float(NoiseSum(noises, times, confidence).reach(np.array([sizes]))[0])
    return min(known, inverted_reach(noises, times, sizes, confidence))


def inverted_reach(
    noises: tuple[Noise, ...], times: tuple[int, ...], sizes: tuple[float, ...], confidence: Fraction
) -> float:
    """What |sum of sizes times noises| stays within; infinite where nothing is said."""
    import numpy as np

    alpha = 1 - confidence
    variances = [_variance(noise) for noise in noises]
    rough = sum(times) * DOUBLES > LEFT * alpha
    narrow = any(v < LEAST_VARIANCE[_is_geometric(noise)] for noise, v in zip(noises, variances, strict=True))
    if alpha < LEAST_ALPHA or rough or narrow:
        return math.inf
    deviation = math.sqrt(sum(n * s * s * v for n, s, v in zip(times, sizes, variances, strict=True)))
    smooth = SMOOTH * deviation
    beyond = NoiseSum(noises, times, 1 - alpha * LEFT**2)
    period = 2 * (float(beyond.reach(np.array([sizes]))[0]) + 2 * ROOM * smooth)
    count = math.ceil(FAR / smooth * period / (2 * math.pi))
    k: Floats = np.arange(1, count + 1, dtype=np.float64)
    u: Floats = 2 * math.pi / period * k
    f: Floats = np.exp(-np.square(smooth * u) / 2)
    for noise, number, size, variance in zip(noises, times, sizes, variances, strict=True):
        f = f * np.power(_characteristic(noise, variance, size * u), number)
    f = f * 2 / (math.pi * k)
    wanted = float(alpha * (1 - 2 * LEFT))

    def enough(x: float) -> bool:
        return float(1 - 2 * x / period - (f * np.sin(u * x)).sum()) <= wanted

    found = halve(enough, 0.0, period / 2, enough=lambda low, high: high - low <= 1e-6 * deviation)[1]
    return (found + ROOM * smooth) * WIDER


def _is_geometric(noise: Noise) -> bool:
    return isinstance(noise.law, DiscreteLaplace)


def _variance(noise: Noise) -> float:
    """Of a geometric law its own; of a rounded normal that of the normal."""
    law = noise.law
    if isinstance(law, DiscreteLaplace):
        a = math.exp(-float(law.rate))
        return 2 * a / (1 - a) ** 2
    return float(law.sigma2)


def _characteristic(noise: Noise, variance: float, u: Floats) -> Floats:
    import numpy as np

    law = noise.law
    if isinstance(law, DiscreteLaplace):  # 1 - 2a cos u + a^2 = (1 - a)^2 + 4a sin(u/2)^2, without cancellation
        rate = float(law.rate)
        found: Floats = 1 / (1 + np.square(np.sin(u / 2)) / math.sinh(rate / 2) ** 2)
        return found
    u = np.remainder(u + math.pi, 2 * math.pi) - math.pi
    turns = [u - 2 * math.pi * m for m in range(-2, 3)]
    parts = [np.exp(-variance * np.square(turn) / 2) * np.sinc(turn / (2 * math.pi)) for turn in turns]
    return np.asarray(sum(parts))
