"""One quantile: a cell of a line whose ranks are near the wanted one. For a median, a percentile, or an extreme.

Theorem. Let the score of a cell be minus its distance from rank q n (`quantiles/rank_scores.py`). One person moves every
score by at most D = max(q, 1 - q) when she comes or goes, and by at most D = 1 when she is replaced. So permute-and-flip
with these scores is epsilon-DP, and the exponential mechanism with range E is (E^2 / 8)-zCDP.

    q     the wanted share of the people, a/b       n      how many people there are: private, it moves with them
    C     people below a cell                       C'     people below or in it

Proof. The distance is max(C - q n, q n - C', 0). A person who comes adds 1 to n, and 1 or 0 to each of C and C': so C - q
n moves by 1 - q or by -q, as does C' - q n; neither moves by more than max(q, 1 - q), nor does the largest of the three. One
who is replaced leaves n as it is, and moves C and C' by at most 1; and where her old or her new value is in no cell, that is
the same as coming or going: a move of at most max(q, 1 - q) <= 1. Scores are multiplied by b: whole numbers, moved by at
most max(a, b - a), or b. For q = 0 the score is -C and for q = 1 it is -(n - C'), which one person moves in one direction:
the extremes cost half (`rank_scores.scaled`); all others move both ways. The rest is proved in
`mechanisms/selection/permute_and_flip.py` and `mechanisms/selection/exponential.py`.

What comes out is the middle of the chosen cell: a function of the choice. Empty cells of a gap are as good as each other,
and a wide gap holds many of them: an answer falls somewhere in the gap, where any value is a quantile.

Error. Some cell has distance 0, so the distance of the chosen one is what a choice falls short of the best: the rank q n
lies no more than `error` people from the ranks of the cell. How far off that is in *value* depends on the data and on the
width of the cell, so nobody knows it beforehand.

Smith 2011; McKenna and Sheldon 2020 for the choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any

from attrs import evolve, field, frozen

from dither.arguments import argument_errors
from dither.density.histograms.axis import Bins, read_bins
from dither.density.histograms.columns import CountsLike
from dither.density.histograms.counts import read_counts
from dither.density.quantiles.rank_scores import chooser, distances, middle, read_people, read_share, scaled
from dither.mechanisms.additive.calibration import read_half_width
from dither.mechanisms.selection.exponential import Exponential
from dither.mechanisms.selection.permute_and_flip import PermuteAndFlip
from dither.numeric.balls import round_down, round_up
from dither.numeric.number import Number, NumberLike
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.records import check_price, read_epsilon_if_any, read_rho_if_any
from dither.privacy.unit import Unit, UnitLike, read_unit


@argument_errors
@frozen(kw_only=True, slots=False)
class Quantile:
    """The value below which a share q of the people lie: pure epsilon, or of bounded range for a rho.

    Args:
        bins: the cells among which one is chosen, known beforehand.
        q: the share of the people below: 0 for the least, 1/2 for the median, 1 for the largest.
        epsilon: the promise, pure; either this or `rho`.
        rho: the promise in zCDP; either this or `epsilon`.
        unit: whose coming, going or replacement moves one count; one person who comes or goes unless said.

    Raises:
        DataError: `bins` that are none.
        NumberError: a `q` beyond 0 and 1 or finer than a millionth, both or neither of `epsilon` and `rho`, one that is not
            positive, or noise that is not drawn.
        UnitError: a unit that is not known.

    Example:
        >>> from dither.density import Bins, Quantile
        >>> median = Quantile(bins=Bins.even(0, 120, 24), q="0.5", epsilon=1)
        >>> median.error("0.95"), median.shares(1000)
        (5.0, (0.495, 0.505))
        >>> 0 < median.release(median.bins.count([30, 41, 52])) < 120
        True
    """

    bins: Bins = field(converter=read_bins)
    q: Fraction = field(converter=read_share)
    epsilon: Number | None = field(default=None, converter=read_epsilon_if_any)
    rho: Fraction | None = field(default=None, converter=read_rho_if_any)
    unit: Unit = field(default=Unit.ADD_REMOVE, converter=read_unit)
    __repr__ = short_repr

    def __attrs_post_init__(self) -> None:
        check_price(self.epsilon, self.rho)
        _ = self._choice  # refuses noise that cannot be drawn, now and not at the first release

    @classmethod
    def for_error(
        cls, half_width: NumberLike, confidence: NumberLike, *, bins: Bins, q: NumberLike, unit: UnitLike = Unit.ADD_REMOVE
    ) -> Quantile:
        """The quantile with the least epsilon whose ranks are off by at most `half_width` people, at this `confidence`.

        The other arguments are those of the class: `bins`, `q` and `unit`.
        """
        model = cls(bins=bins, q=q, epsilon=1, unit=unit)
        choice = PermuteAndFlip.for_error(
            read_half_width(half_width) * model._scaled[1],
            confidence,
            sensitivity=model._choice.sensitivity,
            candidates=model.bins.size,
            integers=True,
            unit=model.unit,
        )
        return evolve(model, epsilon=choice.epsilon)

    @cached_property
    def _choice(self) -> PermuteAndFlip | Exponential:
        _, _, reach = self._scaled
        return chooser(self.epsilon, self.rho, candidates=self.bins.size, reach=reach, unit=self.unit)

    @cached_property
    def _scaled(self) -> tuple[int, int, int]:
        return scaled(self.q, replaced=self.unit.replacement is self.unit)

    @property
    def guarantee(self) -> Guarantee:
        """epsilon, pure; or of bounded range, with at most this rho."""
        return self._choice.guarantee

    def loss(self) -> Loss:
        """The privacy loss of one release: a dominating pair."""
        return self._choice.loss()

    # -- error -------------------------------------------------------------------------------------------------

    def error(self, confidence: NumberLike) -> float:
        """How many people the ranks of the answer's cell may be off, at this `confidence`, for any number of people."""
        return round_up(Fraction(self._choice.error(confidence)) / self._scaled[1]) + 0.0  # never -0.0

    def shares(self, people: NumberLike, confidence: NumberLike = "0.95") -> tuple[float, float]:
        """The answer's cell holds a true quantile between these two, with probability `confidence`, for `people` or more.

        People who are in some cell. How many they are is public where one is replaced and no value is missing; otherwise
        take a number that is surely not above it, or a released one.
        """
        off = Fraction(self.error(confidence)) / read_people(people)
        return round_down(max(Fraction(0), self.q - off)), round_up(min(Fraction(1), self.q + off))

    def shortfall(self, counts: CountsLike, output: float) -> Fraction:
        """How many people of `counts` the ranks of an `output`'s cell are off. Not to be published."""
        import numpy as np

        found = read_counts(counts, cells=self.bins.size)
        cell = int(self.bins.place(np.array([output]))[0])
        wanted = self.q * int(found.sum())
        return max(int(found[:cell].sum()) - wanted, wanted - int(found[: cell + 1].sum()), Fraction(0))

    # -- release -----------------------------------------------------------------------------------------------

    def release(self, counts: CountsLike) -> float:
        """The middle of a cell, from `counts`: a histogram with one for each cell, such as `bins.count(values)`."""
        import numpy as np

        found = read_counts(counts, cells=self.bins.size)
        upper = np.cumsum(found)
        np.subtract(upper, found, out=found)  # people below each cell
        a, b, _ = self._scaled
        off = distances(found, upper, a=a, b=b, total=int(upper[-1]))
        return middle(self.bins, self._choice.release(np.negative(off, out=off)))

    def neighbours(self) -> Iterator[tuple[list[int], list[int]]]:
        """Histograms of several shapes, and what one person makes of each."""
        return moves(self.bins.size, replace=self.unit.replacement is self.unit)


def moves(cells: int, *, replace: bool, mass: int = 1, histograms: int = 1) -> Iterator[tuple[list[Any], list[Any]]]:
    """Empty, equal, one-sided and huge histograms, each with one person more, and with one person moved; she counts `mass`.

    A replaced person can come from no cell or go to none, so one person more is a neighbour in both units. Several
    histograms are a list of them, and she is in any one.
    """

    def shaped(flat: list[int]) -> list[Any]:
        return flat if histograms == 1 else [flat[at : at + cells] for at in range(0, len(flat), cells)]

    size = cells * histograms
    places = sorted({*range(min(size, 4)), size // 2, size - 1})
    starts = [[0] * size, [1] * size, [3] + [0] * (size - 1), [0] * (size - 1) + [2], [10**12] * size]
    for start in starts:
        for at in places:
            more = [count + mass * (cell == at) for cell, count in enumerate(start)]
            yield shaped(start), shaped(more)
            if replace:
                moved = ([x + mass * (cell == other) for cell, x in enumerate(start)] for other in places if other < at)
                yield from ((shaped(more), shaped(there)) for there in moved)
