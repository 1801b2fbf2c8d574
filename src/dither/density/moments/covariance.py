"""A covariance of two columns with both their means: four counters, each with the noise of the whole epsilon.

Both columns are clipped to public bounds and stand on whole numbers q, r = 0..G (`moments/steps.py`). A record adds

    (G - q)(G - r),  (G - q) r,  q (G - r),  q r        they add up to G^2

Theorem. Two-sided geometric noise of scale D / epsilon on each is epsilon-differentially private, with D = G^2 for
add/remove and D = 2 G^2 for replace one.

Proof. The four are not negative and add up to G^2, so a record that comes or goes moves them by G^2 in L1 norm, and one that
is replaced by at most twice that: attained from (0, 0) to (G, G). The rest is `Geometric`'s theorem.

A record of which either value is missing adds nothing. More columns: a pair of columns is one release, and releases add up
(`Covariance.pairs`). `moments/pair_summary.py` has the intervals. Dwork, McSherry, Nissim and Smith 2006 for the noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import Any, SupportsIndex, TypeAlias

from attrs import field, frozen

from dither.arguments import argument_errors
from dither.density.histograms.columns import CountsLike, ValuesLike
from dither.density.moments.moments import FARTHEST
from dither.density.moments.pair_summary import PairSummary
from dither.density.moments.steps import STEPS, Quantisation, exact_sum, read_whole
from dither.errors import NumberError, SizeError
from dither.mechanisms.additive.geometric import Geometric
from dither.numeric.balls import round_up
from dither.numeric.number import Number, NumberLike
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.records import read_epsilon
from dither.privacy.unit import Unit, UnitLike, read_unit

BoundsLike: TypeAlias = tuple[NumberLike, NumberLike] | list[Any]  # of a column
EXAMPLE = "first=(0, 5000), second=(18, 65)"


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class Covariance:
    """A covariance of two columns between public bounds, and their means: pure epsilon.

    Args:
        epsilon: the promise.
        first: the lower and the upper bound of one column.
        second: those of the other.
        steps: into how many steps the bounds are cut, a power of two up to 2^24.
        unit: whose coming, going or replacement is hidden; one person who comes or goes unless said.

    Raises:
        NumberError: an `epsilon` that is not positive or whose noise is not drawn, bounds that are no pair, do not rise or
            that doubles do not tell apart, or `steps` that are no power of two.
        UnitError: a unit that is not known.

    Example:
        >>> from dither.density import Covariance
        >>> pair = Covariance(epsilon=1, first=(0, 4), second=(0, 4), steps=4)
        >>> pair.count([1, 2], [3, None])
        [3, 9, 1, 3]
        >>> len(pair.release([3, 9, 1, 3]).means)
        2
    """

    epsilon: Number = field(converter=read_epsilon)
    first: tuple[Fraction, Fraction]
    second: tuple[Fraction, Fraction]
    steps: int  # G
    unit: Unit = field(converter=read_unit)
    __repr__ = short_repr

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
        """A `Covariance` for each pair of `columns`, given by their bounds; all of them together keep `epsilon`.

        `steps` and `unit` are those of the class; SizeError for fewer than two columns.
        """
        paid = read_epsilon(epsilon)
        if not isinstance(columns, (list, tuple)) or len(columns) < 2:
            raise SizeError("columns", columns, "a pair has two", "[(0, 5000), (18, 65), (0, 40)]")
        chosen = list(combinations(range(len(columns)), 2))
        each = paid / len(chosen)
        return {(i, j): cls(epsilon=each, first=columns[i], second=columns[j], steps=steps, unit=unit) for i, j in chosen}

    # -- the promise -------------------------------------------------------------------------------------------

    @property
    def guarantee(self) -> Guarantee:
        """epsilon, pure: of all four counters."""
        return self.noise.guarantee

    def loss(self) -> Loss:
        """The privacy loss of any epsilon-DP release."""
        return self.noise.loss()

    @cached_property
    def noise(self) -> Geometric:
        """The mechanism that gives every counter its noise."""
        moved = self.one * (2 if self.unit.replacement is self.unit else 1)
        return Geometric(epsilon=self.epsilon, sensitivity=moved, dimension=4, unit=self.unit)

    @property
    def one(self) -> int:
        """What a record adds to all counters together."""
        return self.steps * self.steps

    @property
    def quantisations(self) -> tuple[Quantisation, Quantisation]:
        """The map from values to whole numbers of steps, of each column."""
        return Quantisation(*self.first, self.steps), Quantisation(*self.second, self.steps)

    def error(self, confidence: NumberLike) -> int | float:
        """What all counters stay within with probability `confidence`, in steps: `one` of them are a record."""
        return self.noise.error(confidence)

    # -- counters ----------------------------------------------------------------------------------------------

    def count(self, first: ValuesLike, second: ValuesLike) -> list[int]:
        """The true counters of two columns, `first` and `second`, one record a person; not to be published."""
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
        """The true counters from what an engine adds up: a `count`, places `first` and `second`, their `products`."""
        n, q, r, both = read_whole([count, first, second, products], 4)
        side = self.steps
        return [n * side**2 - side * (q + r) + both, side * r - both, side * q - both, both]

    # -- release -----------------------------------------------------------------------------------------------

    def release(self, counters: CountsLike) -> PairSummary:
        """What may be published, from the true `counters` that `count` and `from_sums` give."""
        exactly = self.truth(counters)
        noise = self.noise.law.sample(4).tolist()
        return PairSummary(self, tuple(value + draw for value, draw in zip(exactly, noise, strict=True)))

    def truth(self, counters: CountsLike) -> list[int]:
        """The `counters` as they are released, without their noise; not to be published."""
        return [max(-FARTHEST, min(FARTHEST, value)) for value in read_whole(counters, 4)]

    def neighbours(self) -> Iterator[tuple[list[int], list[int]]]:
        """Counters of no record and of one at each corner and middle, or of each pair of such records."""
        side = self.steps
        records = [self.from_sums(1, q, r, q * r) for q, r in product((0, side // 2, side), repeat=2)]
        for start, (at, one) in product((0, 10**12), enumerate(records)):
            swaps = records[:at] if self.unit.replacement is self.unit else []
            for other in [[0] * 4, *swaps]:
                yield [start + x for x in one], [start + x for x in other]


def _quantisation(bounds: BoundsLike, name: str, steps: SupportsIndex) -> Quantisation:
    if not isinstance(bounds, (list, tuple)) or len(bounds) != 2:
        raise NumberError(name, bounds, "the bounds of a column are a pair", EXAMPLE)
    return Quantisation.read(bounds[0], bounds[1], steps)
