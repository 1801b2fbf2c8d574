"""A guarantee backed by loss distributions: dominating pairs, counted.

What it says about single numbers, for those who ask for them (filters do):

    Rényi     of order a: log M(a - 1) / (a - 1) of each pair that has a formula, in the worse order of the neighbours;
              otherwise what its largest loss, or the pair it samples, implies (a sample has no larger divergence)
    rho       of pairs that have one: a Gaussian or discrete Gaussian its own, a bounded loss e tanh(e/2)
    delta     what is lost

Group privacy needs to know what a pair is of two people apart; a pair of neighbours does not say it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from flint import arb

from dither.errors import GuaranteeError
from dither.numeric.balls import ends, precision
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Enclosure, Number
from dither.privacy.formulas import randomized_response as pure
from dither.privacy.guarantee.currency import Currency
from dither.privacy.loss.loss import Loss
from dither.privacy.loss.pairs.discrete_gaussian import DiscreteGaussianPair
from dither.privacy.loss.pairs.fixed_size_sampled import FixedSizeSampledPair
from dither.privacy.loss.pairs.json import PairTerms, read_terms, write_terms
from dither.privacy.loss.pairs.normal import NormalPair
from dither.privacy.loss.pairs.pair import MomentPair, Pair
from dither.privacy.loss.pairs.poisson_sampled import PoissonSampledPair
from dither.privacy.unit import Unit


@dataclass(frozen=True)
class ByLoss(Currency):
    """A part of a guarantee that is stated by dominating pairs with counts."""

    kind: ClassVar[str] = "loss"
    terms: PairTerms

    @property
    def loss(self) -> Loss:
        return Loss(self.terms)

    def check_unit(self, unit: Unit) -> None:
        self.loss.check_unit(unit)

    def events(self) -> arb:
        return to_ball(self.loss.lost())

    def renyi(self, alpha: Fraction) -> arb | None:
        if self.loss.lost():
            return None
        total = to_ball(0)
        for pair, count in self.terms:
            divergence = _renyi(pair, alpha)
            if divergence is None:
                return None
            total += count * divergence
        return total

    def largest_loss(self) -> Number | None:
        total = Number(0)
        for pair, count in self.terms:
            loss = pair.largest_loss()
            if loss is None:
                return None
            total += loss * count
        return total

    def rho(self) -> arb | None:
        return None if self.loss.lost() else self._rho(pure.rho)

    def _rho(self, bounded: Callable[[Number], arb]) -> arb | None:
        total = to_ball(0)
        for pair, count in self.terms:
            rho = _rho(pair, bounded)
            if rho is None:
                return None
            total += count * rho
        return total

    def rest_delta(self, epsilon: Number) -> Enclosure | None:
        return None if self.loss.lost() else self.loss.delta_bracket(epsilon, both=False)

    def rest_epsilon(self, delta: Fraction) -> Enclosure | None:
        return None if self.loss.lost() else self.loss.bracket(delta)

    def pairs(self) -> PairTerms:
        return self.terms

    def charged_delta(self) -> Fraction:
        total = Fraction(0)
        for pair, count in self.terms:
            total += count * max(pair.lost(), pair.reverse().lost())
        return total

    def charged_rho(self) -> Fraction | None:
        with precision(128):
            rho = self.rho() if not self.loss.lost() else None
            return None if rho is None else ends(rho)[1]

    def classical_rho(self) -> Fraction | None:
        with precision(128):
            rho = self._rho(lambda e: e.ball() ** 2 / 2) if not self.loss.lost() else None
            return None if rho is None else ends(rho)[1]

    def plus(self, other: Self) -> Self:
        return type(self)((Loss(self.terms) + Loss(other.terms)).terms)

    def times(self, count: int) -> Self:
        return type(self)((count * Loss(self.terms)).terms)

    def group(self, people: int) -> Self:
        if people == 1:
            return self
        why = "a pair of neighbours does not say what a group of people costs"
        raise GuaranteeError("group", people, why, "the mechanism's own .guarantee, which may have a theorem for groups")

    def within(self, other: Self) -> bool:
        """Pair by pair: the same ones, no more often."""
        theirs = dict(other.terms)
        return all(count <= theirs.get(pair, 0) for pair, count in self.terms)

    def describe(self) -> str:
        return f"the loss of {self.loss}"

    def to_json(self) -> dict[str, object]:
        return {"terms": write_terms(self.terms)}

    @classmethod
    def from_json(cls, stored: dict[str, object]) -> Self:
        loss = Loss(()) + Loss(read_terms(stored["terms"]))
        return cls(loss.terms)


def _renyi(pair: Pair, alpha: Fraction) -> arb | None:
    order = to_ball(alpha - 1)
    worst = to_ball(0)
    for one in (pair, pair.reverse()):
        if not isinstance(one, MomentPair):
            break
        try:
            worst = worst.max(one.log_moment(order) / order)
        except ArithmeticError:
            break
    else:
        if worst.is_finite():
            return worst
    loss = pair.largest_loss()
    if loss is not None:
        return pure.renyi(loss, alpha)
    return _renyi(pair.base, alpha) if isinstance(pair, (PoissonSampledPair, FixedSizeSampledPair)) else None


def _rho(pair: Pair, bounded: Callable[[Number], arb]) -> arb | None:
    """The rho of a pair; `bounded` says that of a largest loss."""
    if isinstance(pair, NormalPair):
        return to_ball(pair.mu2 / 2)
    if isinstance(pair, DiscreteGaussianPair):
        return to_ball(pair.shift**2 / (2 * pair.sigma2))
    loss = pair.largest_loss()
    if loss is not None:
        return bounded(loss)
    return _rho(pair.base, bounded) if isinstance(pair, (PoissonSampledPair, FixedSizeSampledPair)) else None
