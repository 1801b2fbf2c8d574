"""How many people have more than is counted of them: a histogram of contributions, on a ladder of limits.

Where the limits of a person are not hard, an answer is about what was counted. This tells how much that may leave out:
people are sorted by how many times their limit they have (up to 4 times, 16 times, ...), and how many there are of each kind
is released with noise, at a small share of the price. `Weights` and `ClipSum` limit the number of rows n; `Clip` limits the
length of the vector of rows in each group, so that there the kind is by sum n_g^2, in squares of the ladder.

That a person moves one count, or two, is the theorem of `statistics/people_by_size.py`.

The number of people beyond is the sum of the counts. Of the rows that are left out, a lower bound is told.

Where people's own numbers of rows are averaged or added up, each is cut at what the limits of rows allow: of the people in
the rows of the question, those with a larger number are counted in the same way, with what is counted at most as the limit.
A person's largest number is n: of a number of rows n > m, n - m rows are left out. (Of values or of different values there
are no more than rows.)

    e_0 < e_1 < ...   the ladder of K limits      T_j, Y_j   the people with more than e_j rows, and their noisy number
    m = e_i           the limit up to which rows count
    h                 a half-width, with P(|noise of all K counts together| > h) <= alpha

Theorem. With a probability of at least 1 - alpha, for all limits m = e_i of the ladder together, so also for one that was
chosen by the same noise, T_i >= Y_i - h, and the people beyond m leave out at least

    (Y_i - h) + sum over j > i of (e_j - e_(j-1)) max(0, Y_j - h)   rows.

For |T_i - Y_i| <= h, for all i together, take alpha / 2 for alpha in the definition of h.

Proof. A person with n rows, of which m count, leaves out n - m, that is one for each r >= m with n > r. At least 1 of these
is due to n > e_i, and at least e_j - e_(j-1) to n > e_j: all people leave out at least T_i + sum over j > i of T_j (e_j -
e_(j-1)). Y_j - T_j is the sum S_j of the noise of the last K - j counts. These are sums of 1, 2, ..., K independent
symmetric variables, of which P(max S_j > h) <= 2 P(S_0 > h) = P(|S_0| > h) (Levy's inequality): at the first sum above h,
the rest is at least zero with a probability of 1/2 or more. Likewise P(max |S_j| > h) <= 2 P(|S_0| > h).

One half-width for all limits suits high ones, where one person stands for many rows: for the last of 20 limits it is more
than eight deviations of the noise, so that noise is hardly ever taken for very many rows.

What is told of rows. Nothing unless Y_i > 2 h, so that the low end of people is more than h above zero: where few people are
beyond the limit, a false lower bound has a probability far below alpha. A T_j is taken as no more than the people that the
released number of rows has room for, m rows each, and as none where nobody has more than e_j rows by the owner's word. All
of this lowers the bound, so that it holds as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from math import floor
from typing import Any, ClassVar, NamedTuple

from dither.numeric.number import Number
from dither.privacy.unit import Unit
from dither.query.counters.estimators import Columns
from dither.query.plan.base import Expression
from dither.query.plan.counters import StepCounter
from dither.query.plan.expression_parts import exchanged, value_columns
from dither.query.plan.expressions import Case, ColumnValue, Constant
from dither.query.plan.functions import Coalesce, GreatestLeast
from dither.query.plan.lattice import choices_of
from dither.query.plan.person_totals import PersonDistinct, PersonRows, PersonValues
from dither.query.plan.question import Question
from dither.query.plan.relations import total_behind
from dither.query.plan.spelling import spell
from dither.query.plan.text import rounded
from dither.query.policy.column import Column
from dither.query.statistics.bounding import Bounding, Clip, ClipSum, Weights
from dither.query.statistics.counter_release import CounterRelease
from dither.query.statistics.people_by_size import PeopleByRows, PeopleBySize, PeopleByValues, PeopleHistogram
from dither.query.statistics.people_sums import sum_of_counts
from dither.query.statistics.statement import Statement
from dither.query.statistics.statistic import Statistic

KINDS = 5  # of people beyond their limits
RATIO = 4  # from one kind to the next
FAR = RATIO**KINDS  # times a limit: beyond the last kind
SHARE = {True: Fraction(1, 10), False: Fraction(1, 20)}  # of an epsilon, or of a rho


class Beyond(NamedTuple):
    """People beyond the limits: how many, between which, and a lower bound of the rows that they leave out."""

    people: int
    low: int
    high: int
    rows: int | None  # None where nothing is told of them

    @classmethod
    def of(
        cls,
        released: Sequence[int],
        half: int,
        sizes: PeopleBySize,
        place: int = 0,
        most_people: int | None = None,
        *,
        own_counts: bool = False,
    ) -> Beyond:
        """Read people and rows off noisy counts.

        Args:
            released: noisy counts of people, `released[k]` of those above `edges[k]` and not above the next.
            half: the half-width that holds for the number of people beyond each limit, for all together.
            sizes: what people are sorted by, and the edges.
            place: of the limit up to which people are counted.
            most_people: the most that the released number of rows has room for, where that is known.
            own_counts: whether they are sorted by their own counts, each of as many rows.
        """
        above = list(accumulate(reversed(released)))[::-1]  # people beyond each limit
        people = above[place]
        rows = None
        by_rows = isinstance(sizes, PeopleByRows) and not sizes.squared
        if (own_counts or by_rows) and people > 2 * half:
            edges, hard = sizes.edges, None if own_counts else sizes.of.table.hard_rows
            room = people if most_people is None else most_people
            several = [max(0, min(one - half, room)) for one in above]
            rows = several[place]
            for at in range(place + 1, len(edges)):
                if hard is None or edges[at] < hard:
                    rows += several[at] * (edges[at] - edges[at - 1])
        return cls(max(0, people), max(0, people - half), max(0, people + half), rows or None)


@dataclass(frozen=True)
class PeopleBeyond(PeopleHistogram):
    """How many people have more than is counted of them, by how much."""

    code: ClassVar[str] = "people_beyond"

    own_counts: bool = False  # whether the limit is the number at which people's own numbers of rows are cut

    @classmethod
    def make(
        cls, question: Question, bounding: Bounding, amount: Number | Fraction, *, pure: bool, confidence: Fraction
    ) -> PeopleBeyond:
        """The histogram at its price, beyond the limits of a bound."""
        squared = isinstance(bounding, Clip)
        first, ratio = (bounding.limits.squares, RATIO**2) if squared else (bounding.most, RATIO)
        edges = tuple(first * ratio**place for place in range(KINDS))
        kind = PeopleByRows(1, 1, 1, bounding.unit, "", of=question, edges=edges, squared=squared, complete=True)
        return cls(cls.question_of(kind), kind, cls.noise_of(amount, bounding.unit, pure=pure), confidence)

    @classmethod
    def of_own_counts(
        cls, question: Question, cut: CutCounts, unit: Unit, amount: Number | Fraction, *, pure: bool, confidence: Fraction
    ) -> PeopleBeyond:
        """The histogram at its price, beyond the number at which people's own counts are cut."""
        edges = tuple(cut.limit * RATIO**place for place in range(KINDS))
        counter = StepCounter(cut.values, Fraction(1))
        kind = PeopleByValues(1, 1, 1, unit, "", of=question, edges=edges, counter=counter, complete=True)
        return cls(cls.question_of(kind), kind, cls.noise_of(amount, unit, pure=pure), confidence, own_counts=True)

    def spelled(self) -> dict[str, object]:
        """The ladder and the noise."""
        assert isinstance(self.bounding, (PeopleByRows, PeopleByValues))
        squared = isinstance(self.bounding, PeopleByRows) and self.bounding.squared
        own = {"own_counts": True} if self.own_counts else {}
        return {"edges": list(self.bounding.edges), "squared": squared, **own, "noise": spell(self.mechanism)}

    def read(self, released: Any, place: int) -> Columns:
        """The number of people beyond the limits."""
        found = self.beyond(released)
        return [found.people], [found.low], [found.high]

    def beyond(self, released: list[int], most_people: int | None = None) -> Beyond:
        """How many people there are beyond the limits, and a lower bound of the rows that they leave out."""
        assert isinstance(self.bounding, PeopleBySize)
        half = int(self.error(0, self.confidence))
        return Beyond.of(released, half, self.bounding, most_people=most_people, own_counts=self.own_counts)

    def error(self, place: int, confidence: Fraction) -> float:
        """How far the number of people may be off."""
        return float(sum_of_counts(self.mechanism, KINDS, float(1 - confidence)))

    def told(self, place: int) -> str:
        """The half-width."""
        return f"{rounded(self.error(place, self.confidence))}"


