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
columns of one answer divide. With the shares p_f = rho_f / rho (or epsilon_f / epsilon) of the price, L_f the claim of a
family without replacement and v_f her vector,

    clip       w = min(1, 1 / sqrt(sum p_f |v_f|^2 / L_f^2))          clip sum   w = min(1, 1 / sum p_f |v_f| / L_f)

Theorem. Noise of the scales that the claims give each family is together rho-zCDP, and mu-Gaussian DP with mu^2 = 2 rho (or
epsilon-DP): ONE mechanism. A family alone moves by up to L_f / sqrt(p_f), so that no guarantee of a family by itself holds.
Proof. The loss is that of one Gaussian mechanism on the vectors w v_f / sigma_f with sigma_f^2 = k_f L_f^2 / (2 rho_f), and
its rho is sum_f w^2 |v_f|^2 rho_f / L_f^2 = rho w^2 sum_f p_f |v_f|^2 / L_f^2 <= rho, with k_f = 1 for people who come or
go. Replaced: the claims are c_f L_f^2 with c_f = 2 where no entry is negative and 4 otherwise, |a_f - b_f|^2 is at most
(c_f / 2) (|a_f|^2 + |b_f|^2), and so sum_f rho_f |a_f - b_f|^2 / (c_f L_f^2) <= rho (1 + 1) / 2. In L1: |a_f - b_f| is at
most |a_f| + |b_f|, and the claims are 2 L_f. (The claim of one number, |a - b| <= max, is for one family alone.)
Whoever is within all limits has sum p_f |v_f|^2 / L_f^2 <= sum p_f = 1, and keeps her weight of 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, isqrt
from typing import ClassVar, Self

from dither.errors import QuestionError
from dither.numeric.number import Number, NumberLike
from dither.privacy.unit import Unit
from dither.query.plan.expressions import ColumnValue
from dither.query.plan.question import Question
from dither.query.policy.table import Table
from dither.query.statistics.counter_sets import CounterPlan, CounterSet
from dither.query.statistics.limits import HardLimits, Limits, hard_limits, limits_of

FINEST = 2**20  # parts of a unit, so that small weights are not all rounded to nothing
COARSEST = 2**8
LARGEST = 2**44  # L1 or L2 claim in parts: noise of this scale can be drawn for any epsilon above 2^-16
SHARES = 2**30  # parts of a price
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

    @property
    @abstractmethod
    def words(self) -> str:
        """How much of a person counts."""

    @property
    def _limits(self) -> tuple[str, str]:
        groups = f"{self.groups} group{'s' if self.groups > 1 else ''}"
        return groups, f"{self.rows} row{'s' if self.rows > 1 else ''}"

    @property
    def _each(self) -> str:
        """The limits of rows and groups, in words."""
        groups, rows = self._limits
        if self.cells == 1:
            return rows
        told = f"{rows} in each of {groups}"
        return told if self.most == self.groups * self.rows else f"{self.most} rows, {told}"


@dataclass(frozen=True)
class EachRow(Bounding):
    """One row is one person."""

    way: ClassVar[str] = "each row"
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
        return f"everybody in full up to {most} rows; whoever has more, with all rows at a weight that adds up to {most}"


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
        return f"everybody in full up to {self._each}; whoever has more, scaled down to that length{joint}"


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
        return f"everybody in full up to a sum; whoever has more, scaled down to it{joint}"


@dataclass(frozen=True)
class KeepGroups(Bounding):
    """At most so many groups of a person are kept, chosen by chance."""

    way: ClassVar[str] = "groups"

    def rows_of(self, family: CounterSet) -> int:
        """The most rows' worth of a person in a group."""
        return 1 if family.counts_persons else self.rows

    def alone(self, family: CounterSet) -> int:
        """So many rows' worth in so many groups."""
        return self.groups * self.rows_of(family) * family.reach

    def alone_squared(self, family: CounterSet) -> int:
        """As many full groups."""
        return self.groups * (self.rows_of(family) * family.reach) ** 2

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
class KeepPersons(KeepGroups):
    """People are counted once in each group, in at most so many groups of each, chosen by chance."""

    def loses_nothing(self, hard: HardLimits) -> bool:
        """By the groups that anybody is in: her rows do not matter."""
        return hard.groups <= self.groups

    @property
    def words(self) -> str:
        """How much of a person counts."""
        groups, _ = self._limits
        return "everybody once" if self.cells == 1 else f"everybody once in each of at most {groups}, chosen by chance"


WAYS: dict[str, type[Weights | Clip | ClipSum | KeepGroups]] = {
    kind.way: kind for kind in (Weights, Clip, ClipSum, KeepGroups)
}


