"""The cells of a histogram: intervals of a line (`Bins`), or a list of names (`Categories`). Known before any data is seen.

Cells are a map from a row to a place, the same for every data set and fixed in advance, so one person is one count in at
most one cell, whatever the row holds: values beyond the ends are moved to the nearest cell, values that are missing (None,
NaN) or that no list names are left out. Nothing is refused for what a value is; only for what kind of thing it is.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, SupportsIndex

from dither.arguments import argument_errors
from dither.channels.labels import read_labels
from dither.density.histograms.columns import EstimatesLike, ValuesLike, read_numbers
from dither.errors import DataError, NumberError, SizeError
from dither.numeric.columns import plain, read_column
from dither.numeric.number import NumberLike, integer, rational

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_CELLS = 2**24  # a histogram of this many cells takes 128 MiB, and its release a few times that
EXAMPLE = "Bins([0, 18, 65, 120]), or Bins.even(0, 120, 24)"


class Axis(ABC):
    """An ordered list of cells, and where each value belongs."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many cells there are."""

    @abstractmethod
    def place(self, values: Any) -> NDArray[np.int64]:
        """The cell of each value; -1 for one that is in none. Values are numbers, labels or columns: each axis says."""

    @abstractmethod
    def name(self, cell: int) -> str:
        """What a `cell` is called."""

    def count(self, values: Any) -> NDArray[np.int64]:
        """How many of the `values` lie in each cell: the true histogram, not to be published."""
        import numpy as np

        places = self.place(values)
        return np.bincount(places[places >= 0], minlength=self.size).astype(np.int64)

    def __len__(self) -> int:
        return self.size


@argument_errors
class Bins(Axis):
    """Cells of a line between given edges: each from its lower edge up to, but without, its upper one; the last with it.

    Args:
        edges: the ends of the cells, rising and finite, one more than there are cells; read as doubles.

    Raises:
        SizeError: fewer than two edges, edges that are not one list, or more than 2^24 cells.
        NumberError: an edge that is not finite, or not above the one before it.
        DataError: an edge that is no number.

    Example:
        >>> from dither.density import Bins
        >>> Bins([0, 18, 65, 120]).count([3, 40, 70, None]).tolist()
        [1, 1, 1]
    """

    def __init__(self, edges: EstimatesLike) -> None:
        import numpy as np

        found = read_numbers(edges, name="edges")
        if found.size < 2:
            raise SizeError("edges", found.size, "cells lie between two edges or more", EXAMPLE)
        if found.size > MOST_CELLS + 1:
            raise SizeError("edges", found.size, f"at most {MOST_CELLS} cells are kept in memory", "wider cells")
        if not np.isfinite(found).all():
            raise NumberError("edges", float(found[~np.isfinite(found)][0]), "cells are bounded by finite numbers", EXAMPLE)
        falls = np.flatnonzero(np.diff(found) <= 0)
        if falls.size:
            at = int(falls[0])
            why = "edges rise, each above the one before it (as a double)"
            raise NumberError("edges", (float(found[at]), float(found[at + 1])), why, EXAMPLE)
        found.setflags(write=False)
        self._edges = found

    @classmethod
    def even(cls, low: NumberLike, high: NumberLike, cells: SupportsIndex) -> Bins:
        """As many `cells` of one width from `low` to `high`; refused where the ends do not rise, and beyond 2^24 cells."""
        import numpy as np

        a, b = rational(low, name="low"), rational(high, name="high")
        count = integer(cells, name="cells", least=1)
        if not a < b:
            raise NumberError("low, high", (low, high), "the lower end lies below the upper one", "low=0, high=120")
        if count > MOST_CELLS:
            raise SizeError("cells", cells, f"at most {MOST_CELLS} cells are kept in memory", f"{MOST_CELLS} or fewer")
        try:
            edges = float(a) + np.arange(count + 1) * float((b - a) / count)
        except OverflowError:
            raise NumberError("low, high", (low, high), "they are beyond the largest double", "smaller ends") from None
        edges[-1] = float(b)
        return cls(edges)

    @property
    def size(self) -> int:
        """How many cells there are."""
        return int(self._edges.size) - 1

    @property
    def edges(self) -> NDArray[np.float64]:
        """The ends of the cells, one more than there are cells; they cannot be written to."""
        return self._edges

    def place(self, values: ValuesLike) -> NDArray[np.int64]:
        """The cell of each of the `values`; the nearest one beyond the ends; -1 for what is missing or no number."""
        import numpy as np

        found = read_numbers(values)
        cells = np.clip(np.searchsorted(self._edges, found, side="right") - 1, 0, self.size - 1).astype(np.int64)
        cells[np.isnan(found)] = -1
        return cells

    def count(self, values: ValuesLike) -> NDArray[np.int64]:
        """How many of the `values` lie in each cell: the true histogram, not to be published."""
        return super().count(values)

    def name(self, cell: int) -> str:
        """The two edges of a `cell`, in a form that says which of them belongs to it; no two cells have one name."""
        end = "]" if cell == self.size - 1 else ")"
        return f"[{self.text(self._edges[cell])}, {self.text(self._edges[cell + 1])}{end}"

    def text(self, edge: float) -> str:
        """An `edge` in so many digits that it differs from all others."""
        return f"{edge:.{self._digits}g}"

    @cached_property
    def _digits(self) -> int:
        """Six, or more where edges are near each other: every cell is a hundred units of the last digit wide."""
        import numpy as np

        larger = np.maximum(np.abs(self._edges[:-1]), np.abs(self._edges[1:]))
        with np.errstate(over="ignore"):  # an infinite width needs no digits
            widths = np.log10(np.diff(self._edges))
        needed = float((np.floor(np.log10(larger)) + 1 - widths).max())
        return min(math.ceil(max(needed + 2, 6)), 17)  # 17 tell all doubles apart

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bins) and self._edges.tobytes() == other._edges.tobytes()

    def __hash__(self) -> int:
        return hash((Bins, self._edges.tobytes()))

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Bins, (self._edges,)

    def __repr__(self) -> str:
        return f"<{self.size} bins from {self.text(self._edges[0])} to {self.text(self._edges[-1])}>"


