"""COUNT(DISTINCT ...) of a column with declared keys: how many of its keys somebody in the group has.

Theorem. At most m pairs of a group and a key are counted of a person, chosen by a keyed hash. Then one who comes or goes
moves the numbers of different keys by at most m in L1 norm, and so in L2 norm; one who is replaced by at most 2 m, and by at
most sqrt 2 times m in L2 norm. Geometric noise of the first and Gaussian noise of the second keep epsilon, or rho.

Proof. A key is there if one person has it or more. Somebody who comes can only add keys: vectors a that are not negative,
of L1 norm at most m. Replaced, it is a - b with another such b, and |a - b|^2 <= |a|^2 + |b|^2 as no product is negative.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor
from typing import Any, ClassVar, Self

from dither.errors import QuestionError
from dither.mechanisms.additive.additive import half_width
from dither.mechanisms.additive.gaussian import Gaussian
from dither.mechanisms.additive.geometric import Geometric
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.unit import Unit
from dither.query.plan.expressions import ColumnValue
from dither.query.plan.question import Question
from dither.query.plan.spelling import spell
from dither.query.statistics.bounding import Bounding, EachRow, KeepPersons
from dither.query.statistics.counter_sets import CounterSet, Request
from dither.query.statistics.estimators import Columns
from dither.query.statistics.limits import hard_limits
from dither.query.statistics.statistic import Counts, Price, RequestedStatistic, counted_by

MOST_CELLS = 2_000_000  # of all groups together


@dataclass(frozen=True)
class DistinctKeys(RequestedStatistic):
    """How many different keys each group holds."""

    code: ClassVar[str] = "distinct_keys"

    mechanism: Geometric | Gaussian
    confidence: Fraction

    @classmethod
    def make(cls, request: Request, question: Question, price: Price) -> Self:
        """The statistic at its price."""
        assert isinstance(request.of, ColumnValue)
        assert request.of.column.keys is not None
        table, keys = question.table, request.of.column.keys
        if price.cells * len(keys) > MOST_CELLS:
            why = f"{price.cells:,} groups of {len(keys):,} keys are more than the {MOST_CELLS:,} that are counted at once"
            raise QuestionError("GROUP BY", request.of.column.name, why, "fewer columns in GROUP BY")
        alone = table.person is None or table.alone
        most = 1 if alone else min(table.max_groups, price.cells * len(keys))
        reason = "a key is there or not: a choice is all that can be bounded"
        bounding: Bounding = EachRow.of(price.unit) if alone else KeepPersons(most, 1, 1, price.unit, reason)
        if not alone:
            bounding = replace(bounding, complete=bounding.loses_nothing(hard_limits(table, price.cells * len(keys))))
        comes = price.unit is Unit.ADD_REMOVE
        mechanism: Geometric | Gaussian
        if price.pure:
            mechanism = Geometric(epsilon=price.amount, sensitivity=most * (1 if comes else 2), unit=price.unit)
        else:
            square = most**2 * (1 if comes else 2)
            mechanism = Gaussian(rho=price.amount, l2_squared=square, integers=True, unit=price.unit)
        return cls(counted_by(question, request.of, keys), bounding, mechanism, price.confidence)

    @property
    def counters(self) -> CounterSet:
        """Persons, of whom one is enough; rows where each is a person."""
        return CounterSet((self.bounding.people,))

    @property
    def guarantee(self) -> Guarantee:
        """That of its noise."""
        return self.mechanism.guarantee

    def loss(self) -> Loss:
        """That of its noise."""
        return self.mechanism.loss()

    def spelled(self) -> dict[str, object]:
        """The noise."""
        return {"noise": spell(self.mechanism)}

    def noisy(self, counts: Counts) -> list[int]:
        """How many keys of each group have somebody, with noise."""
        truth = [sum(1 for count in row if count > 0) for row in counts]
        drawn = self.mechanism.law.sample(len(truth)).tolist()
        return [true + noise for true, noise in zip(truth, drawn, strict=True)]

    def read(self, released: Any, place: int) -> Columns:
        """Within 0 and the number of keys, where an interval allows it."""
        most, half = len(self.question.groups[-1].listed), floor(self._half(self.confidence))

        def inside(number: int) -> int:
            return max(0, min(most, number))

        return (
            [inside(number) for number in released],
            [inside(number - half) for number in released],
            [inside(number + half) for number in released],
        )

    def _half(self, confidence: Fraction) -> float:
        return float(half_width(self.mechanism.law, confidence, 1))

    def error(self, place: int, confidence: Fraction) -> float:
        """The half-width of its noise."""
        return self._half(confidence)

    def told(self, place: int) -> str:
        """The half-width, and what is bounded."""
        most = self.bounding.groups
        kept = f"; of a person at most {most} pair{'s' if most > 1 else ''} of group and key count"
        return f"{self._half(self.confidence):,.4g}{kept if isinstance(self.bounding, KeepPersons) else ''}"

    @property
    def noise(self) -> str:
        """Of which kind it is."""
        return "geometric" if isinstance(self.mechanism, Geometric) else "Gaussian"
