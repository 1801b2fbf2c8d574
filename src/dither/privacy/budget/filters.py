"""The six filters: what each tracks, what a question costs in it, and when it is full. `budget/filter.py` says why they
hold."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dither.numeric.balls import ends, precision
from dither.numeric.number import Number
from dither.privacy.budget.filter_state import Caps, Filter, Spent, Totals
from dither.privacy.guarantee.definitions import approx, gdp, renyi, zcdp
from dither.privacy.guarantee.gaussian import Gdp
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.text import four_digits, four_digits_down
from dither.privacy.unit import Unit

ZERO = Number(0)


@dataclass(frozen=True)
class SumFilter(Filter):
    """Sum of epsilons at most epsilon, sum of deltas at most delta."""

    kind: ClassVar[str] = "sum"
    epsilon: Number
    delta: Fraction
    unit: Unit

    @property
    def ceiling(self) -> Guarantee:
        return approx(self.epsilon, self.delta, unit=self.unit)

    def _zero(self) -> Totals:
        return (ZERO, ZERO)

    def _charge(self, guarantee: Guarantee) -> Totals | None:
        charge = guarantee.charge()
        return None if charge.epsilon is None else (charge.epsilon, Number(charge.delta))

    def _admits(self, total: Totals) -> bool:
        return total[0] <= self.epsilon and total[1] <= self.delta

    def left(self, spent: Spent) -> str:
        epsilon, delta = spent.totals
        return f"ε = {_room(self.epsilon - epsilon)}" + (f", δ = {_room(self.delta - delta)}" if self.delta else "")

    def used(self, spent: Spent) -> Fraction:
        return _part(spent.totals[0], self.epsilon)

    def _words(self, total: Totals) -> str:
        return f"ε = {four_digits(total[0])}, δ = {four_digits(total[1])}"


@dataclass(frozen=True)
class ZcdpFilter(Filter):
    """Sum of rhos at most rho, sum of deltas at most delta."""

    kind: ClassVar[str] = "zcdp"
    rho: Fraction
    delta: Fraction
    unit: Unit

    @property
    def ceiling(self) -> Guarantee:
        return zcdp(self.rho, delta=self.delta, unit=self.unit)

    def _zero(self) -> Totals:
        return (ZERO, ZERO)

    def _charge(self, guarantee: Guarantee) -> Totals | None:
        charge = guarantee.charge()
        return None if charge.rho is None else (Number(charge.rho), Number(charge.delta))

    def _admits(self, total: Totals) -> bool:
        return total[0] <= self.rho and total[1] <= self.delta

    def left(self, spent: Spent) -> str:
        rho, delta = spent.totals
        return f"ρ = {_room(self.rho - rho)}" + (f", δ = {_room(self.delta - delta)}" if self.delta else "")

    def used(self, spent: Spent) -> Fraction:
        return _part(spent.totals[0], Number(self.rho))

    def _words(self, total: Totals) -> str:
        return f"ρ = {four_digits(total[0])}, δ = {four_digits(total[1])}"


@dataclass(frozen=True)
class GaussianFilter(Filter):
    """Sum of mu^2 at most mu2; questions must be Gaussian."""

    kind: ClassVar[str] = "gaussian"
    mu2: Fraction
    unit: Unit

    @property
    def ceiling(self) -> Guarantee:
        return gdp(mu2=self.mu2, unit=self.unit)

    def _zero(self) -> Totals:
        return (ZERO,)

    def _charge(self, guarantee: Guarantee) -> Totals | None:
        squares = [part.mu2 for part in guarantee.parts if isinstance(part, Gdp)]
        return (Number(sum(squares, start=Fraction(0))),) if len(squares) == len(guarantee.parts) else None

    def _admits(self, total: Totals) -> bool:
        return total[0] <= self.mu2

    def left(self, spent: Spent) -> str:
        return f"μ² = {_room(self.mu2 - spent.totals[0])}"

    def used(self, spent: Spent) -> Fraction:
        return _part(spent.totals[0], Number(self.mu2))

    def _words(self, total: Totals) -> str:
        return f"μ² = {four_digits(total[0])}"


class OrderFilter(Filter):
    """Tracks the divergence at each of a list of orders; questions with a delta have no price here."""

    caps: Caps

    def _zero(self) -> Totals:
        return tuple(ZERO for _ in self.caps)

    def _charge(self, guarantee: Guarantee) -> Totals | None:
        if guarantee.charge().delta:
            return None
        found = [guarantee.charged_renyi(order) for order, _ in self.caps]
        return None if None in found else tuple(divergence for divergence in found if divergence is not None)

    def left(self, spent: Spent) -> str:
        rooms = [(order, cap - total) for (order, cap), total in zip(self.caps, spent.totals, strict=True)]
        return ", ".join(f"D_{four_digits(order)} = {_room(room)}" for order, room in rooms if room >= 0) or "nothing"

    def used(self, spent: Spent) -> Fraction:
        parts = [_part(total, cap) for (_, cap), total in zip(self.caps, spent.totals, strict=True)]
        return self._of_orders(parts)

    @staticmethod
    @abstractmethod
    def _of_orders(parts: list[Fraction]) -> Fraction:
        """Which of the orders decides."""

    def _words(self, total: Totals) -> str:
        return ", ".join(f"D_{four_digits(a)} = {four_digits(s)}" for (a, _), s in zip(self.caps, total, strict=True))


@dataclass(frozen=True)
class RenyiFilter(OrderFilter):
    """The sum at *every* listed order stays below its cap."""

    kind: ClassVar[str] = "renyi"
    caps: Caps
    unit: Unit

    @property
    def ceiling(self) -> Guarantee:
        return renyi(dict(self.caps), unit=self.unit)

    @staticmethod
    def _of_orders(parts: list[Fraction]) -> Fraction:
        return max(parts)

    def _admits(self, total: Totals) -> bool:
        return all(divergence <= cap for divergence, (_, cap) in zip(total, self.caps, strict=True))


@dataclass(frozen=True)
class ApproxFilter(Filter):
    """Target (epsilon, delta) by rho, with the plain sum of epsilons beside it."""

    kind: ClassVar[str] = "approx"
    epsilon: Number
    delta: Fraction
    delta_events: Fraction
    rho: Fraction  # converts to (epsilon, delta - delta_events)
    unit: Unit

    @property
    def ceiling(self) -> Guarantee:
        return approx(self.epsilon, self.delta, unit=self.unit)

    def _zero(self) -> Totals:
        return (ZERO, ZERO, ZERO)

    def _charge(self, guarantee: Guarantee) -> Totals | None:
        charge = guarantee.charge()
        if charge.rho is None:
            return None
        # A question without a largest loss uses up the plain sum for good.
        loss = charge.epsilon if charge.epsilon is not None else self.epsilon + 1
        return (Number(charge.rho), loss, Number(charge.delta))

    def _admits(self, total: Totals) -> bool:
        return total[2] <= self.delta_events and (total[0] <= self.rho or total[1] <= self.epsilon)

    def left(self, spent: Spent) -> str:
        rho, epsilon, delta = spent.totals
        rooms = (("ρ", self.rho - rho), ("ε", self.epsilon - epsilon))  # whichever has room decides
        words = " or ".join(f"{letter} = {_room(room)}" for letter, room in rooms if room >= 0) or "ε = 0"
        return f"{words}, δ = {_room(self.delta_events - delta)}"

    def used(self, spent: Spent) -> Fraction:
        return min(_part(spent.totals[0], Number(self.rho)), _part(spent.totals[1], self.epsilon))

    def _words(self, total: Totals) -> str:
        return f"ρ = {four_digits(total[0])}, δ = {four_digits(total[2])}"


@dataclass(frozen=True)
class SomeOrderFilter(OrderFilter):
    """Target (epsilon, delta): continue while some order of a list has room, each at an equal share of delta."""

    kind: ClassVar[str] = "some order"
    epsilon: Number
    delta: Fraction
    caps: Caps
    unit: Unit

    @property
    def ceiling(self) -> Guarantee:
        return approx(self.epsilon, self.delta, unit=self.unit)

    @staticmethod
    def _of_orders(parts: list[Fraction]) -> Fraction:
        return min(parts)

    def _admits(self, total: Totals) -> bool:
        return any(divergence <= cap for divergence, (_, cap) in zip(total, self.caps, strict=True))


KINDS: dict[str, type[Filter]] = {
    kind.kind: kind for kind in (SumFilter, ZcdpFilter, GaussianFilter, RenyiFilter, ApproxFilter, SomeOrderFilter)
}


def _room(left: Number) -> str:
    """Rounded down; a share that was set below what had been spent has nothing left."""
    return four_digits_down(max(left, ZERO))


def _part(total: Number, cap: Number) -> Fraction:
    """total / cap, at most 1; a budget of nothing is used up."""
    if not cap:
        return Fraction(1)
    with precision(128):
        return max(Fraction(0), min(Fraction(1), ends(total.ball() / cap.ball())[1]))
