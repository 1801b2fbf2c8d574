"""How much of one person is counted: the ways to bound it, what each changes, and how far a person can move the totals.

    each row   one row is one person; there is nothing to bound
    weights    all rows of a person weigh the same, at most 1, and together at most C rows
    clip       a person's vector of totals is scaled down to a length, in L2 norm
    clip sum   a person's vector of totals is scaled down to a sum, in L1 norm
    groups     at most so many groups of a person are kept, chosen by a keyed hash; in each, at most so many rows' worth

G, R and C are the limits of the question (`statistics/limits.py`): groups, rows in each, rows in all; Q is the largest sum
of squares that they allow. Whoever stays within the limits is counted in full by all ways; beyond, each counts something
else, which the quote says. Claims, for a family whose rows move by at most `reach` in L1 norm, in units of 1/resolution,
s being what a person's values may add up to where the owner said so (max_sum), and otherwise infinite:

    each row   L1 = reach                   L2 = reach
    weights    L1 = C reach                 L2 = C reach
    clip       (only L2)                    L2 = min(sqrt(Q) reach, s)
    clip sum   L1 = min(C reach, s)         L2 the same
    groups     L1 = G R reach               L2 = sqrt(G) R reach

(R is 1 for a family that counts persons. Counts of people take no weight: a sum of weights is no count of people. They are
bounded by themselves, by `groups`.) Proofs stand beside the SQL, in `engines/templates/totals.py`. When a person is
replaced, the vectors a and b of two people trade places: |a - b| <= 2 max in L1; in L2, |a - b|^2 = |a|^2 + |b|^2 - 2ab,
which is at most 2 max^2 if no entry is negative, and 4 max^2 otherwise. Of one number that is not negative, |a - b| <= max.

One weight for all families. Under `clip` and `clip sum` a question with several families has one weight a person, so that
columns of one answer divide. Their noises are then ONE mechanism, a vector with a scale for each family: together they
promise the rho or the epsilon that they would promise with a weight each, and none of them promises anything alone.
Theorem and proof: bounding.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import ClassVar, Self

from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import CounterSet
from dither.query.plan.counters import Counter, PersonCounter, RowCounter
from dither.query.statistics.limits import HardLimits, Limits

ALONE = "one row is one person, so there is nothing to bound"


@dataclass(frozen=True)
class Bounding(ABC):
    """How one person is bounded, with its limits and what it claims."""

    way: ClassVar[str]  # what it is called by analysts, and in stored questions

    groups: int
    rows: int
    resolution: int  # totals are in units of one over this
    unit: Unit
    reason: str
    limit: int | None = None  # rows in all groups together; None: groups * rows
    sums: tuple[tuple[CounterSet, int], ...] = ()  # what a person's steps may add up to, of sets where the owner said so
    shares: tuple[Fraction, ...] = ()  # of the price, for each set of counters, where they have one weight together
    joint: bool = False  # whether several sets have one weight
    cells: int = 0  # groups of the question; 0 where nobody asks
    complete: bool = False  # whether it changes nothing of anybody, by the owner's word

    @property
    def limits(self) -> Limits:
        """What counts of a person."""
        return Limits(self.groups, self.rows, self.most)

    @property
    def most(self) -> int:
        """The most rows' worth of a person in all groups together."""
        return self.groups * self.rows if self.limit is None else self.limit

    def l1(self, family: CounterSet) -> int:
        """The most that one person moves the totals of a set of counters, in L1 norm."""
        return self.alone(family) * self.resolution * self._replaced(family, 2)

    def l2_squared(self, family: CounterSet) -> int:
        """The square of the most that one person moves the totals of a set of counters, in L2 norm."""
        return self.alone_squared(family) * self.resolution**2 * self._replaced(family, 4 if family.is_signed else 2)

    def sums_squared(self, family: CounterSet, cells: int) -> int:
        """The same for so many sums of groups, each group in one: a person moves them by no more than her sum, in L1."""
        factor = replace(self, cells=cells)._replaced(family, 4 if family.is_signed else 2)
        return (self.alone(family) * self.resolution) ** 2 * factor

    def _replaced(self, family: CounterSet, factor: int) -> int:
        """How much more it is where people are replaced."""
        one_number = self.cells == 1 and len(family.measures) == 1 and not family.is_signed and not self.joint
        return 1 if self.unit is Unit.ADD_REMOVE or one_number else factor

    @abstractmethod
    def alone(self, family: CounterSet) -> int:
        """The largest sum of a person's totals, in L1 norm, in whole units."""

    def alone_squared(self, family: CounterSet) -> int:
        """The square of the longest vector that one person has, in L2 norm, in whole units."""
        return self.alone(family) ** 2

    @abstractmethod
    def loses_nothing(self, hard: HardLimits) -> bool:
        """Whether nobody with at most so much is changed by it."""

    def sum_limit(self, family: CounterSet) -> int | None:
        """What a person's steps may add up to; None where the owner said nothing."""
        return next((most for one, most in self.sums if one == family), None)

    def decides(self, family: CounterSet) -> bool:
        """Whether what a person's values may add up to is the limit of a family, and not her rows."""
        most = self.sum_limit(family)
        return most is not None and most**2 == self.alone_squared(family)

    @property
    def people(self) -> Counter:
        """What counts people."""
        return PersonCounter()

    @property
    @abstractmethod
    def words(self) -> str:
        """How much of a person counts."""

    @property
    def short_words(self) -> str:
        """The same beside an error, after it; nothing where every row counts once."""
        return ""

    @property
    def _limits(self) -> tuple[str, str]:
        groups = f"{self.groups} group{'s' if self.groups > 1 else ''}"
        return groups, f"{self.rows} row{'s' if self.rows > 1 else ''}"

    @property
    def _each(self) -> str:
        """The limits of rows and groups, in words."""
        groups, rows = self._limits
        if self.cells == 1 or self.rows == self.most:
            return rows
        told = f"{rows} in each of {groups}"
        return told if self.most == self.groups * self.rows else f"{self.most} rows, {told}"


