"""Quantiles, and values near the least and the largest: rows are counted in cells of a line, and cells are chosen by rank.

Theorem. All quantiles of one expression, in all groups of a question, cost the part's epsilon (or rho) together.

Proof. A row of a person weighs w of K units, and all her rows in all groups together at most C K
(`engines/templates/totals.py`, `weights`): those without a value are dropped before, and so a person moves the counts of
all groups and cells by at most C K, in whole units; where each row is a person, by 1. That is the `mass` for which
`QuantileInterval`, `QuantileBand` and `Quantiles` are made, and their proofs are about several histograms side by side.
Which of them release the shares is chosen from public facts (`choose_quantiles.py`); budgets add up to the part's. Of it the
ends of intervals have the share that the quote states, unless values and ends are read off one distribution.

What is stored are cells: whole numbers. The rest is made of them: the value of a cell is the lattice value in its middle,
ends are the first and the last lattice value of a cell, and values of larger shares are moved up if they came out lower.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dither.density.histograms.axis import Bins
from dither.density.quantiles.many_quantiles import Quantiles
from dither.density.quantiles.quantile_band import QuantileBand
from dither.density.quantiles.quantile_interval import MOST_COUNTS, QuantileInterval
from dither.density.quantiles.rank_scores import ENDS
from dither.errors import QuestionError
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss, sum_of
from dither.query.counters.counter_sets import Request
from dither.query.counters.estimators import Columns, Range
from dither.query.plan.aggregates import Quantile
from dither.query.plan.counters import AboveCounter
from dither.query.plan.describe import words
from dither.query.plan.expression_parts import may_be_changed
from dither.query.plan.expressions import Bucket
from dither.query.plan.lattice import step_of
from dither.query.plan.question import Question
from dither.query.plan.spelling import spell
from dither.query.plan.text import rounded
from dither.query.policy.column import Type
from dither.query.statistics.choose_bounding import weights_in_units
from dither.query.statistics.choose_quantiles import QuantileFacts, QuantileMechanism, choose_quantiles, chosen_cells
from dither.query.statistics.statement import Statement, statement_of
from dither.query.statistics.statistic import Counts, Price, RequestedStatistic, counted_by

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_CELLS = 2**12  # of a group
FEWEST_CELLS = 2**6
ALL_CELLS = 2**20  # of all groups together, which an engine may return
WIDEST = 2**62  # steps: whole numbers beyond do not fit into 64 bits


@dataclass(frozen=True)
class QuantileStatistic(RequestedStatistic):
    """Cells of values, chosen by their rank in each group."""

    code: ClassVar[str] = "quantiles"
    most_unknown: ClassVar[int | None] = 2**10  # as many cells are left to each

    mechanisms: tuple[QuantileMechanism, ...]  # one for several shares, or one for each
    shares: tuple[Fraction, ...]  # from small to large
    places: tuple[int, ...]  # of each column: which of the shares
    confidence: Fraction

    @classmethod
    def make(cls, request: Request, question: Question, price: Price) -> Self:
        """The statistic at its price."""
        bounding = weights_in_units(question, price.cells, price.unit)
        bucket = _bucket(request, price.cells)
        asked = [aggregate.share for aggregate in request.aggregates if isinstance(aggregate, Quantile)]
        shares = sorted(set(asked))
        mass = bounding.most * bounding.resolution
        mechanisms = _mechanisms(tuple(shares), bucket.size, mass, price, repr(price.amount))
        places = tuple(shares.index(share) for share in asked)
        counted = counted_by(question, bucket, tuple(range(bucket.size)))
        return cls(counted, bounding, mechanisms, tuple(shares), places, price.confidence)

    @property
    def guarantee(self) -> Guarantee:
        """Of all shares together."""
        first, *others = (mechanism.guarantee for mechanism in self.mechanisms)
        return sum(others, start=first)

    def loss(self) -> Loss:
        """Of all shares together."""
        return sum_of(mechanism.loss() for mechanism in self.mechanisms)

    def spelled(self) -> dict[str, object]:
        """The mechanisms."""
        return {"noise": [spell(mechanism) for mechanism in self.mechanisms]}

    @property
    def packed(self) -> int:
        """As many as a mechanism takes."""
        return MOST_COUNTS // self._bucket.size

    def noisy(self, counts: Counts | NDArray[np.int64]) -> list[list[list[int]]]:
        """For each share, for each group: the cell of the value, and those of the ends."""
        import numpy as np

        table = np.asarray(counts, dtype=np.int64)
        found = {q: cells for mechanism in self.mechanisms for q, cells in chosen_cells(mechanism, table).items()}
        return [found[q] for q in self.shares]

    def read(self, released: Any, place: int) -> Columns:
        """Values rise with their shares; an interval that does not hold its value by then is widened."""
        at, values, lows, highs = self.places[place], [], [], []
        for group in range(len(released[0])):
            chosen = sorted(cells[group][0] for cells in released)[at]
            _, low, high = released[at][group]
            first, last = self._steps(chosen)
            values.append(self._value((first + last) // 2))
            lows.append(self._value(self._steps(min(low, chosen))[0]))
            highs.append(self._value(self._steps(max(high, chosen))[1]))
        return values, lows, highs

    @cached_property
    def _bucket(self) -> Bucket:
        bucket = self.question.groups[-1].by
        assert isinstance(bucket, Bucket)
        return bucket

    def _steps(self, cell: int) -> tuple[int, int]:
        """The first and the last step of a cell, from the lower bound."""
        width = self._bucket.width
        return cell * width, min((cell + 1) * width - 1, self._last)

    @cached_property
    def _last(self) -> int:
        """The last step."""
        return AboveCounter(self._bucket.of, self._bucket.step).high

    def _value(self, step: int) -> int | float:
        lower, upper = self._ends
        value = min(upper, lower + step * self._bucket.step)
        return int(value) if value.denominator == 1 and self._is_whole else float(value)

    @cached_property
    def _ends(self) -> tuple[Fraction, Fraction]:
        facts = self._bucket.of.facts
        assert facts.lower is not None
        assert facts.upper is not None
        return facts.lower, facts.upper

    @property
    def has_two_values(self) -> bool:
        """Whether there are no values but the bounds: an interval is one of them, or both."""
        return self._last == 1

    def value_range(self, place: int) -> Range:
        """The bounds of the values."""
        return self._ends

    def type(self, place: int) -> Type:
        """Whole where all that a cell can stand for are whole numbers."""
        return Type.INTEGER if self._is_whole else Type.FLOAT

    @cached_property
    def _is_whole(self) -> bool:
        return all(number.denominator == 1 and abs(number) < WIDEST for number in (*self._ends, self._bucket.step))

    def error(self, place: int, confidence: Fraction) -> None:
        """How far off a value is depends on how dense the rows are there."""
        return

    def told(self, place: int) -> str:
        """How far in the order of rows, which is known beforehand."""
        share, mechanism = self._of(place)
        if isinstance(mechanism, Quantiles):
            return self._without_ends(Fraction(mechanism.error(self.confidence)))
        if isinstance(mechanism, QuantileBand):
            paid = "read off what values are" if mechanism.ends == 1 else f"which have {mechanism.ends} of the price"
            rows = f"about {self._rows(mechanism.offset(share))} on either side, in the order of values"
            return f"{rows}; the answer's low and high, {paid}, say which values these are"
        if not self.has_interval(place):
            return self._without_ends(mechanism.value_error)
        rows = self._rows(mechanism.offset)
        if share in (0, 1):
            end, beyond = ("least", "below") if share == 0 else ("largest", "above")
            return (
                f"not the {end} value, which is somebody's: a value with about {rows} {beyond} it, where there are as many"
            )
        paid = "" if mechanism.ends == ENDS else f", which have {mechanism.ends} of the price,"
        ends = f"the answer's low and high{paid} say which values these are"
        return f"about {rows} on either side, in the order of values; {ends}"

    def _without_ends(self, off: Fraction) -> str:
        order = f"about {self._rows(off)} from its place in the order of values"
        return f"{order}; the whole price goes to it, and none to an interval"

    def _rows(self, units: Fraction | float) -> str:
        return f"{rounded(float(units / self.bounding.resolution))} rows' worth"

    def _of(self, place: int) -> tuple[Fraction, QuantileMechanism]:
        """The share of a column, and what releases it."""
        share = self.shares[self.places[place]]
        for mechanism in self.mechanisms:
            if share in ((mechanism.q,) if isinstance(mechanism, QuantileInterval) else mechanism.qs):
                return share, mechanism
        raise AssertionError("each share has its mechanism")

    def has_interval(self, place: int) -> bool:
        """Unless nothing of the price goes to its ends; the one end of an extreme is its value."""
        share, mechanism = self._of(place)
        return share in (0, 1) or (not isinstance(mechanism, Quantiles) and mechanism.ends > 0)

    def at(self, confidence: Fraction) -> QuantileStatistic | None:
        """The ends were released, at their own confidence."""
        return self if confidence == self.confidence else None

    def statement(self, place: int) -> Statement:
        """Of all rows, of clamped values, or of counted rows."""
        table = self.question.table
        clamped = table.clamps_values or may_be_changed(self._bucket.of, table)
        return statement_of(complete=self.complete, clamped=clamped, sums=False)

    def clamped(self, place: int) -> str:
        """Bounds and cells."""
        lower, upper = self._ends
        bucket = self._bucket
        return f"each value to {lower} to {upper}, in {bucket.size:,} cells of {float(bucket.width * bucket.step):.6g}"

    @property
    def noise(self) -> str:
        """How cells are chosen."""
        pure = self.mechanisms[0].rho is None
        choice = "permute-and-flip" if pure else "exponential mechanism"
        if not isinstance(self.mechanisms[0], QuantileBand):
            return choice
        tree = f"{'geometric' if pure else 'Gaussian'} noise in a tree of counts"
        return tree if self.mechanisms[0].ends == 1 and len(self.mechanisms) == 1 else f"{tree} and {choice}"


@lru_cache(maxsize=256)
def _mechanisms(
    shares: tuple[Fraction, ...], size: int, mass: int, price: Price, spelled: str
) -> tuple[QuantileMechanism, ...]:
    """The mechanisms for shares among so many cells: whatever is asked of which rows, they are the same. They hold the
    amount as it was `spelled`, since a question is stored with it: ln(9) is 2 ln(3), and another text."""
    return choose_quantiles(shares, QuantileFacts(Bins.even(0, size, size), mass, price))


def _bucket(request: Request, groups: int) -> Bucket:
    """As many cells as the expression has steps, or as many as fit."""
    step = step_of(request.of)
    steps = AboveCounter(request.of, step).high + 1
    if steps > WIDEST:
        why = "its bounds are too many steps apart for 64 bits"
        raise QuestionError("SELECT", words(request.of), why, "narrower bounds, or another step, which the owner states")
    most = min(MOST_CELLS, ALL_CELLS // groups)
    if most < FEWEST_CELLS:
        why = f"quantiles are answered for at most {ALL_CELLS // FEWEST_CELLS:,} groups at once, and there are {groups:,}"
        raise QuestionError("GROUP BY", words(request.of), why, "fewer columns in GROUP BY")
    width = -(-steps // most)
    return Bucket(request.of, step, width, -(-steps // width))
