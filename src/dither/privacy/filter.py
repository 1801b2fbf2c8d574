"""Filters: budgets that hold although the analyst chooses every next question, and its price, with the answers in view.

A filter fixes its ceiling at the start and admits a question only if the ceiling still holds afterwards. What it tracks is
fixed too. The theorems (Rogers et al. 2016; Feldman and Zrnic 2021; Whitehouse et al. 2023; Smith and Thakurta 2022):

    SumFilter       the sum of epsilons and the sum of deltas
    ZcdpFilter      the sum of rhos and the sum of deltas
    RenyiFilter     a curve that *every* listed order must respect; one order is a list of one
    GaussianFilter  the sum of mu^2
    ApproxFilter    target (epsilon, delta), delta = delta_events + delta_conversion: the deltas of questions add up to at
                    most delta_events, and either their rhos stay below the rho that converts to (epsilon,
                    delta_conversion), or the plain sum of their epsilons stays below epsilon
    SomeOrderFilter target (epsilon, delta): continue while *some* order of a list has room, each order at delta / length

Why the plain sum is free in ApproxFilter. Outside the events, let L be the total loss. If at the end the sum of epsilons is
at most epsilon, L <= epsilon, and the path adds nothing to delta = E (1 - e^(epsilon - L))_+. If it is not, the rhos were
within their bound all along (they only grow), so the path is one of the rho-filtered process, whose total is at most
delta_conversion. Why orders must share delta: the same argument adds up one such total for each order. A filter that
continues while some order has room *without* dividing delta is not private (the tests hold a two-stage attack that nearly
doubles delta), and there is none here.

`spent` is a figure, for planning; the ceiling is the guarantee.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from dither.errors import GuaranteeError, NumberError
from dither.numeric.enclosure import ends, precision, to_ball
from dither.numeric.number import Number, exact, rational
from dither.privacy.currency import read_delta
from dither.privacy.gaussian import GaussianPart
from dither.privacy.guarantee import Guarantee, approx, gdp, renyi, zcdp
from dither.privacy.renyi import epsilon_at
from dither.privacy.show import four_digits
from dither.privacy.unit import Unit, read_unit

__all__ = [
    "ApproxFilter",
    "Filter",
    "GaussianFilter",
    "RenyiFilter",
    "SomeOrderFilter",
    "Spent",
    "SumFilter",
    "ZcdpFilter",
    "approx_filter",
    "gaussian_filter",
    "renyi_filter",
    "some_order_filter",
    "sum_filter",
    "zcdp_filter",
]

Totals = tuple[Number, ...]  # what a filter tracks, in its own order


@dataclass(frozen=True)
class Spent:
    """What was admitted so far under one filter. Only `Filter.nothing` and `Filter.after` make these."""

    budget: Filter
    totals: Totals


class Filter(ABC):
    """A budget for an adaptive analyst. States are values: `after` gives the next one, or None where it refuses."""

    unit: Unit

    @property
    @abstractmethod
    def ceiling(self) -> Guarantee:
        """The guarantee of everything that was ever admitted, together."""

    @property
    def nothing(self) -> Spent:
        """The state before the first question."""
        return Spent(self, self._zero())

    def after(self, spent: Spent, guarantee: Guarantee) -> Spent | None:
        """The state after one more question, or None if the ceiling could be broken."""
        if not isinstance(spent, Spent) or spent.budget != self:
            raise GuaranteeError("spent", spent, "it is not a state of this filter", "filter.nothing, or what .after gave")
        if not isinstance(guarantee, Guarantee):
            raise GuaranteeError("question", guarantee, "it is not a guarantee", "pure(1), or any other Guarantee")
        charge = self._charge(guarantee) if guarantee.unit is self.unit else None
        if charge is None:
            return None
        total = tuple(before + more for before, more in zip(spent.totals, charge, strict=True))
        return Spent(self, total) if self._admits(total) else None

    def figure(self, spent: Spent) -> str:
        """What was spent so far, in words: a figure, not a guarantee."""
        return f"so far {self._words(spent.totals)} (a figure; the guarantee is {self.ceiling})"

    @abstractmethod
    def _zero(self) -> Totals: ...

    @abstractmethod
    def _charge(self, guarantee: Guarantee) -> Totals | None:
        """What one question adds to the totals; None if it has no price in this filter."""

    @abstractmethod
    def _admits(self, total: Totals) -> bool: ...

    @abstractmethod
    def _words(self, total: Totals) -> str: ...


@dataclass(frozen=True)
class SumFilter(Filter):
    """Sum of epsilons at most epsilon, sum of deltas at most delta."""

    epsilon: Number
    delta: Fraction
    unit: Unit

    @property
    def ceiling(self) -> Guarantee:
        return approx(self.epsilon, self.delta, unit=self.unit)

    def _zero(self) -> Totals:
        return (Number(0), Number(0))

    def _charge(self, guarantee: Guarantee) -> Totals | None:
        charge = guarantee.charge()
        return None if charge.epsilon is None else (charge.epsilon, Number(charge.delta))

    def _admits(self, total: Totals) -> bool:
        return total[0] <= self.epsilon and total[1] <= self.delta

    def _words(self, total: Totals) -> str:
        return f"ε = {four_digits(total[0])}, δ = {four_digits(total[1])}"


@dataclass(frozen=True)
class ZcdpFilter(Filter):
    """Sum of rhos at most rho, sum of deltas at most delta."""

    rho: Fraction
    delta: Fraction
    unit: Unit

    @property
    def ceiling(self) -> Guarantee:
        return zcdp(self.rho, delta=self.delta, unit=self.unit)

    def _zero(self) -> Totals:
        return (Number(0), Number(0))

    def _charge(self, guarantee: Guarantee) -> Totals | None:
        charge = guarantee.charge()
        return None if charge.rho is None else (Number(charge.rho), Number(charge.delta))

    def _admits(self, total: Totals) -> bool:
        return total[0] <= self.rho and total[1] <= self.delta

    def _words(self, total: Totals) -> str:
        return f"ρ = {four_digits(total[0])}, δ = {four_digits(total[1])}"


@dataclass(frozen=True)
class GaussianFilter(Filter):
    """Sum of mu^2 at most mu2; questions must be Gaussian."""

    mu2: Fraction
    unit: Unit

    @property
    def ceiling(self) -> Guarantee:
        return gdp(mu2=self.mu2, unit=self.unit)

    def _zero(self) -> Totals:
        return (Number(0),)

    def _charge(self, guarantee: Guarantee) -> Totals | None:
        squares = [part.mu2 for part in guarantee.parts if isinstance(part, GaussianPart)]
        return (Number(sum(squares, start=Fraction(0))),) if len(squares) == len(guarantee.parts) else None

    def _admits(self, total: Totals) -> bool:
        return total[0] <= self.mu2

    def _words(self, total: Totals) -> str:
        return f"μ² = {four_digits(total[0])}"


class OrderFilter(Filter):
    """Tracks the divergence at each of a list of orders; questions with a delta have no price here."""

    caps: tuple[tuple[Fraction, Number], ...]

    def _zero(self) -> Totals:
        return tuple(Number(0) for _ in self.caps)

    def _charge(self, guarantee: Guarantee) -> Totals | None:
        if guarantee.charge().delta:
            return None
        found = [guarantee.charged_renyi(order) for order, _ in self.caps]
        return None if None in found else tuple(divergence for divergence in found if divergence is not None)

    def _words(self, total: Totals) -> str:
        return ", ".join(f"D_{four_digits(a)} = {four_digits(s)}" for (a, _), s in zip(self.caps, total, strict=True))


@dataclass(frozen=True)
class RenyiFilter(OrderFilter):
    """The sum at *every* listed order stays below its cap."""

    caps: tuple[tuple[Fraction, Number], ...]
    unit: Unit

    @property
    def ceiling(self) -> Guarantee:
        return renyi(dict(self.caps), unit=self.unit)

    def _admits(self, total: Totals) -> bool:
        return all(divergence <= cap for divergence, (_, cap) in zip(total, self.caps, strict=True))


@dataclass(frozen=True)
class ApproxFilter(Filter):
    """Target (epsilon, delta) by rho, with the plain sum of epsilons beside it."""

    epsilon: Number
    delta: Fraction
    delta_events: Fraction
    rho: Fraction  # converts to (epsilon, delta - delta_events)
    unit: Unit

    @property
    def ceiling(self) -> Guarantee:
        return approx(self.epsilon, self.delta, unit=self.unit)

    def _zero(self) -> Totals:
        return (Number(0), Number(0), Number(0))

    def _charge(self, guarantee: Guarantee) -> Totals | None:
        charge = guarantee.charge()
        if charge.rho is None:
            return None
        # A question without a largest loss uses up the plain sum for good.
        loss = charge.epsilon if charge.epsilon is not None else self.epsilon + 1
        return (Number(charge.rho), loss, Number(charge.delta))

    def _admits(self, total: Totals) -> bool:
        return total[2] <= self.delta_events and (total[0] <= self.rho or total[1] <= self.epsilon)

    def _words(self, total: Totals) -> str:
        return f"ρ = {four_digits(total[0])}, δ = {four_digits(total[2])}"


@dataclass(frozen=True)
class SomeOrderFilter(OrderFilter):
    """Target (epsilon, delta): continue while some order of a list has room, each at an equal share of delta."""

    epsilon: Number
    delta: Fraction
    caps: tuple[tuple[Fraction, Number], ...]
    unit: Unit

    @property
    def ceiling(self) -> Guarantee:
        return approx(self.epsilon, self.delta, unit=self.unit)

    def _admits(self, total: Totals) -> bool:
        return any(divergence <= cap for divergence, (_, cap) in zip(total, self.caps, strict=True))


# -- front doors ---------------------------------------------------------------------------------------------------


def sum_filter(epsilon: object, delta: object = 0, *, unit: object = Unit.ADD_REMOVE) -> SumFilter:
    """Epsilons and deltas add up."""
    return SumFilter(exact(epsilon, name="epsilon", nonnegative=True), read_delta(delta), read_unit(unit))


def zcdp_filter(rho: object, delta: object = 0, *, unit: object = Unit.ADD_REMOVE) -> ZcdpFilter:
    """Rhos and deltas add up."""
    return ZcdpFilter(rational(rho, name="rho", nonnegative=True), read_delta(delta), read_unit(unit))


def gaussian_filter(mu: object, *, unit: object = Unit.ADD_REMOVE) -> GaussianFilter:
    """Squares of mu add up."""
    return GaussianFilter(rational(mu, name="mu", nonnegative=True) ** 2, read_unit(unit))


def renyi_filter(caps: Mapping[object, object], *, unit: object = Unit.ADD_REMOVE) -> RenyiFilter:
    """{order: cap}: every order stays below its cap."""
    part = renyi(caps, unit=unit).parts[0]
    return RenyiFilter(part.curve, read_unit(unit))  # type: ignore[attr-defined]


def approx_filter(
    epsilon: object, delta: object, *, delta_events: object = 0, unit: object = Unit.ADD_REMOVE
) -> ApproxFilter:
    """Target (epsilon, delta); of delta, `delta_events` is kept for questions that have a delta of their own."""
    from dither.privacy.calibrate import largest_rho

    target, total, events = (
        exact(epsilon, name="epsilon", nonnegative=True),
        read_delta(delta),
        read_delta(delta_events),
    )
    if events >= total:
        raise NumberError("delta_events", delta_events, "some delta must be left for the conversion", "less than delta")
    return ApproxFilter(target, total, events, largest_rho(target, total - events), read_unit(unit))


def some_order_filter(
    epsilon: object, delta: object, orders: list[object], *, unit: object = Unit.ADD_REMOVE
) -> SomeOrderFilter:
    """Target (epsilon, delta) by a list of Rényi orders, of which one must have room; each gets delta / length."""
    target, total = exact(epsilon, name="epsilon", nonnegative=True), read_delta(delta)
    if not isinstance(orders, (list, tuple)):
        raise GuaranteeError("orders", orders, "orders come in a list", "[2, 8, 32]")
    listed = sorted({rational(order, name="order") for order in orders})
    if not listed or listed[0] <= 1 or total == 0:
        raise GuaranteeError("orders", orders, "orders above 1 and a delta above 0 are needed", "[2, 8, 32]")
    share = total / len(listed)
    caps = []
    for order in listed:
        # epsilon_at is the divergence plus what the conversion adds; the rest of epsilon is the cap, rounded down.
        room = _lower(target, order, share)
        if room is not None:
            caps.append((order, room))
    if not caps:
        raise GuaranteeError("orders", orders, "none of them leaves room below epsilon", "larger orders, or a larger delta")
    return SomeOrderFilter(target, total, tuple(caps), read_unit(unit))


def _lower(target: Number, order: Fraction, delta: Fraction) -> Number | None:
    with precision(128):
        room = ends(target.ball() - epsilon_at(order, to_ball(0), to_ball(delta)))[0]
    return Number.from_json(str(room)) if room >= 0 else None
