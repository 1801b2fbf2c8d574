"""What a survey of heavy hitters finds: the frequent items, with simultaneous confidence intervals of their counts."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dither.numeric.representation import high_end, low_end
from dither.terminal import fitted_table, wrapped

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class FrequentItems:
    """The items that many people have, the most frequent first."""

    items: tuple[Hashable, ...]
    counts: NDArray[np.float64]  # unbiased estimates of how many people have each
    deviation: NDArray[np.float64]  # their standard errors
    low: NDArray[np.float64]  # confidence intervals, for all kept items together
    high: NDArray[np.float64]
    threshold: float  # what fewer people than this have is not seen
    people: int
    confidence: float

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        rows = [["item", f"{'people':>9}", f"{'low':>9}", f"{'high':>9}"]]
        for item, count, low, high in zip(self.items, self.counts, self.low, self.high, strict=True):
            rows.append([str(item), f"{count:.0f}", low_end(low, 0), high_end(high, 0)])
        note = (
            f"from {self.people} reports; all intervals hold together with {self.confidence:.0%} probability; what fewer "
            f"than {self.threshold:.0f} people have is not seen"
        )
        return "\n".join([*fitted_table(rows), wrapped(note)])
