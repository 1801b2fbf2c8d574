"""Local privacy of a location: a place on a grid is reported as another place on it, near ones being likelier.

P(cell | true cell) is proportional to exp(-rate * distance), distance being the number of steps along the two axes,
on a grid that ends.

Theorem. The smallest epsilon of this mechanism, for any two true cells, is rate * (width + height - 2): the rate
times the diameter of the grid, and so rate = epsilon / (width + height - 2).

Proof. Weights and normaliser are products over the axes, so losses add up. On one axis of n places let z(a) = sum
over c of exp(-rate |a - c|). ln P(c|a)/P(c|b) = rate (|b - c| - |a - c|) + ln z(b)/z(a) is at most rate |a - b| + ln
z(b)/z(a). From any b the further end is furthest away, and z is smallest at the ends, so this is at most rate far +
ln z(b)/z(end), and z(b) <= exp(rate near) z(end) by the triangle inequality, far and near being the distances of b to
the ends: rate (n - 1) in all. For a and b at opposite ends and c = a it is attained.

The theorem of the exponential mechanism would charge twice that, since elsewhere normalisers may differ by as much as
scores do. Where all false cells should be equally likely, whatever their distance, `Flat` is the mechanism.

What is protected is one person's place against any other place on the grid.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, SupportsIndex

from attrs import field, frozen
from flint import arb

from dither.arguments import argument_errors
from dither.channels.channel import Channel
from dither.channels.closed_form_rows import exponential
from dither.errors import DataError, NumberError
from dither.mechanisms.combine import each_of
from dither.mechanisms.protocol import IntegersLike
from dither.noise.categorical import Categorical
from dither.numeric.balls import precision
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number, NumberLike, integer
from dither.numeric.representation import short_repr
from dither.numeric.search import halve_integers
from dither.privacy.guarantee.definitions import pure
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.records import read_epsilon
from dither.privacy.unit import Unit, UnitLike, read_replacement

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_PLACES = 1024  # along one axis

Cell = tuple[int, int]


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class LocationResponse:
    """A cell of a grid, likelier the nearer to the true one: pure epsilon, exactly.

    Args:
        epsilon: the pure privacy loss between any two cells, above zero.
        width: how many columns, up to 1024.
        height: how many rows, up to 1024; at least two cells in all.
        unit: replace one person (the default) or one row: how many answer is public.

    Raises:
        NumberError: a parameter is no exact number, or lies outside its range.
        UnitError: the unit is unknown, or none of replacement.

    Example:
        >>> from dither import LocationResponse
        >>> mechanism = LocationResponse(epsilon=10, width=9, height=1)
        >>> mechanism.error("0.95")
        (3, 0)
        >>> column, row = mechanism.release((4, 0))
        >>> column in range(9) and row == 0
        True
    """

    epsilon: Number = field(converter=read_epsilon)  # the promise
    width: int  # how many columns
    height: int  # how many rows
    unit: Unit = field(converter=read_replacement)
    __repr__ = short_repr

    def __init__(
        self, *, epsilon: NumberLike, width: SupportsIndex, height: SupportsIndex, unit: UnitLike = Unit.REPLACE_ONE
    ) -> None:
        across, down = _read_places(width, "width"), _read_places(height, "height")
        if across * down < 2:
            raise NumberError("width, height", (width, height), "the only cell says nothing", "at least two cells")
        self.__attrs_init__(epsilon=epsilon, width=across, height=down, unit=unit)

    @property
    def guarantee(self) -> Guarantee:
        """Pure differential privacy: epsilon for one answer."""
        return pure(self.epsilon, unit=self.unit)

    def loss(self) -> Loss:
        """The privacy loss of one release: a dominating pair."""
        return self.guarantee.loss()

    def channel(self) -> Channel:
        """The exact matrix: the axes are independent of each other."""
        across, down = (
            [exponential([abs(a - b) for b in range(n)], self.rate) for a in range(n)] for n in (self.width, self.height)
        )
        cells = list(product(range(self.width), range(self.height)))
        return Channel([[across[x][a] * down[y][b] for a, b in cells] for x, y in cells], cells, cells)

    @property
    def rate(self) -> Number:
        """What a step of distance is worth."""
        return self.epsilon / (self.width + self.height - 2)

    def error(self, confidence: NumberLike) -> tuple[int, int]:
        """How many columns and rows away the report may be, with a probability of at least `confidence`, wherever one is."""
        each = each_of(confidence, 2)
        return self._radius(self.width, each), self._radius(self.height, each)

    def _radius(self, count: int, level: Fraction) -> int:
        return halve_integers(lambda radius: axis_covers(self.rate, radius, count, level), -1, count - 1)  # everywhere

    def release(self, value: Cell) -> Cell:
        """A cell (column, row), likelier near the true one, which is the `value`. Raises DataError where it is no pair."""
        x, y = self._read(value)
        return self._axis(x, self.width), self._axis(y, self.height)

    def randomize_places(self, columns: IntegersLike, rows: IntegersLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Releases for many people at once, whose places are two integer arrays, `columns` and `rows`."""
        return self._many(columns, self.width, "columns"), self._many(rows, self.height, "rows")

    def _many(self, places: IntegersLike, count: int, name: str) -> NDArray[np.int64]:
        """One axis: everybody at the same place draws from the same law."""
        import numpy as np

        array = np.asarray(places)
        if array.dtype.kind not in "iu" or (array.size and not (0 <= int(array.min()) <= int(array.max()) < count)):
            raise DataError(name, array.dtype, f"they are whole numbers from 0 to {count - 1}", "an integer array")
        found = np.empty(array.shape, dtype=np.int64)
        order = np.argsort(array, kind="stable")
        starts = np.searchsorted(array[order], np.arange(count + 1))
        for place in np.flatnonzero(np.diff(starts)).tolist():
            here = order[starts[place] : starts[place + 1]]
            found[here] = self._law(place, count).sample(here.size)
        return found

    def _axis(self, place: int, count: int) -> int:
        return self._law(place, count).sample()

    def _law(self, place: int, count: int) -> Categorical:
        import numpy as np

        return Categorical(-np.abs(np.arange(count) - place), rate=self.rate)

    def _read(self, value: Cell) -> Cell:
        """A cell of the grid; places outside are moved to the border."""
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            raise DataError("value", value, "a place is a column and a row", "(3, 5)")
        x, y = (integer(end, name="value") for end in value)
        return max(0, min(self.width - 1, x)), max(0, min(self.height - 1, y))

    def truth(self, value: Cell) -> Cell:
        """What a report is an estimate of: the `value`, moved into the grid."""
        return self._read(value)

    def neighbours(self) -> Iterator[tuple[Cell, Cell]]:
        """Any two cells; on a large grid the corners and the middle."""
        cells = list(product(_ends(self.width), _ends(self.height)))
        return ((one, other) for one in cells for other in cells if one < other)


def _read_places(value: SupportsIndex, name: str) -> int:
    count = integer(value, name=name, least=1)
    if count > MOST_PLACES:
        raise NumberError(name, value, f"a grid has up to {MOST_PLACES} places along one axis", "coarser cells")
    return count


def axis_covers(rate: Number, radius: int, count: int, level: Fraction) -> bool:
    """Whether it is certain, for every true place on an axis, that the report lies within this radius."""
    with precision(128):
        each = to_ball(rate)
        for place in range(count // 2 + 1):  # the other half is the mirror image
            inside = _normaliser(each, min(place, radius), min(count - 1 - place, radius))
            if not inside / _normaliser(each, place, count - 1 - place) >= to_ball(level):
                return False
    return True


def _normaliser(rate: arb, left: int, right: int) -> arb:
    """The sum of exp(-rate d) over so many places to the left and right: two geometric series that share the middle."""
    if rate.is_zero():
        return to_ball(left + right + 1)
    series = [(-(rate * (k + 1))).expm1() / (-rate).expm1() for k in (left, right)]
    return series[0] + series[1] - 1


def _ends(count: int) -> list[int]:
    return sorted({0, count // 2, count - 1} if count > 4 else set(range(count)))
