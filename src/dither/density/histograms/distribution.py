"""A released distribution: estimates of all cells, with simultaneous confidence bands. Everything here is public.

    raw            the release itself: unbiased, some of it below 0, not always whole
    counts         the same, projected: none below 0, and the total right where it is public; on the whole closer
    low, high      for each cell: the truth lies between, in all cells at once, with the stated confidence

Bands lie around `raw`, since the error of a release is known and that of a projected one depends on data; then they are cut
to what is possible (0, the total, prefixes that rise), which removes nothing that can be true. So an entry of `counts` can
lie outside its band; `raw` is the centre. Bands on cells, on prefixes and on ranges each hold with the confidence, for all
cells, all prefixes, all ranges; not all three kinds jointly.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, SupportsIndex

from dither.arguments import argument_errors
from dither.density.histograms.axis import Axis, Bins
from dither.errors import DataError, NumberError
from dither.noise.uniform_integers import uniform
from dither.numeric.number import NumberLike, integer, rational
from dither.numeric.representation import high_end, low_end
from dither.privacy.guarantee.guarantee import Guarantee
from dither.terminal import fitted_table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SHOWN = 12  # rows of a table
FINE = 2**32  # places inside a cell that a sample can have


class Band(NamedTuple):
    """Estimates, and what the truth lies between."""

    estimate: Floats
    low: Floats
    high: Floats


class Interval(NamedTuple):
    """One estimate, and what the truth lies between."""

    estimate: float
    low: float
    high: float


@argument_errors
@dataclass(frozen=True, kw_only=True, eq=False)
class Distribution:
    """What was released of a distribution, with its error. A `Plan` makes it.

    Args:
        axis: what the cells are.
        raw: the release: unbiased estimates of the cells.
        counts: the same, projected onto what is possible.
        rows: how many people are counted in some cell, where that is public.
        confidence: the probability with which each kind of band holds.
        cell_error: half-width for all cells together.
        prefix_error: half-width for all prefixes together.
        range_error: half-width for all ranges together.
        guarantee: what was promised about the release.

    Raises:
        DataError: from `range` and `quantile`, where cells are not `Bins`.
        NumberError: from the same, for a range that does not rise or a `q` beyond 0 and 1.

    Example:
        >>> import numpy as np
        >>> from dither import pure
        >>> from dither.density import Bins, Distribution
        >>> raw = np.array([12.0, -1.0, 9.0])
        >>> found = Distribution(
        ...     axis=Bins([0, 18, 65, 120]), raw=raw, counts=np.array([11.5, 0.0, 8.5]), rows=20, confidence=0.95,
        ...     cell_error=4.0, prefix_error=6.0, range_error=7.0, guarantee=pure(1),
        ... )
        >>> found.low.tolist(), found.high.tolist()
        ([8.0, 0.0, 5.0], [16.0, 3.0, 13.0])
        >>> found.range(0, 18)
        Interval(estimate=11.5, low=8.0, high=16.0)
    """

    axis: Axis
    raw: Floats
    counts: Floats
    rows: int | None
    confidence: float
    cell_error: float
    prefix_error: float
    range_error: float
    guarantee: Guarantee

    def __post_init__(self) -> None:
        for values in (self.raw, self.counts):
            values.setflags(write=False)

    @property
    def total(self) -> float:
        """How many people: the public number, or an estimate."""
        return float(self.counts.sum()) if self.rows is None else float(self.rows)

    @property
    def low(self) -> Floats:
        """Below every cell's count, for all cells together."""
        return self._cut(self.raw - self.cell_error)

    @property
    def high(self) -> Floats:
        """Above every cell's count, for all cells together."""
        return self._cut(self.raw + self.cell_error)

    def _cut(self, values: Floats) -> Floats:
        import numpy as np

        return np.clip(values, 0.0, None if self.rows is None else float(self.rows))

    # -- prefixes and ranges -----------------------------------------------------------------------------------

    def prefixes(self) -> Band:
        """How many people lie in the first 1, 2, ... cells: bands for all of them together."""
        import numpy as np

        middle = np.cumsum(self.raw)
        low = np.maximum.accumulate(self._cut(middle - self.prefix_error))
        high = np.minimum.accumulate(self._cut(middle + self.prefix_error)[::-1])[::-1]
        if self.rows is not None:
            low[-1] = high[-1] = self.rows
        return Band(np.cumsum(self.counts), low, high)

    def cdf(self) -> Band:
        """Which share of people lies in the first 1, 2, ... cells.

        Where the number of people is not public it has a band too, the last one of `prefixes`; a share is below
        P / T for the largest P and the least T, and above it the other way round.
        """
        import numpy as np

        found = self.prefixes()
        least, most = float(found.low[-1]), float(found.high[-1])
        low = found.low / most if most > 0 else np.zeros(self.axis.size)
        high = np.minimum(found.high / least, 1.0) if least > 0 else np.ones(self.axis.size)
        total = float(found.estimate[-1])
        even = np.arange(1, self.axis.size + 1) / self.axis.size
        estimate = found.estimate / total if total > 0 else even
        high[-1] = 1.0
        if least > 0:
            low[-1] = 1.0
        return Band(np.clip(estimate, 0.0, 1.0), low, high)

    def range(self, low: NumberLike, high: NumberLike) -> Interval:
        """How many people lie in [low, high): cells that are touched in part are shared out evenly in the estimate, and
        count fully in one end of the interval and not at all in the other.

        Values beyond the ends were counted in the end cells. So a range from the first edge has all that lie below it, and
        one up to the last edge has the edge itself and all that lie above it.
        """
        edges = self._bins().edges
        start, stop = (float(rational(end, name=name)) for end, name in ((low, "low"), (high, "high")))
        if not start < stop:
            raise NumberError("low, high", (low, high), "a range runs from a lower end to a higher one", "range(20, 30)")
        last = self.axis.size
        a, b = (min(max(end, float(edges[0])), float(edges[-1])) for end in (start, stop))
        outer = max(int(edges.searchsorted(a, side="right")) - 1, 0), int(edges.searchsorted(b, side="left"))
        inner = int(edges.searchsorted(a, side="left")), max(int(edges.searchsorted(b, side="right")) - 1, 0)
        if a == b:  # beyond the ends there is nobody: values there were moved to the nearest cell
            return Interval(0.0, 0.0, 0.0)
        estimate = self._below(b) - self._below(a)
        least = self._ends(*inner)[0] if inner[0] < inner[1] else 0.0
        return Interval(estimate, least, self._ends(outer[0], min(outer[1], last))[1])

    def _ends(self, first: int, stop: int) -> tuple[float, float]:
        """What the sum of whole cells lies between."""
        most = float("inf") if self.rows is None else float(self.rows)
        if self.rows is not None and first == 0 and stop == self.axis.size:
            return most, most
        middle = float(self.raw[first:stop].sum())
        width = min(self.range_error, self.cell_error) if stop - first == 1 else self.range_error
        return min(max(0.0, middle - width), most), min(max(0.0, middle + width), most)

    def _below(self, value: float) -> float:
        import numpy as np

        sums = np.concatenate(([0.0], np.cumsum(self.counts)))
        return float(np.interp(value, self._bins().edges, sums))

    def quantile(self, q: NumberLike) -> Interval:
        """The least value that a share q of people lie at or below, for q = 0 the least value of all; and the edges that it
        lies between, with the confidence of the bands. Values beyond the ends count as the ends."""
        import numpy as np

        level = rational(q, name="q")
        if not 0 <= level <= 1:
            raise NumberError("q", q, "it is a share", "0.5")
        share, band, edges = float(level), self.cdf(), self._bins().edges
        sums = np.concatenate(([0.0], band.estimate))
        side: Literal["left", "right"] = "left" if share > 0 else "right"  # the first cell that reaches it, or has anybody
        at = int(np.clip(np.searchsorted(sums, share, side=side), 1, self.axis.size))
        step = sums[at] - sums[at - 1]
        inside = (share - sums[at - 1]) / step if step > 0 else 0.0
        value = edges[at - 1] + min(max(inside, 0.0), 1.0) * (edges[at] - edges[at - 1])
        low = int(np.searchsorted(band.high, share, side=side))  # the first cell that can reach the share
        high = int(np.searchsorted(band.low, share, side=side))  # the first that surely does
        last = self.axis.size - 1
        return Interval(float(value), float(edges[min(low, last)]), float(edges[min(high, last) + 1]))

    # -- synthetic rows ----------------------------------------------------------------------------------------

    def places(self, size: SupportsIndex) -> NDArray[np.int64]:
        """The cells of `size` synthetic people: independent draws in proportion to `counts`."""
        import numpy as np

        people = integer(size, name="size", least=0)
        weights = self.counts / max(float(self.counts.max()), 1e-300)
        whole = np.rint(weights * 2**36).astype(np.int64)
        sums = np.cumsum(whole if whole.any() else np.ones_like(whole))
        return np.searchsorted(sums, uniform(int(sums[-1]), people), side="right").astype(np.int64)

    def sample(self, size: SupportsIndex) -> Floats | list[Hashable]:
        """Values of `size` synthetic people: cells in proportion to `counts`, even places in them; labels for categories."""
        cells = self.places(size)
        if not isinstance(self.axis, Bins):
            labels = getattr(self.axis, "labels", None)
            return [labels[cell] if labels is not None else self.axis.name(int(cell)) for cell in cells.tolist()]
        edges = self.axis.edges
        inside = (uniform(FINE, cells.size) + 0.5) / FINE
        return edges[cells] * (1 - inside) + edges[cells + 1] * inside

    # -- showing -----------------------------------------------------------------------------------------------

    def _bins(self) -> Bins:
        if isinstance(self.axis, Bins):
            return self.axis
        raise DataError("axis", self.axis, "its cells lie in no order on a line", "Bins")

    def __str__(self) -> str:
        size = self.axis.size
        cells = range(size) if size <= SHOWN else [*range(SHOWN // 2), *range(size - SHOWN // 2, size)]
        low, high = self.low, self.high
        rows = [
            [self.axis.name(at), f"{self.counts[at]:.0f}", f"{low_end(low[at], 0)} to {high_end(high[at], 0)}"]
            for at in cells
        ]
        rows = [["cell", "people", f"{100 * self.confidence:g}% band"], *rows]
        if size > SHOWN:
            rows.insert(1 + SHOWN // 2, ["...", f"{size - SHOWN} more", ""])
        return "\n".join([*fitted_table(rows, left=(0, 2)), f"{self.guarantee}"])

    def __repr__(self) -> str:
        return f"<Distribution over {self.axis!r}, {self.total:.0f} people, {self.guarantee}>"
