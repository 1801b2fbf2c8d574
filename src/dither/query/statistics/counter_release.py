"""Counters with noise: one set of them, which one row moves together, released at the price of one number.

Geometric noise of the L1 claim of the bound, or Gaussian noise of its L2 claim, on every counter of every group; the claims
are proved beside the SQL (`engines/templates/totals.py`) and stated in `statistics/bounding.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dither.mechanisms.additive.gaussian import Gaussian
from dither.mechanisms.additive.geometric import Geometric
from dither.numeric.number import Number
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.query.plan.question import Question
from dither.query.plan.spelling import spell
from dither.query.policy.column import Type
from dither.query.statistics.bounding import Bounding
from dither.query.statistics.counter_sets import CounterSet
from dither.query.statistics.estimators import UNKNOWN, Columns, Estimator, Noise, Reader
from dither.query.statistics.statistic import Counts, Statistic


@dataclass(frozen=True)
class CounterRelease(Statistic):
    """A set of counters of each group of a question, and what is read off them."""

    code: ClassVar[str] = "counter_release"
    within: ClassVar[bool] = False

    set: CounterSet
    mechanism: Noise
    estimators: tuple[Estimator, ...]
    confidence: Fraction
    size: int | None  # a public guess of the rows of a group

    @classmethod
    def make(
        cls,
        question: Question,
        bounding: Bounding,
        counters: CounterSet,
        estimators: tuple[Estimator, ...],
        amount: Number | Fraction,
        *,
        pure: bool,
        confidence: Fraction,
        size: int | None,
    ) -> CounterRelease:
        """The counters at their price."""
        mechanism: Noise
        if pure:
            mechanism = Geometric(epsilon=amount, sensitivity=bounding.l1(counters), unit=bounding.unit)
        else:
            square = bounding.l2_squared(counters)
            mechanism = Gaussian(rho=amount, l2_squared=square, integers=True, unit=bounding.unit)
        return cls(question, bounding, counters, mechanism, estimators, confidence, size)

    @property
    def counters(self) -> CounterSet:
        """Its own."""
        return self.set

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

    def noisy(self, counts: Counts) -> list[list[int]]:
        """Each counter of each group, with noise."""
        drawn = self.mechanism.law.sample((len(counts), len(self.set.measures))).tolist()
        return [
            [int(total) + noise for total, noise in zip(row, drawn_row, strict=True)]
            for row, drawn_row in zip(counts, drawn, strict=True)
        ]

    def _reader(self, confidence: Fraction) -> Reader:
        return Reader(self.mechanism, self.bounding.resolution, confidence, self.size)

    def read(self, released: Any, place: int) -> Columns:
        """By its estimator."""
        return self.estimators[place].read(released, self._reader(self.confidence))

    def error(self, place: int, confidence: Fraction) -> float | None:
        """Of its estimator."""
        return self.estimators[place].error(self._reader(confidence))

    def unknown_error(self, place: int) -> tuple[str, str]:
        """It needs a size."""
        return UNKNOWN

    def told(self, place: int) -> str:
        """By its estimator."""
        return self.estimators[place].told(self._reader(self.confidence))

    def clamped(self, place: int) -> str | None:
        """Bounds and steps of the values that are counted."""
        first = self.set.measures[0]
        if first.of is None or not self.estimators[place].clamps:
            return None
        steps = str(first.step)
        told = steps if len(steps) < 12 else f"about {float(first.step):.4g}"
        return f"each value to {first.of.facts.lower} to {first.of.facts.upper}, in steps of {told}"

    def type(self, place: int) -> Type:
        """Whole where its estimator is."""
        return Type.INTEGER if self.estimators[place].is_whole else Type.FLOAT

    @property
    def noise(self) -> str:
        """Of which kind it is."""
        return "geometric" if isinstance(self.mechanism, Geometric) else "Gaussian"