@dataclass(frozen=True)
class EachRow(Bounding):
    """One row is one person."""

    way: ClassVar[str] = "each row"
    people = RowCounter()
    words = "every row once"

    @classmethod
    def of(cls, unit: Unit, cells: int = 0) -> Self:
        """Nothing to bound."""
        return cls(1, 1, 1, unit, ALONE, cells=cells, complete=True)

    def alone(self, family: CounterSet) -> int:
        """One row."""
        return family.reach

    def loses_nothing(self, hard: HardLimits) -> bool:
        """There is nothing to lose."""
        return True


@dataclass(frozen=True)
class Weights(Bounding):
    """All rows of a person weigh the same, and together at most so much."""

    way: ClassVar[str] = "weights"

    def alone(self, family: CounterSet) -> int:
        """All of it in one group."""
        return self.most * family.reach

    def loses_nothing(self, hard: HardLimits) -> bool:
        """By the rows that anybody has."""
        return hard.most is not None and hard.most <= self.most

    @property
    def words(self) -> str:
        """How much of a person counts."""
        most = self.most
        beyond = f"of people with more, each row counts in part, and all together as {most}"
        return f"up to {most} rows of a person count in full; {beyond}"

    @property
    def short_words(self) -> str:
        """How much of a person counts, beside an error."""
        return f"; a person's rows weigh at most {self.most} together"


@dataclass(frozen=True)
class Clip(Bounding):
    """A person's vector of totals is scaled down to a length, in L2 norm."""

    way: ClassVar[str] = "clip"

    def alone(self, family: CounterSet) -> int:
        """A length bounds no sum of many totals."""
        raise AssertionError("a length bounds no sum")

    def alone_squared(self, family: CounterSet) -> int:
        """Of as many full groups as there are rows for; or what her values may add up to, all of it in one group."""
        rows, most = self.limits.squares * family.reach**2, self.sum_limit(family)
        return rows if most is None else min(rows, most**2)

    def length(self, family: CounterSet) -> int:
        """The longest vector that it leaves, in L2 norm, rounded down."""
        return isqrt(self.alone_squared(family) * self.resolution**2)

    def loses_nothing(self, hard: HardLimits) -> bool:
        """By the longest vector that anybody has."""
        return hard.squares is not None and hard.squares <= self.limits.squares

    @property
    def words(self) -> str:
        """How much of a person counts."""
        joint = ", all columns by one weight, so that they divide" if self.joint else ""
        norm = "the same L2 norm of their totals over groups"
        return f"up to {self._each} of a person count in full; people with more are scaled down to {norm}{joint}"

    @property
    def short_words(self) -> str:
        """How much of a person counts, beside an error."""
        return f"; a person's counts are scaled down to the length of {self.rows} in each of {self.groups} groups"


@dataclass(frozen=True)
class ClipSum(Bounding):
    """A person's vector of totals is scaled down to a sum, in L1 norm."""

    way: ClassVar[str] = "clip sum"

    def alone(self, family: CounterSet) -> int:
        """What her rows add up to at most; or what her values may add up to."""
        rows, most = self.most * family.reach, self.sum_limit(family)
        return rows if most is None else min(rows, most)

    def loses_nothing(self, hard: HardLimits) -> bool:
        """By the rows that anybody has."""
        return hard.most is not None and hard.most <= self.most

    @property
    def words(self) -> str:
        """How much of a person counts."""
        joint = ", all columns by one weight, so that they divide" if self.joint else ""
        return f"values of a person count in full up to a sum; people with more are scaled down to it{joint}"


@dataclass(frozen=True)
class _Chosen(Bounding):
    """At most so many groups of a person are kept, chosen by chance."""

    def rows_of(self, family: CounterSet) -> int:
        """The most rows' worth of a person in a group."""
        return 1 if family.counts_persons else self.rows

    def alone(self, family: CounterSet) -> int:
        """So many rows' worth in so many groups."""
        return self.groups * self.rows_of(family) * family.reach

    def alone_squared(self, family: CounterSet) -> int:
        """As many full groups."""
        return self.groups * (self.rows_of(family) * family.reach) ** 2


@dataclass(frozen=True)
class KeepGroups(_Chosen):
    """Rows count in at most so many groups of a person, chosen by chance."""

    way: ClassVar[str] = "groups"

    def loses_nothing(self, hard: HardLimits) -> bool:
        """By the groups that anybody is in, and her rows there."""
        return hard.groups <= self.groups and hard.rows is not None and hard.rows <= self.rows

    @property
    def words(self) -> str:
        """How much of a person counts."""
        groups, rows = self._limits
        worth = f"{rows}'s" if self.rows == 1 else f"{rows}'"
        return f"everybody in at most {groups}, chosen by chance, and with at most {worth} worth in each"


@dataclass(frozen=True)
class KeepPersons(_Chosen):
    """People are counted once in each group, in at most so many groups of each, chosen by chance."""

    way: ClassVar[str] = "persons"

    def loses_nothing(self, hard: HardLimits) -> bool:
        """By the groups that anybody is in: her rows do not matter."""
        return hard.groups <= self.groups

    @property
    def words(self) -> str:
        """How much of a person counts."""
        groups, _ = self._limits
        return "everybody once" if self.cells == 1 else f"everybody once in each of at most {groups}, chosen by chance"
