"""The counters of two expressions, and which aggregates follow from which of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dither.query.counters.covariances import CorrelationEstimator, CovarianceEstimator
from dither.query.counters.estimators import Estimator
from dither.query.counters.joint_counters import JointCounters
from dither.query.counters.pair_estimators import PairEstimator
from dither.query.counters.regressions import InterceptEstimator, SlopeEstimator
from dither.query.plan.aggregates import Aggregate, Correlation, Covariance, PairAggregate, RegressionLine
from dither.query.plan.base import Expression
from dither.query.plan.counters import Counter
from dither.query.plan.lattice import step_of_squares
from dither.query.plan.mathematics.pair_counters import PairCounter, PairPart

PRODUCTS: tuple[PairPart, ...] = ("qr", "q-", "-r", "--")
SQUARES: tuple[PairPart, ...] = ("aa", "bb", "cc", "ab", "ac", "bc")


@dataclass(frozen=True)
class PairCounters(JointCounters):
    """The counters of two expressions."""

    kinds: ClassVar[tuple[type[Counter], ...]] = (PairCounter,)
    shares: ClassVar[tuple[Fraction, ...]] = ()

    beside: Expression | None = None
    with_squares: bool = True

    @property
    def step(self) -> Fraction:
        """That of x, or a coarser one."""
        return step_of_squares(self.of)

    def counters(self, *, whole: bool) -> tuple[PairCounter, ...]:
        """All parts of what a row adds."""
        assert self.beside is not None
        parts, other = SQUARES if self.with_squares else PRODUCTS, step_of_squares(self.beside)
        return tuple(PairCounter(self.of, self.step, self.beside, other, part) for part in parts)

    @property
    def first(self) -> PairCounter:
        """The first of them."""
        return self.counters(whole=False)[0]

    def estimator(self, asked: Aggregate, number: int) -> Estimator:
        """What reads an aggregate off them."""
        kind: type[PairEstimator]
        match asked:
            case Covariance():
                kind = CovarianceEstimator
            case Correlation():
                kind = CorrelationEstimator
            case _:
                assert isinstance(asked, RegressionLine)
                kind = SlopeEstimator if asked.is_slope else InterceptEstimator
        return kind(self.first, asked)


def pair_choices(one: PairAggregate, asked: Sequence[Aggregate]) -> list[JointCounters | None]:
    """The counters from which an aggregate of two expressions may follow: products alone, or those with squares where they
    are released for another one as well."""
    pair = one.pair
    squares = any(isinstance(other, PairAggregate) and other.pair == pair and other.needs_squares for other in asked)
    own = PairCounters(*pair, with_squares=one.needs_squares)
    return [PairCounters(*pair), *([] if one.needs_squares else [own])] if squares else [own]