def choose_bounding(
    question: Question, counters: CounterPlan, wished: NumberLike, *, cells: int, unit: Unit, pure: bool
) -> Bounding:
    """The way that was wished for, or the best that fits; refused where it does not fit. Counts of people apart."""
    table = question.table
    if wished is not None and wished not in WAYS:
        raise QuestionError("bounding", wished, "it names no way to bound a person", ", ".join(map(repr, WAYS)))
    if table.person is None or table.alone:
        if wished is not None:
            raise QuestionError("bounding", wished, "one row is one person: there is nothing to bound", "leaving it out")
        return EachRow.of(unit, cells)
    families = [family for family in counters.sets if not family.counts_persons]
    if counters.sets and not families:
        if wished not in (None, KeepGroups.way):
            why = "COUNT(DISTINCT person) counts people, whose rows do not matter"
            raise QuestionError("bounding", wished, why, "leaving it out: the best that fits is taken")
        return of_persons(table, cells, unit)
    limits = limits_of(table, cells)
    sums = tuple((family, most) for family in families if (most := _sum_limit(table, family)) is not None)
    resolution = _resolution(limits.most * max((family.reach for family in families), default=1))
    unfit: dict[str, str] = {}  # ways that do not fit, and why
    if resolution < COARSEST:
        fine = "the steps of a column are too fine, or the limits too high, to scale people down"
        unfit["weights"] = unfit["clip"] = unfit["clip sum"] = fine
    if pure:
        unfit["clip"] = "it bounds the length of a vector (L2), and this noise needs the sum (L1)"
    if wished is not None:
        kind = WAYS[str(wished)]
        if kind.way in unfit:
            raise QuestionError("bounding", wished, unfit[kind.way], "leaving it out: the best that fits is taken")
        reason = "you asked for it"
    elif "weights" not in unfit and not sums and (pure or limits.groups == 1):
        kind = Weights
        reason = "it keeps something of every row, costs least, and the noise is the same as for a choice of groups"
    elif "clip" not in unfit:
        kind = Clip
        reason = "it keeps something of every group of a person; the noise is the same as for a choice of groups"
    elif "clip sum" not in unfit:
        kind, reason = ClipSum, "it keeps something of every row, and uses what values of a person may add up to"
    else:
        kind, reason = KeepGroups, "; ".join(f"{way}: {why}" for way, why in unfit.items())
    scales = issubclass(kind, (Clip, ClipSum))
    made = kind(
        *(limits.groups, limits.rows, 1 if kind is KeepGroups else resolution, unit, reason),
        limit=None if kind is KeepGroups else limits.most,
        sums=sums if scales else (),
        joint=scales and len(families) > 1,
        cells=cells,
    )
    return replace(made, complete=_complete(made, table, families, hard_limits(table, cells)))


def of_persons(table: Table, cells: int, unit: Unit) -> Bounding:
    """How people are counted."""
    groups = limits_of(table, cells).groups
    made = KeepPersons(groups, 1, 1, unit, "people take no weight: each is counted or not", cells=cells)
    return replace(made, complete=made.loses_nothing(hard_limits(table, cells)))


def _complete(made: Bounding, table: Table, families: list[CounterSet], hard: HardLimits) -> bool:
    """Whether a bound changes nothing of anybody, by the owner's word: by rows, or by sums."""
    return made.loses_nothing(hard) or (
        bool(families) and all(made.sum_limit(family) is not None and _hard_sum(table, family) for family in families)
    )


def _sum_limit(table: Table, family: CounterSet) -> int | None:
    """What a person's steps of a family may add up to, where it is the sum of a column with such a limit."""
    name = _summed_column(family)
    most = None if name is None else table.sum_limit(name)
    return None if most is None else max(1, ceil(most / family.measures[0].step))


def _hard_sum(table: Table, family: CounterSet) -> bool:
    return f"max_sum.{_summed_column(family)}" in table.hard


def _summed_column(family: CounterSet) -> str | None:
    first, *others = family.measures
    return first.of.column.name if not others and first.kind == "steps" and isinstance(first.of, ColumnValue) else None


def with_shares(bounding: Bounding, amounts: Sequence[Number | Fraction]) -> Bounding:
    """The bound of several families with one weight, by what each costs; shares are rounded up, which scales down more."""
    if not bounding.joint:
        return bounding
    ends = [(Fraction(number.lower), Fraction(number.upper)) for number in (Number(one).bounds() for one in amounts)]
    least = sum(low for low, _ in ends)
    return replace(bounding, shares=tuple(Fraction(ceil(high / least * SHARES), SHARES) for _, high in ends))


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
    limits, units = limits_of(table, cells), UNITS
    while units > 1 and limits.most * units > MOST_UNITS:
        units //= 2
    made = Weights(limits.groups, limits.rows, units, unit, "it keeps something of every row", limits.most)
    return replace(made, complete=made.loses_nothing(hard_limits(table, cells)))
