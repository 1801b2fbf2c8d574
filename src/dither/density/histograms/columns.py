"""What columns of private values and histograms of counts are read from: lists, arrays, columns of data frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, TypeAlias

from dither.numeric.number import RealLike

if TYPE_CHECKING:
    from numpy.typing import NDArray


class SupportsArray(Protocol):
    """An array of numpy, or a column of a data frame, which gives one."""

    def __array__(self) -> NDArray[Any]: ...


CountsLike: TypeAlias = Sequence[SupportsIndex] | SupportsArray  # whole numbers, one for each cell
ValuesLike: TypeAlias = Sequence[RealLike | None] | SupportsArray  # numbers, one a person; None for a missing one
EstimatesLike: TypeAlias = Sequence[RealLike] | SupportsArray  # numbers that were released, or are public
ColumnsLike: TypeAlias = list[Any] | tuple[Any, ...]  # one column of values for each axis
