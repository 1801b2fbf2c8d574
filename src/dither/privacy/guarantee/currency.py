"""Currencies: the definitions of differential privacy that a promise is stated in. A guarantee has one part for each.

Every part is read the same way: with probability `events` everything is lost; otherwise the *rest* holds, which is
described by its Rényi curve and, where the currency knows more, by a largest loss or an exact profile. Nobody asks a
part of what kind it is; whoever wants a number asks all parts the same questions.

Why events and rest combine. If P = (1-e) P' + e P'' and likewise Q, then for every event S
P(S) - e^eps Q(S) <= (1-e) (P'(S) - e^eps Q'(S)) + e, so delta(P, Q) <= e + (1-e) delta(P', Q').
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, Self

from flint import arb

from dither.numeric.balls import ends, precision
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Enclosure, Number, NumberLike

if TYPE_CHECKING:
    from dither.privacy.loss.pairs.json import PairTerms
    from dither.privacy.unit import Unit


class Charge(NamedTuple):
    """With probability delta everything is lost; otherwise rho-zCDP and epsilon-DP (None: not at all). Exact numbers."""

    delta: Fraction
    rho: Fraction | None
    epsilon: Number | None


class Askable(Protocol):
    """What a part may ask a guarantee, to find out whether it is implied."""

    def delta(self, epsilon: NumberLike) -> float: ...

    def charge(self) -> Charge: ...

    def charged_renyi(self, alpha: Fraction) -> Number | None: ...


class Currency(ABC):
    """One part of a guarantee. Balls are taken at the present working precision."""

    kind: ClassVar[str]

    # -- what it promises --------------------------------------------------------------------------------------

    def events(self) -> arb:
        """The probability with which everything is lost."""
        return to_ball(0)

    @abstractmethod
    def renyi(self, alpha: Fraction) -> arb | None:
        """A bound on the Rényi divergence of order alpha > 1 of the rest; None where there is none."""

    def largest_loss(self) -> Number | None:
        """An epsilon that the rest has with delta = 0; None where there is none."""
        return None

    def rho(self) -> arb | None:
        """A rho such that the rest is rho-zCDP; None where there is none."""
        return None

    def rest_delta(self, epsilon: Number) -> Enclosure | None:
        """The exact profile of the rest, where the currency has one: (lower, upper) for delta(epsilon)."""
        return None

    def rest_epsilon(self, delta: Fraction) -> Enclosure | None:
        """The inverse of the profile for 0 < delta < 1: (lower, upper) for epsilon."""
        return None

    def power(self, level: Fraction) -> float | None:
        """The exact power that a test can reach at a level from 0 to below 1, where the currency knows it."""
        return None

    def check_unit(self, unit: Unit) -> None:
        """Refuse a neighbouring relation that this promise cannot be about."""
        return

    def pairs(self) -> PairTerms | None:
        """The hardest mechanisms with this promise, as dominating pairs with counts; None where they are not known."""
        return None

    @property
    def attained(self) -> bool:
        """Whether the hardest mechanisms have all of this promise: otherwise what they lose is only a bound."""
        return True

    # -- what a filter charges: exact numbers, so that ten tenths are one ---------------------------------------

    def charged_delta(self) -> Fraction:
        """The deltas, added up: not below `events`."""
        return Fraction(0)

    def charged_rho(self) -> Fraction | None:
        """`rho`, exactly where it is rational and rounded up where it is not; None where there is none."""
        return None

    def classical_rho(self) -> Fraction | None:
        """The rho that budgets of version 1 count, with epsilon^2/2 for a bounded loss: never below `charged_rho`."""
        return self.charged_rho()

    def without_own_rho(self) -> Self:
        """The same promise without a rho that mechanisms have by proofs of their own."""
        return self

    def charged_renyi(self, alpha: Fraction) -> Number | None:
        """`renyi`, exactly where it is a Number and rounded up where it is not; None where there is none."""
        with precision(128):
            bound = self.renyi(alpha)
            return None if bound is None else Number.from_json(str(ends(bound)[1]))

    # -- how it adds up ----------------------------------------------------------------------------------------

    @abstractmethod
    def plus(self, other: Self) -> Self:
        """Adaptive composition with a part in the same currency."""

    @abstractmethod
    def times(self, count: int) -> Self:
        """Composition of `count` copies."""

    @abstractmethod
    def group(self, people: int) -> Self:
        """The same mechanisms for neighbours that differ in a group; refused where no theorem is known."""

    @abstractmethod
    def within(self, other: Self) -> bool:
        """True when this promise is at least as strong, parameter by parameter."""

    def follows_from(self, guarantee: Askable) -> bool:
        """True when a guarantee in other currencies is proved to imply this part."""
        return False

    # -- how it is written -------------------------------------------------------------------------------------

    @abstractmethod
    def describe(self) -> str:
        """A few words, numbers with four digits rounded up."""

    @abstractmethod
    def to_json(self) -> dict[str, object]:
        """The fields of a stored record, exact; `from_json` reads them."""

    @classmethod
    @abstractmethod
    def from_json(cls, stored: dict[str, object]) -> Self: ...
