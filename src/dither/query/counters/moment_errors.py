"""Errors of variances, covariances, correlations and slopes before anything is read, given public guesses.

    n, s, z    guesses: the rows of a group, and the standard deviations of u and of w (`counters/pair_estimators.py` says
               what u, w, p, m, C, V and V' are)
    p, m, r    the means and the correlation: nobody knows them, so an error is the largest over all that s and z allow:
               |p - 1/2| <= root of 1/4 - s^2, m likewise (both on a grid), |r| <= 1
    A, B, t    the equation A M = t B M that the aggregate solves; B M = k at the truth
    Z, c(x)    the noise of the totals, and what |x Z| stays within
    P, Q, N    what the estimates of p and m are off by at most, and the most rows that noise shows

    of              A         B                          k       R(t)
    variance        V         n                          n       N P^2
    covariance      C         n                          n       N P Q
    slope           C         V                          n s^2   N (P Q + |t| P^2)
    correlation     C / sz    (V / s^2 + V' / z^2) / 2   n       N (P Q / sz + (P^2 / s^2 + Q^2 / z^2) / 2) + D

Theorem. Where P, Q and N hold but for probability b, and c but for a, an estimate is off by more than e with probability
a + b at most, for every e with c(A - (t +- e) B) + R(t +- e) <= e k for all t that are possible. (In a sample, k of the
first two is n - 1.) D is n g^2 / (8 (1 - f)), where V / (n s^2) and V' / (n z^2) with their noise are within f < 1 of 1,
and within g of each other; these are in b too.

Proof. Let x and y be the errors of the means that are used, which are cut to 0..1. C at these is
C(p, m) M + C(p, m) Z - x (W - m n) - y (U - p n) + x y n of the totals with noise, and the last three terms are N P Q at
most: x and y have the signs of the errors of the means before they were cut, and are no larger. Likewise V. An estimate is
above t + e only if A - (t + e) B of the totals with noise and these terms is above zero (where V > 0), so that
(A - (t + e) B) Z > e k - R(t + e). Below t - e the signs turn. Noise is symmetric: each side has half of a. A correlation
divides by the root of V V', each over its truth; that is half their sum less (root V - root V')^2 / 2 <= D / n. It is cut to
-1..1, so that |t +- e| <= 1 are all.

For normal noise c is a norm, so that it is largest at the ends of t. A standard deviation is below its truth d by more than
h where the variance is below (d - h)^2. There is no figure where noise leaves nothing of a number: all that it can be off
by, or a V that may be zero.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from dither.density.moments.ratio_intervals import CounterNoise, quantile
from dither.mechanisms.additive.additive import log_odds
from dither.query.counters.estimators import Estimator, Guesses, Reader, name_of
from dither.query.counters.intervals import noise_of
from dither.query.counters.pair_moments import N, U, W, other_square_vector, product_vector, square_vector, weighted
from dither.query.plan.text import number, rounded

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

    from dither.query.counters.pair_moments import Vector
    from dither.query.plan.base import Expression

PARTS = 64  # one part in so many of alpha for each of the terms of second order
SPENT = 6  # such parts, at most
MEANS = 9  # of each column
STEPS, NEAR = 40, 1e-6  # towards the least error
DOUBLINGS = 30


@dataclass(frozen=True)
class MomentErrors:
    """Half-widths in a group of `count` rows whose values, as shares of the way between their bounds, deviate so much."""

    count: float
    deviations: tuple[float, float]  # of u and of w
    weights: Floats  # a row for each total, a column for each noise
    noise: CounterNoise
    odds: float

    def variance(self, *, of_sample: bool) -> float | None:
        """Of u."""
        n, s = self.count - of_sample, self.deviations[0]
        if n <= 0:
            return None
        p, truth, most = self._means[0], s * s * self.count / n, 0.5 if of_sample else 0.25
        extra = self._rows * self._off[0] ** 2
        found = self._least(lambda e: self._worst(square_vector(p, p), N, (truth,), e) + extra, n)
        return found if found is not None and found < max(truth, most - truth) else None

    def covariance(self, *, of_sample: bool) -> float | None:
        """Of u and w."""
        n = self.count - of_sample
        if n <= 0:
            return None
        p, m = self._means
        truth, most = math.prod(self.deviations) * self.count / n, 0.5 if of_sample else 0.25
        extra = self._rows * math.prod(self._off)
        found = self._least(lambda e: self._worst(product_vector(p, m), N, (truth, -truth), e) + extra, n)
        return found if found is not None and found < most + truth else None

    def correlation(self) -> float | None:
        """Whatever it is."""
        (s, z), (off, other), (p, m) = self.deviations, self._off, self._means
        spread = self._spread(0), self._spread(1)
        largest = max(spread) / self.count
        if not largest < 1:
            return None
        halves = square_vector(p, p), other_square_vector(m, m)
        under = weighted((1 / (2 * s * s), halves[0]), (1 / (2 * z * z), halves[1]))
        apart = self._reach(weighted((1 / (s * s), halves[0]), (-1 / (z * z), halves[1])), PARTS)
        apart = (apart + self._rows * (off**2 / s**2 + other**2 / z**2)) / self.count
        extra = self._rows * (off * other / (s * z) + (off**2 / s**2 + other**2 / z**2) / 2)
        extra += self.count * apart**2 / (8 * (1 - largest))
        over = weighted((1 / (s * z), product_vector(p, m)))
        found = (self._worst(over, under, (1.0, -1.0), 0.0) + extra) / self.count
        return found if found < 2 else None

    def slope(self) -> float | None:
        """Of w, for one of u."""
        (s, z), (off, other), (p, m) = self.deviations, self._off, self._means
        if not self._spread(0) < self.count:
            return None
        over, under = product_vector(p, m), square_vector(p, p)

        def reach(e: float) -> float:
            return self._worst(over, under, (z / s, -z / s), e) + self._rows * (off * other + (z / s + e) * off**2)

        return self._least(reach, self.count * s * s)

    # -- noise -----------------------------------------------------------------------------------------------------------

    @cached_property
    def _means(self) -> tuple[Floats, Floats]:
        """Of u down, of w across: from the least to the largest that a column can have that deviates so much."""
        import numpy as np

        far = [math.sqrt(max(0.25 - s * s, 0.0)) for s in self.deviations]
        first, second = (np.linspace(0.5 - end, 0.5 + end, MEANS) for end in far)
        return first[:, None], second[None, :]

    @cached_property
    def _rows(self) -> float:
        """The most rows that noise may show."""
        return self.count + self._reach(N, PARTS)

    @cached_property
    def _fewest(self) -> float:
        return 2 * self.count - self._rows

    @cached_property
    def _off(self) -> tuple[float, float]:
        """How far the means may be off."""
        if self._fewest <= 0:
            return 1.0, 1.0
        p, m = self._means
        first, second = (weighted((1.0, U), (-p, N)), weighted((1.0, W), (-m, N)))
        return min(1.0, self._reach(first, PARTS) / self._fewest), min(1.0, self._reach(second, PARTS) / self._fewest)

    def _spread(self, place: int) -> float:
        """How far n times a variance may be off, over that variance."""
        mean, s, off = self._means[place], self.deviations[place], self._off[place]
        vector = other_square_vector(mean, mean) if place else square_vector(mean, mean)
        return (self._reach(vector, PARTS) + self._rows * off**2) / (s * s)

    def _worst(self, over: Vector, under: Vector, truths: tuple[float, ...], error: float) -> float:
        """What the noise of an equation stays within, an error above t and below it; for several t, the largest."""
        ends = sorted({truth + side * error for truth in truths for side in (1, -1)})
        return max(self._reach(weighted((1.0, over), (-end, under))) for end in ends)

    def _reach(self, vector: Vector, parts: int | None = None) -> float:
        return float(self._reaches(vector, parts).max())

    def _reaches(self, vector: Vector, parts: int | None = None) -> Floats:
        """What the noise of sums of totals stays within, for each of the means; but for a part of alpha, or for the rest."""
        import numpy as np

        rows = np.stack(np.broadcast_arrays(*(np.asarray(one, np.float64) for one in vector)), axis=-1)
        odds = self.odds - math.log1p(-SPENT / PARTS) if parts is None else self.odds + math.log(parts)
        return quantile(np.abs(rows @ self.weights), self.noise, odds)

    @staticmethod
    def _least(reach: Callable[[float], float], total: float) -> float | None:
        """The least e, from above, with reach(e) <= e times the total; reach grows with e."""
        found = reach(0.0) / total
        for _ in range(DOUBLINGS):
            if reach(found) <= found * total:
                break
            found *= 2
        else:
            return None
        for _ in range(STEPS):
            before, found = found, reach(found) / total
            if before - found <= NEAR * before:
                break
        return found


@dataclass(frozen=True)
class MomentEstimator(Estimator):
    """An aggregate of second moments: its error depends on the rows of a group and on how much values differ."""

    without_figure: ClassVar[tuple[str, str] | None] = None  # why no guess leads to a figure, and what would work
    whatever: ClassVar[str] = ""  # what the figure is the largest over, for people

    @property
    @abstractmethod
    def expressions(self) -> tuple[Expression, ...]:
        """Of which expressions: u, or u and w."""

    @property
    @abstractmethod
    def widths(self) -> tuple[float, ...]:
        """The distance between the bounds of each."""

    @property
    @abstractmethod
    def total_weights(self) -> Floats:
        """How each counter, in rows, enters each total: a row for each total."""

    @property
    @abstractmethod
    def row_total(self) -> int:
        """What one row adds to all counters together."""

    @property
    def rounding_words(self) -> str:
        """That the figure holds rounding too, where it does."""
        return ""

    @abstractmethod
    def error_from(self, errors: MomentErrors) -> float | None:
        """The half-width in the units of the answer; None where noise leaves nothing of the number."""

    def error(self, by: Reader) -> float | None:
        """The half-width where a group is as guessed."""
        size, found = by.guesses.size, [by.guesses.deviation(of) for of in self.expressions]
        deviations = [float(one) / width for one, width in zip(found, self.widths, strict=True) if one is not None]
        if size is None or len(deviations) < len(found) or max(deviations) > 0.5:
            return None
        noise, odds = noise_of(by.noise, self.row_total * by.resolution), log_odds(1, by.confidence)
        both = (deviations[0], deviations[-1])
        return self.error_from(MomentErrors(float(size), both, self.total_weights, noise, odds))

    def unknown(self, guesses: Guesses) -> tuple[str, str] | None:
        """It needs the rows of a group, and the standard deviation of each expression."""
        if self.without_figure is not None:
            return self.without_figure
        missing = self._missing(guesses)
        why = f"how far it is off depends {' and '.join(missing.values())}, and a quote reads no data"
        return (why, f"{' and '.join(missing)} beside it: public guesses") if missing else None

    def _missing(self, guesses: Guesses) -> dict[str, str]:
        """The keywords that are missing, and what each would say."""
        names = [name_of(of) for of in dict.fromkeys(self.expressions) if guesses.deviation(of) is None]
        missing = {"size=1000": "on the rows of a group"} if guesses.size is None else {}
        if names:
            gaps = ", ".join(f"{name!r}: <its standard deviation>" for name in names)
            missing[f"spread={{{gaps}}}"] = f"on the standard deviation of {' and of '.join(names)}"
        return missing

    def told(self, by: Reader) -> str:
        """The half-width where a group is as guessed, or which guess is missing."""
        if self.without_figure is not None:
            return f"no figure: {self.without_figure[0]}"
        if missing := self._missing(by.guesses):
            keywords = " and ".join(f"{keyword.partition('=')[0]}=" for keyword in missing)
            return f"depends {' and '.join(missing.values())} (say {keywords} for a figure)"
        found = self.error(by)
        if found is None:
            return "no figure: at this price noise can be as large as the number itself"
        several = [(name_of(of), rounded(float(by.guesses.deviation(of) or 0))) for of in dict.fromkeys(self.expressions)]
        told = " and ".join(f"{deviation} ({name})" for name, deviation in several)
        told = f"standard deviations {told}" if len(several) > 1 else f"standard deviation {several[0][1]}"
        told += f"{self.whatever}{self.rounding_words}"
        return f"at most {rounded(found)} where a group has {number(by.guesses.size or 0)} values with {told}"
