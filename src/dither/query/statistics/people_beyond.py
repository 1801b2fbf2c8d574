"""How many people have more than is counted of them: a histogram of contributions, on a ladder of limits.

Where the limits of a person are not hard, an answer is about what was counted. This tells how much that may leave out:
people are sorted by how many times their limit they have (up to 4 times, 16 times, ...), and how many there are of each kind
is released with noise, at a small share of the price. `Weights` and `ClipSum` limit the number of rows n; `Clip` limits the
length of the vector of rows in each group, so that there the kind is by sum n_g^2, in squares of the ladder.

Theorem. One number a person decides her one kind, so that a person who comes or goes moves one count by 1 (L1 = L2 = 1),
and one who is replaced moves two (L1 = 2, L2^2 = 2). The number is of her own rows that meet the condition and are in
declared groups, and of nothing else.

The number of people beyond is the sum of the counts. What is left out is an *estimate* and not a bound: rows of people of a
kind are taken as 8/5 of its lower end, as those of heavy tails are about, in kinds whose count is far above the noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, ClassVar, NamedTuple

from dither.mechanisms.additive.gaussian import Gaussian
from dither.mechanisms.additive.geometric import Geometric
from dither.numeric.number import Number
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import CounterSet
from dither.query.counters.estimators import Columns
from dither.query.counters.intervals import sum_error
from dither.query.plan.expressions import Constant
from dither.query.plan.question import Group, Question
from dither.query.plan.spelling import spell
from dither.query.statistics.bounding import Bounding, Clip, ClipSum, Weights
from dither.query.statistics.counter_release import CounterRelease
from dither.query.statistics.limits import HardLimits
from dither.query.statistics.statement import Statement
from dither.query.statistics.statistic import Counts, Statistic, counted

KINDS = 5  # of people beyond their limits
RATIO = 4  # from one kind to the next
ENOUGH = 10**5  # epsilon or rho, with which there is no noise; much more could not be drawn
SHARE = {True: Fraction(1, 10), False: Fraction(1, 20)}  # of an epsilon, or of a rho


@dataclass(frozen=True)
class PeopleByRows(Bounding):
    """No bound: each person is counted once, by how many rows she has."""

    way: ClassVar[str] = "people by rows"
    words = "everybody once, by how many rows she has"

    of: Question | None = None  # whose rows they are
    edges: tuple[int, ...] = ()  # the least that is beyond the first kind, the second, ...
    squared: bool = False  # whether it is the squares of rows in each group that add up

    def alone(self, family: CounterSet) -> int:
        """One person is one count."""
        return 1

    def loses_nothing(self, hard: HardLimits) -> bool:
        """Nobody is left out."""
        return True


class Beyond(NamedTuple):
    """People beyond the limits: how many, between which, and an estimate of the rows that are left out."""

    people: int
    low: int
    high: int
    rows: int | None  # None where people are sorted by the length of their vectors, which tells little of rows


@dataclass(frozen=True)
class PeopleBeyond(Statistic):
    """How many people have more than is counted of them, by how much."""

    code: ClassVar[str] = "people_beyond"

    most: int  # rows of a person that count in full
    mechanism: Geometric | Gaussian
    confidence: Fraction

    @classmethod
    def make(
        cls, question: Question, bounding: Bounding, amount: Number | Fraction, *, pure: bool, confidence: Fraction
    ) -> PeopleBeyond:
        """The histogram at its price, beyond the limits of a bound."""
        squared = isinstance(bounding, Clip)
        first, ratio = (bounding.limits.squares, RATIO**2) if squared else (bounding.most, RATIO)
        edges = tuple(first * ratio**place for place in range(KINDS))
        kind = PeopleByRows(1, 1, 1, bounding.unit, "", of=question, edges=edges, squared=squared, complete=True)
        factor = 1 if bounding.unit is Unit.ADD_REMOVE else 2
        if amount > ENOUGH:
            amount = Fraction(ENOUGH)
        mechanism: Geometric | Gaussian
        if pure:
            mechanism = Geometric(epsilon=amount, sensitivity=factor, unit=bounding.unit)
        else:
            mechanism = Gaussian(rho=amount, l2_squared=factor, integers=True, unit=bounding.unit)
        group = Group("kind", Constant(Fraction(0)), tuple(range(1, KINDS + 1)))
        return cls(counted(question, (group,)), kind, bounding.most, mechanism, confidence)

    @property
    def guarantee(self) -> Guarantee:
        """That of its noise."""
        return self.mechanism.guarantee

    def loss(self) -> Loss:
        """That of its noise."""
        return self.mechanism.loss()

    def spelled(self) -> dict[str, object]:
        """The ladder and the noise."""
        assert isinstance(self.bounding, PeopleByRows)
        return {"edges": list(self.bounding.edges), "squared": self.bounding.squared, "noise": spell(self.mechanism)}

    def noisy(self, counts: Counts) -> list[int]:
        """How many people there are of each kind, with noise."""
        (people,) = counts
        drawn = self.mechanism.law.sample(len(people)).tolist()
        return [int(count) + noise for count, noise in zip(people, drawn, strict=True)]

    def read(self, released: Any, place: int) -> Columns:
        """The number of people beyond the limits."""
        found = self.beyond(released)
        return [found.people], [found.low], [found.high]

    def beyond(self, released: list[int]) -> Beyond:
        """How many people there are beyond the limits, and about how many rows of theirs are left out."""
        half = ceil(self.error(0, self.confidence))
        people = sum(released)
        level = 1 - (1 - self.confidence) / KINDS
        clear = sum_error(self.mechanism, [Fraction(1)], level)
        assert isinstance(self.bounding, PeopleByRows)
        more = [self.most * (Fraction(8, 5) * RATIO**place - 1) for place in range(KINDS)]
        rows = sum(int(count * rows) for count, rows in zip(released, more, strict=True) if count > 2 * clear)
        known = None if self.bounding.squared else rows
        return Beyond(max(0, people), max(0, people - half), max(0, people + half), known)

    def error(self, place: int, confidence: Fraction) -> float:
        """How far the number of people may be off."""
        return sum_error(self.mechanism, [Fraction(1)] * KINDS, confidence)

    def told(self, place: int) -> str:
        """The half-width."""
        return f"{self.error(place, self.confidence):,.4g}"

    @property
    def noise(self) -> str:
        """Of which kind it is."""
        return "geometric" if isinstance(self.mechanism, Geometric) else "Gaussian"


def leaves_out(statistics: Sequence[Statistic]) -> CounterRelease | None:
    """The counters of which rows may be left out, if any: of those, people beyond the limits are counted."""
    scaled = (one for one in statistics if isinstance(one, CounterRelease))
    for one in (one for one in scaled if isinstance(one.bounding, (Weights, Clip, ClipSum))):
        if any(one.statement(place) is Statement.AT_LEAST for place in range(len(one.estimators))):
            return one
    return None
