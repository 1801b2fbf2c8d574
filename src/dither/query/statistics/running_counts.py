"""SUM(COUNT(*)) OVER (ORDER BY key): how many rows there are up to each key, with far less noise than sums of noisy counts.

Rows are counted for each key, in each combination of the other groups. A person's rows weigh w = min(K, C K // n) units of
1/K (`engines/templates/totals.py`), so she has at most m = C K units in all cells of all combinations together.
`density.cdf` chooses a mechanism M for one line of cells, by the expected error of its running sums; each combination has
its own, independent M, at the price per unit.

    add/remove                      M at epsilon / m, or rho / m^2
    replace, one combination        M for a replaced unit, at the same
    replace, several combinations   M for a unit that comes or goes, at epsilon / 2m, or rho / (2m)^2

Theorem. All combinations together are epsilon-DP, or have the rho of Gaussian DP, for the person.

Proof. A unit that comes or goes moves one cell of one combination by one, and the others are not touched: so all of them
together keep what one M promises. From one data set to its neighbour there are m such steps where a person comes or goes.
One who is replaced takes up to m units away and brings up to m others. In one combination they are m replacements, of
which some only come or only go: M counts those among its neighbours. In several a unit may leave one combination and come
into another, which moves two; there it is a step for each, 2m in all. The rest is the privacy of groups, `Guarantee.group`:
epsilons add up, and so do the mus of Gaussian DP, whose square is 2 rho.

Gaussian noise in every cell has another way: a person's counts scaled down to length sqrt(groups) rows (`clip`), which is
less than C where she may be in several groups, and the L2 norm is all that this noise needs: rho / L^2 a unit for the
length L that `statistics/bounding.py` claims, as for any counts. Where the expected error of its sums is less, it is taken.

Cells hold up to 2^35 units, beyond which they are cut (2^25 rows at K = 2^10): a contraction. Error bars are those of all
sums of one combination together, each rounded outward to whole rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, inf, prod, sqrt
from typing import Any, ClassVar, Self

from dither.density.histograms.axis import Bins
from dither.density.histograms.choose import Plan as Chosen
from dither.density.histograms.choose import cdf, describe
from dither.density.histograms.histogram import Histogram
from dither.privacy.guarantee.definitions import gdp
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import CounterSet, Request
from dither.query.counters.estimators import Columns, Range
from dither.query.plan.counters import RowCounter
from dither.query.plan.question import Question
from dither.query.plan.spelling import spell
from dither.query.plan.text import rounded
from dither.query.statistics.bounding import Bounding, Clip, EachRow, Weights
from dither.query.statistics.limits import HardLimits, cells_of, hard_limits, limits_of
from dither.query.statistics.statement import Statement, statement_of
from dither.query.statistics.statistic import Counts, Price, RequestedStatistic, counted

RESOLUTION = 2**10  # units of a row
COMES = {Unit.REPLACE_ONE: Unit.ADD_REMOVE, Unit.REPLACE_ONE_ROW: Unit.ADD_REMOVE_ROW}


@dataclass(frozen=True)
class RunningCounts(RequestedStatistic):
    """How many rows there are up to each key."""

    code: ClassVar[str] = "running_counts"

    chosen: Chosen  # what releases the line of one combination
    place: int  # of the ordered key among the groups of the question
    confidence: Fraction

    @classmethod
    def make(cls, request: Request, question: Question, price: Price) -> Self:
        """The statistic at its price."""
        table = question.table
        place = next(at for at, group in enumerate(question.groups) if group.by == request.of)
        ordered, others = question.groups[place], (*question.groups[:place], *question.groups[place + 1 :])
        alone = table.person is None or table.alone
        limits = limits_of(table, price.cells, cells_of(question))
        reason, hard = "it keeps something of every row", hard_limits(table, price.cells)
        bounding: Bounding = EachRow.of(price.unit)
        if not alone:
            bounding = Weights(limits.groups, limits.rows, RESOLUTION, price.unit, reason, limits.most)
            bounding = replace(bounding, complete=bounding.loses_nothing(hard))
        cells = len(ordered.listed)
        unit, steps = price.unit, bounding.most * bounding.resolution
        if unit in COMES and prod(len(group.listed) for group in others) > 1:
            unit, steps = COMES[unit], 2 * steps
        each: dict[str, Any] = {"epsilon": price.amount / steps} if price.pure else {"rho": price.amount / steps**2}
        chosen = cdf(Bins.even(0, cells, cells), **each, unit=unit, known_loss=True)
        if not price.pure and not alone:
            bounding, chosen = _better(bounding, chosen, price, hard)
        return cls(counted(question, (*others, ordered)), bounding, chosen, place, price.confidence)

    @property
    def guarantee(self) -> Guarantee:
        """That of all units of a person together."""
        if isinstance(self.bounding, Clip):
            rho = self.chosen.mechanism.rho
            assert rho is not None
            return gdp(mu2=2 * rho * self.bounding.l2_squared(self.counters), unit=self.bounding.unit)
        return self.chosen.guarantee.group(self._most).to(self.bounding.unit)

    @property
    def _most(self) -> int:
        """Units of one person."""
        return self.bounding.most * self.bounding.resolution

    def loss(self) -> Loss:
        """That of any release with this promise."""
        return self.guarantee.loss()

    def spelled(self) -> dict[str, object]:
        """The mechanism of a line."""
        return {"noise": spell(self.chosen.mechanism)}

    def noisy(self, counts: Counts) -> list[list[float]]:
        """For each combination of the other groups, the mechanism's estimates of its cells, in units."""
        return [self.chosen.mechanism.release(row).tolist() for row in counts]

    def read(self, released: Any, place: int) -> Columns:
        """Whole rows, none below the one before; bars outward. In the order of the question's groups."""
        import numpy as np

        columns: Columns = ([], [], [])
        for line in released:
            middle, low, high = (part.tolist() for part in self.chosen.read(line, confidence=self.confidence).prefixes())
            lows = [floor(self._rows(end)) for end in low]
            highs = [max(least, ceil(self._rows(end))) for least, end in zip(lows, high, strict=True)]
            columns[0].extend(
                max(least, min(most, floor(self._rows(value) + Fraction(1, 2))))
                for value, least, most in zip(middle, lows, highs, strict=True)
            )
            columns[1].extend(lows)
            columns[2].extend(highs)
        sizes = [len(group.listed) for group in self.question.groups]
        order = np.moveaxis(np.arange(prod(sizes)).reshape(sizes), -1, self.place).ravel().tolist()
        return tuple([column[at] for at in order] for column in columns)  # type: ignore[return-value]

    def _rows(self, units: float) -> Fraction:
        return Fraction(units) / self.bounding.resolution

    def value_range(self, place: int) -> Range:
        """Numbers of rows."""
        return Fraction(0), inf

    def error(self, place: int, confidence: Fraction) -> float:
        """What all sums of one combination stay within together."""
        return self.chosen.error(confidence) / self.bounding.resolution

    def statement(self, place: int) -> Statement:
        """All, or at least."""
        return statement_of(complete=self.complete, clamped=self.question.table.clamps_values, sums=True)

    def told(self, place: int) -> str:
        """The half-width, and what is bounded."""
        together = "all sums together that run over one list of keys"
        return f"{rounded(self.error(place, self.confidence))}, {together}{self.bounding.short_words}"

    @property
    def noise(self) -> str:
        """The mechanism."""
        mechanism = self.chosen.mechanism
        return f"{'Gaussian' if mechanism.rho is not None else 'geometric'} noise, {describe(mechanism)},"


def _better(bounding: Bounding, chosen: Chosen, price: Price, hard: HardLimits) -> tuple[Bounding, Chosen]:
    """The same, or noise in every cell of people who are scaled down in length, where sums are expected to err less."""
    limits = bounding.groups, bounding.rows, bounding.resolution
    clip = Clip(*limits, bounding.unit, "it keeps something of every group", bounding.limit)
    clip = replace(clip, complete=clip.loses_nothing(hard))
    square = clip.l2_squared(CounterSet((RowCounter(),)))
    flat = Histogram(cells=chosen.axis.size, rho=price.amount / square, unit=COMES.get(price.unit, price.unit))
    name, expected = "noise in every cell, people scaled down", sqrt(flat.variance * (flat.cells + 1) / 2)
    if expected >= chosen.compared[describe(chosen.mechanism)]:
        return bounding, chosen
    return clip, replace(chosen, mechanism=flat, compared={name: expected, **chosen.compared})
