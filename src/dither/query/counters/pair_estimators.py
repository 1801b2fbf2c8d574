"""Covariances, correlations and regression lines from their released counters, with intervals that cover.

    u, w               x and y as shares of the way between their bounds; n rows have both
    p, m               the means of u and of w
    N, U, W, UU, UW, WW    the released n, and sums of u, w, u^2, uw and w^2
    C(p, m)            UW - p W - m U + p m N, of which the truth is n times the covariance
    V(p), V'(m)        UU - 2 p U + p^2 N, and WW - 2 m W + m^2 N: n times the variances

Each is the solution t of an equation that is linear in the totals, given the parameters h beside it, and each h has a set
of its own for a part of alpha; `counters/fieller_regions.py` says how the set of t is found, and proves that it covers.

    covariance     C - t N = 0, of a sample C - t (N - 1) = 0                                      h = p, m
    slope          C - t V = 0                                                                      h = p, m
    correlation    C - t (V / r + r V') / 2 = 0, at r = the root of V / V'                          h = p, m, r
    intercept      E (W - t N - b V1) - e (W1 - t V1 - b V2) = 0                                     h = E, e, b

(V1, V2 and W1 are the sums of v, v^2 and vw, v being the distance of x from zero in units of u; e and E the means of v and
v^2; b the slope.) Of each of these equations the derivative by each h is zero at the truth, so that what is not known of h
changes t in the second order only. Of a square V(p) the two factors p are taken for two parameters, which makes it
bilinear. Where the set of r goes to zero or beyond all numbers, one of the columns may not vary at all, and all
correlations are possible; the set of a slope may have no end.

What an interval holds: the statistic of the rows that were counted, as they were counted: values clamped to their bounds,
in at most 1,024 steps between them, a person's rows with her weight. Where there is no such statistic (fewer than two rows,
x that does not vary) there is nothing to hold. REGR_R2 of y that does not vary is 1 in SQL: then r may be beyond all
numbers, with the same probability, and 1 is in the set.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from dither.density.moments.ratio_intervals import CounterNoise, share_quantiles, shares_within
from dither.mechanisms.additive.additive import log_odds
from dither.query.counters.estimators import Columns, Reader
from dither.query.counters.fieller_regions import Totals
from dither.query.counters.intervals import noise_of
from dither.query.counters.moment_errors import MomentEstimator
from dither.query.counters.pair_moments import Sample, product_vector
from dither.query.plan.aggregates import PairAggregate
from dither.query.plan.lattice import step_of
from dither.query.plan.mathematics.pair_counters import PairCounter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

    from dither.query.plan.base import Expression

Box = tuple[float, float]
PART = 32  # one part in so many of alpha, for a mean


@dataclass(frozen=True)
class PairEstimator(MomentEstimator):
    """A number of two expressions."""

    whatever = ", whatever their means and their correlation are"

    counter: PairCounter
    asked: PairAggregate

    def squares(self, reach: int) -> float:
        """Of the weights with which noise enters a sum of products, in the middle."""
        import numpy as np

        return float(np.sum(np.square(np.array(product_vector(0.5, 0.5)) @ self.total_weights)))

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return self.asked.pair

    @property
    def row_total(self) -> int:
        return self.counter.high

    @property
    def widths(self) -> tuple[float, float]:
        """G and H steps."""
        first, second = (axis.steps * axis.step for axis in self.counter.axes)
        return float(first), float(second)

    @property
    def total_weights(self) -> Floats:
        """How each counter, in rows, enters each total."""
        import numpy as np

        if not self.counter.of_squares:
            return np.array([[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 1, 0], [0] * 4, [1, 0, 0, 0], [0] * 4, [0] * 4], np.float64)
        total, axes, scales = self.counter.total, self.counter.axes, self.counter.scales
        one, other = (total / (scale * axis.steps) for scale, axis in zip(scales, axes, strict=True))
        half = 0.5
        return np.array(
            [
                [1.0] * 6,
                [one, 0, 0, half * one, half * one, 0],
                [0, other, 0, half * other, 0, half * other],
                [one * one, 0, 0, 0, 0, 0],
                [0, 0, 0, half * one * other, 0, 0],
                [0, other * other, 0, 0, 0, 0],
                [0.0] * 6,
            ]
        )

    def read(self, counters: Sequence[Sequence[int]], by: Reader) -> Columns:
        """Each group by itself."""
        import numpy as np

        one = self.row_total * by.resolution
        noise, odds, weights = noise_of(by.noise, one), log_odds(1, by.confidence), self.total_weights
        found = []
        for group in counters:
            values = weights @ np.array([float(Fraction(number, one)) for number in group])
            values[6] = 1.0
            low, high = self._interval(Totals(values, weights, noise), odds)
            found.append((min(max(self._estimate(Sample(*values[:6])), low), high), low, high))
        values, lows, highs = ([self._shown(end) for end in column] for column in zip(*found, strict=True))
        return values, lows, highs

    @abstractmethod
    def _estimate(self, of: Sample) -> float:
        """Of u and w, from noisy totals."""

    @abstractmethod
    def _interval(self, of: Totals, odds: float) -> Box:
        """The ends of its set, for u and w."""

    @property
    def unit(self) -> float:
        """Of the answer, for one of u and w."""
        return 1.0

    def _shown(self, share: float) -> float:
        return float(share * self.unit)

    def means(self, of: Totals, odds: float) -> tuple[Box, Box]:
        """The sets of p and m, each for a part of alpha: those of averages."""
        count, *sums = of.values[:3].tolist()
        found = []
        for place, total in enumerate(sums, 1):
            low, high = shares_within(count, total, _room(of.weights, of.noise, odds + math.log(PART), place))
            found.append((float(low), float(high)))
        return found[0], found[1]

    @property
    def rounds(self) -> bool:
        """Whether steps are coarser than those of the expressions themselves."""
        return any(axis.step != step_of(axis.values) for axis in self.counter.axes)


def _room(weights: Floats, noise: CounterNoise, odds: float, place: int) -> Floats:
    """What the noise of a mean stays within, for all groups: computed once."""
    return _rooms(weights[0].tobytes(), weights[place].tobytes(), noise, odds)


@lru_cache(maxsize=64)
def _rooms(of_total: bytes, of_sum: bytes, noise: CounterNoise, odds: float) -> Floats:
    import numpy as np

    return share_quantiles(np.frombuffer(of_total), np.frombuffer(of_sum), noise, odds)


def rest_of(odds: float, parts: int) -> float:
    """What is left of alpha when so many parts of it are spent."""
    return odds - math.log1p(-parts / PART)