class CutCounts(NamedTuple):
    """What is counted of people's own counts, without the limit at which it is cut, and that limit."""

    values: Expression
    limit: int


def cut_counts(question: Question) -> CutCounts | None:
    """Return people's own counts of which numbers are made, if some may be above the limit at which they are cut.

    Where a person has a count for each key, there is no one number of theirs, and people beyond the limit are not counted.
    """
    for values in (values for aggregate in question.aggregates for values in aggregate.numbers):
        for column in cut_totals(values, question):
            own = total_behind(question.relation, column)
            if own is not None and own.is_one and isinstance(own.total, (PersonRows, PersonValues, PersonDistinct)):
                return _without_limit(values, column)
    return None


def cut_totals(values: Expression, question: Question) -> list[Column]:
    """Return the columns of people's own counts and sums by which values may be beyond what is counted of them."""
    found = []
    for column in sorted(value_columns(values), key=lambda column: column.name):
        own = total_behind(question.relation, column)
        if own is None or not own.total.grows or f"bounds.{column.name}" in question.table.hard:
            continue
        if not _is_choice(values, column) or _without_limit(values, column).values.facts != values.facts:
            found.append(column)
    return found


def _without_limit(values: Expression, column: Column) -> CutCounts:
    """What is counted where it is the column, a constant, or one of several of these; otherwise the column."""
    assert column.lower is not None
    assert column.upper is not None
    far = replace(column, lower=column.lower - abs(column.lower) * FAR, upper=column.upper + abs(column.upper) * FAR)
    whole = ColumnValue(column)
    values = values if _is_choice(values, column) else whole
    assert values.facts.upper is not None
    return CutCounts(exchanged(values, {whole: ColumnValue(far)}), floor(values.facts.upper))


def _is_choice(values: Expression, column: Column) -> bool:
    if isinstance(values, (Case, Coalesce, GreatestLeast)):
        return all(_is_choice(part, column) for part in choices_of(values))
    return values == ColumnValue(column) or isinstance(values, Constant)


def leaves_out(statistics: Sequence[Statistic]) -> Weights | Clip | ClipSum | None:
    """Return how people are bounded by counters of which rows may be left out, if any."""
    for one in statistics:
        if not isinstance(one, CounterRelease) or not isinstance(one.bounding, (Weights, Clip, ClipSum)):
            continue
        if any(one.statement(place) is Statement.AT_LEAST for place in range(len(one.estimators))):
            return one.bounding
    return None
