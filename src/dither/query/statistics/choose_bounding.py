"""Which way a person is bounded in a question: the one that was wished for, or the best that fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil

from dither.errors import QuestionError
from dither.numeric.number import Number
from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import CounterPlan, CounterSet
from dither.query.plan.counters import StepCounter
from dither.query.plan.expressions import ColumnValue
from dither.query.plan.question import Question
from dither.query.policy.table import Table
from dither.query.statistics.bounding import Bounding, Clip, ClipSum, EachRow, KeepGroups, KeepPersons, Weights
from dither.query.statistics.limits import HardLimits, cells_of, hard_limits, limits_of

FINEST = 2**20  # parts of a unit, so that small weights are not all rounded to nothing
COARSEST = 2**8
LARGEST = 2**44  # L1 or L2 claim in parts: noise of this scale can be drawn for any epsilon above 2^-16
SHARES = 2**30  # parts of a price
UNITS = 2**16  # of a row, where rows are counted in units: whoever has more rows than this times her limit weighs nothing
MOST_UNITS = 2**40  # of a person

WAYS: dict[str, type[Weights | Clip | ClipSum | KeepGroups]] = {
    kind.way: kind for kind in (Weights, Clip, ClipSum, KeepGroups)
}


def choose_bounding(
    question: Question, counters: CounterPlan, wished: str | None, *, cells: int, unit: Unit, pure: bool
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
    limits = limits_of(table, cells, cells_of(question))
    sums = tuple((family, most) for family in families if (most := _sum_limit(table, family)) is not None)
    unfit: dict[str, str] = {}  # ways that do not fit, and why
    fine = "the steps of a column are too fine, or the limits too high, to scale people down"
    rows = [limits.most * family.reach for family in families]
    known = [dict(sums).get(family, most) for family, most in zip(families, rows, strict=True)]
    by_rows = _resolution(max(rows, default=limits.most))
    by_sums = _resolution(max(map(min, rows, known), default=limits.most))
    if by_rows < COARSEST:
        unfit["weights"] = fine
    if by_sums < COARSEST:
        unfit["clip"] = unfit["clip sum"] = fine
    if pure:
        unfit["clip"] = "it bounds the length of a vector (L2), and this noise needs the sum (L1)"
    else:  # one weight by sums would leave a length of up to L / p in one family: see bounding.md
        unfit["clip sum"] = "it bounds the sum of a vector (L1), and this noise needs the length (L2), as clip does"
    dropped = "" if cells == 1 else "; to drop groups of people who are in many would not make the noise smaller"
    if wished is not None:
        kind = WAYS[str(wished)]
        if kind.way in unfit:
            raise QuestionError("bounding", wished, unfit[kind.way], "leaving it out: the best that fits is taken")
        reason = "you asked for it"
    elif "weights" not in unfit and not sums and (pure or limits.groups == 1):
        kind = Weights
        costs = "each for less where there are more, and it costs least"
        reason = f"chosen because all rows of a person count, {costs}{dropped}"
    elif "clip" not in unfit:
        kind = Clip
        reason = f"chosen because no group of a person is dropped{dropped}"
    elif "clip sum" not in unfit:
        kind, reason = ClipSum, "it keeps something of every row, and uses what values of a person may add up to"
    else:
        kind, reason = KeepGroups, "; ".join(f"{way}: {why}" for way, why in unfit.items())
    scales = issubclass(kind, (Clip, ClipSum))
    resolution = by_sums if scales else by_rows
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
    """Whether a bound changes nothing of anybody, by the owner's word: in each family, by the limit that decides there."""
    by_rows = made.loses_nothing(hard)
    for family in families:
        most, rows = made.sum_limit(family), by_rows
        if most is not None and most**2 < replace(made, sums=()).alone_squared(family):
            rows = False  # who has no more rows may still have a larger sum
        if not rows and not (made.decides(family) and _hard_sum(table, family)):
            return False
    return by_rows or bool(families)


def _sum_limit(table: Table, family: CounterSet) -> int | None:
    """What a person's steps of a family may add up to, where it is the sum of a column with such a limit."""
    name = summed_column(family)
    most = None if name is None else table.sum_limit(name)
    return None if most is None else max(1, ceil(most / family.measures[0].step))


def _hard_sum(table: Table, family: CounterSet) -> bool:
    """Whether nobody's values add up to more, also after they were clamped: towards zero, or not at all."""
    name, facts = summed_column(family), family.measures[0]
    inside = facts.bounds[0] <= 0 <= facts.bounds[1] if isinstance(facts, StepCounter) else False
    return f"max_sum.{name}" in table.hard and (inside or f"bounds.{name}" in table.hard)


def summed_column(family: CounterSet) -> str | None:
    """The column that a family is the plain sum of, if it is one."""
    first, *others = family.measures
    return (
        first.of.column.name if not others and isinstance(first, StepCounter) and isinstance(first.of, ColumnValue) else None
    )


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


def weights_in_units(question: Question, cells: int, unit: Unit) -> Bounding:
    """Weights so fine that nearly everybody counts, where a choice is made by what rows weigh together."""
    table = question.table
    if table.person is None or table.alone:
        return EachRow.of(unit)
    limits, units = limits_of(table, cells, cells_of(question)), UNITS
    while units > 1 and limits.most * units > MOST_UNITS:
        units //= 2
    made = Weights(limits.groups, limits.rows, units, unit, "it keeps something of every row", limits.most)
    return replace(made, complete=made.loses_nothing(hard_limits(table, cells)))
