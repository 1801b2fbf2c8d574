"""COUNT(DISTINCT ...) of a column with declared keys: how many of its keys somebody in the group has.

Theorem. At most m pairs of a group and a key are counted of a person, chosen by a keyed hash. Then one who comes or goes
moves the numbers of different keys by at most m in L1 norm, and so in L2 norm; one who is replaced by at most 2 m, and by
at most sqrt 2 times m in L2 norm; where there is one group, by at most m. Geometric noise of the first and Gaussian noise
of the second keep epsilon, or rho.

Proof. A key is there if one person has it or more: what is counted are the different pairs of all people together, and the
proof of `statistics/distinct_values.py` is about them, with keys for values.

Two releases can answer it: this number, with an interval of 2 H keys about it, H the half-width of its noise, whatever the
data is; or the people of each key (`statistics/people_per_key.py`), whose interval leaves open those keys that few people
or nobody has: from none of them to all K. Data would decide, and must not. The number is taken where its interval is
shorter than half of the keys, 4 H < K: what the other leaves open where half of the keys are held by many. An error that
is wished for can be promised by the number alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dither.query.counters.counter_sets import CounterSet, Request
from dither.query.plan.question import Question
from dither.query.plan.text import rounded
from dither.query.statistics.bounding import EachRow
from dither.query.statistics.distinct_values import KeepValues, NumberOfDistinct, noise_of
from dither.query.statistics.people_per_key import PeoplePerKey, keep_pairs, keys_of, told_pairs
from dither.query.statistics.statement import Statement, statement_of
from dither.query.statistics.statistic import Counts, Price, RequestedStatistic, counted_by


@dataclass(frozen=True)
class DistinctKeys(NumberOfDistinct):
    """How many different keys each group holds."""

    code: ClassVar[str] = "distinct_keys"

    @classmethod
    def make(cls, request: Request, question: Question, price: Price) -> RequestedStatistic:
        """The better of two statistics at the price."""
        number = cls.number(request, question, price)
        if price.error_is_wished or 4 * Fraction(number.error(0, price.confidence)) < number.most:
            return number
        return PeoplePerKey.make(request, question, price)

    @classmethod
    def number(cls, request: Request, question: Question, price: Price) -> DistinctKeys:
        """The number of keys at its price."""
        bounding, cells = keep_pairs(request, question, price), max(2, price.cells) if question.groups else 1
        alone = isinstance(bounding, EachRow)
        claimed = EachRow.of(price.unit, cells) if alone else KeepValues(bounding.groups, 1, 1, price.unit, "", cells=cells)
        mechanism = noise_of(price, claimed, CounterSet((bounding.people,)))
        return cls(counted_by(question, request.of, keys_of(request)), bounding, mechanism, price.confidence)

    @property
    def counters(self) -> CounterSet:
        """Persons, of whom one is enough; rows where each is a person."""
        return CounterSet((self.bounding.people,))

    @property
    def most(self) -> int:
        """All keys."""
        return len(self.question.groups[-1].listed)

    def numbers(self, counts: Counts) -> list[int]:
        """How many keys of each group have somebody."""
        return [sum(1 for count in row if count > 0) for row in counts]

    def statement(self, place: int) -> Statement:
        """At least: there may be values that nobody declared."""
        return statement_of(complete=False, clamped=self.question.table.clamps_values, sums=True)

    def told(self, place: int) -> str:
        """The half-width, and what is bounded."""
        return f"{rounded(self.error(place, self.confidence))}{told_pairs(self.bounding)}"