@argument_errors
class Categories(Axis):
    """A list of names, in the order in which they are given. What is not on the list is counted nowhere.

    Args:
        labels: the names, each once: anything hashable that equals itself.

    Raises:
        DataError: no list, no label in it, one that is there twice, NaN, or one that is not hashable.
        SizeError: more than 2^24 labels.

    Example:
        >>> from dither.density import Categories
        >>> Categories(["a", "b"]).count(["a", "c", "a"]).tolist()
        [2, 0]
    """

    def __init__(self, labels: Iterable[Hashable]) -> None:
        self.labels = read_labels(labels, "labels")
        if len(self.labels) > MOST_CELLS:
            raise SizeError("labels", len(self.labels), f"at most {MOST_CELLS} cells are kept in memory", "fewer")
        self._places = {label: at for at, label in enumerate(self.labels)}

    @property
    def size(self) -> int:
        """How many names there are."""
        return len(self.labels)

    def place(self, values: Iterable[object]) -> NDArray[np.int64]:
        """The cell of each of the `values`; -1 for one that is not on the list."""
        import numpy as np

        scalar = getattr(values, "ndim", 1) == 0  # an array of one number, which numpy calls iterable
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable) or scalar:
            raise DataError("type of values", type(values), "one value a person, in one list", "['a', 'b', 'a']")
        listed = read_column(values if hasattr(values, "__array__") else list(values)).tolist()
        return np.array([self._place(value) for value in listed], dtype=np.int64)

    def _place(self, value: Any) -> int:
        try:
            return self._places.get(plain(value), -1)
        except Exception:  # not hashable, or not comparable, so not on the list
            return -1

    def name(self, cell: int) -> str:
        """The label of a `cell`, as text."""
        return str(self.labels[cell])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Categories) and self.labels == other.labels

    def __hash__(self) -> int:
        return hash((Categories, self.labels))

    def __repr__(self) -> str:
        return f"<{self.size} categories from {self.labels[0]!r} to {self.labels[-1]!r}>"


def read_axis(value: Axis, *, name: str) -> Axis:
    """Refuse what is no axis."""
    if isinstance(value, Axis):
        return value
    raise DataError(name, value, "it names no cells", f"{EXAMPLE}; or Categories(['a', 'b'])")


def read_bins(value: Bins, *, name: str = "bins") -> Bins:
    """Refuse what is no `Bins`: names have no edges."""
    if isinstance(value, Bins):
        return value
    raise DataError(name, value, "cells of a line are needed here", EXAMPLE)
