"""Marginals, contingency tables of a few columns each, released together and made to agree: for data sets with many columns.

Theorem. k marginals of one data set, each a histogram over the cells of some of its columns. All their cells + N, N
independent, is epsilon-DP for two-sided geometric noise of scale D / epsilon, and rho-zCDP for rounded Gaussian noise with
sigma2 = D / (2 rho), where

    D      k for add/remove, 2 k for replace-one

Proof. In each marginal a person is one count in at most one cell; so at most k cells move by 1, or two in each. Counts are
moved into 0..2^35 first, a contraction in every cell. `Geometric` and `Gaussian` have the rest; what follows is
post-processing.

Agreement. A table is a sum of parts that are orthogonal to each other: its total, what each axis adds, what each pair of
axes adds, and so on; for a set A of axes sum the table over the others, and take away the mean along each axis of A. Noise
of one variance in every cell makes these parts independent, with a variance that grows with the number of cells summed
over: so the least squares estimate of a part is the mean over the tables that have it, weighted by one over that number.
Every table then gets the mean in place of its own part, spread evenly over what was summed: the tables agree on all that
they share. The total is exact where it is public. Projecting each table onto what is possible (`simplex`) comes last; after
it they agree only nearly.

Barak, Chaudhuri, Dwork, Kale, McSherry and Talwar 2007.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, SupportsIndex

from attrs import frozen

from dither.arguments import argument_errors
from dither.density.histograms.axis import MOST_CELLS
from dither.density.histograms.columns import ColumnsLike, CountsLike, size_or_type
from dither.density.histograms.consistency import simplex
from dither.density.histograms.counts import read_counts
from dither.density.histograms.distribution import Distribution
from dither.density.histograms.grid import Grid
from dither.density.histograms.histogram import count_noise, replaces
from dither.density.histograms.noise_tails import sum_width
from dither.density.histograms.tree import read_rows
from dither.errors import DataError, SizeError
from dither.mechanisms.additive.additive import half_width, read_confidence
from dither.mechanisms.additive.gaussian import Gaussian
from dither.mechanisms.additive.geometric import Geometric
from dither.numeric.number import Number, NumberLike, integer
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.records import read_price
from dither.privacy.unit import Unit, UnitLike, read_unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    ContingencyTable = NDArray[np.float64]


MOST_COLUMNS = 10  # of a table
COMBINATIONS = 7  # of cells that neighbours are made of


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class Marginals:
    """Marginals: contingency tables of a few columns each, with one guarantee for all of them.

    Args:
        grid: the columns; its own cells are never counted.
        tables: which columns each table has, by place: each table once, each with 1 to 10 columns.
        epsilon: the promise, pure; either this or `rho`.
        rho: the promise in zCDP; either this or `epsilon`.
        rows: how many people are counted, where that is public and one is replaced.
        unit: whose coming, going or replacement is hidden; one person who comes or goes unless said.

    Raises:
        DataError: a `grid` that is none, tables that are no lists of different columns, or a table that is there twice.
        SizeError: more than 2^24 cells in all, or more than 10 columns in a table.
        NumberError: both or neither of `epsilon` and `rho`, one that is not positive, or noise that is not drawn.
        UnitError: a unit that is not known, or `rows` where people come and go.

    Example:
        >>> from dither.density import Bins, Categories, Grid, Marginals
        >>> grid = Grid(Bins([0, 18, 65]), Categories(["a", "b"]))
        >>> marginals = Marginals(grid=grid, tables=[(0,), (1,)], epsilon=1)
        >>> counts = marginals.count([[3, 40], ["a", "b"]])
        >>> [table.tolist() for table in counts], len(marginals.release(counts))
        ([[1, 1], [1, 1]], 2)
    """

    grid: Grid
    tables: tuple[tuple[int, ...], ...]  # columns by place, rising
    epsilon: Number | None
    rho: Fraction | None
    rows: int | None
    unit: Unit
    __repr__ = short_repr

    def __init__(
        self,
        *,
        grid: Grid,
        tables: Sequence[Sequence[SupportsIndex]],
        epsilon: NumberLike | None = None,
        rho: NumberLike | None = None,
        rows: SupportsIndex | None = None,
        unit: UnitLike = Unit.ADD_REMOVE,
    ) -> None:
        if not isinstance(grid, Grid):
            raise DataError("grid", grid, "it names no columns", "Grid(Bins([0, 18, 65]), Categories(['a', 'b']))")
        whom, (budget, square), listed = read_unit(unit), read_price(epsilon, rho), _read_tables(tables, len(grid.axes))
        public = read_rows(rows, whom)
        self.__attrs_init__(grid=grid, tables=listed, epsilon=budget, rho=square, rows=public, unit=whom)
        if sum(self._sizes) > MOST_CELLS:
            raise SizeError("tables", sum(self._sizes), f"at most {MOST_CELLS} cells are kept in memory", "fewer tables")
        _ = self.noise  # refuses noise that cannot be drawn, now and not at the first release

    @property
    def guarantee(self) -> Guarantee:
        """epsilon, pure; or Gaussian DP, and so rho-zCDP: of all tables together."""
        return self.noise.guarantee

    @property
    def _sizes(self) -> list[int]:
        return [math.prod(self._shape(table)) for table in self.tables]

    def _shape(self, table: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(self.grid.shape[at] for at in table)

    @cached_property
    def noise(self) -> Geometric | Gaussian:
        """The mechanism that gives every cell of every table its noise."""
        moved = len(self.tables) * (2 if replaces(self.unit) else 1)
        return count_noise(moved, sum(self._sizes), epsilon=self.epsilon, rho=self.rho, unit=self.unit)

    # -- error and release -------------------------------------------------------------------------------------

    def error(self, confidence: NumberLike) -> float:
        """A half-width that all cells of all tables stay within together, with probability `confidence`.

        An agreed cell is a sum of noise with weights whose squares add up to 1 at most, since it is the best linear estimate
        and its own released count is another. One table alone has nothing to agree with, and its width is exact.
        """
        level, cells = read_confidence(confidence), sum(self._sizes)
        if len(self.tables) == 1 and self.rows is None:
            return float(half_width(self.noise.law, level, cells))
        return sum_width(self.noise.law, squares=1.0, events=cells, level=level)

    def count(self, columns: ColumnsLike) -> list[NDArray[np.int64]]:
        """The true counts of every table, from `columns`: one for each axis of the grid; not to be published.

        Who has no cell in one of the columns that tables use is counted in no table: so that all are of the same people.
        """
        import numpy as np

        used = sorted({at for table in self.tables for at in table})
        places = dict(zip(used, self.grid.places(columns, used), strict=True))
        there = places[used[0]] >= 0
        cells = [np.ravel_multi_index([places[at][there] for at in table], self._shape(table)) for table in self.tables]
        return [np.bincount(one, minlength=size).astype(np.int64) for one, size in zip(cells, self._sizes, strict=True)]

    def release(self, counts: Sequence[CountsLike], *, confidence: NumberLike = "0.95") -> tuple[Distribution, ...]:
        """A distribution for each table, from `counts`: one list for each, which runs through its last column fastest.

        Bands have this `confidence`. All tables count the same people, whoever made them: otherwise they do not agree, and
        error bars are wrong.
        """
        import numpy as np

        if not isinstance(counts, (list, tuple)) or len(counts) != len(self.tables):
            raise SizeError(
                "counts", size_or_type(counts), f"there are {len(self.tables)} tables", "what .count(columns) gives"
            )
        level, sizes = read_confidence(confidence), self._sizes
        found = [read_counts(one, cells=size, name="counts") for one, size in zip(counts, sizes, strict=True)]
        noisy: Any = self.noise.release(np.concatenate(found))
        parts = np.split(np.asarray(noisy).astype(np.float64), np.cumsum(sizes)[:-1])
        agreed = self.agreed([part.reshape(self._shape(t)) for part, t in zip(parts, self.tables, strict=True)])
        return tuple(self._distribution(table, flat, level) for table, flat in zip(self.tables, agreed, strict=True))

    def _distribution(self, table: tuple[int, ...], raw: ContingencyTable, level: Fraction) -> Distribution:
        axis, flat = self.grid.part(table), raw.reshape(-1)
        total = max(0.0, float(flat.sum())) if self.rows is None else self.rows
        width = self.error(level)
        return Distribution(
            axis=axis,
            raw=flat,
            counts=simplex(flat, total),
            rows=self.rows,
            confidence=float(level),
            cell_error=width,
            prefix_error=axis.size * width,
            range_error=axis.size * width,
            guarantee=self.guarantee,
        )

    # -- agreement ---------------------------------------------------------------------------------------------

    def agreed(self, tables: list[ContingencyTable]) -> list[ContingencyTable]:
        """Noisy `tables` with each part that they share replaced by its weighted mean."""
        import numpy as np

        found = [table.copy() for table in tables]
        both = {tuple(sorted(set(one) & set(other))) for one, other in combinations(self.tables, 2)} | {()}
        for shared in {part for columns in both for part in _parts(columns)}:  # all others are in one table alone
            holders = [at for at, table in enumerate(self.tables) if set(shared) <= set(table)]
            own = [orthogonal_part(tables[at], self.tables[at], shared) for at in holders]
            summed = [tables[at].size / part.size for at, part in zip(holders, own, strict=True)]  # cells summed over
            mean = sum(part / cells for part, cells in zip(own, summed, strict=True)) / sum(1 / cells for cells in summed)
            if not shared and self.rows is not None:
                mean = np.array(float(self.rows))
            for at, part, cells in zip(holders, own, summed, strict=True):
                found[at] += _spread((mean - part) / cells, self.tables[at], shared)
        return found

    def neighbours(self) -> Iterator[tuple[Any, Any]]:
        """A person more in a combination of all columns (the first few, and the last), and moved to another of them."""
        import numpy as np

        size = self.grid.size
        people = []
        for cell in sorted({*range(min(size, COMBINATIONS)), size - 1}):
            at = np.unravel_index(cell, self.grid.shape)
            places = [np.ravel_multi_index([at[axis] for axis in table], self._shape(table)) for table in self.tables]
            people.append([[3 + (k == place) for k in range(n)] for n, place in zip(self._sizes, places, strict=True)])
        without = [[3] * n for n in self._sizes]
        yield from ((without, one) for one in people)  # a replaced person may come from no cell, too
        if replaces(self.unit):
            yield from combinations(people, 2)


def _parts(table: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for size in range(len(table) + 1):
        yield from combinations(table, size)


def orthogonal_part(values: ContingencyTable, table: tuple[int, ...], shared: tuple[int, ...]) -> ContingencyTable:
    """The part of a table that its shared axes add: summed over the others, without the mean along each shared one."""
    found: Any = values.sum(axis=tuple(place for place, axis in enumerate(table) if axis not in shared))
    for place in range(len(shared)):
        found = found - found.mean(axis=place, keepdims=True)
    return found  # type: ignore[no-any-return]


def _spread(part: ContingencyTable, table: tuple[int, ...], shared: tuple[int, ...]) -> ContingencyTable:
    """The part with the axes that were summed over put back, as length 1."""
    import numpy as np

    return np.expand_dims(part, tuple(place for place, axis in enumerate(table) if axis not in shared))


def _read_tables(value: Sequence[Sequence[SupportsIndex]], axes: int) -> tuple[tuple[int, ...], ...]:
    instead = "[(0, 1), (1, 2)]: the places of the columns of each table"
    if not isinstance(value, (list, tuple)) or not value:
        raise DataError("tables", value, "they list the columns of each table", instead)
    found = []
    for table in value:
        if not isinstance(table, (list, tuple)) or not table:
            raise DataError("tables", table, "a table has one column or more", instead)
        if len(table) > MOST_COLUMNS:
            why = f"a table has up to {MOST_COLUMNS} columns: what tables share is a sum of 2^columns parts"
            raise SizeError("tables", len(table), why, "tables of fewer columns")
        places = tuple(sorted(integer(at, name="tables", least=0) for at in table))
        if len(set(places)) < len(places) or places[-1] >= axes:
            raise DataError("tables", table, f"its columns are different ones of 0..{axes - 1}", instead)
        found.append(places)
    if len(set(found)) < len(found):
        raise DataError("tables", value, "a table is listed once", instead)
    return tuple(found)
