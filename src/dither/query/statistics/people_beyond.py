"""How many people have more than is counted of them: a histogram of contributions, on a ladder of limits.

Where the limits of a person are not hard, an answer is about what was counted. This tells how much that may leave out:
people are sorted by how many times their limit they have (up to 4 times, 16 times, ...), and how many there are of each kind
is released with noise, at a small share of the price. `Weights` and `ClipSum` limit the number of rows n; `Clip` limits the
length of the vector of rows in each group, so that there the kind is by sum n_g^2, in squares of the ladder.

That a person moves one count, or two, is the theorem of `statistics/people_by_size.py`.

The number of people beyond is the sum of the counts. Of the rows that are left out, a lower bound is told.

Where people's own numbers of rows are averaged or added up, each is cut at what the limits of rows allow: the people with
more rows are counted in the same way, with that number as the limit.

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
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any, ClassVar, NamedTuple

from dither.numeric.number import Number
from dither.privacy.unit import Unit
from dither.query.counters.estimators import Columns
from dither.query.plan.aggregates import CountRows
from dither.query.plan.expressions import columns_of
from dither.query.plan.person_totals import PersonRows
from dither.query.plan.question import Question
from dither.query.plan.relations import total_behind
from dither.query.plan.spelling import spell
from dither.query.plan.text import rounded
from dither.query.statistics.bounding import Bounding, Clip, ClipSum, Weights
from dither.query.statistics.counter_release import CounterRelease
from dither.query.statistics.people_by_size import PeopleByRows, PeopleBySize, PeopleHistogram
from dither.query.statistics.people_sums import sum_of_counts
from dither.query.statistics.statement import Statement
from dither.query.statistics.statistic import Statistic

KINDS = 5  # of people beyond their limits
RATIO = 4  # from one kind to the next
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
    ) -> Beyond:
        """Read people and rows off noisy counts.

        Args:
            released: noisy counts of people, `released[k]` of those above `edges[k]` and not above the next.
            half: the half-width that holds for the number of people beyond each limit, for all together.
            sizes: what people are sorted by, and the edges.
            place: of the limit up to which people are counted.
            most_people: the most that the released number of rows has room for, where that is known.
        """
        above = list(accumulate(reversed(released)))[::-1]  # people beyond each limit
        people = above[place]
        rows = None
        if isinstance(sizes, PeopleByRows) and not sizes.squared and people > 2 * half:
            edges, hard = sizes.edges, sizes.of.table.hard_rows
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
        cls, cut: CutCounts, unit: Unit, amount: Number | Fraction, *, pure: bool, confidence: Fraction
    ) -> PeopleBeyond:
        """The histogram at its price, beyond the number at which people's own counts are cut."""
        edges = tuple(cut.limit * RATIO**place for place in range(KINDS))
        kind = PeopleByRows(1, 1, 1, unit, "", of=cut.question, edges=edges, complete=True)
        return cls(cls.question_of(kind), kind, cls.noise_of(amount, unit, pure=pure), confidence, own_counts=True)

    def spelled(self) -> dict[str, object]:
        """The ladder and the noise."""
        assert isinstance(self.bounding, PeopleByRows)
        own = {"own_counts": True} if self.own_counts else {}
        return {"edges": list(self.bounding.edges), "squared": self.bounding.squared, **own, "noise": spell(self.mechanism)}

    def read(self, released: Any, place: int) -> Columns:
        """The number of people beyond the limits."""
        found = self.beyond(released)
        return [found.people], [found.low], [found.high]

    def beyond(self, released: list[int], most_people: int | None = None) -> Beyond:
        """How many people there are beyond the limits, and a lower bound of the rows that they leave out."""
        assert isinstance(self.bounding, PeopleBySize)
        return Beyond.of(released, int(self.error(0, self.confidence)), self.bounding, most_people=most_people)

    def error(self, place: int, confidence: Fraction) -> float:
        """How far the number of people may be off."""
        return float(sum_of_counts(self.mechanism, KINDS, float(1 - confidence)))

    def told(self, place: int) -> str:
        """The half-width."""
        return f"{rounded(self.error(place, self.confidence))}"


class CutCounts(NamedTuple):
    """The rows of people's own counts, and the number above which a count is cut."""

    question: Question
    limit: int


def cut_counts(question: Question) -> CutCounts | None:
    """Return people's own counts of which numbers are made, if people may have more rows than the limit of these.

    Where a person has a count for each key, there is no one number of theirs, and people beyond the limit are not counted.
    """
    for aggregate in question.aggregates:
        for column in sorted(columns_of(aggregate), key=lambda column: column.name):
            own = total_behind(question.relation, column)
            if own is None or own.rows is None or not isinstance(own.total, PersonRows):
                continue
            assert own.total.column.upper is not None
            if f"bounds.{column.name}" not in question.table.hard:
                rows = Question(own.rows, None, (), (CountRows("n"),), ("n",))
                return CutCounts(rows, int(own.total.column.upper))
    return None


def leaves_out(statistics: Sequence[Statistic]) -> Weights | Clip | ClipSum | None:
    """Return how people are bounded by counters of which rows may be left out, if any."""
    for one in statistics:
        if not isinstance(one, CounterRelease) or not isinstance(one.bounding, (Weights, Clip, ClipSum)):
            continue
        if any(one.statement(place) is Statement.AT_LEAST for place in range(len(one.estimators))):
            return one.bounding
    return None
