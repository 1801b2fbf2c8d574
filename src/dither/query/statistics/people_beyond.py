"""How many people have more than is counted of them: a histogram of contributions, on a ladder of limits.

Where the limits of a person are not hard, an answer is about what was counted. This tells how much that may leave out:
people are sorted by how many times their limit they have (up to 4 times, 16 times, ...), and how many there are of each kind
is released with noise, at a small share of the price. `Weights` and `ClipSum` limit the number of rows n; `Clip` limits the
length of the vector of rows in each group, so that there the kind is by sum n_g^2, in squares of the ladder.

That a person moves one count, or two, is the theorem of `statistics/people_by_size.py`.

The number of people beyond is the sum of the counts. Of the rows that are left out, the fewest are told. Proof. A person
with n rows, of which m count, leaves out n - m, that is one for each j >= m with n > j. On a ladder m = e_0 < e_1 < ... at
least 1 of these is due to n > e_0, and at least e_k - e_(k-1) to n > e_k. So all people leave out at least
T_0 + sum_k T_k (e_k - e_(k-1)), where T_k have more than e_k rows; and each T_k is at least its noisy count less its half
bar, for all k together with the probability that is said, as their misses add up to no more than the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from dither.mechanisms.additive.gaussian import Gaussian
from dither.mechanisms.additive.geometric import Geometric
from dither.numeric.number import Number
from dither.query.counters.estimators import Columns
from dither.query.plan.question import Question
from dither.query.plan.spelling import spell
from dither.query.plan.text import rounded
from dither.query.statistics.bounding import Bounding, Clip, ClipSum, Weights
from dither.query.statistics.counter_release import CounterRelease
from dither.query.statistics.people_by_size import PeopleByRows, PeopleHistogram
from dither.query.statistics.people_sums import sum_of_counts
from dither.query.statistics.statement import Statement
from dither.query.statistics.statistic import Statistic

KINDS = 5  # of people beyond their limits
RATIO = 4  # from one kind to the next
SHARE = {True: Fraction(1, 10), False: Fraction(1, 20)}  # of an epsilon, or of a rho


class Beyond(NamedTuple):
    """People beyond the limits: how many, between which, and the fewest rows that they leave out."""

    people: int
    low: int
    high: int
    rows: int | None  # None where people are sorted by the length of their vectors, which tells little of rows


def fewest_rows(
    mechanism: Geometric | Gaussian, released: Sequence[int], edges: Sequence[int], place: int, alpha: float
) -> int:
    """How many rows people beyond an edge leave out at least, but for a probability of alpha.

    Args:
        mechanism: of the noise of each count.
        released: noisy counts of people, `released[k]` of those above `edges[k]` and not above the next.
        edges: of the kinds, in rows of a person.
        place: of the edge up to which rows count.
        alpha: the probability that it is too many, whichever edge was chosen.
    """
    # Noise is as likely below zero as above, and only above it is it too many: so twice the share. A bar is at least of 1/2.
    found, each = 0, min(0.5, 2 * alpha / len(released))
    for at in range(place, len(released)):
        people = sum(released[at:]) - sum_of_counts(mechanism, len(released) - at, each)
        found += max(0, people) * (1 if at == place else edges[at] - edges[at - 1])
    return found


@dataclass(frozen=True)
class PeopleBeyond(PeopleHistogram):
    """How many people have more than is counted of them, by how much."""

    code: ClassVar[str] = "people_beyond"

    most: int  # rows of a person that count in full

    @classmethod
    def make(
        cls, question: Question, bounding: Bounding, amount: Number | Fraction, *, pure: bool, confidence: Fraction
    ) -> PeopleBeyond:
        """The histogram at its price, beyond the limits of a bound."""
        squared = isinstance(bounding, Clip)
        first, ratio = (bounding.limits.squares, RATIO**2) if squared else (bounding.most, RATIO)
        edges = tuple(first * ratio**place for place in range(KINDS))
        kind = PeopleByRows(1, 1, 1, bounding.unit, "", of=question, edges=edges, squared=squared, complete=True)
        mechanism = cls.noise_of(amount, bounding.unit, pure=pure)
        return cls(cls.question_of(kind), kind, mechanism, confidence, bounding.most)

    def spelled(self) -> dict[str, object]:
        """The ladder and the noise."""
        assert isinstance(self.bounding, PeopleByRows)
        return {"edges": list(self.bounding.edges), "squared": self.bounding.squared, "noise": spell(self.mechanism)}

    def read(self, released: Any, place: int) -> Columns:
        """The number of people beyond the limits."""
        found = self.beyond(released)
        return [found.people], [found.low], [found.high]

    def beyond(self, released: list[int]) -> Beyond:
        """How many people there are beyond the limits, and how many rows of theirs are left out at least."""
        half = int(self.error(0, self.confidence))
        people = sum(released)
        assert isinstance(self.bounding, PeopleByRows)
        edges, alpha = self.bounding.edges, float(1 - self.confidence)
        known = None if self.bounding.squared else fewest_rows(self.mechanism, released, edges, 0, alpha)
        return Beyond(max(0, people), max(0, people - half), max(0, people + half), known)

    def error(self, place: int, confidence: Fraction) -> float:
        """How far the number of people may be off."""
        return float(sum_of_counts(self.mechanism, KINDS, float(1 - confidence)))

    def told(self, place: int) -> str:
        """The half-width."""
        return f"{rounded(self.error(place, self.confidence))}"


def leaves_out(statistics: Sequence[Statistic]) -> CounterRelease | None:
    """The counters of which rows may be left out, if any: of those, people beyond the limits are counted."""
    scaled = (one for one in statistics if isinstance(one, CounterRelease))
    for one in (one for one in scaled if isinstance(one.bounding, (Weights, Clip, ClipSum))):
        if any(one.statement(place) is Statement.AT_LEAST for place in range(len(one.estimators))):
            return one
    return None
