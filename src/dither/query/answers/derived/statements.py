"""Computed columns of an answer: which have intervals, what they hold, what they say.

What a column says is the weakest statement that is true of it:

    truth               all its aggregates say it
    of clamped values   all are the truth or of clamped values
    at least            a sum of such numbers and of truths, none of them taken away; also a positive number of it, and it
                        rounded: what is counted is at most the truth, and so is the low end
    of released numbers a rank, and LAG or LEAD where released numbers are the order: the truth may have other places
    of counted rows     all else: a quotient or a difference of numbers that are too small may be too large or too small

Windows look at rows of the answer. Where a private release or HAVING chose them, the truth of all rows is not what they
hold, and they are of counted rows. Rows that have no key, or one that nobody listed, are in no row of the answer, and in no
total, of a window or of ROLLUP: where there may be some, the total of a count is at least so much, and any other of counted
rows. A key that nobody listed may come before others: so is a running sum of counts, and what LAG finds is of counted rows.
So is everything where rows are compared with what a scalar subquery released.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, inf
from typing import Any

from dither.query.answers.derived.interval_arithmetic import may_be_missing
from dither.query.answers.derived.intervals import DerivedIntervals
from dither.query.answers.derived.values import DerivedValues, Value, plain
from dither.query.counters.value_ranges import cut_number, is_uninformative
from dither.query.plan.aggregates import RunningCount
from dither.query.plan.base import Expression
from dither.query.plan.derived import (
    Cast,
    ConstantTerm,
    Derived,
    FirstKnown,
    NullIf,
    Operation,
    Rank,
    ReleasedValue,
    Round,
    ScalarValue,
    Shift,
    Term,
    Total,
    Window,
    WindowStatistic,
    terms,
)
from dither.query.plan.expression_parts import exchanged, unlisted_columns
from dither.query.plan.expressions import (
    ColumnValue,
    Compare,
    Constant,
    InList,
    IsNull,
    Like,
    Logic,
    Not,
    constants_of,
)
from dither.query.plan.question import Group, Question
from dither.query.policy.column import Column, Type
from dither.query.pricing.offer import Offer
from dither.query.sql.domains import listed_values
from dither.query.statistics.statement import Statement
from dither.query.statistics.statistic import Statistic

FULL = {Statement.TRUTH, Statement.CLAMPED}
LEAST = {Statement.TRUTH, Statement.AT_LEAST}


@dataclass(frozen=True)
class DerivedColumn:
    """A computed column in some rows, with the ends of its intervals where it has any."""

    values: Mapping[int, Value]  # as they are shown, before they become doubles
    ends: tuple[Mapping[int, Any], ...]  # low and high, or none
    uninformative: frozenset[int]  # the rows without a value, since nothing that is possible is left out by an interval

    def shown(self, *, whole: bool) -> tuple[Mapping[int, Any], ...]:
        """Values and ends as columns hold them."""
        return {row: plain(value, whole=whole) for row, value in self.values.items()}, *self.ends


def read_derived(
    column: Derived,
    offer: Offer,
    values: DerivedValues,
    rows: Sequence[int],
    intervals: DerivedIntervals,
) -> DerivedColumn:
    """The values of a column in some rows, and the ends of its intervals, where it has any."""
    whole, found = is_whole(column.of, offer), values.of(column.of)
    shown, unknown = {row: found[row] for row in rows}, set(values.unknown(column.of).intersection(rows))
    if not has_interval(column, offer):
        counts = any(
            isinstance(part, Rank) or (isinstance(part, WindowStatistic) and part.kind == "count") for part in column.parts
        )
        for row, possible in ({} if counts else intervals.ranges(column.of, rows)).items():
            if (value := shown[row]) is not None:
                shown[row] = Fraction(cut_number(value, possible))
        return DerivedColumn(shown, (), frozenset(unknown))
    lows: dict[int, Any] = dict.fromkeys(rows)
    highs: dict[int, Any] = dict.fromkeys(rows)
    for row, bounds in intervals.of(column.of, rows).items():
        if bounds is None:
            continue
        (low, high), possible = bounds
        if is_uninformative((low, high), possible):
            shown[row] = None
            unknown.add(row)
        if (value := shown[row]) is not None:
            cut = cut_number(value, possible)
            if cut != value:  # of what is possible, the nearest that the interval holds
                cut = cut_number(cut, (low, high))
            shown[row] = value = Fraction(cut)
            low, high = min(low, value), max(high, value)
        lows[row], highs[row] = _low(low, whole=whole), _high(high, whole=whole)
    return DerivedColumn(shown, (lows, highs), frozenset(unknown))


def uninformative_rows(term: Term, offer: Offer, rows: Sequence[int], intervals: DerivedIntervals) -> frozenset[int]:
    """The rows in which the interval of a term that a window looks at says nothing, where it has one."""
    if isinstance(term, ReleasedValue) or not has_interval(Derived("", term), offer):
        return frozenset()
    return frozenset(
        row for row, found in intervals.of(term, rows).items() if found is not None and is_uninformative(*found)
    )


def _low(end: Any, *, whole: bool) -> int | float | None:
    """None where there is no end. To the nearest double: what is rounded in the same way stays on its side."""
    return None if end == -inf else plain(floor(end) if whole else end, whole=whole)


def _high(end: Any, *, whole: bool) -> int | float | None:
    return None if end == inf else plain(ceil(end) if whole else end, whole=whole)


def has_interval(column: Derived, offer: Offer) -> bool:
    """Whether a column has the ends of an interval beside it.

    A rank has none. One of several aggregates has none if the interval of one of them was released, as that of a quantile
    is: it fails with its own probability, and the others would add theirs.
    """
    if column.is_rank:
        return False
    found = [(statistic, place) for name, statistic, place in offer.columns if name in column.names]
    if not all(statistic.has_interval(place) for statistic, place in found):
        return False
    inner = [offer.inner[place] for place in {part.place for part in column.parts if isinstance(part, ScalarValue)}]
    if not all(scalar_has_interval(one) for one in inner):
        return False
    fixed = any(is_fixed(statistic, offer) for statistic, _ in found) or any(
        is_fixed(statistic, one) for one in inner for _, statistic, _ in one.columns
    )
    return not fixed or (len(found) + len(inner) == 1 and not column.has_window)


def is_fixed(statistic: Statistic, offer: Offer) -> bool:
    """Whether the ends of its intervals were released, for one confidence."""
    return statistic.at(1 - (1 - offer.confidence) / 2) is None


def scalar_has_interval(offer: Offer) -> bool:
    """Whether the one number of a scalar subquery has the ends of an interval."""
    (name,) = offer.question.shown
    computed = next((column for column in offer.question.derived if column.name == name), None)
    if computed is not None:
        return has_interval(computed, offer)
    return all(statistic.has_interval(place) for own, statistic, place in offer.columns if own == name)


def is_whole(term: Term, offer: Offer) -> bool:
    """Whether all that a term can be are whole numbers."""
    match term:
        case ReleasedValue(name):
            kinds = {own: statistic.type(place) for own, statistic, place in offer.columns}
            return kinds[name] is Type.INTEGER
        case ConstantTerm(value):
            return value.denominator == 1
        case ScalarValue(place):
            return scalar_is_whole(offer.inner[place])
        case Operation(sign, left, right):
            return sign != "/" and is_whole(left, offer) and is_whole(right, offer)
        case Round(inner, _) | NullIf(inner, _):
            return is_whole(inner, offer)
        case Cast(inner, whole):
            return whole
        case FirstKnown(parts):
            return all(is_whole(part, offer) for part in parts)
        case WindowStatistic(_, kind, inner):
            return kind == "count" or (kind != "avg" and is_whole(inner, offer))
        case Total() | Shift():
            return is_whole(term.of, offer)
    return isinstance(term, Rank)


def scalar_is_whole(offer: Offer) -> bool:
    """Whether the one number of a scalar subquery is a whole one."""
    (name,) = offer.question.shown
    computed = next((column for column in offer.question.derived if column.name == name), None)
    return is_whole(ReleasedValue(name) if computed is None else computed.of, offer)


def said_by(offer: Offer) -> dict[str, Statement]:
    """What each column of numbers says: aggregates, then those that are computed."""
    said = {name: statistic.statement(place) for name, statistic, place in offer.columns}
    if compares_released(offer.question):  # which rows count was decided by a number with noise
        said = {name: Statement.COUNTED if one in (*FULL, *LEAST) else one for name, one in said.items()}
    adds = frozenset(name for name, statistic, place in offer.columns if statistic.adds_up(place))
    chosen = offer.choice is not None or bool(offer.question.having)
    question = offer.question
    unlisted = {place for place, group in enumerate(question.groups) if may_be_unlisted(group, question)}
    lacking = unlisted | {place for place, group in enumerate(question.groups) if may_be_missing_key(group, question)}
    if any(lacking - set(level) for level in question.sets):  # totals without the rows that have none of the keys
        said = {name: _of_keys(one, sums=name in adds) for name, one in said.items()}
    for running in question.aggregates:  # missing keys come last; others may come before
        if isinstance(running, RunningCount) and any(question.groups[place].by == running.of for place in unlisted):
            said[running.name] = _of_keys(said[running.name], sums=True)
    inner = {f"#{place}": said_by(one)[one.question.shown[0]] for place, one in enumerate(offer.inner)}
    of = Said(said | inner, adds, frozenset(lacking), frozenset(unlisted), chosen=chosen, has_sets=bool(question.sets))
    return said | {column.name: of.term(column.of) for column in offer.question.derived}


def may_be_missing_key(group: Group, question: Question) -> bool:
    """Return whether rows of a question may have no key of a group: a value may be missing, and WHERE lets it be."""
    present: dict[Expression, Expression] = {
        ColumnValue(column): ColumnValue(replace(column, nullable=False)) for column in _present(question.where)
    }
    return bool(exchanged(group.meaning, present).facts.nullable)


def may_be_unlisted(group: Group, question: Question) -> bool:
    """Return whether rows of a question may have a key of a group that its owner did not list, and WHERE lets them."""
    columns = unlisted_columns(group.meaning, question.relation.table)
    asked = {column: listed_values(column, question.where, question.relation) for column in columns}
    return any(values is None or not values <= set(column.keys or ()) for column, values in asked.items())


def _present(condition: Expression | None) -> set[Column]:
    """The columns that have a value in each row that meets a condition: it compares them, or asks for one."""
    match condition:
        case Logic(True, parts):
            return {column for part in parts for column in _present(part)}
        case Compare(_, ColumnValue(column), Constant()) | Compare(_, Constant(), ColumnValue(column)):
            return {column}
        case InList(ColumnValue(column), _) | Like(ColumnValue(column)) | Not(IsNull(ColumnValue(column))):
            return {column}
    return set()


def _of_keys(said: Statement, *, sums: bool) -> Statement:
    """What totals over keys say that leave out rows with none of them; `sums` of numbers that are not negative."""
    if said in (Statement.RELEASED, Statement.CHOSEN):
        return said
    return Statement.AT_LEAST if sums and said in LEAST else Statement.COUNTED


def compares_released(question: Question) -> bool:
    """Whether rows are compared with what scalar subqueries released: then the numbers are not those of the true ones."""
    return bool(constants_of((question.relation, question.where, question.groups, question.aggregates)))


@dataclass(frozen=True)
class Said:
    """What terms say, by what aggregates say."""

    said: Mapping[str, Statement]  # by the name of an aggregate, or # and the place of a scalar subquery
    adds: frozenset[str]  # aggregates to which no row adds less than nothing
    lacking: frozenset[int]  # groups of whose keys rows may have none, and be in no row of the answer
    unlisted: frozenset[int]  # those of which rows may have one that is not listed: in plain SQL a row between others
    chosen: bool  # whether a private release or HAVING chose the rows of the answer
    has_sets: bool  # whether some rows of the answer are totals of others

    def term(self, term: Term) -> Statement:
        """What a term says."""
        match term:
            case ScalarValue(place):
                return self.said[f"#{place}"]
            case ReleasedValue(name):
                return self.said[name]
            case ConstantTerm():
                return Statement.TRUTH
            case Rank() | WindowStatistic(kind="count"):
                return Statement.RELEASED
            case Operation(sign, left, right):
                return _together(sign, (left, self.term(left)), (right, self.term(right)))
            case Round(inner, _) | Cast(inner, _) | NullIf(inner, _):
                return self.term(inner)
            case Total() | Shift() | WindowStatistic():
                return self._window(term)
            case FirstKnown(parts):
                last = next((at for at, part in enumerate(parts) if not may_be_missing(part)), len(parts) - 1)
                found = {self.term(part) for part in parts[: last + 1]}
                if any(isinstance(one, Shift) and self._may_end_early(one) for one in terms(term)):
                    found.add(Statement.COUNTED)
                return found.pop() if len(found) == 1 else _weakest(found)
        raise AssertionError(term)

    def _window(self, term: Total | Shift | WindowStatistic) -> Statement:
        found = self.term(term.of)
        if isinstance(term, Shift) and term.by_numbers:
            return Statement.RELEASED
        places = self.unlisted if isinstance(term, Shift) else self.lacking  # a row without a key comes last
        if found is Statement.RELEASED or not (self.chosen or self._beside(term, places)):
            return found
        sums = isinstance(term, Total) and isinstance(term.of, ReleasedValue) and term.of.name in self.adds
        return _of_keys(found, sums=sums and not self.chosen)

    def _beside(self, term: Window, places: frozenset[int]) -> frozenset[int]:
        """Groups by which a partition may lack rows; all of its rows have the keys of the partition itself."""
        return places if self.has_sets else places - set(term.by)

    def _may_end_early(self, term: Shift) -> bool:
        """Whether LEAD may find nothing where plain SQL finds the row without a key, which comes last."""
        return term.offset < 0 and bool(self._beside(term, self.lacking))


def _together(sign: str, left: tuple[Term, Statement], right: tuple[Term, Statement]) -> Statement:
    (one, first), (two, second) = left, right
    both = {first, second}
    if Statement.AT_LEAST in both and both <= LEAST:
        adds = sign == "+" or (sign == "-" and second is Statement.TRUTH)
        scales = (sign in "*/" and _positive(two)) or (sign == "*" and _positive(one))
        return Statement.AT_LEAST if adds or scales else Statement.COUNTED
    return _weakest(both)


def _weakest(said: set[Statement]) -> Statement:
    if Statement.RELEASED in said:
        return Statement.RELEASED
    if said <= FULL:
        return Statement.CLAMPED if Statement.CLAMPED in said else Statement.TRUTH
    return Statement.COUNTED


def _positive(term: Term) -> bool:
    return isinstance(term, ConstantTerm) and term.value > 0
