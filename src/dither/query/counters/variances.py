"""Variances and deviations from their released counters, with intervals that cover.

With q the steps of a value above its lower bound, u = q / G, and one row G^2: of the sums high (`AboveSquare`), middle
(`CrossProduct`) and low (`BelowSquare`), N = high + middle + low, S1 = high + middle/2 and S2 = high are the noisy count,
sum and sum of squares of u. Intervals are those of `density/moments/variance_intervals.py`, for all groups at once; where a
group has less than a row (for a sample, two), the interval is all that is possible.

    population     s2 / n - (s1 / n)^2                    0 to 1/4
    sample         that times n / (n - 1), for n >= 2     0 to 1/2; the interval has the noise of n in it
    deviation      the root of either

They hold noise. Where the steps are coarser than the column's own, what that changes is in them too: the deviation of a
difference is at most its largest size, half a step (for a sample times the root of n / (n - 1), sqrt 2 where n is not known
well enough), and deviations obey the triangle inequality. A quoted error holds both: the counted deviation lies between the
guess less half a step and the guess plus half a step, and what noise changes is taken as the larger at these two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from dither.density.moments.variance_intervals import deviation_interval
from dither.mechanisms.additive.additive import log_odds
from dither.numeric.balls import round_up
from dither.query.counters.estimators import ROUNDING, Columns, Range, Reader
from dither.query.counters.intervals import noise_of
from dither.query.counters.moment_errors import MomentErrors, MomentEstimator

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dither.query.plan.base import Expression

AT_ONCE = 64  # groups
WEIGHTS = ((1.0, 1.0, 1.0), (1.0, 0.5, 0.0), (1.0, 0.0, 0.0))  # of high, middle and low in N, S1 and S2
NONE = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class VarianceEstimator(MomentEstimator):
    """A variance, or its root: width^2 times the mean square of the distance from the mean."""

    of_sample: bool  # the sum of squares is divided by n - 1, not by n
    is_root: bool
    width: Fraction  # G steps
    row: int  # G^2
    rounding: Fraction  # of a single value
    of: Expression

    def squares(self, reach: int) -> float:
        """Where the weights of noise are largest: at either bound."""
        return 1.0

    @property
    def value_range(self) -> Range:
        """From no spread to that of two halves at either bound; of a sample, of one value at each."""
        return Fraction(0), Fraction(self._ends(0.0, math.inf)[1])

    def read(self, counters: Sequence[Sequence[int]], by: Reader) -> Columns:
        """Values, lower and upper ends: one of each for the counters of a group."""
        import numpy as np

        one = self.row * by.resolution
        noise, odds = noise_of(by.noise, one), log_odds(1, by.confidence)
        rows = np.array([[float(Fraction(number, one)) for number in group[:3]] for group in counters]).reshape(-1, 3)
        of_total, of_sum, of_squares = (np.array(row) for row in WEIGHTS)
        hidden = round_up(self.rounding / self.width)
        values, ends = [], []
        for start in range(0, len(rows), AT_ONCE):
            part = rows[start : start + AT_ONCE]
            sums = part @ of_total, part @ of_sum, part @ of_squares
            weights = of_total, of_sum, of_squares
            low, high = deviation_interval(sums, weights, noise, odds, rounding=hidden, sample=self.of_sample)
            values += np.clip(_estimates(*sums, sample=self.of_sample), low**2, high**2).tolist()
            ends += [self._ends(*both) for both in zip(low.tolist(), high.tolist(), strict=True)]
        scale = float(self.width) if self.is_root else float(self.width) ** 2
        middle = [(math.sqrt(value) if self.is_root else value) * scale for value in values]
        return middle, [low for low, _ in ends], [high for _, high in ends]

    def _ends(self, low: float, high: float) -> tuple[float, float]:
        """In the units of the answer, rounded outward."""
        width, most = float(self.width), math.sqrt(0.5 if self.of_sample else 0.25)
        first, last = low * width * (1 - 1e-14), min(most, high) * width * (1 + 1e-14)
        return (first, last) if self.is_root else (first**2 * (1 - 1e-15), last**2 * (1 + 1e-15))

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (self.of,)

    @property
    def widths(self) -> tuple[float, ...]:
        return (float(self.width),)

    @property
    def total_weights(self) -> NDArray[np.float64]:
        import numpy as np

        of_total, of_sum, of_squares = WEIGHTS
        return np.array([of_total, of_sum, NONE, of_squares, NONE, NONE, NONE])

    @property
    def row_total(self) -> int:
        return self.row

    def error_from(self, errors: MomentErrors) -> float | None:
        """With noise, and with what rounding changes: the counted deviation may be half a step away."""
        deviation, hidden = errors.deviations[0], float(self.rounding / self.width)
        nearest, farthest = max(deviation - hidden, 0.0), min(deviation + hidden, 0.5)
        noise = [self._noise_error(errors, one) for one in dict.fromkeys((nearest, farthest))]
        known = [one for one in noise if one is not None]
        if len(known) < len(noise):
            return None
        sample = errors.count / (errors.count - self.of_sample)
        truth = deviation**2 * sample
        low, high = max(nearest**2 * sample - max(known), 0.0), farthest**2 * sample + max(known)
        width = float(self.width)
        if self.is_root:
            return max(math.sqrt(truth) - math.sqrt(low), math.sqrt(high) - math.sqrt(truth)) * width
        return max(truth - low, high - truth) * width**2

    def _noise_error(self, errors: MomentErrors, deviation: float) -> float | None:
        return replace(errors, deviations=(deviation, deviation)).variance(of_sample=self.of_sample)

    @property
    def rounding_words(self) -> str:
        return f", with {ROUNDING}" if self.rounding else ""


def _estimates(
    total: NDArray[np.float64], sum_: NDArray[np.float64], squares: NDArray[np.float64], *, sample: bool
) -> NDArray[np.float64]:
    """Of u, cut to what bounds allow; fewer than one value (of a sample, two) divide as one."""
    import numpy as np

    rows = np.maximum(total, 2.0 if sample else 1.0)
    mean = np.clip(sum_ / rows, 0.0, 1.0)
    about_mean = (squares - 2 * mean * sum_ + mean**2 * total) / rows
    found: NDArray[np.float64] = np.clip(about_mean, 0.0, 0.25)
    return found * rows / (rows - 1) if sample else found
