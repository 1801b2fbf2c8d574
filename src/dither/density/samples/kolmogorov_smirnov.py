"""Wasserman and Zhou's private sample: k points whose distribution is close to that of the data. Choose it where synthetic
rows are wanted and there are few people; for a distribution function as such `dither.density.cdf` is more accurate.

Theorem. Let h(z) be proportional to exp(-epsilon n KS(x, z) / 2) over all samples z of k points in m cells, each multiset
or each sequence of points once, where n KS(x, z) = max over j < m of |s_j n/k - C_j|. One draw z is
epsilon-differentially private, of bounded range, whether a person comes, goes or is replaced.

    n          how many rows there are, or are said to be: public, and the same for all data sets
    C_j        rows in the first j cells, moved into 0..n
    s_j        points of z in the first j cells

Proof. One row more, less or elsewhere moves each C_j by at most 1, and so n KS for each z: this is the exponential
mechanism with a score of sensitivity 1 and a base that does not depend on data. (Where all n rows are there, KS is the
distance of the two distribution functions at the edges of the cells. Rows that are missing or too many change what is
close, and not the promise.)

The law is drawn exactly: `samples/distance_bands.py` has the distance in whole numbers, `samples/rejection_blocks.py` the
way from it to a sample.

Error. Let J = ceil((m - 1)/2). For every data set there are C(J + h, h) multisets or more with n KS <= (h + 1/2) n/k, for
any h <= k/2. Proof. Let r_j be the whole number next to C_j k/n. r_j <= k/2 for the first J cells, or r_j >= k/2 for the
last J before the m-th; say the first (else look from the other end). Add e_j with 0 <= e_1 <= ... <= e_J <= h to r_1,
..., r_J, and put max(r_j, r_J + e_J) afterwards: nothing falls, each total is moved by h at most and stays within k, and
different e give different samples. So with N samples in all and B(h) = C(J + h, h) e^(-epsilon (h + 1/2) n / 2k), P(n KS
> t) is at most N e^(-epsilon t / 2) / B(h), which gives a t for each h; the least of them counts. For sequences h = 0:
the nearest sample has a weight of at least 1, of m^k.

Wasserman and Zhou 2010 have the law; how to draw from it was left open.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, SupportsIndex

from attrs import field, frozen

from dither.arguments import argument_errors
from dither.density.histograms.axis import Bins, read_bins
from dither.density.histograms.columns import CountsLike
from dither.density.histograms.counts import LARGEST_COUNT, read_counts
from dither.density.samples.base_measures import BASES, BaseMeasure
from dither.density.samples.distance_bands import DistanceBands
from dither.density.samples.rejection_blocks import BlockSampler
from dither.errors import DataError, NumberError, SizeError
from dither.mechanisms.additive.additive import log_odds, read_confidence
from dither.numeric.number import Number, NumberLike, integer
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.definitions import bounded_range
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.records import read_epsilon
from dither.privacy.unit import Unit, UnitLike, read_unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_STATES = 2**22  # cells times points
MOST_CELLS = 2**11
MOST_BITS = 2**11  # points times log2(cells), for sequences: beyond, doubles know too little of some data, and time is long
WIDER = 1 + 2.0**-20  # what is computed in doubles is rounded up by this


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class KolmogorovSmirnov:
    """A private sample, likelier the closer its distribution function is to that of the data: pure epsilon.

    Args:
        bins: the cells of the line, 2 to 2048.
        rows: how many rows there are, or are said to be: public, up to 2^35.
        epsilon: the promise.
        points: of the sample; the power of two with the least proved error unless said.
        base: "multisets" or "sequences": what is drawn from where the data have no say.
        unit: whose coming, going or replacement is hidden; one person who comes or goes unless said.

    Raises:
        DataError: `bins` that are none, or another `base`.
        SizeError: one cell only, or more cells and points than are gone through.
        NumberError: `rows` or `points` below 1, more than 2^35 rows, or an `epsilon` that is not positive.
        UnitError: a unit that is not known.

    Example:
        >>> from dither.density import Bins, KolmogorovSmirnov
        >>> mechanism = KolmogorovSmirnov(bins=Bins.even(0, 120, 12), rows=1000, epsilon=1)
        >>> released = mechanism.release([90] * 12)
        >>> mechanism.points, int(released.sum()), mechanism.synthetic(released).shape
        (32, 32, (32,))
    """

    bins: Bins
    rows: int
    points: int
    epsilon: Number = field(converter=read_epsilon)
    base: str
    unit: Unit = field(converter=read_unit)
    __repr__ = short_repr

    def __init__(
        self,
        *,
        bins: Bins,
        rows: SupportsIndex,
        epsilon: NumberLike,
        points: SupportsIndex | None = None,
        base: Literal["multisets", "sequences"] = "multisets",
        unit: UnitLike = Unit.ADD_REMOVE,
    ) -> None:
        found = read_bins(bins)
        if found.size < 2:
            raise SizeError("bins", found, "all points lie in one cell", "two cells or more")
        if not isinstance(base, str) or base not in BASES:
            raise DataError("base", base, "it is none of the two", "'multisets' or 'sequences'")
        people = integer(rows, name="rows", least=1)
        if people > LARGEST_COUNT:
            raise NumberError("rows", rows, "up to 2^35 rows are counted", "fewer rows")
        if points is None:  # all else that the error depends on is known
            points = KolmogorovSmirnov(bins=bins, rows=rows, epsilon=epsilon, points=1, base=base, unit=unit)._best_points()
        wanted = integer(points, name="points", least=1)
        self.__attrs_init__(bins=found, rows=people, points=wanted, epsilon=epsilon, base=base, unit=unit)
        if not self._fits(wanted):
            limit = f"cells times points are at most {MOST_STATES}, and cells {MOST_CELLS}"
            if base == "sequences":
                limit += f"; for sequences points times log2(cells) at most {MOST_BITS}"
            raise SizeError("cells, points", (found.size, wanted), limit, "fewer points, or wider cells")

    def _fits(self, points: int) -> bool:
        cells = self.bins.size
        few = self.base == "multisets" or points * math.log2(cells) <= MOST_BITS
        return few and cells <= MOST_CELLS and cells * points <= MOST_STATES

    def _best_points(self) -> int:
        """The power of two with the least error that is proved, from public facts."""
        sizes = [2**i for i in range(23) if self._fits(2**i)]
        return min(sizes, key=lambda points: self._distance(points, Fraction(1, 2))) if sizes else 1

    @property
    def guarantee(self) -> Guarantee:
        """epsilon, pure and of bounded range, of the whole sample."""
        return bounded_range(self.epsilon, unit=self.unit)

    def loss(self) -> Loss:
        """The privacy loss of one release: a dominating pair."""
        return self.guarantee.loss()

    def error(self, confidence: NumberLike) -> float:
        """How many rows the two distribution functions differ by at most (n KS), with probability `confidence` at least."""
        return self._distance(self.points, read_confidence(confidence))

    def _distance(self, points: int, level: Fraction) -> float:
        cells, n, k = self.bins.size, self.rows, points
        rate = float(self.epsilon.bounds().lower) / 2
        half = -(-(cells - 1) // 2)
        samples = k * math.log(cells) if self.base == "sequences" else log_choose(k + cells - 1, k)

        def reached(h: int) -> float:
            missing = samples - log_choose(half + h, h) + log_odds(1, level)
            return (h + 0.5) * n / k + (missing / rate if rate else math.inf)

        most = k // 2 if self.base == "multisets" else 0
        # it falls first and rises then, since the logarithm is concave in h; any h is a bound
        best = bisect_left(range(most), True, key=lambda h: reached(h) <= reached(h + 1))
        return min(reached(best) * WIDER, float(n))

    # -- release -----------------------------------------------------------------------------------------------

    def release(self, counts: CountsLike) -> NDArray[np.int64]:
        """How many points of the sample lie in each cell, from `counts`: a histogram with one for each cell."""
        import numpy as np

        return np.diff(self.sampler(counts).draw(), prepend=0)

    def sampler(self, counts: CountsLike) -> BlockSampler:
        """What draws a sample around these `counts`; not to be published."""
        bands = DistanceBands(read_counts(counts, cells=self.bins.size), self.rows, self.points)
        common = math.gcd(self.rows, self.points)
        return BlockSampler(bands, self.base_measure, self.epsilon * Fraction(common, 2 * self.points))

    @property
    def base_measure(self) -> BaseMeasure:
        """The weights of samples before the data have a say."""
        return BASES[self.base](self.bins.size, self.points)

    def synthetic(self, released: CountsLike) -> NDArray[np.float64]:
        """The points of a `released` sample as numbers: the middle of its cell for each."""
        import numpy as np

        middles = self.bins.edges[:-1] + np.diff(self.bins.edges) / 2
        return np.repeat(middles, self._released(released))

    def _released(self, released: CountsLike) -> NDArray[np.int64]:
        found = read_counts(released, cells=self.bins.size, name="released")
        if int(found.sum()) != self.points:
            raise DataError("released", int(found.sum()), f"a sample has {self.points} points", "what `release` gave")
        return found

    # -- for the conformance suite -----------------------------------------------------------------------------

    def shortfall(self, counts: CountsLike, released: CountsLike) -> Fraction:
        """n KS: how many rows the distribution functions of `counts` and of a `released` sample differ by."""
        import numpy as np

        bands = DistanceBands(read_counts(counts, cells=self.bins.size), self.rows, self.points)
        level = bands.level(np.cumsum(self._released(released)))
        return Fraction(level * math.gcd(self.rows, self.points), self.points)

    def neighbours(self) -> Iterator[tuple[list[int], list[int]]]:
        """Small data sets, one row apart."""
        m, n = self.bins.size, self.rows
        starts = {tuple([n] + [0] * (m - 1)), tuple([0] * m), tuple(n // m for _ in range(m))}
        replaced = self.unit.replacement is self.unit
        for start in sorted(starts):
            for i in range(m):
                more = [count + (cell == i) for cell, count in enumerate(start)]
                others = range(i) if replaced else [None]
                yield from ((more, [count + (cell == j) for cell, count in enumerate(start)]) for j in others)


def log_choose(n: int, k: int) -> float:
    """The logarithm of a binomial coefficient."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
