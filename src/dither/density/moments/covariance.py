"""A covariance of two columns with both their means: four counters, each with the noise of the whole epsilon.

Both columns are clipped to public bounds and stand on whole numbers q, r = 0..G (`moments/steps.py`). A record adds

    (G - q)(G - r),  (G - q) r,  q (G - r),  q r        they add up to G^2

Theorem. Two-sided geometric noise of scale D / epsilon on each is epsilon-differentially private, with D = G^2 for
add/remove and D = 2 G^2 for replace one.

Proof. The four are not negative and add up to G^2, so a record that comes or goes moves them by G^2 in L1 norm, and one that
is replaced by at most twice that: attained from (0, 0) to (G, G). The rest is `Geometric`'s theorem.

    covariance        all c with S12 - p S2 - r S1 + (p r - c) N within its quantile, for all means p and r in their sets
                      (each with 1/16 of alpha): at the true means it is the sum of (u - p)(v - r) - c, and its truth is 0

    u, v              values as shares of the way between their bounds
    N, S1, S2, S12    count, sums of u and of v, and sum of u v, with noise (`moments/ratio_intervals.py`)

A record of which either value is missing adds nothing. More columns: a pair of columns is one release, and releases add up
(`Covariance.pairs`). Dwork, McSherry, Nissim and Smith 2006 for the noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

from attrs import field, frozen

from dither.density.histograms.columns import CountsLike, ValuesLike
from dither.density.moments.moments import FARTHEST
from dither.density.moments.ratio_intervals import Pivot, interval, ratio_interval
from dither.density.moments.steps import STEPS, Quantisation, exact_sum, read_whole
from dither.density.moments.summary import noise_in_records
from dither.errors import NumberError, SizeError
from dither.mechanisms.additive.additive import log_odds, read_confidence
from dither.mechanisms.additive.geometric import Geometric
from dither.numeric.balls import round_down, round_up
from dither.numeric.number import Number, NumberLike
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.records import read_epsilon
from dither.privacy.unit import Unit, UnitLike, read_unit

if TYPE_CHECKING:
    from dither.density.moments.ratio_intervals import Floats

BoundsLike: TypeAlias = tuple[NumberLike, NumberLike] | list[Any]  # of a column
MEANS = 6  # cells of each mean
FOR_MEANS = 16  # one part in so many of alpha, for each
EXAMPLE = "first=(0, 5000), second=(18, 65)"
# how the four numbers enter the count, the two sums, and the sum of products
WEIGHTS = ((1, 1, 1, 1), (0, 0, 1, 1), (0, 1, 0, 1), (0, 0, 0, 1))


@frozen(kw_only=True, slots=False, init=False)
class Covariance:
    """A covariance of two columns between public bounds, and their means: pure epsilon."""

    epsilon: Number = field(converter=read_epsilon)  # the promise
    first: tuple[Fraction, Fraction]  # the bounds of one column
    second: tuple[Fraction, Fraction]  # and of the other
    steps: int  # G
    unit: Unit = field(converter=read_unit)  # whose coming, going or replacement is hidden

    def __init__(
        self,
        *,
        epsilon: NumberLike,
        first: BoundsLike,
        second: BoundsLike,
        steps: SupportsIndex = STEPS,
        unit: UnitLike = Unit.ADD_REMOVE,
    ) -> None:
        one, other = (_quantisation(bounds, name, steps) for bounds, name in ((first, "first"), (second, "second")))
        if math.isinf(round_up(one.width * other.width)):
            why = "a covariance may exceed the largest double"
            raise NumberError("first, second", (first, second), why, "values in larger units")
        ends, others = (one.low, one.high), (other.low, other.high)
        self.__attrs_init__(epsilon=epsilon, first=ends, second=others, steps=one.steps, unit=unit)
        _ = self.noise  # refuses a scale that cannot be drawn, now and not at the first release

    @classmethod
    def pairs(
        cls,
        columns: Sequence[BoundsLike],
        *,
        epsilon: NumberLike,
        steps: SupportsIndex = STEPS,
        unit: UnitLike = Unit.ADD_REMOVE,
    ) -> dict[tuple[int, int], Covariance]:
        """One for each pair of columns, given by their bounds; all of them together keep epsilon."""
        paid = read_epsilon(epsilon)
        if not isinstance(columns, (list, tuple)) or len(columns) < 2:
            raise SizeError("columns", columns, "a pair has two", "[(0, 5000), (18, 65), (0, 40)]")
        chosen = list(combinations(range(len(columns)), 2))
        each = paid / len(chosen)
        return {(i, j): cls(epsilon=each, first=columns[i], second=columns[j], steps=steps, unit=unit) for i, j in chosen}

    # -- the promise -------------------------------------------------------------------------------------------

    @property
    def guarantee(self) -> Guarantee:
        """epsilon, pure."""
        return self.noise.guarantee

    def loss(self) -> Loss:
        """Of any such promise."""
        return self.noise.loss()

    @cached_property
    def noise(self) -> Geometric:
        """The noise of every counter."""
        moved = self.one * (2 if self.unit.replacement is self.unit else 1)
        return Geometric(epsilon=self.epsilon, sensitivity=moved, dimension=4, unit=self.unit)

    @property
    def one(self) -> int:
        """What a record adds to all counters together."""
        return self.steps * self.steps

    @property
    def quantisations(self) -> tuple[Quantisation, Quantisation]:
        """Where values stand, in each column."""
        return Quantisation(*self.first, self.steps), Quantisation(*self.second, self.steps)

    def error(self, confidence: NumberLike) -> int | float:
        """What all counters stay within, in steps: divided by `one`, so many records."""
        return self.noise.error(confidence)

    # -- counters ----------------------------------------------------------------------------------------------

    def count(self, first: ValuesLike, second: ValuesLike) -> list[int]:
        """The true counters of two columns, one record a person; not to be published."""
        (q, one), (r, other) = (
            quantisation.place(values) for quantisation, values in zip(self.quantisations, (first, second), strict=True)
        )
        if len(q) != len(r):
            raise SizeError("length of second", len(r), f"the first column has {len(q)} rows", "two columns of one table")
        there = one & other
        q, r = q[there], r[there]
        return self.from_sums(len(q), exact_sum(q), exact_sum(r), exact_sum(q * r))

    def from_sums(
        self, count: SupportsIndex, first: SupportsIndex, second: SupportsIndex, products: SupportsIndex
    ) -> list[int]:
        """The true counters from what an engine adds up: records, places of each column, and products of places."""
        n, q, r, both = read_whole([count, first, second, products], 4)
        side = self.steps
        return [n * side**2 - side * (q + r) + both, side * r - both, side * q - both, both]

    # -- release -----------------------------------------------------------------------------------------------

    def release(self, counters: CountsLike) -> PairSummary:
        """What may be published, from the true counters that `count` and `from_sums` give."""
        exactly = self.truth(counters)
        noise = self.noise.law.sample(4).tolist()
        return PairSummary(self, tuple(value + draw for value, draw in zip(exactly, noise, strict=True)))

    def truth(self, counters: CountsLike) -> list[int]:
        """The counters without their noise; not to be published."""
        return [max(-FARTHEST, min(FARTHEST, value)) for value in read_whole(counters, 4)]

    def neighbours(self) -> Iterator[tuple[list[int], list[int]]]:
        """No record and each corner and middle, or each pair of them."""
        side = self.steps
        records = [self.from_sums(1, q, r, q * r) for q, r in product((0, side // 2, side), repeat=2)]
        for start, (at, one) in product((0, 10**12), enumerate(records)):
            swaps = records[:at] if self.unit.replacement is self.unit else []
            for other in [[0] * 4, *swaps]:
                yield [start + x for x in one], [start + x for x in other]


@dataclass(frozen=True)
class PairSummary:
    """A released count, two means and a covariance, with intervals; for the values as they were clipped."""

    pair: Covariance  # what was asked
    released: tuple[int, ...]  # four whole numbers with noise: everything else follows from them

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
        """Between what each mean lies, each with at least this probability."""
        odds = log_odds(1, read_confidence(confidence))
        one, other = (quantisation.between(*self._set(at, odds)) for at, quantisation in enumerate(self.pair.quantisations))
        return one, other

    def covariance_interval(self, confidence: NumberLike) -> tuple[float, float]:
        """Between what the covariance of the clipped values lies, with at least this probability."""
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
        """The released numbers."""
        return list(self.released)

    def __str__(self) -> str:
        low, high = self.covariance_interval("0.95")
        return f"covariance {self.covariance:.6g} (95%: {low:.6g} to {high:.6g}) of {self.count:.0f} records"


def _quantisation(bounds: BoundsLike, name: str, steps: SupportsIndex) -> Quantisation:
    if not isinstance(bounds, (list, tuple)) or len(bounds) != 2:
        raise NumberError(name, bounds, "the bounds of a column are a pair", EXAMPLE)
    return Quantisation.read(bounds[0], bounds[1], steps)
