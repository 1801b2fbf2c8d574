"""Regression lines of one expression on another: `counters/pair_estimators.py` has their equations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dither.query.counters.fieller_regions import EVERYWHERE, Totals
from dither.query.counters.moment_errors import MomentErrors
from dither.query.counters.pair_estimators import PART, Box, PairEstimator, rest_of
from dither.query.counters.pair_moments import UU, UW, N, Sample, U, W, product_vector, square_vector, weighted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

    from dither.query.counters.pair_moments import Vector


@dataclass(frozen=True)
class SlopeEstimator(PairEstimator):
    """REGR_SLOPE."""

    @property
    def unit(self) -> float:
        """Of y, for one of x."""
        return self.widths[1] / self.widths[0]

    def _estimate(self, of: Sample) -> float:
        return of.slope

    def _interval(self, of: Totals, odds: float) -> Box:
        return self.slopes(of, self.means(of, odds), rest_of(odds, 2))

    def slopes(self, of: Totals, means: tuple[Box, Box], odds: float) -> Box:
        """The set of slopes, given the sets of the means."""
        p, m = means
        size = abs(Sample(*of.values[:6]).slope)
        scale = size if 1e-6 < size < 1e6 else 1.0
        return of.region(
            lambda one, two, mean: (product_vector(one, mean), square_vector(one, two)), [p, p, m], odds, scale=scale
        )

    def error_from(self, errors: MomentErrors) -> float | None:
        found = errors.slope()
        return None if found is None else found * self.unit


@dataclass(frozen=True)
class InterceptEstimator(SlopeEstimator):
    """REGR_INTERCEPT.

    It is as far off as the slope, times the distance of zero from the mean of x, which may be anything within the bounds:
    the largest error is 20 to 30 times the one that is seen where the mean is near zero. So there is no figure.
    """

    without_figure: ClassVar[tuple[str, str] | None] = (
        "how far an intercept is off depends on the mean of x, which no guess here states",
        "epsilon=, and the interval of the answer; or error= for REGR_SLOPE and AVG",
    )

    @property
    def unit(self) -> float:
        """Of y."""
        return self.widths[1]

    @property
    def zero(self) -> float:
        """Where x is zero, as a share."""
        return -float(self.counter.axes[0].origin) / self.widths[0]

    def _shown(self, share: float) -> float:
        return float(float(self.counter.axes[1].origin) + share * self.unit)

    def _estimate(self, of: Sample) -> float:
        p, m = of.means
        return m + of.slope * (self.zero - p)

    def _form(self, square: Floats | float, mean: Floats | float, slope: Floats | float) -> tuple[Vector, Vector]:
        at = self.zero
        first, second = weighted((1.0, U), (-at, N)), weighted((1.0, UU), (-2 * at, U), (at * at, N))
        mixed = weighted((1.0, UW), (-at, W))
        over = weighted((square, W), (-square * slope, first), (-mean, mixed), (mean * slope, second))
        return over, weighted((square, N), (-mean, first))

    def _interval(self, of: Totals, odds: float) -> Box:
        means = self.means(of, odds)
        slopes = self.slopes(of, means, odds + math.log(PART / 2))
        if not all(map(math.isfinite, slopes)):
            return EVERYWHERE
        at = self.zero
        second = weighted((1.0, UU), (-2 * at, U), (at * at, N))
        squares = of.region(
            lambda: (second, N), [], odds + math.log(PART), limits=(0.0, (1 + abs(at)) ** 2), scale=1 + at * at
        )
        shifted = (means[0][0] - at, means[0][1] - at)
        scale = max(abs(self._estimate(Sample(*of.values[:6]))), 1e-3)
        return of.region(self._form, [squares, shifted, slopes], rest_of(odds, 5), scale=scale)

    def error_from(self, errors: MomentErrors) -> float | None:
        return None
