"""All prefixes of a histogram by the matrix mechanism, with the best strategy that is known for them: zCDP, up to 128 cells.

`Workload` finds the matrix B of whole numbers to release, with the exact norm of its columns and so the promise. Here a
person may be in no cell, and counts are moved into 0..2^35 first; so a replacement may move B x by a whole column and not by
a difference of two. One more cell that nobody asks about, with a column of zeros, says just that: the differences of
columns then include the columns themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, SupportsIndex

from attrs import field, frozen

from dither.arguments import argument_errors
from dither.density.histograms.columns import CountsLike
from dither.density.histograms.counts import read_counts
from dither.density.histograms.histogram import count_neighbours, read_cells, replaces
from dither.errors import SizeError
from dither.mechanisms.workload.workload import Workload
from dither.numeric.number import NumberLike
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.records import read_rho
from dither.privacy.unit import Unit, read_unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_CELLS = 128  # a strategy takes half a second of one core; several where a busy machine lets BLAS use many threads


def _read_cells(value: SupportsIndex) -> int:
    cells = read_cells(value, least=2)
    if cells > MOST_CELLS:
        raise SizeError("cells", value, f"strategies are found for up to {MOST_CELLS} cells", "Tree")
    return cells


@argument_errors
@frozen(kw_only=True, slots=False)
class PrefixWorkload:
    """Prefix sums by the matrix mechanism with its optimal strategy: zCDP.

    Args:
        cells: how many there are, 2 to 128.
        rho: the promise in zCDP.
        unit: whose coming, going or replacement is hidden; one person who comes or goes unless said.

    Raises:
        NumberError: fewer than two cells, or a `rho` that is not positive.
        SizeError: more than 128 cells.
        UnitError: a unit that is not known.

    Example:
        >>> from dither.density import Histogram, PrefixWorkload
        >>> strategy = PrefixWorkload(cells=16, rho="0.5")
        >>> strategy.prefix_error("0.95") < Histogram(cells=16, rho="0.5").prefix_error("0.95")
        True
    """

    code: ClassVar[str] = "prefix_workload"

    cells: int = field(converter=_read_cells)
    rho: Fraction = field(converter=read_rho)
    unit: Unit = field(default=Unit.ADD_REMOVE, converter=read_unit)
    __repr__ = short_repr

    @property
    def guarantee(self) -> Guarantee:
        """rho-zCDP, of the whole release."""
        return self.workload.guarantee

    @cached_property
    def workload(self) -> Workload:
        """The prefixes as queries, one row each, with the strategy that answers them."""
        import numpy as np

        return Workload(queries=with_nowhere(np.tri(self.cells), self.unit), rho=self.rho, unit=self.unit)

    @cached_property
    def _single(self) -> Workload:
        """The same release, read for single cells."""
        import numpy as np

        table = with_nowhere(np.eye(self.cells), self.unit)
        return Workload(queries=table, rho=self.rho, unit=self.unit, strategy=self.workload.strategy)

    def error(self, confidence: NumberLike) -> float:
        """A half-width that all cells stay within together, with probability `confidence`."""
        return self._single.error(confidence)

    def prefix_error(self, confidence: NumberLike) -> float:
        """A half-width for the sums of the first 1, 2, ... cells, all together with probability `confidence`."""
        return self.workload.error(confidence)

    def range_error(self, confidence: NumberLike) -> float:
        """A half-width for all ranges together at a `confidence`: a range is the difference of two prefixes."""
        return 2 * self.prefix_error(confidence)

    def release(self, counts: CountsLike) -> NDArray[np.float64]:
        """Estimates of the `counts`: real numbers, some of them below 0, from which every prefix follows by adding."""
        import numpy as np

        found = read_counts(counts, cells=self.cells)
        return np.diff(self.workload.release(padded(found, self.unit)), prepend=0.0)

    def truth(self, counts: CountsLike) -> list[int]:
        """What a release of these `counts` is an estimate of; not to be published."""
        return [int(count) for count in read_counts(counts, cells=self.cells)]

    def neighbours(self) -> Iterator[tuple[list[int], list[int]]]:
        """Every cell with one count more; and every count moved to another cell, where a person is replaced."""
        return count_neighbours(self.cells, self.unit)


def with_nowhere(table: NDArray[np.float64], unit: Unit) -> NDArray[np.float64]:
    """Queries with one more cell that none asks about, where a person is replaced."""
    import numpy as np

    return np.hstack([table, np.zeros((len(table), 1))]) if replaces(unit) else table


def padded(counts: NDArray[np.int64], unit: Unit) -> NDArray[np.int64]:
    """Counts with a 0 for the cell that `with_nowhere` adds."""
    import numpy as np

    return np.append(counts, 0) if replaces(unit) else counts
