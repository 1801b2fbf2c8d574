"""A few counters of one expression that one row moves by at most `reach` together, in L1 norm: several aggregates follow.

MeanCounters       above, below, missing: averages, counts and sums
VarianceCounters   their squares: variances too
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dither.query.counters.estimators import Estimator, MeanEstimator, SumEstimator
from dither.query.counters.variances import VarianceEstimator
from dither.query.plan.aggregates import Aggregate, CountRows, CountValues, Mean, Sum, Variance
from dither.query.plan.base import Expression
from dither.query.plan.counters import (
    AboveCounter,
    AboveSquare,
    BelowCounter,
    BelowSquare,
    Counter,
    CrossProduct,
    MissingCounter,
    MissingSquare,
)
from dither.query.plan.lattice import step_of, step_of_squares


@dataclass(frozen=True)
class JointCounters(ABC):
    """Counters of one expression that are released together."""

    kinds: ClassVar[tuple[type[Counter], ...]]  # the last is of rows without a value
    shares: ClassVar[tuple[Fraction, ...]]  # of G that a row is above its lower bound, in each counter of values
    of_squares: ClassVar[bool] = False

    of: Expression

    @property
    @abstractmethod
    def step(self) -> Fraction:
        """The lattice on which values are counted."""

    def counters(self, *, whole: bool) -> tuple[Counter, ...]:
        """Those of values; with one of missing values where they are to count the `whole` of the rows."""
        kinds = self.kinds if whole and self.of.facts.nullable else self.kinds[:-1]
        return tuple(kind(self.of, self.step) for kind in kinds)

    def serves(self, asked: Aggregate) -> bool:
        """Whether an aggregate of the expression may follow: a sum adds up what rounding takes away, so that it needs the
        column's own lattice."""
        return not isinstance(asked, Sum) or self.step == step_of(self.of)

    def estimator(self, asked: Aggregate, number: int) -> Estimator:
        """What reads an aggregate off so many of them."""
        return ESTIMATORS[type(asked)](self, asked, number)

    @property
    def first(self) -> Counter:
        """The first of them: each row adds its reach to all of them together."""
        return self.kinds[0](self.of, self.step)

    @property
    def width(self) -> Fraction:
        """G steps."""
        return self.first.steps * self.step

    @property
    def rounding(self) -> Fraction:
        """What the lattice may change of a value, beyond the column's own."""
        return self.step / 2 if self.step != step_of(self.of) else Fraction(0)


@dataclass(frozen=True)
class MeanCounters(JointCounters):
    """How far values are above and below their bounds."""

    kinds: ClassVar[tuple[type[Counter], ...]] = (AboveCounter, BelowCounter, MissingCounter)
    shares: ClassVar[tuple[Fraction, ...]] = (Fraction(1), Fraction(0))

    @property
    def step(self) -> Fraction:
        """That of the expression."""
        return step_of(self.of)


@dataclass(frozen=True)
class VarianceCounters(JointCounters):
    """The squares of how far values are above and below their bounds, and the product."""

    kinds: ClassVar[tuple[type[Counter], ...]] = (AboveSquare, CrossProduct, BelowSquare, MissingSquare)
    shares: ClassVar[tuple[Fraction, ...]] = (Fraction(1), Fraction(1, 2), Fraction(0))
    of_squares: ClassVar[bool] = True

    @property
    def step(self) -> Fraction:
        """That of the expression, or a coarser one."""
        return step_of_squares(self.of)


def _variance(joint: JointCounters, asked: Variance, number: int) -> Estimator:
    return VarianceEstimator(asked.of_sample, asked.is_root, joint.width, joint.first.reach, joint.rounding, joint.of)


def _mean(joint: JointCounters, asked: Mean, number: int) -> Estimator:
    return MeanEstimator(joint.first.bounds[0], joint.width, joint.first.reach, joint.of_squares, joint.rounding)


def _sum(joint: JointCounters, asked: Sum, number: int) -> Estimator:
    (lower, upper), step = joint.first.bounds, joint.step
    weights = [(lower + joint.width * share) / joint.first.reach for share in joint.shares]
    on_lattice = (lower / step).denominator == 1
    quantum = step if on_lattice else Fraction(1, lower.denominator * step.denominator)
    return SumEstimator((*weights, Fraction(0))[:number], quantum, lower, upper, of_values=True)


def _rows(joint: JointCounters, asked: CountRows, number: int) -> Estimator:
    return SumEstimator((Fraction(1, joint.first.reach),) * number, Fraction(1), Fraction(0), Fraction(1), of_values=False)


def _values(joint: JointCounters, asked: CountValues, number: int) -> Estimator:
    weights = [Fraction(1, joint.first.reach)] * len(joint.shares)
    return SumEstimator((*weights, Fraction(0))[:number], Fraction(1), Fraction(0), Fraction(1), of_values=False)


ESTIMATORS: dict[type[Aggregate], Callable[[JointCounters, Any, int], Estimator]] = {
    Variance: _variance,
    Mean: _mean,
    Sum: _sum,
    CountRows: _rows,
    CountValues: _values,
}
