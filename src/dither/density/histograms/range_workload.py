"""Given range queries over a line, answered together with the least noise that is known for just these.

Cells that no range tells apart are one cell, and cells that no range asks about are none: so q ranges over any number of
bins are a workload over at most 2 q - 1 cells (`Workload`: noise in every cell, trees, the ranges themselves, and for zCDP
the optimal strategy). A person is still one count in at most one of the merged cells. The choice reads the ranges alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from dither.arguments import argument_errors
from dither.density.histograms.axis import Bins, read_bins
from dither.density.histograms.columns import CountsLike
from dither.density.histograms.counts import read_counts
from dither.density.histograms.prefix_workload import padded, with_nowhere
from dither.errors import DataError, NumberError
from dither.mechanisms.workload.workload import Workload
from dither.numeric.number import NumberLike, rational
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import Unit, UnitLike, read_unit
from dither.terminal import Explanation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RangeLike: TypeAlias = tuple[NumberLike, NumberLike] | list[Any]  # a pair of edges
EXAMPLE = "[(0, 18), (18, 65), (0, 65)], with ends that are edges of the bins"


@argument_errors
@dataclass(frozen=True, kw_only=True, eq=False)
class RangePlan:
    """The strategy that was chosen for given ranges, and why. `ranges` makes it.

    Args:
        bins: the cells of the line.
        cuts: the edges at which some range starts or ends, by place: merged cells lie between two of them.
        asked: which of the merged cells some range asks about.
        workload: the ranges as queries over those, with their strategy.

    Raises:
        SizeError: from `release` and `truth`, where there is not one count for each bin.
        DataError: from the same, where counts are no whole numbers.

    Example:
        >>> from dither.density import Bins, ranges
        >>> plan = ranges(Bins([0, 18, 65, 120]), [(0, 18), (18, 120)], epsilon=1)
        >>> plan.cuts
        (0, 1, 3)
        >>> [int(answer) for answer in plan.truth([5, 7, 2])]
        [5, 9]
    """

    bins: Bins
    cuts: tuple[int, ...]
    asked: tuple[int, ...]
    workload: Workload
    __repr__ = short_repr

    @property
    def guarantee(self) -> Guarantee:
        """epsilon, pure; or rho-zCDP: of all answers together."""
        return self.workload.guarantee

    def error(self, confidence: NumberLike) -> float:
        """A half-width for all answers together, with probability `confidence`."""
        return self.workload.error(confidence)

    def release(self, counts: CountsLike) -> NDArray[np.float64]:
        """An answer to each range, from `counts`: one for each bin."""
        return self.workload.release(self._merged(counts))

    def truth(self, counts: CountsLike) -> list[Any]:
        """What a release of these `counts` is an estimate of; not to be published."""
        return self.workload.truth(self._merged(counts))

    def _merged(self, counts: CountsLike) -> NDArray[np.int64]:
        import numpy as np

        found = read_counts(counts, cells=self.bins.size)
        sums = np.concatenate(([0], np.cumsum(found)))[list(self.cuts)]
        return padded(np.diff(sums)[list(self.asked)], self.workload.unit)

    def explain(self) -> Explanation:
        """What was compared, and why this one was taken."""
        strategy = self.workload.strategy
        ranked = sorted(strategy.compared.items(), key=lambda one: one[1])
        return Explanation(
            "\n".join(
                [
                    f"{len(self.workload.queries)} ranges over {len(self.asked)} merged cells, {self.guarantee}.",
                    "Expected error of a range (root mean square) for each unit of noise, from the ranges only:",
                    *(
                        f"  {error:10.4g}  {name}{'   <- taken' if name == strategy.name else ''}"
                        for name, error in ranked[:6]
                    ),
                    f"With 95% probability every answer stays within {self.error('0.95'):.4g} of the truth, all together.",
                ]
            )
        )


@argument_errors
def ranges(
    bins: Bins,
    queries: Iterable[RangeLike],
    *,
    epsilon: NumberLike | None = None,
    rho: NumberLike | None = None,
    unit: UnitLike = Unit.ADD_REMOVE,
) -> RangePlan:
    """The best strategy for given ranges, each a pair of edges: from the lower up to, but without, the upper one.

    A range from the first edge has all values below it too; one up to the last edge has that edge and all values above it.

    Args:
        bins: the cells of the line.
        queries: pairs of edges of the bins, each from a lower one to a higher one.
        epsilon: the promise, pure; either this or `rho`.
        rho: the promise in zCDP; either this or `epsilon`.
        unit: whose coming, going or replacement is hidden; one person who comes or goes unless said.

    Raises:
        DataError: `queries` that are no list of pairs, or none.
        NumberError: an end that is no edge, a range that does not rise, both or neither of `epsilon` and `rho`.
        UnitError: a unit that is not known.

    Example:
        >>> from dither.density import Bins, ranges
        >>> ranges(Bins([0, 18, 65, 120]), [(0, 18), (18, 120)], epsilon=1).release([5, 7, 2]).shape
        (2,)
    """
    import numpy as np

    line, whom = read_bins(bins), read_unit(unit)
    alone = getattr(queries, "ndim", 1) == 0  # an array of one number, which numpy calls iterable
    if isinstance(queries, (str, bytes)) or not isinstance(queries, Iterable) or alone:
        raise DataError("queries", queries, "they are a list of pairs", EXAMPLE)
    pairs = [_pair(line, query) for query in queries]
    if not pairs:
        raise DataError("queries", pairs, "there is nothing to answer", EXAMPLE)
    cuts = sorted({edge for pair in pairs for edge in pair})
    at = {edge: place for place, edge in enumerate(cuts)}
    table = np.zeros((len(pairs), len(cuts) - 1))
    for row, (low, high) in zip(table, pairs, strict=True):
        row[at[low] : at[high]] = 1
    asked = np.flatnonzero(table.any(axis=0))
    workload = Workload(queries=with_nowhere(table[:, asked], whom), epsilon=epsilon, rho=rho, unit=whom)
    return RangePlan(bins=line, cuts=tuple(cuts), asked=tuple(asked.tolist()), workload=workload)


def _pair(bins: Bins, query: RangeLike) -> tuple[int, int]:
    if not isinstance(query, (list, tuple)) or len(query) != 2:
        raise DataError("queries", query, "a range is a pair of edges", EXAMPLE)
    low, high = (_edge(bins, end) for end in query)
    if not low < high:
        raise NumberError("queries", query, "a range runs from a lower edge to a higher one", EXAMPLE)
    return low, high


def _edge(bins: Bins, value: NumberLike) -> int:
    place = float(rational(value, name="queries"))
    at = int(bins.edges.searchsorted(place))
    if at > bins.size or bins.edges[at] != place:
        near = bins.edges[max(0, at - 1) : at + 1].tolist()
        raise NumberError("queries", value, "ranges start and end at edges", " or ".join(map(bins.text, near)))
    return at
