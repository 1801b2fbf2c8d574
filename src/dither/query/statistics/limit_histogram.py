"""A limit found privately: a histogram of people on a ladder of limits, and the lowest limit that few people are beyond.

The ladder is 1, 2, 3, 4, 6, 8, 12, ... up to what the owner allows. Counts of people between two limits are released with
noise (`statistics/people_by_size.py` has the theorem). People *show* between two limits, a power of two of steps apart, if
their noisy counts add up to more than noise alone does anywhere, but for a probability of 1e-6 over all such sums together.
The limit that is found is the lowest one beyond which nobody shows. It, and the number of people beyond it, follow from the
noisy counts alone: they cost nothing more.

So a limit that is too high, and with it noise that is too wide, has probability 1e-6 at most; nothing can fail to stop; and
those who do not show are few. They are left out in part; the answer says how many they are, with an error bar that holds for
all limits together (`statistics/people_beyond.py`), since the same noise chose the limit.

Why no search from below by the sparse vector technique. At the same epsilon its threshold noise has epsilon / 3, and it goes
on beyond the highest limit with probability (2/3) e^(-r epsilon / 3), which is 1e-6 for r = 40 / epsilon people. Here people
between two neighbours of 40 limits show from about 19 / epsilon, and twice that when people are replaced. Where rho is
counted it is 5.9 / sqrt(2 rho) against 40 / sqrt(2 rho).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar

from dither.numeric.number import Number
from dither.query.counters.estimators import Columns
from dither.query.plan.spelling import spell
from dither.query.plan.text import rounded
from dither.query.statistics.people_beyond import Beyond
from dither.query.statistics.people_by_size import PeopleBySize, PeopleBySums, PeopleByValues, PeopleHistogram
from dither.query.statistics.people_sums import sum_of_counts

BETA = Fraction(1, 10**6)  # the probability that noise alone makes a limit higher


def ladder(top: int) -> tuple[int, ...]:
    """1, 2, 3, 4, 6, 8, 12, ... and at last the top."""
    found, power = [1], 2
    while power <= top:
        found += [power, power // 2 * 3]
        power *= 2
    return (*(one for one in found if one < top), top)


@dataclass(frozen=True)
class LimitHistogram(PeopleHistogram):
    """People on a ladder of limits, of which one is found."""

    code: ClassVar[str] = "limit_histogram"

    fact: str  # what is found: "max_rows", "max_groups", "max_sum.cost", "upper bound of cost", ...
    limits: tuple[int, ...]  # the ladder, in rows, groups or steps; the edges of the sizes belong to them

    @classmethod
    def make(
        cls,
        fact: str,
        limits: tuple[int, ...],
        sizes: PeopleBySize,
        amount: Number | Fraction,
        *,
        pure: bool,
        confidence: Fraction,
    ) -> LimitHistogram:
        """The histogram at its price."""
        assert len(limits) == len(sizes.edges)
        mechanism = cls.noise_of(amount, sizes.unit, pure=pure)
        return cls(cls.question_of(sizes), sizes, mechanism, confidence, fact, limits)

    @property
    def step(self) -> Fraction:
        """What one of a limit is, in the unit of its column."""
        sizes = self.bounding
        return sizes.counter.step if isinstance(sizes, (PeopleBySums, PeopleByValues)) else Fraction(1)

    @cached_property
    def shown(self) -> dict[int, int]:
        """How many people show, by how many neighbouring counts are added up."""
        widths = [1 << at for at in range(len(self.limits).bit_length())]
        alpha = float(BETA) / (len(widths) * len(self.limits))
        return {width: sum_of_counts(self.mechanism, width, alpha) + 1 for width in widths}

    @property
    def clear(self) -> int:
        """How many people show between two neighbours."""
        return self.shown[1]

    def place(self, released: Sequence[int]) -> int:
        """Where on the ladder the limit is that was found."""
        sums = list(accumulate(released, initial=0))
        highest = 0
        for first in range(len(released)):
            for width, enough in self.shown.items():
                if sums[min(first + width, len(released))] - sums[first] >= enough:
                    highest = first + 1  # kind `first + 1` is beyond limit `first`
        return min(highest, len(self.limits) - 1)

    @cached_property
    def half(self) -> int:
        """The half-width of the number of people beyond each limit, for all together."""
        return sum_of_counts(self.mechanism, len(self.limits), float(1 - self.confidence) / 2)

    def beyond(self, released: Sequence[int], most_people: int | None = None) -> Beyond:
        """How many people are beyond the limit that was found; where it is one of rows, a lower bound of those left out."""
        assert isinstance(self.bounding, PeopleBySize)
        return Beyond.of(released, self.half, self.bounding, self.place(released), most_people)

    def spelled(self) -> dict[str, object]:
        """What is found, the ladder and the noise."""
        assert isinstance(self.bounding, PeopleBySize)
        return {"fact": self.fact, "limits": list(self.limits), "noise": spell(self.mechanism)}

    def read(self, released: Any, place: int) -> Columns:
        """The number of people beyond the limit."""
        found = self.beyond(released)
        return [found.people], [found.low], [found.high]

    def error(self, place: int, confidence: Fraction) -> float:
        """How far one count of people may be off."""
        return float(sum_of_counts(self.mechanism, 1, float(1 - confidence)))

    def told(self, place: int) -> str:
        """The half-width."""
        return f"{rounded(self.error(place, self.confidence))}"
