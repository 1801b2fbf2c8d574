"""Noise in every cell of a histogram: the right choice for single cells, for few cells and for short ranges.

Theorem. Let x be a histogram in which a person is one count in at most one cell. Then x + N, N independent, is

    epsilon-DP     for two-sided geometric noise of scale D / epsilon
    rho-zCDP       for rounded Gaussian noise with sigma2 = D / (2 rho), even sqrt(2 rho)-Gaussian DP

    D      1 for add/remove, 2 for replace-one: how far a person moves x, in L1 norm and in squared L2 norm

Proof. Who comes or goes moves one cell by 1. Who is replaced moves at most two cells by 1 each. Counts are first moved into
0..2^35, which is a contraction in every cell, so both stay true. `Geometric` and `Gaussian` have the rest.

Error. One cell: exact (`mechanisms/additive/additive.py`). A range of r cells: a sum of r draws. All prefixes: a random
walk; of geometric noise its law is exact (`histograms/sum_maxima.py`), and in any case they all cost as much as the longest,
being a martingale (`histograms/noise_tails.py`). Sums are whole, so a bound on |S| >= t is a half-width of ceil(t) - 1.
Where all cells stay within k, a sum of r of them stays within r k; the smaller one is taken.

Ghosh, Roughgarden and Sundararajan 2009; Doob 1953.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex

from attrs import field, frozen

from dither.arguments import argument_errors
from dither.density.histograms.axis import MOST_CELLS
from dither.density.histograms.columns import CountsLike
from dither.density.histograms.counts import LARGEST_COUNT, read_counts
from dither.density.histograms.noise_tails import sum_width, variance
from dither.density.histograms.sum_maxima import running_sum_width
from dither.errors import SizeError
from dither.mechanisms.additive.additive import half_width, read_confidence
from dither.mechanisms.additive.gaussian import Gaussian
from dither.mechanisms.additive.geometric import Geometric
from dither.numeric.number import Number, NumberLike, integer
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.records import check_price, read_epsilon_if_any, read_rho_if_any
from dither.privacy.unit import Unit, read_unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def read_cells(value: SupportsIndex, *, least: int = 1) -> int:
    """A number of cells that fits in memory, or a refusal."""
    cells = integer(value, name="cells", least=least)
    if cells > MOST_CELLS:
        raise SizeError("cells", value, f"at most {MOST_CELLS} cells are kept in memory", "wider cells")
    return cells


@argument_errors
@frozen(kw_only=True, slots=False)
class Histogram:
    """The noisy histogram, with geometric or Gaussian noise in every cell: pure epsilon, or zCDP.

    Args:
        cells: how many there are, 1 to 2^24.
        epsilon: the promise, pure; either this or `rho`.
        rho: the promise in zCDP; either this or `epsilon`.
        unit: whose coming, going or replacement is hidden; one person who comes or goes unless said.

    Raises:
        NumberError: both or neither of `epsilon` and `rho`, one that is not positive, or noise that is not drawn.
        SizeError: more cells than are kept in memory.
        UnitError: a unit that is not known.

    Example:
        >>> from dither.density import Histogram
        >>> mechanism = Histogram(cells=3, epsilon=1)
        >>> mechanism.error("0.95"), mechanism.prefix_error("0.95")
        (4, 5)
        >>> mechanism.release([3, 5, 9]).shape
        (3,)
    """

    code: ClassVar[str] = "histogram"

    cells: int = field(converter=read_cells)  # how many
    epsilon: Number | None = field(default=None, converter=read_epsilon_if_any)  # the promise: either this
    rho: Fraction | None = field(default=None, converter=read_rho_if_any)  # or this
    unit: Unit = field(default=Unit.ADD_REMOVE, converter=read_unit)  # whose coming, going or replacement is hidden
    __repr__ = short_repr

    def __attrs_post_init__(self) -> None:
        check_price(self.epsilon, self.rho)
        _ = self.noise  # refuses noise that cannot be drawn, now and not at the first release

    @property
    def guarantee(self) -> Guarantee:
        """epsilon, pure; or Gaussian DP, and so rho-zCDP."""
        return self.noise.guarantee

    @cached_property
    def noise(self) -> Geometric | Gaussian:
        """The mechanism that gives every cell its noise."""
        moved = 2 if replaces(self.unit) else 1
        return count_noise(moved, self.cells, epsilon=self.epsilon, rho=self.rho, unit=self.unit)

    # -- error -------------------------------------------------------------------------------------------------

    def error(self, confidence: NumberLike) -> int:
        """The smallest half-width that all cells stay within together, with probability `confidence`."""
        return int(self.noise.error(confidence))

    def prefix_error(self, confidence: NumberLike) -> int:
        """A half-width for the sums of the first 1, 2, ... cells, all together with probability `confidence`."""
        return self._width(self.cells, confidence, all_cells=True)

    def range_error(self, confidence: NumberLike, *, cells: SupportsIndex | None = None) -> int:
        """A half-width for one range of so many `cells` at a `confidence`; without `cells` for all ranges together."""
        level = read_confidence(confidence)
        if cells is not None:
            return self._width(integer(cells, name="cells", least=1), level, all_cells=False)
        pairs = self.cells * (self.cells + 1) // 2
        union = sum_width(self.noise.law, squares=self.cells, events=pairs, level=level)
        return min(2 * self.prefix_error(level), self.cells * self.error(level), math.ceil(union) - 1)

    def _width(self, length: int, confidence: NumberLike, *, all_cells: bool) -> int:
        if length > self.cells:
            raise SizeError("cells", length, f"there are {self.cells} cells", f"{self.cells} or fewer")
        level = read_confidence(confidence)
        tail = sum_width(self.noise.law, squares=length, events=1, level=level)
        plain = half_width(self.noise.law, level, self.cells if all_cells else length)
        most = min(math.ceil(tail) - 1, length * plain)
        if length == 1:  # the exact law of one number, or the bound for one of all cells
            return most
        return running_sum_width(self.noise.law, length=length, level=level, most=most)  # a range is the last sum of a walk

    @property
    def variance(self) -> float:
        """The variance of the noise of a cell: what expected errors are compared by."""
        return variance(self.noise.law)

    # -- release -----------------------------------------------------------------------------------------------

    def release(self, counts: CountsLike) -> NDArray[np.int64]:
        """The `counts`, one for each cell, with noise: whole numbers, some of them below 0."""
        found: Any = self.noise.release(read_counts(counts, cells=self.cells))
        return found  # type: ignore[no-any-return]

    def truth(self, counts: CountsLike) -> list[int]:
        """What a release of these `counts` is an estimate of; not to be published."""
        return [int(count) for count in read_counts(counts, cells=self.cells)]

    def neighbours(self) -> Iterator[tuple[list[int], list[int]]]:
        """Every cell with one count more; and every count moved to another cell, where a person is replaced."""
        return count_neighbours(self.cells, self.unit)


# -- shared with trees and marginals -----------------------------------------------------------------------------------


def count_noise(moved: int, size: int, *, epsilon: Number | None, rho: Fraction | None, unit: Unit) -> Geometric | Gaussian:
    """Noise for `size` whole numbers of which a person moves up to `moved`, each by 1."""
    if epsilon is not None:
        return Geometric(epsilon=epsilon, sensitivity=moved, dimension=size, unit=unit)
    return Gaussian(l2_squared=moved, rho=rho, dimension=size, integers=True, unit=unit)


def replaces(unit: Unit) -> bool:
    """Whether a person is replaced, so that the number of people is the same in both data sets."""
    return unit.replacement is unit


def count_neighbours(cells: int, unit: Unit) -> Iterator[tuple[list[int], list[int]]]:
    """From empty, even and overfull histograms: a count more, and a count moved where a person is replaced.

    A replaced person can come from no cell or go to none, so one count more is a neighbour in both units.
    """
    for start in (0, 3, LARGEST_COUNT):
        for at in range(cells):
            yield [start] * cells, _with(cells, start, at)
            if replaces(unit):
                yield from ((_with(cells, start, other), _with(cells, start, at)) for other in range(at))
    if replaces(unit) and cells > 1:  # one half of a replacement is stopped at a bound
        full = [LARGEST_COUNT, *[1] * (cells - 1)]
        yield full, [LARGEST_COUNT + 1, 0, *full[2:]]


def _with(cells: int, start: int, at: int) -> list[int]:
    return [start + (cell == at) for cell in range(cells)]
