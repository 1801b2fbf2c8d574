"""What a release of `Moments` says: a count, a mean, a variance and a deviation, each with its confidence interval.

All of it is computed from released numbers and public facts. Each interval holds with its confidence by itself, whatever
the data are, for the values as they were clipped to the bounds: what clipping takes away is not in it, and no private
number could be. Rounding to the steps is in it: of a mean at most `rounding`, and of a deviation too, since the deviation
of a difference is at most its largest size and deviations obey the triangle inequality.

    mean        all p with S1 - p N within its quantile (`moments/ratio_intervals.py`)
    variance    for every p in the set of the mean all v with S2 - 2 p S1 + (p^2 - v) N within its quantile
                (`moments/variance_intervals.py`)

    u           a value as a share of the way from `low` to `high`
    N, S1, S2   count, sum and sum of squares of u, with noise: weighted sums of what was released

Estimates are cut to what is possible: a mean to the bounds, a variance of u to p (1 - p). A count below one divides as one.
The variance is that of the n values themselves (divided by n, not n - 1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from dither.arguments import argument_errors
from dither.density.moments.ratio_intervals import CounterNoise, quantile, ratio_interval
from dither.density.moments.steps import Quantisation, weights_of
from dither.density.moments.variance_intervals import deviation_interval
from dither.errors import GuaranteeError
from dither.mechanisms.additive.additive import log_odds, read_confidence
from dither.mechanisms.additive.geometric import Geometric
from dither.numeric.balls import round_down, round_up
from dither.numeric.number import NumberLike
from dither.numeric.representation import high_digits, low_digits, short_repr

if TYPE_CHECKING:
    from dither.density.moments.ratio_intervals import Floats


class MomentsLike(Protocol):
    """What a summary has to know of the `Moments` that were asked for."""

    @property
    def degree(self) -> int: ...

    @property
    def rows(self) -> int | None: ...

    @property
    def replaces(self) -> bool: ...

    @property
    def one(self) -> int: ...

    @property
    def quantisation(self) -> Quantisation: ...

    @property
    def noise(self) -> Geometric: ...


@argument_errors
@dataclass(frozen=True)
class Summary:
    """A released count, mean and variance of values between public bounds, with confidence intervals. `Moments` makes it.

    Args:
        moments: the `Moments` that were asked for.
        released: whole numbers with noise: everything else follows from them.

    Raises:
        GuaranteeError: from what is said of the variance, where only a mean was asked for.
        NumberError: from an interval, where a confidence is no probability between 0 and 1.

    Example:
        >>> from dither.density import Moments, Summary
        >>> summary = Summary(Moments(epsilon=1, low=0, high=4, steps=4), (2000, 2000))
        >>> summary.count, summary.mean
        (1000.0, 2.0)
        >>> low, high = summary.mean_interval("0.95")
        >>> 1.4 < low < 2 < high < 2.6
        True
    """

    moments: MomentsLike
    released: tuple[int, ...]

    # -- estimates ---------------------------------------------------------------------------------------------
    __repr__ = short_repr

    @property
    def count(self) -> float:
        """How many values there are; exact where that is public."""
        return float(max(Fraction(0), self._sums[0]))

    @property
    def mean(self) -> float:
        """The mean of the values, inside the bounds."""
        return self.moments.quantisation.at(self._share)

    @property
    def variance(self) -> float:
        """The mean squared distance of the values from their mean."""
        return float(self._spread * self.moments.quantisation.width**2)

    @property
    def deviation(self) -> float:
        """The standard deviation, the root of the variance."""
        return math.sqrt(self._spread) * float(self.moments.quantisation.width)

    # -- intervals ---------------------------------------------------------------------------------------------

    def count_interval(self, confidence: NumberLike) -> tuple[int, int]:
        """Between what the count lies, with probability `confidence` at least."""
        import numpy as np

        level = read_confidence(confidence)
        if self.moments.rows is not None:
            return self.moments.rows, self.moments.rows
        reach = Fraction(float(quantile(np.abs(self._weights[:1]), self._noise, log_odds(1, level))[0]))
        first, last = math.ceil(self._sums[0] - reach), math.floor(self._sums[0] + reach)
        if first > last:  # no whole number lies between: the nearest one stands for both
            first = last = round(self._sums[0])
        return max(0, first), max(0, last)

    def mean_interval(self, confidence: NumberLike) -> tuple[float, float]:
        """Between what the mean of the clipped values lies, with probability `confidence` at least."""
        return self.moments.quantisation.between(*self._shares(log_odds(1, read_confidence(confidence))))

    def variance_interval(self, confidence: NumberLike) -> tuple[float, float]:
        """Between what the variance of the clipped values lies, with probability `confidence` at least."""
        first, last = self._deviations(confidence)
        width = self.moments.quantisation.width
        return round_down((first * width) ** 2), round_up((last * width) ** 2)

    def deviation_interval(self, confidence: NumberLike) -> tuple[float, float]:
        """Between what the deviation of the clipped values lies, with probability `confidence` at least."""
        first, last = self._deviations(confidence)
        width = self.moments.quantisation.width
        return round_down(first * width), round_up(last * width)

    # -- how they follow ---------------------------------------------------------------------------------------

    @cached_property
    def _sums(self) -> list[Fraction]:
        """n, the sum of u, the sum of their squares: with noise, and exactly what the released numbers say."""
        rows = self.moments.rows
        known = self.released if rows is None else (rows * self.moments.one, *self.released)
        rows_of = weights_of(self.moments.degree, replaces=self.moments.replaces)
        sums = [sum((w * x for w, x in zip(row, known, strict=True)), start=Fraction(0)) for row in rows_of]
        return [sum_ / self.moments.one for sum_ in sums]

    @cached_property
    def _weights(self) -> Floats:
        """How each of the noises enters n, the sum and the sum of squares."""
        import numpy as np

        skipped = 0 if self.moments.rows is None else 1  # a public total has none
        rows_of = weights_of(self.moments.degree, replaces=self.moments.replaces)
        return np.array([[float(w) for w in row[skipped:]] for row in rows_of])

    @property
    def _noise(self) -> CounterNoise:
        return noise_in_records(self.moments.noise, self.moments.one)

    @cached_property
    def _share(self) -> Fraction:
        return max(Fraction(0), min(Fraction(1), self._sums[1] / max(Fraction(1), self._sums[0])))

    @cached_property
    def _spread(self) -> Fraction:
        self._need_squares()
        found = self._sums[2] / max(Fraction(1), self._sums[0]) - self._share**2
        return max(Fraction(0), min(self._share * (1 - self._share), found))

    def _shares(self, odds: float) -> tuple[float, float]:
        total, sum_ = (float(x) for x in self._sums[:2])
        low, high = ratio_interval(total, sum_, self._weights[0], self._weights[1], self._noise, odds)
        return float(low), float(high)

    def _deviations(self, confidence: NumberLike) -> tuple[Fraction, Fraction]:
        """What the deviation of u lies between, with what rounding may have hidden."""
        import numpy as np

        self._need_squares()
        odds = log_odds(1, read_confidence(confidence))
        total, sum_, squares = (np.array(float(x)) for x in self._sums)
        of_total, of_sum, of_squares = self._weights
        hidden = round_up(self.moments.quantisation.rounding)
        sums, weights = (total, sum_, squares), (of_total, of_sum, of_squares)
        first, last = deviation_interval(sums, weights, self._noise, odds, rounding=hidden)
        return Fraction(float(first) * (1 - 1e-14)), min(Fraction(1, 2), Fraction(float(last) * (1 + 1e-14)))

    def _need_squares(self) -> None:
        if self.moments.degree < 2:
            why = "only the mean was paid for, and squares were not counted"
            raise GuaranteeError("degree", self.moments.degree, why, "Moments(..., degree=2)")

    def tolist(self) -> list[int]:
        """The released numbers, as a list."""
        return list(self.released)

    def __str__(self) -> str:
        low, high = self.mean_interval("0.95")
        spread = f", deviation {self.deviation:.6g}" if self.moments.degree == 2 else ""
        return f"mean {self.mean:.6g} (95%: {low_digits(low)} to {high_digits(high)}) of {self.count:.0f} values{spread}"


def noise_in_records(noise: Geometric, one: int) -> CounterNoise:
    """The scale of the noise and its step, where `one` steps are a record."""
    rate = noise.law.rate.bounds().lower
    return CounterNoise(round_up(1 / (Fraction(rate) * one)), 1 / one)
