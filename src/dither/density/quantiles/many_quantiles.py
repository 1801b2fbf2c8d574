"""Many quantiles at once: the middle one first, then those on either side of it among the people there. For deciles,
percentiles, box plots.

Theorem. Choose the middle share by the score of `Quantile` with a part of epsilon, cut the line there, and go on with the
shares below among the people below and with those above among the people above, on each side with what is left of epsilon.
That is epsilon-DP when a person comes or goes; with exponential mechanisms of range E_v and parts rho_v = E_v^2 / 8 it is
rho-zCDP. When a person is replaced the same holds with twice the noise, but for the first choice (below).

    q       a share that is wanted, between q_lo and q_hi, which were cut before (0 and 1 at the ends)
    t       (q - q_lo) / (q_hi - q_lo): where it lies among the people between the two cuts
    M       how many they are: private, it moves with them        R(u)    how many of them lie below a cut u
    K       parts of a cell: cuts fall on its edges and between its parts, so one value that many people share can be cut

A person is spread evenly over the K parts of her cell, in fact and not by chance: with c people in a cell the cut after s
of its parts has s c / K people of that cell below it. So a person has a mass w in an interval, 1 in the whole line, and a
cut divides it: w = w_left + w_right.

Proof. The score of a cut is -|R - t M|. A person of mass w in the interval moves M by w and R by between 0 and w, so
R - t M by between -t w and (1 - t) w, the score by at most w max(t, 1 - t): w times the sensitivity that is provided for. A
choice costs in proportion to what scores move by (`quantiles/rank_scores.py`): w epsilon_v, or w^2 rho_v. By induction
from the last choices up, an interval with budget B costs at most w B: the choice has w B_v, and given it the two sides are
independent, with w_left (B - B_v) + w_right (B - B_v) = w (B - B_v). For rho likewise, as w_left^2 + w_right^2 <= w^2.

Replaced: a person leaves and another comes, with masses w and w', and scores move by at most (w + w') max(t, 1 - t). In the
same way an interval costs at most (w + w') B; or (w + w')^2 B, since (w + w')^2 is no less than the sum of its like on both
sides. That is 2 and 4 in the whole line, which twice the noise pays for. In the first choice both have mass 1 and R - t M
moves by at most 1: there `Quantile` has the exact price, no more than its part. Where the old or the new value is in no cell
its mass is 0 everywhere, which is less; in the first choice R - t M then moves by at most max(t, 1 - t), no more than 1.

Where no choice follows nothing is cut, and a *cell* is chosen by its distance, of which the same holds: the ranks of its
two edges move like R. For t = 0 and t = 1 scores move in one direction, by at most w: half as much.

Error. The rank that is aimed at lies between those of the two cuts, in proportion, so it is off by no more than the worse of
them, and the choice adds what it falls short of the best. Where something is cut, the best cut may miss by half a part of a
cell: 1 / (2K) of the people in the fullest cell, once for each level but the last. Data tells how much that is, so `error`
leaves it out; it is nothing for cells that hold few people. `shares` adds it for a cell that holds everybody.

Kaplan, Schnapp and Stemmer 2022, for distinct values; the parts are ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, SupportsIndex

from attrs import frozen

from dither.density.histograms.axis import Bins, read_bins
from dither.density.histograms.counts import read_counts
from dither.density.quantiles.choice_order import QuantileNode, quantile_tree
from dither.density.quantiles.quantile import moves
from dither.density.quantiles.rank_scores import (
    FINEST_TOGETHER,
    chooser,
    distances,
    middle,
    read_people,
    read_share,
    scaled,
)
from dither.errors import DataError, NumberError, SizeError
from dither.mechanisms.combine import each_of
from dither.mechanisms.selection.exponential import Exponential
from dither.mechanisms.selection.permute_and_flip import PermuteAndFlip
from dither.numeric.balls import round_down, round_up
from dither.numeric.number import Number, NumberLike, integer
from dither.privacy.guarantee.definitions import pure, zcdp
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.records import read_price
from dither.privacy.unit import Unit, UnitLike, read_unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_CUTS = 2**20  # parts are made until there are so many of them: about 20 milliseconds a level
MOST_SHARES = 2**12
EXAMPLE = "['0.25', '0.5', '0.75']"


@frozen(kw_only=True, slots=False, init=False)
class Quantiles:
    """The values below which given shares of the people lie: pure epsilon, or zCDP."""

    bins: Bins  # the cells among which answers are chosen, known beforehand
    qs: tuple[Fraction, ...]  # the shares, in the order of the answers
    epsilon: Number | None  # the promise: either this
    rho: Fraction | None  # or this
    unit: Unit  # whose coming, going or replacement moves one count
    parts: int  # K: into how many parts a cell is divided

    def __init__(
        self,
        *,
        bins: object,
        qs: object,
        epsilon: NumberLike | None = None,
        rho: NumberLike | None = None,
        unit: UnitLike = Unit.ADD_REMOVE,
        parts: SupportsIndex | None = None,
    ) -> None:
        (budget, square), cells = read_price(epsilon, rho), read_bins(bins)
        pieces = max(1, MOST_CUTS // cells.size) if parts is None else integer(parts, name="parts", least=1)
        if pieces > 1 and pieces * cells.size > MOST_CUTS:
            raise SizeError("parts", parts, f"there are at most {MOST_CUTS} parts in all", f"{MOST_CUTS // cells.size or 1}")
        shares, whom = _read_shares(qs), read_unit(unit)
        self.__attrs_init__(bins=cells, qs=shares, epsilon=budget, rho=square, unit=whom, parts=pieces)
        for node in self._root.all():  # refuse noise that cannot be drawn, now and not at the first release
            self._choice(node, cells.size)

    @property
    def levels(self) -> int:
        """How many choices a person's mass takes part in: d."""
        return len(set(self.qs)).bit_length()

    @property
    def guarantee(self) -> Guarantee:
        """epsilon, pure; or rho-zCDP."""
        return pure(self.epsilon, unit=self.unit) if self.rho is None else zcdp(self.rho, unit=self.unit)

    def loss(self) -> Loss:
        """Of any release with this promise; refused for zCDP, of which only a curve is known."""
        return self.guarantee.loss()

    # -- error -------------------------------------------------------------------------------------------------

    def error(self, confidence: NumberLike) -> float:
        """How many people the ranks of any answer may be off, all of them together; but for what parts of cells cost."""
        level = each_of(confidence, len(set(self.qs)))

        def off(node: QuantileNode | None, low: Fraction, high: Fraction) -> Fraction:
            if node is None:
                return Fraction(0)
            size = self.bins.size if node.last else self.bins.size * self.parts + 1
            units = self._scaled(node)[1] * self.parts  # of score, for one person
            here = max(low, high) + Fraction(self._choice(node, size).error(level)) / units
            return max(here, off(node.left, low, here), off(node.right, here, high))

        return round_up(off(self._root, Fraction(0), Fraction(0))) + 0.0  # never -0.0

    def shares(self, people: object, confidence: NumberLike = "0.95") -> list[tuple[float, float]]:
        """Each answer's cell holds a true quantile between these two: all together, for so many people or more.

        People who are in some cell. How many they are is public where one is replaced and no value is missing; otherwise
        take a number that is surely not above it, or a released one. What parts of cells cost is in it, for any data: half
        a part on every level but the last, and a cell may hold everybody.
        """
        off = Fraction(self.error(confidence)) / read_people(people) + Fraction(self.levels - 1, 2 * self.parts)
        return [(round_down(max(Fraction(0), q - off)), round_up(min(Fraction(1), q + off))) for q in self.qs]

    def shortfall(self, counts: object, output: list[float]) -> Fraction:
        """How many people the worst answer is off, less what parts of cells may cost. Not to be published."""
        import numpy as np

        found = read_counts(counts, cells=self.bins.size)
        ranks = [0, *np.cumsum(found).tolist()]
        wanted = [q * ranks[-1] for q in self.qs]
        cells = self.bins.place(np.array(output)).tolist()
        off: list[Fraction] = [max(ranks[j] - w, w - ranks[j + 1]) for j, w in zip(cells, wanted, strict=True)]
        floor = Fraction((self.levels - 1) * int(found.max()), 2 * self.parts)
        return max(Fraction(0), max(off) - floor)

    # -- release -----------------------------------------------------------------------------------------------

    def release(self, counts: object) -> list[float]:
        """The middles of cells, in the order of the shares, from a histogram: `bins.count(values)`."""
        import numpy as np

        found = read_counts(counts, cells=self.bins.size)
        ranks = np.zeros(found.size + 1, dtype=np.int64)
        np.cumsum(found, out=ranks[1:])
        ranks *= self.parts  # from here on in masses of 1 / K; at most 2^35 people a cell and 2^24 parts: 59 bits
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
        return [middle(self.bins, answers[q]) for q in self.qs]

    def _cut(self, node: QuantileNode, low: int, high: int, counts: NDArray[np.int64], ranks: NDArray[np.int64]) -> int:
        """Where to cut between two cuts."""
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
        chosen: int = self._choice(node, off.size).release(np.negative(off, out=off))
        return chosen

    # -- the plan ----------------------------------------------------------------------------------------------

    def _choice(self, node: QuantileNode, candidates: int) -> PermuteAndFlip | Exponential:
        budget = None if self.epsilon is None else self.epsilon * node.part
        square = None if self.rho is None else self.rho * node.part
        _, _, reach = self._scaled(node)
        return chooser(budget, square, candidates=candidates, reach=reach * self.parts, unit=self.unit)

    def _scaled(self, node: QuantileNode) -> tuple[int, int, int]:
        replaced = self.unit.replacement is self.unit
        a, b, reach = scaled(node.target, replaced=replaced and node.first)
        return a, b, 2 * reach if replaced and not node.first else reach

    @cached_property
    def _root(self) -> QuantileNode:
        return quantile_tree(sorted(set(self.qs)), power=1 if self.rho is None else 0.5)

    def neighbours(self) -> Iterator[tuple[list[int], list[int]]]:
        """Histograms of several shapes, and what one person makes of each."""
        return moves(self.bins.size, replace=self.unit.replacement is self.unit)


def _read_shares(value: object) -> tuple[Fraction, ...]:
    plain = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(plain, (list, tuple)):
        raise DataError("qs", value, "it lists shares of the people", EXAMPLE)
    if not 0 < len(plain) <= MOST_SHARES:
        raise SizeError("qs", len(plain), f"there are 1 to {MOST_SHARES} of them", EXAMPLE)
    shares = tuple(read_share(q, name=f"qs[{at}]") for at, q in enumerate(plain))
    if math.lcm(*(q.denominator for q in shares)) > FINEST_TOGETHER:
        why = "their common denominator exceeds a thousand million"
        raise NumberError("qs", plain[:3], why, f"fewer decimals, such as {EXAMPLE}")
    return shares
