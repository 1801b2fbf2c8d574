"""A quantile with an interval of *values* that holds it: a median with error bars, for any data and any number of people.

Three cells are chosen by the score of `Quantile`: one for the rank q n, one for the rank q n - e and one for q n + e,
where e is a public number. The first cell counts as reaching down to every rank in the choice of the low one, and the last
cell as reaching up to every rank in the choice of the high one. Of the budget the two ends have a stated share, two thirds
unless said, in equal parts, and the value has the rest. With a share of 0 they are the ends of the line.

Theorem 1 (privacy). A person has at most W counts (`mass`), in any cells of any of several histograms that are released
side by side. Then all of it together is epsilon-DP; or its range is at most the sum of the ranges E of its choices, with
rho the sum of E^2/8.

Theorem 2 (coverage). With the stated probability some q-quantile is no less than the lower edge of the low cell and no more
than the upper edge of the high one: for every data, also for none. Intervals of several histograms hold theirs with that
probability each.

The extremes. For q = 0 the whole budget goes to the high cell, and the low end is the first edge; q = 1 is the same from
above. Where people come and go, the side on which the extreme would be missed counts three times as much as the other: the
rank e is two thirds of what it would be. `quantiles/quantile_interval.md` has the proofs.

Smith 2011 for the score; the interval is ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from attrs import field, frozen

from dither.arguments import argument_errors
from dither.density.histograms.axis import Bins, read_bins
from dither.density.histograms.columns import CountsLike
from dither.density.histograms.counts import read_rows_of_counts
from dither.density.quantiles.quantile import moves
from dither.density.quantiles.rank_scores import (
    CONFIDENCE,
    ENDS,
    LARGEST_DISTANCE,
    chooser,
    distances,
    leaning_distances,
    middle,
    read_ends,
    read_histograms,
    read_mass,
    read_share,
)
from dither.errors import NumberError
from dither.mechanisms.additive.additive import read_confidence
from dither.mechanisms.combine import each_of
from dither.mechanisms.selection.exponential import Exponential
from dither.mechanisms.selection.permute_and_flip import PermuteAndFlip
from dither.numeric.balls import round_up
from dither.numeric.number import Number, NumberLike
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.definitions import pure
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss, sum_of
from dither.privacy.records import check_price, read_epsilon_if_any, read_rho_if_any
from dither.privacy.unit import Unit, read_unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_COUNTS = 2**59  # in all cells together
AT_ONCE = 2**15  # cells whose scores are computed together
FURTHEST = LARGEST_DISTANCE // 2  # of e, in scores: distances up to there are told apart
LEAN = 3  # how much more a rank counts on the side where an extreme would be missed
ValueInterval = tuple[float, float, float]  # the quantile, and the two ends
CellInterval = tuple[int, int, int]  # the same as cells


@argument_errors
@frozen(kw_only=True, slots=False)
class QuantileInterval:
    """A quantile and an interval that holds it with a stated probability: pure epsilon, or of bounded range for a rho.

    Args:
        bins: the cells among which three are chosen, known beforehand.
        q: the share of the counts below: 0 for near the least, 1/2 for the median, 1 for near the largest.
        epsilon: the promise, pure; either this or `rho`.
        rho: the promise in zCDP; either this or `epsilon`.
        confidence: the probability with which the interval holds the quantile.
        ends: the share of the price that the two ends have together; 0 for none, then the interval is the whole line.
        unit: whose coming, going or replacement moves counts; one person who comes or goes unless said.
        mass: the most counts that one person has, in all cells of all histograms.
        histograms: how many are released side by side.

    Raises:
        DataError: `bins` that are none.
        NumberError: a `q` beyond 0 and 1, both or neither of `epsilon` and `rho`, one that is not positive, a `confidence`
            that is no probability between 0 and 1, `ends` that are no share below 1, or an interval wider than 2^60 counts.
        UnitError: a unit that is not known.

    Example:
        >>> from dither.density import Bins, QuantileInterval
        >>> median = QuantileInterval(bins=Bins.even(0, 120, 24), q="0.5", epsilon=1)
        >>> int(median.offset)  # how many people from the median the two ends aim
        18
        >>> value, low, high = median.release(median.bins.count([30, 41, 52]))
        >>> low <= value <= high
        True
    """

    code: ClassVar[str] = "quantile_interval"
    later_fields: ClassVar[dict[str, object]] = {"ends": ENDS}  # not spelled where it is this: stored questions lack it

    bins: Bins = field(converter=read_bins)
    q: Fraction = field(converter=read_share)
    epsilon: Number | None = field(default=None, converter=read_epsilon_if_any)
    rho: Fraction | None = field(default=None, converter=read_rho_if_any)
    confidence: Fraction = field(default=CONFIDENCE, converter=read_confidence)
    unit: Unit = field(default=Unit.ADD_REMOVE, converter=read_unit)
    mass: int = field(default=1, converter=read_mass)  # W
    histograms: int = field(default=1, converter=read_histograms)
    ends: Fraction = field(default=ENDS, converter=read_ends)
    __repr__ = short_repr

    def __attrs_post_init__(self) -> None:
        check_price(self.epsilon, self.rho)
        if self._shift >= FURTHEST:
            paid = str(float(self.rho or self.epsilon or 0))
            raise NumberError("price", paid, "the interval would be wider than 2^60 counts", "a higher one")

    @property
    def _is_extreme(self) -> bool:
        return self.q in (0, 1)

    @property
    def _has_ends(self) -> bool:
        return self._is_extreme or self.ends > 0

    @property
    def _lean(self) -> int:
        """The slope of an extreme's score on the side where it would be missed."""
        return 1 if self.unit.replacement is self.unit else LEAN

    @cached_property
    def _end(self) -> PermuteAndFlip | Exponential:
        """The choice of each end, or the only one of an extreme."""
        return self._chosen(Fraction(1) if self._is_extreme else self.ends / 2)

    @cached_property
    def _value(self) -> PermuteAndFlip | Exponential:
        """The choice of the value."""
        return self._chosen(1 - self.ends)

    def _chosen(self, share: Fraction) -> PermuteAndFlip | Exponential:
        a, b = self.q.numerator, self.q.denominator
        reach = max(a, b - a)
        if self.unit.replacement is self.unit:
            reach = b if self.histograms == 1 else 2 * reach
        elif self._is_extreme:
            reach = (1 + LEAN) // 2
        budget = None if self.epsilon is None else self.epsilon * share
        square = None if self.rho is None else self.rho * share
        return chooser(budget, square, candidates=self.bins.size, reach=reach * self.mass, unit=self.unit)

    @property
    def _choices(self) -> list[PermuteAndFlip | Exponential]:
        return [self._end] if self._is_extreme else [self._value, *([self._end] * 2 if self._has_ends else [])]

    @property
    def guarantee(self) -> Guarantee:
        """epsilon, pure; or choices of bounded range, with at most this rho."""
        if self.epsilon is not None:
            return pure(self.epsilon, unit=self.unit)
        first, *others = (choice.guarantee for choice in self._choices)
        return sum(others, start=first)

    def loss(self) -> Loss:
        """The privacy loss of one release: a dominating pair."""
        return self.guarantee.loss() if self.rho is None else sum_of([choice.loss() for choice in self._choices])

    # -- error -------------------------------------------------------------------------------------------------

    @property
    def offset(self) -> Fraction:
        """How far from the wanted rank the ends aim, in counts: e."""
        return Fraction(self._shift, self.q.denominator)

    @property
    def value_error(self) -> Fraction:
        """How many counts the value may be off its rank, at the stated confidence; of an extreme, its offset."""
        off = self._shift if self._is_extreme else Fraction(self._value.error(self.confidence))
        return Fraction(off, self.q.denominator)

    @property
    def expected_error(self) -> float:
        """How many counts the value is off on average, about, where cells hold few each: what ways are compared by."""
        return 1 / (float(self._value.rate) * self.q.denominator)

    @cached_property
    def _shift(self) -> int:
        """The offset e, in parts of a count: as many as q has."""
        return self._short(self.confidence)

    def _short(self, level: Fraction) -> int:
        """How far an end has to aim beyond the wanted rank. Whole numbers, rounded up where doubles have gaps."""
        if self._is_extreme:
            return int(self._end.error(each_of(level, 1))) // self._lean + 1
        return int(self._end.error(each_of(level, 2))) if self._has_ends else 0

    def error(self, confidence: NumberLike) -> float:
        """How many counts the interval may miss the wanted rank by, at this `confidence`, in all histograms together."""
        missed = (1 - read_confidence(confidence)) / self.histograms
        over = max(0, self._short(1 - missed) - self._shift)
        return round_up(Fraction(over, self.q.denominator)) + 0.0

    def shortfall(self, counts: CountsLike | Sequence[CountsLike], output: ValueInterval | list[ValueInterval]) -> Fraction:
        """How many of the `counts` the worst interval of an `output` misses its wanted rank by. Not to be published."""
        import numpy as np

        worst = Fraction(0)
        released: Any = [output] if self.histograms == 1 else output
        for found, (_, low, high) in zip(self._read(counts), released, strict=True):
            ranks = [0, *np.cumsum(found).tolist()]
            one = min(1, ranks[-1]) if self._is_extreme else 0  # of an extreme, the value itself is to be held
            wanted = self.q * ranks[-1] + (one if self.q == 0 else -one)
            first, last = np.searchsorted(self.bins.edges, [low, high]).tolist()
            worst = max(worst, ranks[first] - wanted, wanted - ranks[last])
        return worst

    # -- release -----------------------------------------------------------------------------------------------

    def release(self, counts: CountsLike | Sequence[CountsLike]) -> ValueInterval | list[ValueInterval]:
        """The quantile and two ends, from `counts`: a histogram, as `bins.count(values)`; a list, from one row for each."""
        edges = self.bins.edges
        found = [
            (middle(self.bins, point), float(edges[low]), float(edges[high + 1])) for point, low, high in self.cells(counts)
        ]
        return found[0] if self.histograms == 1 else found

    def cells(self, counts: CountsLike | Sequence[CountsLike]) -> list[CellInterval]:
        """The chosen cells of each histogram of `counts`: the quantile's, the low one, the high one."""
        import numpy as np

        found = self._read(counts)
        size = max(1, AT_ONCE // self.bins.size)  # rows whose scores stay in the cache
        parts = [self._cells(np.array(found[at : at + size])) for at in range(0, len(found), size)]
        return [cells for part in parts for cells in part]

    def _cells(self, counts: NDArray[np.int64]) -> list[CellInterval]:
        """The chosen cells of each row."""
        import numpy as np

        upper = np.cumsum(counts, axis=1)
        lower = upper - counts
        last = self.bins.size - 1
        if self.q == 0:
            return [(high, 0, high) for high in self._pick(self._end, lower, upper, self._shift)]
        if self.q == 1:
            return [(low, low, last) for low in self._pick(self._end, lower, upper, -self._shift)]
        values = self._pick(self._value, lower, upper, 0)
        if not self._has_ends:
            return [(value, 0, last) for value in values]
        ends = [self._pick(self._end, lower, upper, shift) for shift in (-self._shift, self._shift)]
        chosen = zip(values, map(min, *ends), map(max, *ends), strict=True)
        return [(max(low, min(high, value)), low, high) for value, low, high in chosen]

    def _pick(
        self, choice: PermuteAndFlip | Exponential, lower: NDArray[np.int64], upper: NDArray[np.int64], shift: int
    ) -> list[int]:
        """The cell chosen for the rank q n, moved by so many parts of a count; of each row."""
        import numpy as np

        total, every = upper[:, -1].tolist(), LARGEST_DISTANCE // self.q.denominator
        first, last = lower[:, 0].copy(), upper[:, -1].copy()
        if shift < 0:
            lower[:, 0] = -every
        if shift > 0:
            upper[:, -1] = every
        if self._is_extreme:
            wanted = [int(self.q) * one + shift for one in total]
            over, under = (1, self._lean) if self.q == 0 else (self._lean, 1)
            off = leaning_distances(lower, upper, wanted=wanted, over=over, under=under)
        else:
            off = distances(lower, upper, a=self.q.numerator, b=self.q.denominator, total=total, shift=shift)
        lower[:, 0], upper[:, -1] = first, last
        chosen: list[int] = choice.choices(np.negative(off, out=off)).tolist()
        return chosen

    def _read(self, counts: Any) -> Sequence[NDArray[np.int64]]:
        size = self.bins.size
        return read_rows_of_counts(counts, cells=size, rows=self.histograms, most=MOST_COUNTS // size)

    def neighbours(self) -> Iterator[tuple[list[Any], list[Any]]]:
        """Histograms of several shapes, and what one person with all her counts in one cell makes of each."""
        replace = self.unit.replacement is self.unit
        return moves(self.bins.size, replace=replace, mass=self.mass, histograms=self.histograms)
