"""How far a weighted sum of independent noises reaches: of few or of many, of one scale or of several.

Theorem. Let Z_1, ..., Z_n be independent, each two-sided geometric of rate r_i or rounded normal of variance v_i, and
s_1, ..., s_n weights that are not negative. With probability 1 - alpha at least, |sum of s_i Z_i| is at most each of

    exact       sum of s_i h_i                       h_i the exact half-width of Z_i at 1 - alpha/n
    continuous  q + sum of s_i d_i                   q the (1 - alpha) quantile of the continuous sum, d_i = 1 or 1/2
    Chernoff    (ln(2/alpha) + sum of L_i(t s_i))/t  for every t > 0 with t s_i < r_i

    L(u) of a geometric      2 ln(1 - a) - ln(1 - a e^u) - ln(1 - a e^-u),  a = e^-r
    L(u) of a rounded normal (v + 1/12) u^2/2 + ln(1 + 2 sum over m >= 1 of e^(-2 pi^2 v m^2))

and so it is at most the least of them, which follows from the weights alone.

Proof. Exact: by the union bound all Z_i are within h_i; of one number, h is the quantile itself. Continuous: each Z_i is
within d_i of a Laplace or a normal variable (`counters/intervals.py`); the quantile is that of
`density/moments/ratio_intervals.md`, where scales are taken into the weights. Chernoff: the sum is symmetric, so that
P(|sum| >= x) <= 2 e^(-tx) times the product of E e^(t s_i Z_i). For the geometric law that is
(1-a)^2 / ((1 - a e^u)(1 - a e^-u)), by summing two series. For the rounded normal P(Z = k) is f(k), f the density of N + U
with U uniform on [-1/2, 1/2], so by Poisson summation E e^(uZ) is the sum over whole m of g(u - 2 pi i m),
g(z) = e^(v z^2/2) sinh(z/2) / (z/2). There |sinh((u - 2 pi i m)/2)| = |sinh(u/2)| and |u - 2 pi i m| >= |u|, so that
|g(u - 2 pi i m)| <= g(u) e^(-2 pi^2 v m^2); and sinh(x)/x <= e^(x^2/6).

All three grow with every weight: larger weights than the true ones give a bound as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from dither.density.moments.ratio_intervals import CounterNoise, quantile
from dither.mechanisms.additive.additive import half_width, log_odds
from dither.mechanisms.additive.gaussian import Gaussian
from dither.mechanisms.additive.geometric import Geometric
from dither.query.counters.intervals import noise_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Noise = Geometric | Gaussian
FEW = 4  # noises of which the exact tail of a sum of Laplace variables is computed
WIDER = 1 + 1e-6  # thousands of times what doubles can be off here
POINTS = 60  # of t, for Chernoff's bound
NEAREST = 1e-4  # to the largest t


@dataclass(frozen=True)
class NoiseSum:
    """Independent noises whose weighted sum is asked for: of each kind, how many of them have the same weight."""

    noises: tuple[Noise, ...]
    times: tuple[int, ...]
    confidence: Fraction

    def reach(self, sizes: Floats) -> Floats:
        """What |sum of sizes times noise| stays within, for each row of sizes; a size stands for as many as `times` says."""
        import numpy as np

        least, known = self._exact(sizes), self._continuous(sizes)
        least = least if known is None else np.minimum(least, known)
        return least if known is not None and sum(self.times) <= FEW else np.minimum(least, self._chernoff(sizes))

    @cached_property
    def _odds(self) -> float:
        return log_odds(1, self.confidence)

    @cached_property
    def _kinds(self) -> list[CounterNoise]:
        return [noise_of(noise) for noise in self.noises]

    def _exact(self, sizes: Floats) -> Floats:
        import numpy as np

        reach = [times * half for half, times in zip(self._halves, self.times, strict=True)]
        found: Floats = sizes @ np.array(reach) * WIDER
        return found

    @cached_property
    def _halves(self) -> list[float]:
        level = 1 - (1 - self.confidence) / sum(self.times)
        halves = {noise: float(half_width(noise.law, level, 1)) for noise in set(self.noises)}
        return [halves[noise] for noise in self.noises]

    def _continuous(self, sizes: Floats) -> Floats | None:
        """None for sums of many Laplace variables, whose tail doubles cannot hold, and for those of two kinds."""
        import numpy as np

        normal = {kind.normal for kind in self._kinds}
        if len(normal) > 1 or (normal == {False} and sum(self.times) > FEW):
            return None
        places = [at for at, times in enumerate(self.times) for _ in range(times)] if normal == {False} else None
        scales, steps = (np.array(parts) for parts in zip(*(kind[:2] for kind in self._kinds), strict=True))
        times = np.array(self.times, dtype=np.float64)
        scaled = sizes * scales
        weights = scaled * np.sqrt(times) if places is None else scaled[..., places]
        tail = quantile(weights, CounterNoise(1.0, 0.0, normal=places is None), self._odds)
        found: Floats = (tail + sizes @ (steps * times)) * WIDER
        return found

    def _chernoff(self, sizes: Floats) -> Floats:
        import numpy as np

        times, odds = np.array(self.times, dtype=np.float64), self._odds + math.log(2)
        geometric = np.array([not kind.normal for kind in self._kinds])
        scales = np.array([kind.scale for kind in self._kinds])
        constant = sum(m * _theta(kind.scale) for m, kind in zip(self.times, self._kinds, strict=True) if kind.normal)
        squares = (np.square(sizes) * np.where(geometric, 0.0, scales**2 + 1 / 12)) @ times
        with np.errstate(divide="ignore", invalid="ignore"):
            most = np.min(np.where(geometric, 1 / (sizes * scales), np.inf), axis=-1)  # t is below this
            best = np.sqrt(2 * (odds + constant) / squares)  # of the normal ones alone
        most = np.where(np.isfinite(most), most, 2 * best)
        most = np.where(np.isfinite(most), most, 1.0)  # all sizes are zero
        found = np.full(most.shape, np.inf)
        for share in _shares():
            t = most * share
            logs = np.zeros(most.shape)
            for at in np.flatnonzero(geometric):
                logs = logs + times[at] * _log_geometric(t * sizes[..., at], 1 / scales[at])
            found = np.minimum(found, (odds + constant + logs + squares * t * t / 2) / t)
        zero: Floats = np.where((sizes > 0).any(axis=-1), found * WIDER, 0.0)
        return zero


def _shares() -> Sequence[float]:
    """Parts of the largest t, from small ones to near all of it."""
    return [1 / (1 + math.exp(x)) * (1 - NEAREST) for x in (-8 + 14 * at / (POINTS - 1) for at in range(POINTS))]


def _theta(deviation: float) -> float:
    """ln(1 + 2 sum of e^(-2 pi^2 v m^2)), from above."""
    step = 2 * math.pi**2 * deviation**2 * (1 - 1e-9)
    if step < 1:  # the sum is at most the integral from 0
        return math.log1p(math.sqrt(math.pi / step))
    return math.log1p(2 * sum(math.exp(-step * m * m) for m in range(1, 30)))


def _log_geometric(u: Floats, rate: float) -> Floats:
    """L(u) of a two-sided geometric law, u below its rate."""
    import numpy as np

    with np.errstate(divide="ignore"):
        found: Floats = (
            2 * math.log(-math.expm1(-rate))
            - np.log(-np.expm1(np.minimum(u - rate, -1e-300)))
            - np.log(-np.expm1(-u - rate))
        )
    return found
