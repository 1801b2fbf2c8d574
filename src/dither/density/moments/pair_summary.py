"""What a release of `Covariance` says: a count, two means and a covariance, each with its confidence interval.

    covariance        all c with S12 - p S2 - r S1 + (p r - c) N within its quantile, for all means p and r in their sets
                      (each with 1/16 of alpha): at the true means it is the sum of (u - p)(v - r) - c, and its truth is 0

    u, v              values as shares of the way between their bounds
    N, S1, S2, S12    count, sums of u and of v, and sum of u v, with noise (`moments/ratio_intervals.py`)

All of it is computed from released numbers and public facts, for the values as they were clipped to the bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Protocol

from dither.arguments import argument_errors
from dither.density.moments.ratio_intervals import Pivot, interval, ratio_interval
from dither.density.moments.steps import Quantisation
from dither.density.moments.summary import noise_in_records
from dither.mechanisms.additive.additive import log_odds, read_confidence
from dither.mechanisms.additive.geometric import Geometric
from dither.numeric.balls import round_down, round_up
from dither.numeric.number import NumberLike
from dither.numeric.representation import high_digits, low_digits, short_repr

if TYPE_CHECKING:
    from dither.density.moments.ratio_intervals import Floats

MEANS = 6  # cells of each mean
FOR_MEANS = 16  # one part in so many of alpha, for each
# how the four numbers enter the count, the two sums, and the sum of products
WEIGHTS = ((1, 1, 1, 1), (0, 0, 1, 1), (0, 1, 0, 1), (0, 0, 0, 1))


class CovarianceLike(Protocol):
    """What a summary has to know of the `Covariance` that was asked for."""

    @property
    def one(self) -> int: ...

    @property
    def quantisations(self) -> tuple[Quantisation, Quantisation]: ...

    @property
    def noise(self) -> Geometric: ...


@argument_errors
@dataclass(frozen=True)
class PairSummary:
    """A released count, two means and a covariance, with confidence intervals. `Covariance` makes it.

    Args:
        pair: the `Covariance` that was asked for.
        released: four whole numbers with noise: everything else follows from them.

    Raises:
        NumberError: from an interval, where a confidence is no probability between 0 and 1.

    Example:
        >>> from dither.density import Covariance, PairSummary
        >>> pair = Covariance(epsilon=1, first=(0, 4), second=(0, 4), steps=4)
        >>> summary = PairSummary(pair, (8000, 0, 0, 8000))
        >>> summary.count, summary.means, summary.covariance
        (1000.0, (2.0, 2.0), 4.0)
    """

    pair: CovarianceLike
    released: tuple[int, ...]
    __repr__ = short_repr

    @property
    def count(self) -> float:
        """How many records have both values."""
        return float(max(Fraction(0), self._sums[0]))

    @property
    def means(self) -> tuple[float, float]:
        """The mean of each column, inside its bounds."""
        one, other = (
            quantisation.at(share) for quantisation, share in zip(self.pair.quantisations, self._shares, strict=True)
        )
        return one, other

    @property
    def covariance(self) -> float:
        """The mean product of the distances from the means, cut to what these means allow."""
        p, r = self._shares
        found = self._sums[3] / max(Fraction(1), self._sums[0]) - p * r
        most, least = min(p, r) - p * r, max(Fraction(0), p + r - 1) - p * r
        return float(max(least, min(most, found)) * self._area)

    def mean_intervals(self, confidence: NumberLike) -> tuple[tuple[float, float], tuple[float, float]]:
        """Between what each mean lies, each with probability `confidence` at least."""
        odds = log_odds(1, read_confidence(confidence))
        one, other = (quantisation.between(*self._set(at, odds)) for at, quantisation in enumerate(self.pair.quantisations))
        return one, other

    def covariance_interval(self, confidence: NumberLike) -> tuple[float, float]:
        """Between what the covariance of the clipped values lies, with probability `confidence` at least."""
        import numpy as np

        odds = log_odds(1, read_confidence(confidence))
        cells = [np.linspace(*self._set(at, odds + math.log(FOR_MEANS)), MEANS + 1) for at in (0, 1)]
        p0, p1 = (part[:, None, None] for part in (cells[0][:-1], cells[0][1:]))
        r0, r1 = (part[None, :, None] for part in (cells[1][:-1], cells[1][1:]))
        total, one, other, both = (float(x) for x in self._sums)
        corners = [both - p * other - r * one + p * r * total for p, r in product((p0, p1), (r0, r1))]
        least, most = np.minimum.reduce(corners), np.maximum.reduce(corners)

        def pivot(low: Floats, high: Floats) -> Pivot:
            lightest = (p0 * r0, -p1 * (1 - r0), -(1 - p0) * r1, (1 - p1) * (1 - r1))
            heaviest = (p1 * r1, -p0 * (1 - r1), -(1 - p1) * r0, (1 - p0) * (1 - r0))
            sizes = [np.maximum(np.abs(a - high), np.abs(b - low)) for a, b in zip(lightest, heaviest, strict=True)]
            shape = sizes[0].shape
            return Pivot(np.stack(sizes, axis=-1), np.broadcast_to(least, shape), np.broadcast_to(most, shape))

        rest = odds + math.log(FOR_MEANS / (FOR_MEANS - 2))
        found = interval(total, (-0.25, 0.25), pivot, noise_in_records(self.pair.noise, self.pair.one), rest)
        hidden = self.pair.quantisations[0].rounding
        hidden += hidden * hidden  # u and v are off by h each, and have deviations of at most 1/2: h/2 + h/2 + h^2
        quarter = Fraction(1, 4)
        first, last = max(-quarter, Fraction(float(found[0])) - hidden), min(quarter, Fraction(float(found[1])) + hidden)
        return round_down(first * self._area), round_up(last * self._area)

    # -- how they follow ---------------------------------------------------------------------------------------

    @cached_property
    def _sums(self) -> list[Fraction]:
        return [Fraction(sum(w * x for w, x in zip(row, self.released, strict=True)), self.pair.one) for row in WEIGHTS]

    @cached_property
    def _shares(self) -> tuple[Fraction, Fraction]:
        total = max(Fraction(1), self._sums[0])
        one, other = (max(Fraction(0), min(Fraction(1), sum_ / total)) for sum_ in self._sums[1:3])
        return one, other

    @property
    def _area(self) -> Fraction:
        one, other = self.pair.quantisations
        return one.width * other.width

    def _set(self, at: int, odds: float) -> tuple[float, float]:
        import numpy as np

        noise = noise_in_records(self.pair.noise, self.pair.one)
        of_total, of_sum = (np.array(WEIGHTS[row], dtype=np.float64) for row in (0, 1 + at))
        low, high = ratio_interval(float(self._sums[0]), float(self._sums[1 + at]), of_total, of_sum, noise, odds)
        return float(low), float(high)

    def tolist(self) -> list[int]:
        """The released numbers, as a list."""
        return list(self.released)

    def __str__(self) -> str:
        low, high = self.covariance_interval("0.95")
        return (
            f"covariance {self.covariance:.6g} (95%: {low_digits(low)} to {high_digits(high)}) of {self.count:.0f} records"
        )
