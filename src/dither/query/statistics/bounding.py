"""How much of one person is counted: the ways to bound it, what each changes, and how far a person can move the totals.

    each row   one row is one person; there is nothing to bound
    weights    all rows of a person weigh the same, at most 1, and together at most C = groups * rows
    clip       a person's vector of totals is scaled down to length at most sqrt(groups) * rows, in L2 norm
    groups     at most so many groups of a person are kept, chosen by a keyed hash; in each, at most so many rows' worth

`groups` is the policy's max_groups (1 without GROUP BY, never more than there are groups), `rows` its max_rows_per_group.
Whoever stays within both limits is counted in full by all of them; beyond, each counts something else, which the quote says.
Claims, for a family whose rows move by at most `reach` in L1 norm, in units of 1/resolution:

    each row   L1 = reach                   L2 = reach
    weights    L1 = C reach                 L2 = C reach
    clip       (only L2)                    L2 = sqrt(groups) rows reach
    groups     L1 = groups rows reach       L2 = sqrt(groups) rows reach

(rows is 1 for a family that counts persons.) Proofs stand beside the SQL, in `engines/templates/totals.py`. When a person
is replaced, the vectors a and b of two people trade places: |a - b| <= 2 max in L1; in L2, |a - b|^2 = |a|^2 + |b|^2 -
2ab, which is at most 2 max^2 if no entry is negative, and 4 max^2 otherwise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import isqrt
from typing import ClassVar, Self

from dither.errors import QuestionError
from dither.privacy.unit import Unit
from dither.query.plan.counters import Counter, PersonCounter, RowCounter
from dither.query.plan.question import Question
from dither.query.policy.table import Table
from dither.query.statistics.counter_sets import CounterPlan, CounterSet

FINEST = 2**20  # parts of a unit, so that small weights are not all rounded to nothing
COARSEST = 2**8
LARGEST = 2**44  # L1 or L2 claim in parts: noise of this scale can be drawn for any epsilon above 2^-16
UNITS = 2**16  # of a row, where rows are counted in units: whoever has more rows than this times her limit weighs nothing
MOST_UNITS = 2**40  # of a person
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

    def l1(self, family: CounterSet) -> int:
        """The most that one person moves the totals of a set of counters, in L1 norm."""
        alone = self._rows_in_all(family) * family.reach * self.resolution
        return alone * (1 if self.unit is Unit.ADD_REMOVE else 2)

    def l2_squared(self, family: CounterSet) -> int:
        """The square of the most that one person moves the totals of a set of counters, in L2 norm."""
        alone = self.alone_squared(family) * self.resolution**2
        return alone * (1 if self.unit is Unit.ADD_REMOVE else 4 if family.is_signed else 2)

    def alone_squared(self, family: CounterSet) -> int:
        """The square of the longest vector that one person has, in L2 norm, in whole units."""
        return self.groups * (self.rows_of(family) * family.reach) ** 2

    @abstractmethod
    def _rows_in_all(self, family: CounterSet) -> int:
        """The most rows' worth of a person in all groups together."""

    def rows_of(self, family: CounterSet) -> int:
        """The most rows' worth of a person in a group."""
        return 1 if family.counts_persons else self.rows

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


@dataclass(frozen=True)
class EachRow(Bounding):
    """One row is one person."""

    way: ClassVar[str] = "each row"
    people = RowCounter()
    words = "every row once"

    @classmethod
    def of(cls, unit: Unit) -> Self:
        """Nothing to bound."""
        return cls(1, 1, 1, unit, ALONE)

    def _rows_in_all(self, family: CounterSet) -> int:
        return 1


@dataclass(frozen=True)
class Weights(Bounding):
    """All rows of a person weigh the same, and together at most so much."""

    way: ClassVar[str] = "weights"

    def alone_squared(self, family: CounterSet) -> int:
        """All of it in one group."""
        return (self.groups * self.rows * family.reach) ** 2

    def _rows_in_all(self, family: CounterSet) -> int:
        return self.groups * self.rows

    @property
    def words(self) -> str:
        """How much of a person counts."""
        most = self.groups * self.rows
        return f"everybody in full up to {most} rows; whoever has more, with all rows at a weight that adds up to {most}"

    @property
    def short_words(self) -> str:
        """How much of a person counts, beside an error."""
        return f"; a person's rows weigh at most {self.groups * self.rows} together"


