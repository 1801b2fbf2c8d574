"""Counters of a question with grouping sets (ROLLUP, CUBE, GROUPING SETS): noise once, and parts that add up to totals.

Theorem. Let a person's totals of the finest cells, as they were bounded, move by at most d in L1 norm, and by at most f in
L2 norm. Then the marginal of any level moves by at most d, in L1 and in L2 norm. So noise of d, or on the finest cells of f,
on each of several levels promises together the sum of their epsilons, or of their rhos. All rows of the answer follow from
what has noise, whichever sets are asked for.

    finest cells    combinations of keys of all grouping columns; a row is in one of them at most
    level           some of these columns; its marginal adds the finest cells up
    d, f            for both units, those of `statistics/bounding.py`: d^2 times 2 or 4 where a person is replaced

Proof. A marginal is a sum of parts that share no cell, so that its L1 norm is no larger than that of the cells, and its L2
norm no larger than its L1 norm. A person is bounded once, in the finest cells (one weight, or one choice of groups): all
levels are functions of the same bounded totals. Of two people who trade places the vectors a and b of a level have norms of
at most d each: |a - b| is at most 2 d in L1, and its square in L2 at most 2 d^2 where no entry is negative, 4 d^2 otherwise;
of one number that is not negative, at most d. Composition adds the promises up; what is read is post-processing.

Values of counts and sums are those of the estimate (`counters/marginals.py`), rounded in the finest cells so that they add
up: from the total down, each part to the whole number below or above it, the largest remainders up, keys in their order. So
every sum over the first columns is within one of its estimate. Ends are those of the estimate itself, whose noise is known
(`counters/noise_sums.py`), and never of a rounded part. Averages are quotients of estimates, with Fieller's intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm, prod
from typing import TYPE_CHECKING, Any, ClassVar

from dither.mechanisms.additive.gaussian import Gaussian
from dither.mechanisms.additive.geometric import Geometric
from dither.numeric.number import Number
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss, sum_of
from dither.query.counters.counter_sets import CounterSet
from dither.query.counters.estimators import (
    OVER_VALUES,
    UNBOUNDED,
    Columns,
    Estimator,
    Guesses,
    MeanEstimator,
    Noise,
    Range,
    SumEstimator,
)
from dither.query.counters.intervals import sum_error
from dither.query.counters.marginals import Level, Marginals, marginal, rounded_parts, size_of
from dither.query.counters.noise_inversion import sum_reach
from dither.query.counters.noise_sums import NoiseSum
from dither.query.counters.quotients import quotient_interval
from dither.query.plan.describe import set_words
from dither.query.plan.question import Question
from dither.query.plan.spelling import spell
from dither.query.plan.text import number, rounded
from dither.query.statistics.bounding import Bounding
from dither.query.statistics.counter_release import CounterRelease, NoisePart
from dither.query.statistics.statistic import Counts
from dither.query.workload.level_shares import claim_of, marginals_of, shares_of, sizes_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Table = NDArray[Any]


@dataclass(frozen=True)
class GroupingRelease(CounterRelease):
    """A set of counters of the finest cells of a question, and of levels of them, and what is read off the estimate."""

    code: ClassVar[str] = "grouping_release"

    noises: tuple[Noise, ...]  # of each level that has noise
    marginals: Marginals
    shares: tuple[Fraction, ...]  # of its price, for each level

    @classmethod
    def make(
        cls,
        question: Question,
        bounding: Bounding,
        counters: CounterSet,
        estimators: tuple[Estimator, ...],
        amount: Number | Fraction,
        *,
        pure: bool,
        confidence: Fraction,
        guesses: Guesses,
    ) -> GroupingRelease:
        """The counters at their price."""
        sizes = sizes_of(question)
        found = shares_of(question, bounding, counters, pure=pure)
        claims = [claim_of(sizes, level, bounding, counters, pure=pure) for level in found.levels]
        noises: list[Noise] = []
        for share, claim in zip(found.shares, claims, strict=True):
            if pure:
                noises.append(Geometric(epsilon=amount * share, sensitivity=claim, unit=bounding.unit))
            else:
                noises.append(Gaussian(rho=amount * share, l2_squared=claim, integers=True, unit=bounding.unit))
        known = marginals_of(sizes, found, claims, pure=pure)
        return cls(
            question, bounding, counters, noises[0], estimators, confidence, guesses, tuple(noises), known, found.shares
        )

    @property
    def on_finest(self) -> bool:
        """Whether the finest cells have noise, and nothing else: then it is the release of the plain GROUP BY."""
        return self.marginals.levels == (tuple(range(len(self.marginals.sizes))),)

    @property
    def guarantee(self) -> Guarantee:
        """The sum over all levels."""
        if self.on_finest:
            return super().guarantee
        first, *others = (noise.guarantee for noise in self.noises)
        return sum(others, start=first)

    def loss(self) -> Loss:
        """The sum over all levels; of geometric noise, that of any epsilon-DP."""
        if self.on_finest:
            return super().loss()
        if isinstance(self.mechanism, Geometric):
            return self.guarantee.loss()
        return sum_of(noise.loss() for noise in self.noises)

    def spelled_levels(self) -> object:
        """The levels with their noises; nothing where they are those of the plain GROUP BY."""
        if self.on_finest:
            return None
        several = zip(self.marginals.levels, self.noises, strict=True)
        return [{"groups": list(level), "noise": spell(noise)} for level, noise in several]

    def noisy(self, counts: Counts) -> list[list[int]]:
        """Each counter of each number of each level, with noise."""
        import numpy as np

        width, found = len(self.set.measures), []
        cells = np.array([[int(count) for count in row] for row in counts], dtype=object).reshape(
            *self.marginals.sizes, width
        )
        columns = len(self.marginals.sizes)
        for level, noise in zip(self.marginals.levels, self.noises, strict=True):
            totals = marginal(cells, (*level, columns)).reshape(-1, width).tolist()
            drawn = noise.law.sample((len(totals), width)).tolist()
            found += [[a + b for a, b in zip(row, own, strict=True)] for row, own in zip(totals, drawn, strict=True)]
        return found

    # -- what is read ----------------------------------------------------------------------------------------------

    def _cells(self, released: Any) -> tuple[list[Table], int]:
        """The estimates of each counter of the finest cells, as whole numbers over a denominator."""
        import numpy as np

        found, common = [], 1
        for place in range(len(self.set.measures)):
            tables, first = [], 0
            for level in self.marginals.levels:
                last = first + size_of(self.marginals.sizes, level)
                own = np.array([int(row[place]) for row in released[first:last]], dtype=object)
                tables.append(own.reshape(self.marginals.shape(level)))
                first = last
            cells, common = self.marginals.cells(tables)
            found.append(cells)
        return found, common

    def totals(self, released: Any) -> list[list[Fraction]]:
        """The estimate of each counter, of each row of the answer."""
        cells, common = self._cells(released)
        columns = [[Fraction(one, common) for one in self._listed(own)] for own in cells]
        return [list(row) for row in zip(*columns, strict=True)]

    def _listed(self, cells: Table) -> list[int]:
        """The marginals of all sets, one after the other."""
        return [one for level in self.question.sets for one in marginal(cells, level).reshape(-1).tolist()]

    def noise_parts(self, row: int) -> list[NoisePart]:
        """Those of its level."""
        return self._parts[self._levels[row]]

    @cached_property
    def _levels(self) -> list[Level]:
        """Of each row of the answer."""
        sizes = self.marginals.sizes
        return [level for level in self.question.sets for _ in range(size_of(sizes, level))]

    @cached_property
    def _parts(self) -> dict[Level, list[NoisePart]]:
        return {
            level: [NoisePart(self.noises[at], factor, times) for at, factor, times in self.marginals.shares(level)]
            for level in dict.fromkeys(self.question.sets)
        }

    def _reach(self, level: Level, weights: Sequence[Fraction], confidence: Fraction) -> float:
        """How far a sum of the counters of a level may be off, each counter times a weight."""
        first, *others = self._parts[level]
        if not others and first.times == 1:  # as in a plain GROUP BY
            return sum_error(first.noise, [first.factor * weight for weight in weights], confidence)
        several = [(part, weight) for part in self._parts[level] for weight in weights if weight]
        noises, times = tuple(part.noise for part, _ in several), tuple(part.times for part, _ in several)
        sizes = tuple(abs(float(part.factor * weight)) for part, weight in several)
        return sum_reach(noises, times, sizes, confidence)

    def read(self, released: Any, place: int) -> Columns:
        """By its estimator, off the estimate."""
        estimator = self.estimators[place]
        if isinstance(estimator, SumEstimator):
            return self._sums(estimator, released)
        assert isinstance(estimator, MeanEstimator)
        return self._means(estimator, released)

    def _sums(self, estimator: SumEstimator, released: Any) -> Columns:
        import numpy as np

        cells, common = self._cells(released)
        weights = [weight / self.bounding.resolution for weight in estimator.weights]
        steps = lcm(*(weight.denominator for weight in weights))
        whole: Table = np.sum([int(weight * steps) * table for weight, table in zip(weights, cells, strict=True)], axis=0)
        above, below = whole * estimator.quantum.denominator, common * steps * estimator.quantum.numerator
        exact, shown = self._listed(above), self._listed(rounded_parts(above, below))
        halves = {level: Fraction(self._reach(level, weights, self.confidence)) for level in self._parts}
        lows, highs = [], []
        for level, middle, value in zip(self._levels, exact, shown, strict=True):
            half = halves[level] / estimator.quantum * below
            lows.append(min(value, (middle - half) // below))
            highs.append(max(value, -((-middle - half) // below)))
        return estimator.plain(shown), estimator.plain(lows), estimator.plain(highs)

    def _means(self, estimator: MeanEstimator, released: Any) -> Columns:
        import numpy as np

        assert not estimator.of_squares
        cells, common = self._cells(released)
        a, b = ([one / common for one in self._listed(table)] for table in cells[:2])
        above, below = (np.array(part, dtype=np.float64) for part in (a, b))
        low, high = np.empty(len(above)), np.empty(len(above))
        for level in self._parts:
            rows = np.array([own == level for own in self._levels])
            parts = self._parts[level] * 2
            of_total = np.array([float(part.factor) for part in parts])
            of_sum = np.where(np.arange(len(parts)) < len(parts) // 2, of_total, 0.0)
            noise = NoiseSum(tuple(p.noise for p in parts), tuple(p.times for p in parts), self.confidence)
            sums, totals = above[rows], (above + below)[rows]
            low[rows], high[rows] = quotient_interval(sums, totals, of_sum, of_total, noise, (0.0, 1.0))
        return estimator.within(a, b, low, high, self.bounding.resolution)

    def value_range(self, place: int) -> Range:
        """Counts and sums may be below zero, since parts add up to totals."""
        return UNBOUNDED if isinstance(self.estimators[place], SumEstimator) else super().value_range(place)

    # -- how far it may be off ---------------------------------------------------------------------------------------

    def error(self, place: int, confidence: Fraction) -> float | None:
        """The largest of all sets."""
        errors = [self.error_of(level, place, confidence) for level in self._parts]
        known = [error for error in errors if error is not None]
        return max(known) if len(known) == len(errors) else None

    def error_of(self, level: Level, place: int, confidence: Fraction) -> float | None:
        """Of the rows of one set; of an average, where each of the finest cells has as many rows as somebody guessed."""
        estimator = self.estimators[place]
        if isinstance(estimator, SumEstimator):
            return self._reach(level, [weight / self.bounding.resolution for weight in estimator.weights], confidence)
        assert isinstance(estimator, MeanEstimator)
        if self.guesses.size is None:
            return None
        rows = self.guesses.size * prod(self.marginals.sizes) // size_of(self.marginals.sizes, level)
        reach = self._reach(level, [Fraction(1)], confidence) / (rows * estimator.row * self.bounding.resolution)
        return min(1.0, reach) * float(estimator.width)

    def told(self, place: int) -> str:
        """Of each set."""
        estimator = self.estimators[place]
        if isinstance(estimator, MeanEstimator) and self.guesses.size is None:
            unit = estimator.row * self.bounding.resolution
            ends = [
                self._reach(level, [Fraction(1)], self.confidence) * float(estimator.width) / unit for level in self._parts
            ]
            told = ", ".join(
                f"{rounded(end)} {set_words(self.question, level)}" for level, end in zip(self._parts, ends, strict=True)
            )
            return f"about {told}, {OVER_VALUES}"
        errors = ((level, self.error_of(level, place, self.confidence) or 0.0) for level in self._parts)
        told = ", ".join(f"{rounded(error)} {set_words(self.question, level)}" for level, error in errors)
        if isinstance(estimator, SumEstimator):
            return told
        return f"about {told}, where each of the finest groups has {number(self.guesses.size or 0)} values"
