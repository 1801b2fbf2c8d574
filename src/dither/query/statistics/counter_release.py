"""Counters with noise: one set of them, which one row moves together, released at the price of one number.

Geometric noise of the L1 claim of the bound, or Gaussian noise of its L2 claim, on every counter of every group; the claims
are proved beside the SQL (`engines/templates/totals.py`) and stated in `statistics/bounding.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Protocol

from dither.mechanisms.additive.gaussian import Gaussian
from dither.mechanisms.additive.geometric import Geometric
from dither.numeric.number import Number
from dither.privacy.formulas.discrete_laplace import charged_rho
from dither.privacy.guarantee.definitions import pure
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.query.counters.counter_sets import CounterSet
from dither.query.counters.estimators import Columns, Estimator, Guesses, Noise, Range, Reader, SumEstimator
from dither.query.plan.expression_parts import may_be_changed
from dither.query.plan.question import Question
from dither.query.plan.spelling import spell
from dither.query.policy.column import Type
from dither.query.statistics.bounding import Bounding, ClipSum
from dither.query.statistics.choose_bounding import with_shares
from dither.query.statistics.statement import Statement, statement_of
from dither.query.statistics.statistic import Counts, Statistic


class Priced(Protocol):
    """What has a guarantee that adds up with others."""

    @property
    def guarantee(self) -> Guarantee: ...

    def loss(self) -> Loss: ...


class NoisePart(NamedTuple):
    """How noises enter a counter of one row of the answer: so many of a kind, each times a factor."""

    noise: Noise
    factor: Fraction
    times: int


@dataclass(frozen=True)
class OneMechanism:
    """Sets of counters with one weight a person: one vector with a scale for each set, which has one guarantee.

    By the theorem in `statistics/bounding.md`; of a set alone nothing is promised. Gaussian noises promise together what
    they would if each set had a weight of its own. Geometric ones promise the sum of their epsilons, and not what a
    composition of them would: a person may have all of it in one set.
    """

    parts: tuple[CounterRelease, ...]

    @property
    def guarantee(self) -> Guarantee:
        """Of all sets together."""
        noises = [part.mechanism for part in self.parts]
        # a weight by lengths is for Gaussian noise, one by sums for geometric noise: the theorem has no other pair
        assert all(isinstance(part.bounding, ClipSum) == isinstance(part.mechanism, Geometric) for part in self.parts)
        geometric = [noise for noise in noises if isinstance(noise, Geometric)]
        if geometric:
            epsilon = sum((noise.epsilon for noise in geometric), start=Number(0))
            rate = max(noise.epsilon / noise.reach for noise in geometric)
            return pure(epsilon, rho=charged_rho(epsilon, rate), unit=geometric[0].unit)
        first, *others = (noise.guarantee for noise in noises)
        return sum(others, start=first)

    def loss(self) -> Loss:
        """Of all sets together."""
        if any(isinstance(part.mechanism, Geometric) for part in self.parts):
            return self.guarantee.loss()
        first, *others = (part.mechanism.loss() for part in self.parts)
        return sum(others, start=first)


def mechanisms(statistics: Sequence[Statistic]) -> list[Statistic | OneMechanism]:
    """What statistics are released by: sets of counters with one weight are one mechanism."""
    joint = [one for one in statistics if isinstance(one, CounterRelease) and one.bounding.joint]
    others: list[Statistic | OneMechanism] = [one for one in statistics if all(one is not part for part in joint)]
    return [OneMechanism(tuple(joint)), *others] if joint else others


def with_one_weight(statistics: tuple[Statistic, ...]) -> tuple[Statistic, ...]:
    """The same, with the weight of a person as the prices of the sets decide it."""
    joint = [one for one in statistics if isinstance(one, CounterRelease) and one.bounding.joint]
    if not joint:
        return statistics
    bounding = with_shares(joint[0].bounding, [one.amount for one in joint])
    return tuple(replace(one, bounding=bounding) if any(one is part for part in joint) else one for one in statistics)


@dataclass(frozen=True)
class CounterRelease(Statistic):
    """A set of counters of each group of a question, and what is read off them."""

    code: ClassVar[str] = "counter_release"
    within: ClassVar[bool] = False

    set: CounterSet
    mechanism: Noise
    estimators: tuple[Estimator, ...]
    confidence: Fraction
    guesses: Guesses

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
        guesses: Guesses,
    ) -> CounterRelease:
        """The counters at their price."""
        mechanism: Noise
        if pure:
            mechanism = Geometric(epsilon=amount, sensitivity=bounding.l1(counters), unit=bounding.unit)
        else:
            square = bounding.l2_squared(counters)
            mechanism = Gaussian(rho=amount, l2_squared=square, integers=True, unit=bounding.unit)
        return cls(question, bounding, counters, mechanism, estimators, confidence, guesses)

    @property
    def amount(self) -> Number | Fraction:
        """Its price: epsilon, or rho."""
        noise = self.mechanism
        return noise.epsilon if isinstance(noise, Geometric) else Fraction(noise.guarantee.charge().rho or 0)

    @property
    def counters(self) -> CounterSet:
        """Its own."""
        return self.set

    @property
    def guarantee(self) -> Guarantee:
        """That of its noise; where several sets have one weight, only all of them together have one (`one_mechanism`)."""
        assert not self.bounding.joint, "sets with one weight are one mechanism"
        return self.mechanism.guarantee

    def loss(self) -> Loss:
        """That of its noise; where several sets have one weight, only all of them together have one.

        Of several numbers with geometric noise it is that of any epsilon-DP: a person's move may be spread over them, and
        the pair of one number that moves by all of it is not proved to dominate that.
        """
        assert not self.bounding.joint, "sets with one weight are one mechanism"
        several = self.bounding.cells != 1 or len(self.set.measures) > 1
        if isinstance(self.mechanism, Geometric) and several:
            return self.mechanism.guarantee.loss()
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
        return Reader(self.mechanism, self.bounding.resolution, confidence, self.guesses)

    def read(self, released: Any, place: int) -> Columns:
        """By its estimator."""
        return self.estimators[place].read(released, self._reader(self.confidence))

    def error(self, place: int, confidence: Fraction) -> float | None:
        """Of its estimator."""
        return self.estimators[place].error(self._reader(confidence))

    def unknown_error(self, place: int) -> tuple[str, str] | None:
        """Which guess its estimator needs."""
        return self.estimators[place].unknown(self.guesses)

    def told(self, place: int) -> str:
        """By its estimator."""
        return self.estimators[place].told(self._reader(self.confidence))

    def statement(self, place: int) -> Statement:
        """Of all rows, of clamped values, at least, or of counted rows."""
        estimator = self.estimators[place]
        several, table = [axis.of for axis in self.set.measures[0].axes], self.question.table
        changed = estimator.rounds or any(may_be_changed(of, table) for of in several)
        clamped = table.clamps_values or (estimator.clamps and changed)
        return statement_of(complete=self.complete, clamped=clamped, sums=estimator.adds_up)

    def clamped(self, place: int) -> str | None:
        """Bounds and steps of the values that are counted."""
        first = self.set.measures[0]
        if first.of is None or not self.estimators[place].clamps:
            return None
        told = []
        for axis in first.axes:
            lower, upper, step = (_short(one) for one in (*axis.bounds, axis.step))
            told.append(f"to {lower} to {upper}, in steps of {step}")
        return f"each value {', and the one beside it '.join(told)}"

    def type(self, place: int) -> Type:
        """Whole where its estimator is."""
        return Type.INTEGER if self.estimators[place].is_whole else Type.FLOAT

    def weights(self, place: int) -> tuple[Fraction, ...] | None:
        """Those of a sum, for one part in so many of a row."""
        estimator = self.estimators[place]
        if not isinstance(estimator, SumEstimator):
            return None
        return tuple(weight / self.bounding.resolution for weight in estimator.weights)

    def totals(self, released: Any) -> Sequence[Sequence[int | Fraction]]:
        """The counters of each row of the answer."""
        found: Sequence[Sequence[int]] = released
        return found

    def noise_parts(self, row: int) -> list[NoisePart]:
        """The noises of a counter of a row."""
        return [NoisePart(self.mechanism, Fraction(1), 1)]

    def spelled_levels(self) -> object:
        """What has noise beside the groups; nothing."""
        return None

    def value_range(self, place: int) -> Range:
        """By its estimator."""
        return self.estimators[place].value_range

    def adds_up(self, place: int) -> bool:
        """By its estimator."""
        return self.estimators[place].adds_up

    @property
    def noise(self) -> str:
        """Of which kind it is."""
        return "geometric" if isinstance(self.mechanism, Geometric) else "Gaussian"


def _short(value: Fraction) -> str:
    """A number as it is, or about."""
    text = str(value)
    return text if len(text) < 12 else f"about {float(value):.4g}"
