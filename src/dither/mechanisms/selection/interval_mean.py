"""The exponential mechanism for a mean on an interval: what comes out is a point of the interval, never outside.

n rows between a and b, n public. The candidates are m + 1 evenly spaced points l of [a, b], their scores

    absolute    -|mean - l|      which a replaced row moves by at most (b - a) / n
    squared     -(mean - l)^2    which it moves by at most (b - a)^2 (2n - 1) / n^2

Proof. A replaced row moves the mean by at most (b - a)/n, and |mean - l| no further. For squares let b - a = 1 and x,
y be the two means: |(x - l)^2 - (y - l)^2| = |x - y| |x + y - 2l| is largest at l = 0, x = 1, y = 1 - 1/n, where it
is 1 - (1 - 1/n)^2 = 2/n - 1/n^2. So it lies just below 2/n; it is not 1/n, as one can read.

Yet the noise need not be larger than for absolute errors. What the exponential mechanism pays for is how
*differently* scores move (`selection/exponential.py`), and (x - y)(x + y - 2l) ranges over an interval of length 2 |x - y|
<= 2/n as l goes from 0 to 1: the same as for absolute errors. So both have the rate epsilon / range with range = 2 (b -
a)/n and 2 (b - a)^2/n. (One step of the lattice is added to half the range: two roundings of less than a step each
may add up.)

The law is that of Laplace noise of twice the usual scale (absolute), or of Gaussian noise with variance 1 / (n
epsilon) (squared, b - a = 1), on the points, cut off at a and b and renormalised. Once n epsilon exceeds a few units
plain `Laplace` noise, cut off at a and b afterwards, is better than either: it needs no factor of two, since its
normaliser does not depend on the data.

Wasserman and Zhou 2010.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import SupportsIndex

from attrs import field, frozen

from dither.arguments import argument_errors
from dither.errors import DataError, NumberError
from dither.mechanisms.additive.additive import read_flag
from dither.mechanisms.additive.lattice_step import choose_step
from dither.mechanisms.norms import root_above
from dither.mechanisms.selection.exponential import Exponential
from dither.numeric.balls import round_up
from dither.numeric.number import Number, NumberLike, RealLike, integer, rational
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.records import read_epsilon
from dither.privacy.unit import Unit, UnitLike, read_replacement

MOST_POINTS = 100_000


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class IntervalMean:
    """A mean of a public number of rows, as a point of its interval: pure epsilon, by the exponential mechanism.

    Args:
        epsilon: the pure privacy loss of one release, above zero.
        rows: how many rows the mean is of, publicly.
        bounds: the lowest and the highest value of a row, and of what comes out; (0, 1) by default.
        squared: whether squared errors are punished, or absolute ones (the default).
        points: how many evenly spaced points of the interval can come out, 2 to 100,000; 1001 by default.
        unit: replace one person (the default) or one row.

    Raises:
        NumberError: a parameter is no exact number, lies outside its range, or bounds are too far from zero for floats.
        UnitError: the unit is unknown, or none of replacement.

    Example:
        >>> from dither import IntervalMean
        >>> mechanism = IntervalMean(epsilon=1, rows=1000, bounds=(0, 100))
        >>> 0 <= mechanism.release(36.6) <= 100
        True
    """

    epsilon: Number = field(converter=read_epsilon)  # the promise
    rows: int  # how many there are, publicly
    bounds: tuple[Fraction, Fraction]  # of every row, and of what comes out
    squared: bool  # whether squared errors are punished, or absolute ones
    points: int  # how many candidates there are
    unit: Unit = field(converter=read_replacement)  # replace one person, or one row
    __repr__ = short_repr

    def __init__(
        self,
        *,
        epsilon: NumberLike,
        rows: SupportsIndex,
        bounds: tuple[NumberLike, NumberLike] = (0, 1),
        squared: bool = False,
        points: SupportsIndex = 1001,
        unit: UnitLike = Unit.REPLACE_ONE,
    ) -> None:
        if not isinstance(bounds, tuple) or len(bounds) != 2:
            raise NumberError("bounds", bounds, "they are a pair", "(0, 1)")
        low, high = (rational(end, name="bounds") for end in bounds)
        if low >= high:
            raise NumberError("bounds", bounds, "the lower bound lies below the upper one", "(0, 1)")
        count = integer(points, name="points", least=2)
        if count > MOST_POINTS:
            raise NumberError("points", points, f"up to {MOST_POINTS} are scored", "fewer points")
        size, squares = integer(rows, name="rows", least=1), read_flag(squared, name="squared")
        self.__attrs_init__(epsilon=epsilon, rows=size, bounds=(low, high), squared=squares, points=count, unit=unit)
        largest = round_up(max(abs(low), abs(high)))
        # A mean computed in floats is off by a few units in the last place, a squared score by 4 widths times that at most:
        # where this is not far below a step, the mean could move by more than a row can move it.
        factor = 4 * max(Fraction(1), 4 * (high - low) if squared else Fraction(1))
        if math.isinf(largest) or factor * Fraction(math.ulp(largest)) > self.choice.step / 1024:
            why = "floats that far from zero are too coarse for so small a change"
            raise NumberError("bounds", bounds, why, "values from which a public constant was subtracted")

    @property
    def sensitivity(self) -> Fraction:
        """How far a replaced row can move a single score."""
        width, n = self.bounds[1] - self.bounds[0], self.rows
        return width**2 * (2 * n - 1) / n**2 if self.squared else width / n

    @property
    def range(self) -> Fraction:
        """How differently a replaced row can move two scores: what is paid for."""
        width = self.bounds[1] - self.bounds[0]
        return 2 * (width**2 if self.squared else width) / self.rows

    @cached_property
    def choice(self) -> Exponential:
        """The exponential mechanism that a point is chosen by."""
        step = choose_step(None, self.range / 2)
        return Exponential(
            epsilon=self.epsilon,
            sensitivity=self.range / 2 + step,
            candidates=self.points,
            score=self._score,
            step=step,
            unit=self.unit,
        )

    def _point(self, place: int) -> Fraction:
        low, high = self.bounds
        return low + (high - low) * Fraction(place, self.points - 1)

    def _score(self, mean: Fraction, place: int) -> Fraction:
        distance = abs(mean - self._point(place))
        return -(distance**2) if self.squared else -distance

    @property
    def guarantee(self) -> Guarantee:
        """Bounded range epsilon, so pure epsilon: that of the exponential mechanism."""
        return self.choice.guarantee

    def error(self, confidence: NumberLike) -> float:
        """How far the release may lie from the mean, at this `confidence`: for the worst scores, so rather wide."""
        shortfall = Fraction(self.choice.error(confidence))
        half = (self.bounds[1] - self.bounds[0]) / (self.points - 1) / 2  # the best point is that close to the mean
        away = root_above(shortfall + half**2) if self.squared else shortfall + half
        return round_up(min(away, self.bounds[1] - self.bounds[0]))

    def release(self, value: RealLike) -> float:
        """A point of the interval, likelier near the mean, which is the `value`. Raises DataError where it is no number."""
        return float(self._point(self.choice.release(self.truth(value))))

    def truth(self, value: RealLike) -> Fraction:
        """The mean that `value` is, moved into the bounds and otherwise exact; NaN counts as the lower bound."""
        low, high = self.bounds
        if isinstance(value, float) and not math.isfinite(value):
            return high if value > 0 else low
        if isinstance(value, numbers.Integral) or type(value).__name__ in ("float16", "float32"):
            value = value.item() if hasattr(value, "item") else value  # numpy's numbers
        if isinstance(value, bool) or not isinstance(value, (int, float, Fraction)):
            raise DataError("type of value", type(value).__name__, "a mean is a number", "an int, a float or a Fraction")
        return max(low, min(high, Fraction(value)))

    def neighbours(self) -> Iterator[tuple[Fraction, Fraction]]:
        """Means that one row apart can have, at the ends and in the middle."""
        low, high = self.bounds
        move = (high - low) / self.rows
        for start in (low, low + move / 2, (low + high) / 2, high - move, high - move * Fraction(4, 3)):
            for change in (move, move / 2):
                if low <= start and start + change <= high:
                    yield start, start + change
