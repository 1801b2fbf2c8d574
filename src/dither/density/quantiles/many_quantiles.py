"""Many quantiles at once, such as deciles: the middle one first, then those on either side of it among the people there.

Theorem. Choose the middle share by the score of `Quantile` with a part of epsilon, cut the line there, and go on with the
shares below among the people below and with those above among the people above, on each side with what is left of epsilon.
That is epsilon-DP when a person comes or goes; with exponential mechanisms of range E_v and parts rho_v = E_v^2 / 8 it is
rho-zCDP. When a person is replaced the same holds with twice the noise, but for the first choice.

    K       parts of a cell: cuts fall on its edges and between its parts, so one value that many people share can be cut

A person's counts are spread evenly over the K parts of their cell, in fact and not by chance, so a cut divides her mass
between its two sides and each side pays for its own. With up to W counts a person (`mass`), in any cells of any of several
histograms, noise is W times as large, and one price pays for all. Where no choice follows nothing is cut, and a *cell* is
chosen by its distance. `quantiles/many_quantiles.md` has the proof, and what the error leaves out.

Kaplan, Schnapp and Stemmer 2022, for distinct values; the parts are ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex

from attrs import frozen

from dither.arguments import argument_errors
from dither.density.histograms.axis import Bins, read_bins
from dither.density.histograms.columns import CountsLike
from dither.density.histograms.counts import LARGEST_COUNT, read_rows_of_counts
from dither.density.quantiles.choice_order import QuantileNode, quantile_tree
from dither.density.quantiles.quantile import moves
from dither.density.quantiles.rank_scores import (
    SharesLike,
    chooser,
    distances,
    middle,
    read_histograms,
    read_mass,
    read_people,
    read_shares,
    scaled,
)
from dither.errors import SizeError
from dither.mechanisms.combine import each_of
from dither.mechanisms.selection.exponential import Exponential
from dither.mechanisms.selection.permute_and_flip import PermuteAndFlip
from dither.numeric.balls import round_down, round_up
from dither.numeric.number import Number, NumberLike, integer
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.definitions import bounded_range, pure, zcdp
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss, sum_of
from dither.privacy.records import read_price
from dither.privacy.unit import Unit, UnitLike, read_unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_CUTS = 2**20  # parts are made until there are so many of them: about 20 milliseconds a level
MOST_COUNTS = 2**59  # parts of counts in all cells together


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class Quantiles:
    """The values below which given shares of the people lie: pure epsilon, or zCDP.

    Args:
        bins: the cells among which answers are chosen, known beforehand.
        qs: the shares of the people, 1 to 4096 of them, in the order of the answers.
        epsilon: the promise, pure; either this or `rho`.
        rho: the promise in zCDP; either this or `epsilon`.
        unit: whose coming, going or replacement moves counts; one person who comes or goes unless said.
        parts: into how many parts a cell is divided; about 2^20 in all cells together unless said.
        mass: the most counts that one person has, in all cells of all histograms; one unless said.
        histograms: how many are released side by side; one unless said.

    Raises:
        DataError: `bins` that are none, or `qs` that are no list.
        SizeError: no share or too many, or more than 2^20 parts in all.
        NumberError: a share beyond 0 and 1 or too fine, both or neither of `epsilon` and `rho`, one that is not positive,
            or noise that is not drawn.
        UnitError: a unit that is not known.

    Example:
        >>> from dither.density import Bins, Quantiles
        >>> quartiles = Quantiles(bins=Bins.even(0, 120, 24), qs=["0.25", "0.5", "0.75"], epsilon=1)
        >>> quartiles.levels, quartiles.error("0.95") < 48
        (2, True)
        >>> len(quartiles.release(quartiles.bins.count([30, 41, 52])))
        3
    """

    bins: Bins
    qs: tuple[Fraction, ...]
    epsilon: Number | None
    rho: Fraction | None
    unit: Unit
    parts: int  # K
    mass: int  # W
    histograms: int
    code: ClassVar[str] = "quantiles_together"
    __repr__ = short_repr

    def __init__(
        self,
        *,
        bins: Bins,
        qs: SharesLike,
        epsilon: NumberLike | None = None,
        rho: NumberLike | None = None,
        unit: UnitLike = Unit.ADD_REMOVE,
        parts: SupportsIndex | None = None,
        mass: SupportsIndex = 1,
        histograms: SupportsIndex = 1,
    ) -> None:
        (budget, square), cells = read_price(epsilon, rho), read_bins(bins)
        pieces = max(1, MOST_CUTS // cells.size) if parts is None else integer(parts, name="parts", least=1)
        if pieces > 1 and pieces * cells.size > MOST_CUTS:
            raise SizeError("parts", parts, f"there are at most {MOST_CUTS} parts in all", f"{MOST_CUTS // cells.size or 1}")
        shares, whom, most, rows = read_shares(qs), read_unit(unit), read_mass(mass), read_histograms(histograms)
        self.__attrs_init__(
            bins=cells, qs=shares, epsilon=budget, rho=square, unit=whom, parts=pieces, mass=most, histograms=rows
        )
        for node in self._root.all():  # refuse noise that cannot be drawn, now and not at the first release
            self._choice(node, cells.size)

    @property
    def levels(self) -> int:
        """How many choices a person's mass takes part in: d."""
        return len(set(self.qs)).bit_length()

    @property
    def guarantee(self) -> Guarantee:
        """epsilon, pure; or rho-zCDP: of all answers together."""
        if self.epsilon is not None:
            return pure(self.epsilon, unit=self.unit)
        assert self.rho is not None, "one of the two is given"
        return zcdp(self.rho, unit=self.unit)

    def loss(self) -> Loss:
        """Of any release with this promise; for a rho, of one choice of bounded range a level, the largest there."""
        if self.rho is None:
            return self.guarantee.loss()
        ranges: dict[int, Number] = {}
        todo = [(self._root, 0)]
        while todo:
            node, level = todo.pop()
            own = self._choice(node, self.bins.size).epsilon
            ranges[level] = max(own, ranges.get(level, own))
            todo += [(side, level + 1) for side in (node.left, node.right) if side is not None]
        return sum_of([bounded_range(size, unit=self.unit).loss() for size in ranges.values()])

    # -- error -------------------------------------------------------------------------------------------------

    def error(self, confidence: NumberLike) -> float:
        """How many counts the ranks of any answer may be off, all together at this `confidence`; but for parts of cells."""
        level = each_of(confidence, len(set(self.qs)) * self.histograms)

        def off(node: QuantileNode | None, low: Fraction, high: Fraction) -> Fraction:
            if node is None:
                return Fraction(0)
            size = self.bins.size if node.last else self.bins.size * self.parts + 1
            units = self._scaled(node)[1] * self.parts  # of score, for one person
            here = max(low, high) + Fraction(self._choice(node, size).error(level)) / units
            return max(here, off(node.left, low, here), off(node.right, here, high))

        return round_up(off(self._root, Fraction(0), Fraction(0))) + 0.0  # never -0.0

    @cached_property
    def expected_error(self) -> float:
        """How many counts an answer is off on average, about, where cells hold few each: to compare ways."""
        found: list[float] = []

        def walk(node: QuantileNode | None, low: float, high: float) -> None:
            if node is not None:
                units, t = self._scaled(node)[1] * self.parts, float(node.target)
                here = math.hypot(1 / (float(self._choice(node, self.bins.size).rate) * units), (1 - t) * low, t * high)
                found.append(here)
                walk(node.left, low, here)
                walk(node.right, here, high)

        walk(self._root, 0.0, 0.0)
        return sum(found) / len(found)

    def shares(self, people: NumberLike, confidence: NumberLike = "0.95") -> list[tuple[float, float]]:
        """Each answer's cell holds a true quantile between these two: all at this `confidence`, for `people` or more.

        People who are in some cell. How many they are is public where one is replaced and no value is missing; otherwise
        take a number that is surely not above it, or a released one. What parts of cells cost is in it, for any data: half
        a part on every level but the last, and a cell may hold everybody.
        """
        off = Fraction(self.error(confidence)) / read_people(people) + Fraction(self.levels - 1, 2 * self.parts)
        return [(round_down(max(Fraction(0), q - off)), round_up(min(Fraction(1), q + off))) for q in self.qs]

    def shortfall(self, counts: CountsLike | Sequence[CountsLike], output: list[float]) -> Fraction:
        """How many of the `counts` the worst of an `output` is off, less what parts of cells cost; not to publish."""
        import numpy as np

        worst, cells = Fraction(0), iter(self.bins.place(np.array(output)).tolist())
        for found in self._rows(counts):
            ranks = [0, *np.cumsum(found).tolist()]
            floor = Fraction((self.levels - 1) * int(found.max()), 2 * self.parts)
            for q, cell in zip(self.qs, cells, strict=False):  # the rest is of other histograms
                wanted = q * ranks[-1]
                worst = max(worst, ranks[cell] - wanted - floor, wanted - ranks[cell + 1] - floor)
        return worst

    # -- release -----------------------------------------------------------------------------------------------

    def release(self, counts: CountsLike | Sequence[CountsLike]) -> list[float]:
        """The middles of cells, in the order of the shares, from `counts`, as `bins.count(values)`; of a list, in turn."""
        return [middle(self.bins, cell) for row in self.cells(counts) for cell in row]

    def cells(self, counts: CountsLike | Sequence[CountsLike]) -> list[list[int]]:
        """The chosen cells of each histogram of `counts`, in the order of the shares."""
        return [self._chosen(row) for row in self._rows(counts)]

    def _rows(self, counts: CountsLike | Sequence[CountsLike]) -> list[NDArray[np.int64]]:
        most = min(MOST_COUNTS // (self.bins.size * self.parts), LARGEST_COUNT if self.mass == 1 else MOST_COUNTS)
        return read_rows_of_counts(counts, cells=self.bins.size, rows=self.histograms, most=most)

    def _chosen(self, found: NDArray[np.int64]) -> list[int]:
        import numpy as np

        ranks = np.zeros(found.size + 1, dtype=np.int64)
        np.cumsum(found, out=ranks[1:])
        ranks *= self.parts  # from here on in masses of 1 / K: 59 bits
        answers = {}
        todo: list[tuple[QuantileNode | None, int, int]] = [(self._root, 0, self.bins.size * self.parts)]
        while todo:
            node, low, high = todo.pop()
            if node is None:
                continue
            if node.last:
                answers[node.share] = self._cell(node, low, high, found, ranks)
                continue
            cut = self._cut(node, low, high, found, ranks)
            answers[node.share] = min(cut // self.parts, self.bins.size - 1)
            todo += [(node.left, low, cut), (node.right, cut, high)]
        return [answers[q] for q in self.qs]

    def _cut(self, node: QuantileNode, low: int, high: int, counts: NDArray[np.int64], ranks: NDArray[np.int64]) -> int:
        """The cut that is chosen between two earlier ones."""
        import numpy as np

        if low == high:
            return low
        first, end = low // self.parts, -(-high // self.parts)  # the cells that lie between, whole or in part
        inside = np.empty((end - first) * self.parts + 1, dtype=np.int64)
        table = inside[:-1].reshape(-1, self.parts)
        np.multiply.outer(counts[first:end], np.arange(self.parts), out=table)
        table += ranks[first:end, None]
        inside[-1] = ranks[end]
        inside = inside[low - first * self.parts : high - first * self.parts + 1]
        inside -= inside[0]
        return low + self._pick(node, inside, inside)

    def _cell(self, node: QuantileNode, low: int, high: int, counts: NDArray[np.int64], ranks: NDArray[np.int64]) -> int:
        """Which cell to choose between two cuts; of the first and the last only what lies between them counts."""
        first, last = low // self.parts, (high - 1) // self.parts
        if last <= first:
            return min(first, self.bins.size - 1)
        edges = ranks[first : last + 2].copy()
        edges[0] += (low - first * self.parts) * counts[first]
        edges[-1] -= ((last + 1) * self.parts - high) * counts[last]
        edges -= edges[0]
        return first + self._pick(node, edges[:-1], edges[1:])

    def _pick(self, node: QuantileNode, lower: NDArray[np.int64], upper: NDArray[np.int64]) -> int:
        import numpy as np

        a, b, _ = self._scaled(node)
        off = distances(lower, upper, a=a, b=b, total=int(upper[-1]))
        return int(self._choice(node, off.size).release(np.negative(off, out=off)))

    # -- the plan ----------------------------------------------------------------------------------------------

    def _choice(self, node: QuantileNode, candidates: int) -> PermuteAndFlip | Exponential:
        budget = None if self.epsilon is None else self.epsilon * node.part
        square = None if self.rho is None else self.rho * node.part
        reach = self._scaled(node)[2] * self.parts * self.mass
        return chooser(budget, square, candidates=candidates, reach=reach, unit=self.unit)

    def _scaled(self, node: QuantileNode) -> tuple[int, int, int]:
        replaced, whole = self.unit.replacement is self.unit, node.first and self.histograms == 1
        a, b, reach = scaled(node.target, replaced=replaced and whole)
        return a, b, 2 * reach if replaced and not whole else reach

    @cached_property
    def _root(self) -> QuantileNode:
        return quantile_tree(sorted(set(self.qs)), power=1 if self.rho is None else 0.5)

    def neighbours(self) -> Iterator[tuple[list[Any], list[Any]]]:
        """Histograms of several shapes, and what one person makes of each."""
        replace = self.unit.replacement is self.unit
        return moves(self.bins.size, replace=replace, mass=self.mass, histograms=self.histograms)
