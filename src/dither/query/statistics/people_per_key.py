"""COUNT(DISTINCT ...) of a column with declared keys, read off how many people hold each key.

    c_gk   how many people hold key k in group g      y_gk = c_gk + N_gk   what is released      K   how many keys there are
    h      the least number with (1 - P(N > h))^K >= confidence

Theorem. At most m pairs of a group and a key are counted of a person, chosen by a keyed hash. Then a person who comes or
goes moves the c_gk by at most m in L1 norm and by sqrt m in L2 norm; one who is replaced by 2 m, and by sqrt(2 m). Noise
of these claims keeps epsilon, or rho. For any data, the number of keys that somebody holds in group g is at least the
number of y_gk above h, and at most the number of y_gk above -h: both together with the stated probability, each group by
itself.

Proof. She adds 1 to at most m of the c_gk: a vector of zeros and ones. Replaced, it is a - b with another such b, and |a -
b|^2 <= |a|^2 + |b|^2 as no product is negative. For the interval, each key has one way to mislead, which has probability
P(N > h) at most: one that nobody holds is taken for held if N > h; one that c >= 1 people hold is taken for empty if c + N
<= -h, so N < -h, and the noise is symmetric. Noises are independent: nothing misleads with probability (1 - P(N > h))^K at
least. Then all keys above h are held, and all that are held are above -h.

Its width. Keys of which nobody can tell stay open: those of few people, and nearly always the empty ones, since 0 people
and 1 cannot be told apart. A key of 2 h + 1 people or more is above h, by the same inequality. Whether this release or the
direct number of keys is better depends on the data; what is public decides (`statistics/distinct_keys.py`).

The value. A key that nobody holds comes out at zero or below with probability q = P(N <= 0), one that many hold hardly
ever: each that did stands for 1/q that nobody holds. Within the interval, and rounded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import Any, ClassVar, Self

from dither.errors import QuestionError
from dither.mechanisms.additive.additive import covers
from dither.numeric.search import first_integer
from dither.query.counters.counter_sets import CounterSet, Request
from dither.query.counters.estimators import Columns, Range
from dither.query.plan.expressions import ColumnValue
from dither.query.plan.question import Question
from dither.query.policy.column import Key
from dither.query.statistics.bounding import Bounding, EachRow, KeepPersons
from dither.query.statistics.distinct_values import DistinctStatistic, noise_of
from dither.query.statistics.limits import hard_limits
from dither.query.statistics.statement import Statement, statement_of
from dither.query.statistics.statistic import Counts, Price, counted_by

MOST_CELLS = 2_000_000  # of all groups together


@dataclass(frozen=True)
class PeoplePerKey(DistinctStatistic):
    """How many people hold each key, from which the number of keys is read."""

    code: ClassVar[str] = "people_per_key"

    @classmethod
    def make(cls, request: Request, question: Question, price: Price) -> Self:
        """The statistic at its price."""
        bounding = keep_pairs(request, question, price)
        mechanism = noise_of(price, bounding, CounterSet((bounding.people,)))
        return cls(counted_by(question, request.of, keys_of(request)), bounding, mechanism, price.confidence)

    @property
    def counters(self) -> CounterSet:
        """People; rows where each is one."""
        return CounterSet((self.bounding.people,))

    def noisy(self, counts: Counts) -> list[list[int]]:
        """The people of each key of each group, with noise."""
        drawn = self.mechanism.law.sample((len(counts), len(self._keys))).tolist()
        return [
            [int(count) + noise for count, noise in zip(row, drawn_row, strict=True)]
            for row, drawn_row in zip(counts, drawn, strict=True)
        ]

    @property
    def _keys(self) -> tuple[Key, ...]:
        return self.question.groups[-1].listed

    @cached_property
    def margin(self) -> int:
        """h: what no noise of a key exceeds, on the one side that matters to it."""

        def met(k: int) -> bool:
            # limits of 2 k + 1 steps are so near that noise exceeds k on one side alone
            return covers(self.mechanism.law, k, self.confidence, len(self._keys), 2 * k + 1)

        return first_integer(met)

    def read(self, released: Any, place: int) -> Columns:
        """Keys that are surely held, keys that are not surely empty, and a number between."""
        margin, keys = self.margin, len(self._keys)
        below = (1 + self.mechanism.law.pmf(0).lower) / 2  # q; an estimate promises nothing
        columns: Columns = ([], [], [])
        for counts in released:
            low, high = (sum(1 for count in counts if count > end) for end in (margin, -margin))
            empty = sum(1 for count in counts if count <= 0)
            columns[0].append(max(low, min(high, floor(keys - empty / below + 0.5))))
            columns[1].append(low)
            columns[2].append(high)
        return columns

    def value_range(self, place: int) -> Range:
        """None of the keys, or all."""
        return Fraction(0), Fraction(len(self._keys))

    def error(self, place: int, confidence: Fraction) -> None:
        """How far off it is depends on how many people hold each key."""
        return

    def statement(self, place: int) -> Statement:
        """At least: there may be values that nobody declared."""
        return statement_of(complete=False, clamped=self.question.table.clamps_values, sums=True)

    def told(self, place: int) -> str:
        """From how many people on a key is surely counted, and what is bounded."""
        sure = f"as many keys as have fewer than {2 * self.margin + 1:,} people, since keys of more are surely counted"
        return f"{sure}{told_pairs(self.bounding)}"


def keys_of(request: Request) -> tuple[Key, ...]:
    """The declared keys."""
    assert isinstance(request.of, ColumnValue)
    assert request.of.column.keys is not None
    return request.of.column.keys


def keep_pairs(request: Request, question: Question, price: Price) -> Bounding:
    """How a person is bounded: by the pairs of group and key in which she counts. Refused where there are too many."""
    assert isinstance(request.of, ColumnValue)
    table, keys = question.table, keys_of(request)
    pairs = price.cells * len(keys)
    if pairs > MOST_CELLS:
        why = f"{price.cells:,} groups of {len(keys):,} keys are more than the {MOST_CELLS:,} that are counted at once"
        raise QuestionError("GROUP BY", request.of.column.name, why, "fewer columns in GROUP BY")
    if table.person is None or table.alone:
        return EachRow.of(price.unit)
    reason = "a key is there or not: a choice is all that can be bounded"
    made = KeepPersons(min(table.max_groups, pairs), 1, 1, price.unit, reason)
    return replace(made, complete=made.loses_nothing(hard_limits(table, pairs)))


def told_pairs(bounding: Bounding) -> str:
    """How much of a person counts, beside an error."""
    if isinstance(bounding, EachRow):
        return ""
    return f"; of a person at most {bounding.groups} pair{'s' if bounding.groups > 1 else ''} of group and key count"
