"""A contingency table of several columns: every combination of a cell of each axis.

A row lies in one combination, so one person is still one count in at most one cell, and a row that is in no cell of some
axis is counted nowhere. All that takes an axis takes a grid: `histogram(Grid(ages, regions), epsilon=1)`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from dither.arguments import argument_errors
from dither.density.histograms.axis import MOST_CELLS, Axis, read_axis
from dither.density.histograms.columns import ColumnsLike, size_or_type
from dither.errors import DataError, SizeError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@argument_errors
class Grid(Axis):
    """The product of axes; the last one runs fastest.

    Args:
        axes: `Bins`, `Categories` or grids, one for each column, in order.

    Raises:
        DataError: no axis, or something that is none.
        SizeError: more than 2^24 combinations.

    Example:
        >>> from dither.density import Bins, Categories, Grid
        >>> grid = Grid(Bins([0, 18, 65]), Categories(["a", "b"]))
        >>> grid.count([[3, 40], ["a", "b"]]).tolist()
        [1, 0, 0, 1]
        >>> grid.name(3)
        '[18, 65] x b'
    """

    def __init__(self, *axes: Axis) -> None:
        if not axes:
            raise DataError("axes", axes, "a grid has one axis or more", "Grid(Bins([0, 18, 65]), Categories(['a', 'b']))")
        self.axes = tuple(read_axis(axis, name="axes") for axis in axes)
        self.shape = tuple(axis.size for axis in self.axes)
        if math.prod(self.shape) > MOST_CELLS:
            why = f"{' x '.join(map(str, self.shape))} cells are more than the {MOST_CELLS} that are kept in memory"
            raise SizeError("axes", math.prod(self.shape), why, "wider cells, or marginals of fewer axes each")

    @property
    def size(self) -> int:
        """How many combinations there are."""
        return math.prod(self.shape)

    def place(self, values: ColumnsLike) -> NDArray[np.int64]:
        """The cell of each row, from `values`: one column for each axis; -1 for a row that an axis has no cell for."""
        import numpy as np

        places = self.places(values, range(len(self.axes)))
        found = np.zeros(len(places[0]), dtype=np.int64)
        for axis, place in zip(self.axes, places, strict=True):
            found = found * axis.size + place
        found[places[0] < 0] = -1
        return found

    def count(self, values: ColumnsLike) -> NDArray[np.int64]:
        """How many rows lie in each combination, from `values`: one column for each axis. Not to be published."""
        return super().count(values)

    def places(self, columns: ColumnsLike, which: Iterable[int]) -> list[NDArray[np.int64]]:
        """The cell of each row of `columns` on the axes `which`; -1 on all of them where one of them has no cell."""
        import numpy as np

        if not isinstance(columns, (list, tuple)) or len(columns) != len(self.axes):
            raise SizeError(
                "columns", size_or_type(columns), f"there are {len(self.axes)} axes", f"a list of {len(self.axes)} columns"
            )
        found = [self.axes[at].place(columns[at]) for at in which]
        lengths = [place.size for place in found]
        if len(set(lengths)) > 1:
            raise SizeError("lengths of columns", lengths, "a row has a value in each of them", "columns of one length")
        nowhere = np.any([place < 0 for place in found], axis=0)
        return [np.where(nowhere, -1, place) for place in found]

    def name(self, cell: int) -> str:
        """The names of a `cell` on each axis, joined by x."""
        parts = []
        for axis in reversed(self.axes):
            cell, at = divmod(cell, axis.size)
            parts.append(axis.name(at))
        return " x ".join(reversed(parts))

    def part(self, which: tuple[int, ...]) -> Axis:
        """The grid of the axes `which`; one axis is itself."""
        return self.axes[which[0]] if len(which) == 1 else Grid(*(self.axes[at] for at in which))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grid) and self.axes == other.axes

    def __hash__(self) -> int:
        return hash((Grid, self.axes))

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Grid, self.axes

    def __repr__(self) -> str:
        return f"<grid of {' x '.join(map(str, self.shape))} cells>"
