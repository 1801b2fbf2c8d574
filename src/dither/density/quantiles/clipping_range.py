"""Private clipping bounds: the cell that about r people lie beyond. Only where no good bound is known beforehand.

Values are clipped to bounds before they are added up, and noise grows with the bounds. A bound from common sense is free
and usually good enough; one from the data costs budget and cuts off r people at each end, so sums get a bias. This is for
bounds that are ten times too wide or more, and nothing in dither does it unasked.

Theorem. Let the score of a cell be minus the distance of r from the numbers of people above it and above or in it. One
person moves every score by at most 1, whether she comes, goes or is replaced: so the choice is epsilon-DP, or with range E
it is (E^2 / 8)-zCDP. With both ends there are two choices, each with half of the budget.

Proof. She moves each of the two numbers by at most 1, r is public, and a distance moves by no more than what it is of.

    r     the rank from the outside that is aimed at, the least whole number above S
    S     what the choice falls short of the best at most, at the confidence given: about (2 / epsilon) ln(20 cells)

Why that r. Every cell above all the data has the score -r, and there may be many of them: each is as good as the next, up
to the far end of the line. With r > S none of them is chosen, at that confidence, if there are r people or more. Then fewer
than 2 r people are cut off. With r at the very end, where one would like it, the bound would be anything.

Smith 2011 for the clipped mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Literal, SupportsIndex

from attrs import field, frozen

from dither.arguments import argument_errors
from dither.density.histograms.axis import MOST_CELLS, Bins, read_bins
from dither.density.histograms.columns import CountsLike
from dither.density.histograms.counts import read_counts
from dither.density.quantiles.quantile import moves
from dither.density.quantiles.rank_scores import CONFIDENCE, chooser, distances
from dither.errors import NumberError, SizeError
from dither.mechanisms.additive.additive import read_confidence, read_flag
from dither.mechanisms.combine import each_of
from dither.mechanisms.selection.exponential import Exponential
from dither.mechanisms.selection.permute_and_flip import PermuteAndFlip
from dither.numeric.balls import round_up
from dither.numeric.number import Number, NumberLike, integer, rational
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.definitions import pure
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.records import check_price, read_epsilon_if_any, read_rho_if_any
from dither.privacy.unit import Unit, read_unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ENDS = ("upper", "both")


def _read_ends(ends: Literal["upper", "both"]) -> str:
    if not isinstance(ends, str) or ends not in ENDS:
        raise NumberError("ends", ends, "it says which bounds are chosen", "'upper' or 'both'")
    return ends


@argument_errors
@frozen(kw_only=True, slots=False)
class ClippingRange:
    """Private clipping bounds, beyond which few people lie: pure epsilon, or of bounded range for a rho.

    Args:
        bins: what the bounds are chosen from, with edges known beforehand: see `log_bins`.
        epsilon: the promise, pure; either this or `rho`.
        rho: the promise in zCDP; either this or `epsilon`.
        ends: "upper", and the lower bound is the first edge; or "both", and both are chosen.
        confidence: the probability that bounds are not beyond the data, for `rank` people or more.
        unit: whose coming, going or replacement moves one count; one person who comes or goes unless said.

    Raises:
        DataError: `bins` that are none.
        NumberError: both or neither of `epsilon` and `rho`, one that is not positive, other `ends`, a `confidence` that is
            no probability between 0 and 1, or noise that is not drawn.
        UnitError: a unit that is not known.

    Example:
        >>> from dither.density import ClippingRange, log_bins
        >>> mechanism = ClippingRange(bins=log_bins(1, 10**6), epsilon=1)
        >>> mechanism.rank, mechanism.error("0.95")
        (14, 27.0)
        >>> low, high = mechanism.release(mechanism.bins.count(range(1000)))
        >>> low, low < high
        (0.0, True)
    """

    bins: Bins = field(converter=read_bins)
    epsilon: Number | None = field(default=None, converter=read_epsilon_if_any)
    rho: Fraction | None = field(default=None, converter=read_rho_if_any)
    ends: str = field(default="upper", converter=_read_ends)
    confidence: Fraction = field(default=CONFIDENCE, converter=read_confidence)
    unit: Unit = field(default=Unit.ADD_REMOVE, converter=read_unit)
    __repr__ = short_repr

    def __attrs_post_init__(self) -> None:
        check_price(self.epsilon, self.rho)
        _ = self._choice  # refuses noise that cannot be drawn, now and not at the first release

    @cached_property
    def _choice(self) -> PermuteAndFlip | Exponential:
        budget = None if self.epsilon is None else self.epsilon / self._bounds
        square = None if self.rho is None else self.rho / self._bounds
        return chooser(budget, square, candidates=self.bins.size, reach=1, unit=self.unit)

    @property
    def _bounds(self) -> int:
        return 1 + ENDS.index(self.ends)

    @property
    def guarantee(self) -> Guarantee:
        """epsilon, pure; or one or two choices of bounded range, with at most this rho."""
        return self._bounds * self._choice.guarantee if self.epsilon is None else pure(self.epsilon, unit=self.unit)

    def loss(self) -> Loss:
        """The privacy loss of one release: a dominating pair."""
        return self._bounds * self._choice.loss()

    # -- error -------------------------------------------------------------------------------------------------

    @cached_property
    def rank(self) -> int:
        """How many people are meant to lie in the outermost cell or beyond: r, from public facts."""
        return math.floor(self._choice.error(each_of(self.confidence, self._bounds))) + 1

    def error(self, confidence: NumberLike) -> float:
        """How many people may lie beyond each bound, with probability `confidence`: what clipping will move."""
        return round_up(self.rank + Fraction(self._choice.error(each_of(confidence, self._bounds))))

    def shortfall(self, counts: CountsLike, output: tuple[float, float]) -> int:
        """How many people of `counts` lie beyond the worse of two bounds, an `output`. Not to be published."""
        found, (low, high) = read_counts(counts, cells=self.bins.size), output
        below, above = self.bins.edges[:-1] < low, self.bins.edges[1:] > high
        return max(int(found[below].sum()), int(found[above].sum()))

    # -- release -----------------------------------------------------------------------------------------------

    def release(self, counts: CountsLike) -> tuple[float, float]:
        """The two bounds, from `counts`: a histogram with one for each cell, such as `bins.count(values)`."""
        found = read_counts(counts, cells=self.bins.size)
        last = self.bins.size - 1
        high = last - self._outermost(found[::-1])
        low = 0 if self.ends == "upper" else self._outermost(found)
        low, high = min(low, high), max(low, high)  # two choices may cross where there are few people
        return float(self.bins.edges[low]), float(self.bins.edges[high + 1])

    def _outermost(self, counts: NDArray[np.int64]) -> int:
        """The cell, counted from the outside, that about `rank` people lie in or beyond."""
        import numpy as np

        upper = np.cumsum(counts)
        off = distances(upper - counts, upper, a=self.rank, b=1, total=1)
        chosen: int = self._choice.release(np.negative(off, out=off))
        return chosen

    def neighbours(self) -> Iterator[tuple[list[int], list[int]]]:
        """Histograms of several shapes, and what one person makes of each."""
        return moves(self.bins.size, replace=self.unit.replacement is self.unit)


@argument_errors
def log_bins(smallest: NumberLike, largest: NumberLike, *, signed: bool = False, each: SupportsIndex = 4) -> Bins:
    """Cells that grow in proportion, `each` of them until they double, from 0 and `smallest` to `largest` or just beyond.

    With `signed` the same cells below zero too. For values of which only the order of magnitude is known.

    Args:
        smallest: the first edge above 0.
        largest: what the last edge is not below.
        signed: whether there are the same cells below 0.
        each: how many cells there are from an edge to its double.

    Raises:
        NumberError: ends that are not positive, do not rise or lie beyond 2^-1000 and 2^1000, or an `each` below 1.
        SizeError: more than 2^24 cells.

    Example:
        >>> from dither.density import log_bins
        >>> log_bins(1, 7, each=1).edges.tolist()
        [0.0, 1.0, 2.0, 4.0, 8.0]
    """
    a, b = rational(smallest, name="smallest", positive=True), rational(largest, name="largest", positive=True)
    steps = integer(each, name="each", least=1)
    if not a < b or b > 2**1000 or a < Fraction(1, 2**1000):
        why = "one lies below the other, and both between 2^-1000 and 2^1000"
        raise NumberError("smallest, largest", (smallest, largest), why, "log_bins(1, 10**9)")
    low, doublings = float(a), math.log2(float(b)) - math.log2(float(a))
    if doublings * steps > MOST_CELLS // 2 - 2:
        raise SizeError("each", each, f"at most {MOST_CELLS} cells are kept in memory", "each=4")
    edges = [low * 2 ** (k / steps) for k in range(math.ceil(doublings * steps) + 1)]
    if edges[-1] < float(b):  # the last step was rounded down
        edges.append(low * 2 ** (len(edges) / steps))
    mirrored = [-edge for edge in reversed(edges)] if read_flag(signed, name="signed") else []
    return Bins([*mirrored, 0.0, *edges])