@dataclass(frozen=True)
class Clip(Bounding):
    """A person's vector of totals is scaled down to a length, in L2 norm."""

    way: ClassVar[str] = "clip"

    def _rows_in_all(self, family: CounterSet) -> int:
        raise AssertionError("a length bounds no sum")

    def length(self, family: CounterSet) -> int:
        """The longest vector that it leaves, in L2 norm, rounded down."""
        return isqrt(self.alone_squared(family) * self.resolution**2)

    @property
    def words(self) -> str:
        """How much of a person counts."""
        groups, rows = self._limits
        return f"everybody in full up to {rows} in each of {groups}; whoever has more, scaled down to that length"

    @property
    def short_words(self) -> str:
        """How much of a person counts, beside an error."""
        return f"; a person's counts are scaled down to the length of {self.rows} in each of {self.groups} groups"


@dataclass(frozen=True)
class KeepGroups(Bounding):
    """At most so many groups of a person are kept, chosen by chance."""

    way: ClassVar[str] = "groups"

    def _rows_in_all(self, family: CounterSet) -> int:
        return self.groups * self.rows_of(family)

    @property
    def words(self) -> str:
        """How much of a person counts."""
        groups, rows = self._limits
        worth = f"{rows}'s" if self.rows == 1 else f"{rows}'"
        return f"everybody in at most {groups}, chosen by chance, and with at most {worth} worth in each"


WAYS: dict[str, type[Weights | Clip | KeepGroups]] = {kind.way: kind for kind in (Weights, Clip, KeepGroups)}


def choose_bounding(
    question: Question, counters: CounterPlan, wished: str | None, *, cells: int, unit: Unit, pure: bool
) -> Bounding:
    """The way that was wished for, or the best that fits; refused where it does not fit."""
    table = question.table
    groups, rows = min(table.max_groups, cells), table.max_rows_per_group
    if wished is not None and wished not in WAYS:
        raise QuestionError("bounding", wished, "it names no way to bound a person", ", ".join(map(repr, WAYS)))
    if table.person is None or table.alone:
        if wished is not None:
            raise QuestionError("bounding", wished, "one row is one person: there is nothing to bound", "leaving it out")
        return EachRow.of(unit)
    resolution = _resolution(groups * rows * max((family.reach for family in counters.sets), default=1))
    persons = any(family.counts_persons for family in counters.sets)
    unfit: dict[str, str] = {}  # ways that do not fit, and why
    if resolution < COARSEST:
        unfit["weights"] = unfit["clip"] = "the steps of a column are too fine, or the limits too high, to scale people down"
    if persons:
        unfit["weights"] = "COUNT(DISTINCT person) counts people, whose rows do not matter"
    if pure:
        unfit["clip"] = "it bounds the length of a vector (L2), and this noise needs the sum (L1)"
    if wished is not None:
        kind = WAYS[str(wished)]
        if kind.way in unfit:
            raise QuestionError("bounding", wished, unfit[kind.way], "leaving it out: the best that fits is taken")
        return kind(groups, rows, 1 if kind is KeepGroups else resolution, unit, "you asked for it")
    if "weights" not in unfit and (pure or groups == 1):
        reason = "it keeps something of every row, costs least, and the noise is the same as for a choice of groups"
        return Weights(groups, rows, resolution, unit, reason)
    if "clip" not in unfit:
        reason = "it keeps something of every group of a person; the noise is the same as for a choice of groups"
        return Clip(groups, rows, resolution, unit, reason)
    others = "; ".join(f"{way}: {why}" for way, why in unfit.items())
    return KeepGroups(groups, rows, 1, unit, others)


def _resolution(most: int) -> int:
    """The finest power of two that keeps the claim below LARGEST."""
    finest = FINEST
    while finest > 1 and finest * most > LARGEST:
        finest //= 2
    return finest


def weights_in_units(table: Table, cells: int, unit: Unit) -> Bounding:
    """Weights so fine that nearly everybody counts, where a choice is made by what rows weigh together."""
    if table.person is None or table.alone:
        return EachRow.of(unit)
    groups, rows, units = min(table.max_groups, cells), table.max_rows_per_group, UNITS
    while units > 1 and groups * rows * units > MOST_UNITS:
        units //= 2
    return Weights(groups, rows, units, unit, "it keeps something of every row")
