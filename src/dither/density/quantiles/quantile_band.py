"""Many quantiles, each with an interval of values that holds it: one noisy distribution for all, however many they are.

A tree over the cells takes noise in every node and is made consistent (`Tree`): that gives every prefix sum. For each share
q edges are tested in turn, from the first one upward: is the number of counts below it, less q of all, below zero by more
than its noise can be? The last edge before the first one that is not is the low end; the high end is found from above. Of
the price the tree has a stated share, `ends`; with the rest values are searched by `Quantiles`. With `ends` of 1 they too
are read off the tree.

Theorem 1 (privacy). A person has at most W counts (`mass`), in any cells of any of several histograms that are released side
by side. Then all of it together is epsilon-DP, or rho-zCDP.

Theorem 2 (coverage). For every data, also for none, and for each share and each histogram: with the stated probability the
counts below the low cell are at most q n, and those below or in the high cell at least q n, n being all counts. So some
q-quantile lies between the lower edge of the low cell and the upper edge of the high one.

For q = 0 and q = 1 there is `QuantileInterval`. `quantiles/quantile_band.md` has the proofs.

Hay, Rastogi, Miklau and Suciu 2010 for the tree; tests in a fixed order: Maurer, Hothorn and Lehmacher 1995.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from attrs import field, frozen

from dither.arguments import argument_errors
from dither.density.histograms.axis import Bins, read_bins
from dither.density.histograms.columns import CountsLike
from dither.density.histograms.counts import read_rows_of_counts
from dither.density.histograms.histogram import replaces
from dither.density.histograms.noise_tails import single_widths
from dither.density.histograms.tree import Tree
from dither.density.quantiles.many_quantiles import Quantiles
from dither.density.quantiles.quantile import moves
from dither.density.quantiles.rank_scores import CONFIDENCE, middle, read_histograms, read_mass, read_shares
from dither.errors import NumberError, SizeError
from dither.mechanisms.additive.additive import read_confidence
from dither.numeric.number import Number, NumberLike, rational
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss, sum_of
from dither.privacy.records import check_price, read_epsilon_if_any, read_rho_if_any
from dither.privacy.unit import Unit, read_unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_COUNTS = 2**59  # in all cells together
FINEST_MASS = 2**16  # of a person, in units of a count: so fine that rounding is nothing against noise
PARTS = 2**4  # of a cell, for the search, where there are many cells
MOST_PARTS = 2**18  # in all cells of all histograms, unless that leaves fewer than these
NEARER = 0.65  # of a deviation: the mean error of a value that is read off a line which rises, seen
COMES = {Unit.REPLACE_ONE: Unit.ADD_REMOVE, Unit.REPLACE_ONE_ROW: Unit.ADD_REMOVE_ROW}
ALL: Any = Fraction(1)
BandCells = tuple[int, int, int]  # the value, and the two ends
BandValues = tuple[float, float, float]


def read_part(value: NumberLike) -> Fraction:
    """The share of a price that the distribution has."""
    share = rational(value, name="ends")
    if not 0 < share <= 1:
        raise NumberError("ends", value, "it is a share of the price, above 0: the search of values has the rest", "1")
    return share


@argument_errors
@frozen(kw_only=True, slots=False)
class QuantileBand:
    """Many quantiles, each with an interval that holds it with a stated probability: pure epsilon, or zCDP.

    Args:
        bins: two cells or more, known beforehand.
        qs: the shares of the counts, above 0 and below 1, in the order of the answers.
        epsilon: the promise, pure; either this or `rho`.
        rho: the promise in zCDP; either this or `epsilon`.
        confidence: the probability with which each interval holds its quantile; 0.95 unless said.
        ends: the share of the price that the tree has, all of it unless said; values are searched with the rest.
        unit: whose coming, going or replacement moves counts; one person who comes or goes unless said.
        mass: the most counts that one person has, in all cells of all histograms; one unless said.
        histograms: how many are released side by side; one unless said.

    Raises:
        DataError: `bins` that are none, or `qs` that are no list.
        SizeError: fewer than two cells, or no share or too many.
        NumberError: a share that is not between 0 and 1, both or neither of `epsilon` and `rho`, one that is not positive, a
            `confidence` that is no probability between 0 and 1, or `ends` that are no share above 0.
        UnitError: a unit that is not known.

    Example:
        >>> from dither.density import Bins, QuantileBand
        >>> band = QuantileBand(bins=Bins.even(0, 120, 24), qs=["0.25", "0.5", "0.75"], epsilon=1)
        >>> [low <= value <= high for value, low, high in band.release(band.bins.count([30, 41, 52]))]
        [True, True, True]
    """

    code: ClassVar[str] = "quantile_band"

    bins: Bins = field(converter=read_bins)
    qs: tuple[Fraction, ...] = field(converter=read_shares)
    epsilon: Number | None = field(default=None, converter=read_epsilon_if_any)
    rho: Fraction | None = field(default=None, converter=read_rho_if_any)
    confidence: Fraction = field(default=CONFIDENCE, converter=read_confidence)
    ends: Fraction = field(default=ALL, converter=read_part)
    unit: Unit = field(default=Unit.ADD_REMOVE, converter=read_unit)
    mass: int = field(default=1, converter=read_mass)  # W
    histograms: int = field(default=1, converter=read_histograms)
    __repr__ = short_repr

    def __attrs_post_init__(self) -> None:
        check_price(self.epsilon, self.rho)
        if self.bins.size < 2:
            raise SizeError("bins", self.bins.size, "there are two cells at least", "Bins.even(0, 120, 24)")
        if any(q in (0, 1) for q in self.qs):
            why = "the least and the largest have no rank on both sides"
            raise NumberError("qs", next(q for q in self.qs if q in (0, 1)), why, "QuantileInterval for it")
        _ = self.tree, self.search  # refuse noise that cannot be drawn, now and not at the first release

    @cached_property
    def tree(self) -> Tree:
        """The noise of one histogram, for one unit of a person's mass."""
        unit, steps = self.unit, self.mass * self._times
        if replaces(unit) and self.histograms > 1:
            unit, steps = COMES[unit], 2 * steps
        epsilon = None if self.epsilon is None else self.epsilon * self.ends / steps
        rho = None if self.rho is None else self.rho * self.ends / steps**2
        return Tree(cells=self.bins.size, epsilon=epsilon, rho=rho, unit=unit)

    @property
    def _times(self) -> int:
        """How many units stand for a count."""
        return max(1, FINEST_MASS // self.mass)

    @cached_property
    def search(self) -> Quantiles | None:
        """What finds the values, where something of the price is left for it."""
        if self.ends == 1:
            return None
        left, cells = 1 - self.ends, self.bins.size * self.histograms
        return Quantiles(
            bins=self.bins,
            qs=self.qs,
            epsilon=None if self.epsilon is None else self.epsilon * left,
            rho=None if self.rho is None else self.rho * left,
            unit=self.unit,
            parts=search_parts(self.bins.size, cells),
            mass=self.mass,
            histograms=self.histograms,
        )

    @property
    def guarantee(self) -> Guarantee:
        """epsilon, pure; or Gaussian DP for the tree and zCDP for the search."""
        tree = self._tree_guarantee
        return tree if self.search is None else tree + self.search.guarantee

    @cached_property
    def _tree_guarantee(self) -> Guarantee:
        return self.tree.guarantee.group(self.mass * self._times).to(self.unit)

    def loss(self) -> Loss:
        """Of any release with this promise."""
        tree = self._tree_guarantee.loss()
        return tree if self.search is None else sum_of([tree, self.search.loss()])

    # -- error -------------------------------------------------------------------------------------------------

    @cached_property
    def widths(self) -> dict[Fraction, NDArray[np.float64]]:
        """For each share and each edge between two cells: how far noise may move the counts below it, less q of all."""
        return {q: self._widths(q, self.confidence) for q in set(self.qs)}

    def _widths(self, q: Fraction, level: Fraction) -> NDArray[np.float64]:
        shape = self.tree.shape
        squares = shape.contrast_squares(float(q))[:-1]
        return single_widths(self.tree.noise.law, squares=squares, draws=sum(shape.sizes), level=level)

    def error(self, confidence: NumberLike) -> float:
        """How many counts any interval may miss its rank by, at this `confidence`, all of all histograms together."""
        level = 1 - (1 - read_confidence(confidence)) / (len(set(self.qs)) * self.histograms)
        over = [float((self._widths(q, level) - self.widths[q]).max()) for q in set(self.qs)]
        return max(0.0, *over) / self._times

    def shortfall(self, counts: CountsLike | Sequence[CountsLike], output: list[BandValues]) -> Fraction:
        """How many of the `counts` the worst interval of an `output` misses its wanted rank by. Not to be published."""
        import numpy as np

        worst, released = Fraction(0), iter(output)
        for found in read_rows_of_counts(counts, cells=self.bins.size, rows=self.histograms, most=self._most):
            ranks = [0, *np.cumsum(found).tolist()]
            for q, (_, low, high) in zip(self.qs, released, strict=False):  # the rest is of other histograms
                first, last = np.searchsorted(self.bins.edges, [low, high]).tolist()
                worst = max(worst, ranks[first] - q * ranks[-1], q * ranks[-1] - ranks[last])
        return worst

    @property
    def _most(self) -> int:
        """Counts of a cell."""
        return MOST_COUNTS // (self.bins.size * self._times)

    def offset(self, q: Fraction) -> float:
        """How far from the rank of share `q` the ends lie, about, in counts: what is tested, and half a deviation."""
        return float(self.widths[q].mean()) / self._times + self._deviation(q) / 2

    def _deviation(self, q: Fraction) -> float:
        """Of the noise in a prefix less q of all, on average over the edges, in counts."""
        squares = self.tree.shape.contrast_squares(float(q))[:-1]
        return math.sqrt(float(squares.mean()) * self.tree.variance) / self._times

    @cached_property
    def expected_error(self) -> float:
        """How many counts a value is off on average, about, where cells hold few: what ways are compared by."""
        if self.search is not None:
            return self.search.expected_error
        return NEARER * sum(map(self._deviation, self.qs)) / len(self.qs)

    # -- release -----------------------------------------------------------------------------------------------

    def release(self, counts: CountsLike | Sequence[CountsLike]) -> list[BandValues]:
        """Values with their two ends, in the order of the shares, from `counts`: a histogram such as `bins.count(values)`.
        Several histograms, from a list of them, come one after the other."""
        edges = self.bins.edges
        return [
            (middle(self.bins, value), float(edges[low]), float(edges[high + 1]))
            for row in self.cells(counts)
            for value, low, high in row
        ]

    def cells(self, counts: CountsLike | Sequence[CountsLike]) -> list[list[BandCells]]:
        """The cells of each histogram of `counts`, for each share: the value's, the low one, the high one."""
        rows = read_rows_of_counts(counts, cells=self.bins.size, rows=self.histograms, most=self._most)
        found = [self._read(self.tree.nodes(row * self._times, most=MOST_COUNTS)) for row in rows]
        if self.search is None:
            return found
        return [
            [(max(low, min(high, value)), low, high) for value, (_, low, high) in zip(values, bands, strict=True)]
            for values, bands in zip(self.search.cells(counts), found, strict=True)
        ]

    def _read(self, nodes: list[NDArray[np.int64]]) -> list[BandCells]:
        """From noisy nodes alone: the rest is post-processing."""
        import numpy as np

        leaves: Any = nodes[0]
        if float(np.abs(leaves).max()) * self.bins.size >= 2.0**62:  # noise beyond 64 bits: doubles lose nothing against it
            leaves = leaves.astype(np.float64)
        below, moved = np.cumsum(leaves), np.cumsum(self.tree.corrections(nodes))
        return [self._interval(q, below, moved) for q in self.qs]

    def _interval(self, q: Fraction, below: Any, moved: NDArray[np.float64]) -> BandCells:
        """The value's cell and the two ends; `below` are sums of noisy leaves, `moved` what consistency adds to them."""
        import numpy as np

        whole, rest = divmod(q.numerator * int(below[-1]), q.denominator)
        off = (below[:-1] - whole) + (moved[:-1] - (float(q) * moved[-1] + rest / q.denominator))
        widths, last = self.widths[q], self.bins.size - 1
        under, over = off <= -widths, (off >= widths)[::-1]
        low = last if under.all() else int(under.argmin())
        high = last - (last if over.all() else int(over.argmin()))
        value = int(np.argmin(np.cumsum(np.concatenate([[0.0], off]))))  # where the rising line that is nearest crosses zero
        return max(low, min(high, value)), low, high

    def neighbours(self) -> Iterator[tuple[list[Any], list[Any]]]:
        """Histograms of several shapes, and what one person makes of each."""
        return moves(self.bins.size, replace=replaces(self.unit), mass=self.mass, histograms=self.histograms)


def search_parts(cells: int, together: int) -> int:
    """Parts of a cell for a search beside others: `together` is how many cells all histograms have."""
    return max(1, min(MOST_PARTS // cells, max(PARTS, MOST_PARTS // together)))
