"""A histogram of people, each by one number of hers: her rows, her groups, what her values add up to, the largest of them.

Theorem. A person who comes or goes moves one count by 1 (L1 = L2 = 1), and one who is replaced moves two (L1 = 2, L2^2 = 2).

Proof. One number a person, of her own rows that meet the condition and are in declared groups, decides her one kind: how
many of the edges it is above. All others stay in theirs. Kind 0 is not told, so that it may also move nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dither.mechanisms.additive.gaussian import Gaussian
from dither.mechanisms.additive.geometric import Geometric
from dither.numeric.number import Number
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import CounterSet
from dither.query.plan.counters import Counter, RowCounter
from dither.query.plan.expressions import Constant
from dither.query.plan.question import Group, Question
from dither.query.plan.spelling import spell
from dither.query.statistics.bounding import Bounding
from dither.query.statistics.limits import HardLimits
from dither.query.statistics.statistic import Counts, Statistic, counted

ENOUGH = 10**5  # epsilon or rho, with which there is no noise; much more could not be drawn


@dataclass(frozen=True, kw_only=True)
class PeopleBySize(Bounding):
    """No bound: each person is counted once, by her size."""

    of: Question  # whose rows they are
    edges: tuple[int, ...]  # the least size that is beyond the first kind, the second, ...

    @property
    def families(self) -> tuple[CounterSet, ...]:
        """What is read of her rows."""
        return (CounterSet((RowCounter(),)),)

    def spelled(self) -> dict[str, object]:
        """Of what the size is: for the ledger."""
        return {}

    def alone(self, family: CounterSet) -> int:
        """One person is one count."""
        return 1

    def loses_nothing(self, hard: HardLimits) -> bool:
        """Nobody is left out."""
        return True


@dataclass(frozen=True, kw_only=True)
class PeopleByRows(PeopleBySize):
    """By how many rows they have."""

    way: ClassVar[str] = "people by rows"
    words = "everybody once, by how many rows she has"

    squared: bool = False  # whether it is the squares of rows in each group that add up

    def spelled(self) -> dict[str, object]:
        """Rows, or squares."""
        return {"of": "squares" if self.squared else "rows"}


@dataclass(frozen=True, kw_only=True)
class PeopleByGroups(PeopleBySize):
    """By how many groups they are in."""

    way: ClassVar[str] = "people by groups"
    words = "everybody once, by how many groups she is in"


@dataclass(frozen=True, kw_only=True)
class PeopleBySums(PeopleBySize):
    """By what the values of a column add up to, in absolute value."""

    way: ClassVar[str] = "people by sums"
    words = "everybody once, by what her values add up to"

    counter: Counter
    squared: bool = False  # whether it is the squares of sums in each group that add up

    @property
    def families(self) -> tuple[CounterSet, ...]:
        """Its values."""
        return (CounterSet((self.counter,)),)

    def spelled(self) -> dict[str, object]:
        """Of which values, and whether squared."""
        return {"of": spell(self.counter), **({"squared": True} if self.squared else {})}


@dataclass(frozen=True, kw_only=True)
class PeopleByValues(PeopleBySize):
    """By the largest value of a column, or by the largest of those taken negative."""

    way: ClassVar[str] = "people by values"
    words = "everybody once, by her largest value"

    counter: Counter
    negative: bool = False

    @property
    def families(self) -> tuple[CounterSet, ...]:
        """Its values."""
        return (CounterSet((self.counter,)),)

    def spelled(self) -> dict[str, object]:
        """Of which values, and on which side of zero."""
        return {"of": spell(self.counter), **({"negative": True} if self.negative else {})}


@dataclass(frozen=True)
class PeopleHistogram(Statistic):
    """How many people there are of each size, with noise."""

    mechanism: Geometric | Gaussian
    confidence: Fraction

    @staticmethod
    def noise_of(amount: Number | Fraction, unit: Unit, *, pure: bool) -> Geometric | Gaussian:
        """The noise of a price: epsilon where `pure`, otherwise rho."""
        factor = 1 if unit is Unit.ADD_REMOVE else 2
        if amount > ENOUGH:
            amount = Fraction(ENOUGH)
        if pure:
            return Geometric(epsilon=amount, sensitivity=factor, unit=unit)
        return Gaussian(rho=amount, l2_squared=factor, integers=True, unit=unit)

    @staticmethod
    def question_of(sizes: PeopleBySize) -> Question:
        """The question that counts people of each kind."""
        kinds = tuple(range(1, len(sizes.edges) + 1))
        return counted(sizes.of, (Group("kind", Constant(Fraction(0)), kinds),))

    @property
    def guarantee(self) -> Guarantee:
        """That of its noise."""
        return self.mechanism.guarantee

    def loss(self) -> Loss:
        """That of its noise; where two people's counts move, that of any epsilon-DP."""
        if isinstance(self.mechanism, Geometric) and self.mechanism.unit is not Unit.ADD_REMOVE:
            return self.mechanism.guarantee.loss()
        return self.mechanism.loss()

    def noisy(self, counts: Counts) -> list[int]:
        """How many people there are of each kind, with noise."""
        (people,) = counts
        drawn = self.mechanism.law.sample(len(people)).tolist()
        return [int(count) + noise for count, noise in zip(people, drawn, strict=True)]

    @property
    def noise(self) -> str:
        """Of which kind it is."""
        return "geometric" if isinstance(self.mechanism, Geometric) else "Gaussian"
