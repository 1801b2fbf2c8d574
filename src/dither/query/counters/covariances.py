"""Covariances and correlations of two expressions: `counters/pair_estimators.py` has their equations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dither.query.counters.estimators import Range
from dither.query.counters.fieller_regions import Totals
from dither.query.counters.moment_errors import MomentErrors
from dither.query.counters.pair_estimators import PART, Box, PairEstimator, rest_of
from dither.query.counters.pair_moments import ONE, N, Sample, other_square_vector, product_vector, square_vector, weighted
from dither.query.plan.aggregates import Correlation, Covariance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

    from dither.query.counters.pair_moments import Vector

CUTS = 8  # of the ratio of deviations


@dataclass(frozen=True)
class CovarianceEstimator(PairEstimator):
    """COVAR_POP and COVAR_SAMP."""

    @property
    def of_sample(self) -> bool:
        assert isinstance(self.asked, Covariance)
        return self.asked.of_sample

    @property
    def unit(self) -> float:
        """Of the product."""
        return self.widths[0] * self.widths[1]

    @property
    def value_range(self) -> Range:
        """By the largest deviations that two columns can have."""
        most = Fraction(self.unit) * Fraction(1, 2 if self.of_sample else 4)
        return -most, most

    def _estimate(self, of: Sample) -> float:
        return of.covariance * (max(of.count, 2.0) / (max(of.count, 2.0) - 1) if self.of_sample else 1.0)

    def _interval(self, of: Totals, odds: float) -> Box:
        most, under = (0.5, weighted((1.0, N), (-1.0, ONE))) if self.of_sample else (0.25, N)
        means = self.means(of, odds)
        return of.region(
            lambda p, m: (product_vector(p, m), under), means, rest_of(odds, 2), limits=(-most, most), scale=most / 4
        )

    def error_from(self, errors: MomentErrors) -> float | None:
        found = errors.covariance(of_sample=self.of_sample)
        return None if found is None else found * self.unit


@dataclass(frozen=True)
class CorrelationEstimator(PairEstimator):
    """CORR, and REGR_R2."""

    @property
    def is_square(self) -> bool:
        assert isinstance(self.asked, Correlation)
        return self.asked.is_square

    @property
    def value_range(self) -> Range:
        """Of any two columns."""
        return Fraction(0 if self.is_square else -1), Fraction(1)

    def _estimate(self, of: Sample) -> float:
        spread = math.sqrt(of.variances[0] * of.variances[1])
        found = min(max(of.covariance / spread, -1.0), 1.0) if spread > 0 else 0.0
        return found**2 if self.is_square else found

    def _interval(self, of: Totals, odds: float) -> Box:
        low, high = self._correlations(of, odds)
        if not self.is_square:
            return low, high
        ends = sorted((low**2, high**2))
        return (0.0 if low <= 0 <= high else ends[0] * (1 - 1e-15)), min(1.0, ends[1] * (1 + 1e-15))

    def _correlations(self, of: Totals, odds: float) -> Box:
        import numpy as np

        p, m = self.means(of, odds)
        sample = Sample(*of.values[:6])
        first, second = sample.variances
        ratio = first / second if first > 0 and second > 0 else 1.0
        low, high = of.region(
            lambda one, two, three, four: (square_vector(one, two), other_square_vector(three, four)),
            *([p, p, m, m], odds + math.log(PART / 2)),
            limits=(0.0, math.inf),
            scale=min(max(ratio, 1e-12), 1e12),
        )
        if not 0 < low <= high < math.inf:
            return -1.0, 1.0
        cuts = np.geomspace(math.sqrt(low) * (1 - 1e-14), math.sqrt(high) * (1 + 1e-14), CUTS + 1)

        def form(one: Floats, two: Floats, three: Floats, four: Floats, r: Floats, inverse: Floats) -> tuple[Vector, Vector]:
            return product_vector(one, three), weighted(
                (inverse / 2, square_vector(one, two)), (r / 2, other_square_vector(three, four))
            )

        boxes: list[tuple[Floats | float, Floats | float]] = [
            p,
            p,
            m,
            m,
            (cuts[:-1], cuts[1:]),
            (1 / cuts[1:], 1 / cuts[:-1]),
        ]
        return of.region(form, boxes, rest_of(odds, 4), limits=(-1.0, 1.0))

    def error_from(self, errors: MomentErrors) -> float | None:
        found = errors.correlation()
        if found is None or not self.is_square:
            return found
        return found * (2 - found) if found < 1 else None  # of r^2 at most 1 - (1 - found)^2, at r = 1
