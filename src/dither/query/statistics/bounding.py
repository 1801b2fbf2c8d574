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

from dataclasses import dataclass
from math import isqrt
from typing import Literal

from dither.errors import QuestionError
from dither.privacy.unit import Unit
from dither.query.plan.question import Question
from dither.query.statistics.counter_sets import CounterPlan, CounterSet

Way = Literal["each row", "weights", "clip", "groups"]
WAYS: tuple[Way, ...] = ("weights", "clip", "groups")
FINEST = 2**20  # parts of a unit, so that small weights are not all rounded to nothing
COARSEST = 2**8
LARGEST = 2**44  # L1 or L2 claim in parts: noise of this scale can be drawn for any epsilon above 2^-16


@dataclass(frozen=True)
class Bounding:
    """One way, with its limits."""

    way: Way
    groups: int
    rows: int
    resolution: int  # totals are in units of one over this
    unit: Unit
    reason: str

    def l1(self, family: CounterSet) -> int:
        """The most that one person moves the totals of a family, in L1 norm."""
        assert self.way != "clip"
        alone = {"each row": 1, "weights": self.groups * self.rows, "groups": self.groups * self.rows_of(family)}[self.way]
        return alone * family.reach * self.resolution * (1 if self.unit is Unit.ADD_REMOVE else 2)

    def l2_squared(self, family: CounterSet) -> int:
        """The square of the most that one person moves the totals of a family, in L2 norm."""
        alone = self.alone_squared(family) * self.resolution**2
        return alone * (1 if self.unit is Unit.ADD_REMOVE else 4 if family.is_signed else 2)

    def alone_squared(self, family: CounterSet) -> int:
        """The square of the longest vector that one person has, in L2 norm, in whole units."""
        if self.way == "weights":
            return (self.groups * self.rows * family.reach) ** 2
        return self.groups * (self.rows_of(family) * family.reach) ** 2

    def rows_of(self, family: CounterSet) -> int:
        """The most rows' worth of a person in a group."""
        return 1 if family.counts_persons else self.rows

    def length(self, family: CounterSet) -> int:
        """The longest vector that `clip` leaves, in L2 norm, rounded down."""
        return isqrt(self.alone_squared(family) * self.resolution**2)


def choose_bounding(
    plan: Question, counters: CounterPlan, wished: object, *, cells: int, unit: Unit, pure: bool
) -> Bounding:
    """The way that was wished for, or the best that fits; refused where it does not fit."""
    table = plan.table
    groups, rows = min(table.max_groups, cells), table.max_rows_per_group
    if wished is not None and wished not in WAYS:
        raise QuestionError("bounding", wished, "it names no way to bound a person", ", ".join(f"'{way}'" for way in WAYS))
    if table.person is None or table.alone:
        if wished is not None:
            raise QuestionError("bounding", wished, "one row is one person: there is nothing to bound", "leaving it out")
        return Bounding("each row", 1, 1, 1, unit, "one row is one person, so there is nothing to bound")
    resolution = _resolution(groups * rows * max((family.reach for family in counters.sets), default=1))
    persons = any(family.counts_persons for family in counters.sets)
    unfit: dict[Way, str] = {}  # ways that do not fit, and why
    if resolution < COARSEST:
        unfit["weights"] = unfit["clip"] = "the steps of a column are too fine, or the limits too high, to scale people down"
    if persons:
        unfit["weights"] = "COUNT(DISTINCT person) counts people, whose rows do not matter"
    if pure:
        unfit["clip"] = "it bounds the length of a vector (L2), and this noise needs the sum (L1)"
    for way in WAYS:
        if way == wished:
            if way in unfit:
                raise QuestionError("bounding", wished, unfit[way], "leaving it out: the best that fits is taken")
            return Bounding(way, groups, rows, 1 if way == "groups" else resolution, unit, "you asked for it")
    if "weights" not in unfit and (pure or groups == 1):
        reason = "it keeps something of every row, costs least, and the noise is the same as for a choice of groups"
        return Bounding("weights", groups, rows, resolution, unit, reason)
    if "clip" not in unfit:
        reason = "it keeps something of every group of a person; the noise is the same as for a choice of groups"
        return Bounding("clip", groups, rows, resolution, unit, reason)
    others = "; ".join(f"{way}: {why}" for way, why in unfit.items())
    return Bounding("groups", groups, rows, 1, unit, others)


def _resolution(most: int) -> int:
    """The finest power of two that keeps the claim below LARGEST."""
    finest = FINEST
    while finest > 1 and finest * most > LARGEST:
        finest //= 2
    return finest
