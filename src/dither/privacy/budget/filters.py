"""Privacy filters on sums of epsilons, rhos or squares of mu: what each tracks, what a question costs, when it is full.

`budget/filter.py` says why they hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dither.arguments import argument_errors
from dither.numeric.number import Number
from dither.numeric.representation import short_repr
from dither.privacy.budget.filter_state import ZERO, Filter, Spent, Totals, fullest, part_of, part_used, ratio, room_text
from dither.privacy.guarantee.definitions import approx, gdp, zcdp
from dither.privacy.guarantee.gaussian import Gdp
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.text import four_digits
from dither.privacy.unit import Unit


@argument_errors
@dataclass(frozen=True)
class SumFilter(Filter):
    """Basic composition: sum of epsilons at most epsilon, sum of deltas at most delta. `sum_filter` makes it.

    Args:
        epsilon: the ceiling of the epsilons.
        delta: the ceiling of the deltas.
        unit: the neighbouring relation.

    Raises:
        GuaranteeError: a question is no guarantee, or a state that of another filter.

    Example:
        >>> from dither import filter
        >>> print(filter.sum_filter(1, "1e-6").ceiling)
        (ε = 1, δ = 1e-06) (add/remove one person)
    """

    kind: ClassVar[str] = "sum"
    epsilon: Number
    delta: Fraction
    unit: Unit
    __repr__ = short_repr

    @property
    def ceiling(self) -> Guarantee:
        return approx(self.epsilon, self.delta, unit=self.unit)

    def ceilings(self) -> Totals:
        return (self.epsilon, Number(self.delta))

    def _zero(self) -> Totals:
        return (ZERO, ZERO)

    def _charge(self, guarantee: Guarantee) -> Totals | None:
        charge = guarantee.charge()
        return None if charge.epsilon is None else (charge.epsilon, Number(charge.delta))

    def _admits(self, total: Totals) -> bool:
        return total[0] <= self.epsilon and total[1] <= self.delta

    def left(self, spent: Spent) -> str:
        epsilon, delta = spent.totals
        return f"ε = {room_text(self.epsilon - epsilon)}" + (f", δ = {room_text(self.delta - delta)}" if self.delta else "")

    def deciding(self, totals: Totals) -> int:
        return fullest(totals, self.ceilings(), 0, 1)

    def used(self, spent: Spent) -> Fraction:
        return part_used(spent.totals, self)

    def parts_of(self, guarantee: Guarantee) -> dict[str, Fraction]:
        price = self.price(guarantee)
        return {} if price is None else {"ε": ratio(price[0], self.epsilon)}

    def _words(self, total: Totals) -> str:
        return f"ε = {four_digits(total[0])}, δ = {four_digits(total[1])}"


@argument_errors
@dataclass(frozen=True)
class ZcdpFilter(Filter):
    """zCDP: sum of rhos at most rho, sum of deltas at most delta. `zcdp_filter` makes it.

    Args:
        rho: the ceiling of the rhos.
        delta: the ceiling of the deltas.
        unit: the neighbouring relation.
        classical: whether a pure epsilon costs epsilon^2/2, as it did in ledgers that were made before it cost less.

    Raises:
        GuaranteeError: a question is no guarantee, or a state that of another filter.

    Example:
        >>> from dither import filter, pure
        >>> budget = filter.zcdp_filter("0.5")
        >>> budget.left(budget.after(budget.nothing, pure("0.5")))
        'ρ = 0.3775'
    """

    kind: ClassVar[str] = "zcdp"
    rho: Fraction
    delta: Fraction
    unit: Unit
    classical: bool = False  # type: ignore[misc]  # of each filter of this kind
    __repr__ = short_repr

    @property
    def ceiling(self) -> Guarantee:
        return zcdp(self.rho, delta=self.delta, unit=self.unit)

    def ceilings(self) -> Totals:
        return (Number(self.rho), Number(self.delta))

    def _zero(self) -> Totals:
        return (ZERO, ZERO)

    def _charge(self, guarantee: Guarantee) -> Totals | None:
        charge = guarantee.charge(classical=self.classical)
        return None if charge.rho is None else (Number(charge.rho), Number(charge.delta))

    def _admits(self, total: Totals) -> bool:
        return total[0] <= self.rho and total[1] <= self.delta

    def left(self, spent: Spent) -> str:
        rho, delta = spent.totals
        return f"ρ = {room_text(self.rho - rho)}" + (f", δ = {room_text(self.delta - delta)}" if self.delta else "")

    def deciding(self, totals: Totals) -> int:
        return fullest(totals, self.ceilings(), 0, 1)

    def used(self, spent: Spent) -> Fraction:
        return part_used(spent.totals, self)

    def parts_of(self, guarantee: Guarantee) -> dict[str, Fraction]:
        price = self.price(guarantee)
        return {} if price is None else {"ρ": ratio(price[0], Number(self.rho))}

    def _words(self, total: Totals) -> str:
        return f"ρ = {four_digits(total[0])}, δ = {four_digits(total[1])}"


@argument_errors
@dataclass(frozen=True)
class GaussianFilter(Filter):
    """Gaussian DP: sum of mu^2 at most mu2; questions must be Gaussian. `gaussian_filter` makes it.

    Args:
        mu2: the ceiling of the squares.
        unit: the neighbouring relation.

    Raises:
        GuaranteeError: a question is no guarantee, or a state that of another filter.

    Example:
        >>> from dither import filter, gdp
        >>> budget = filter.gaussian_filter(1)
        >>> budget.left(budget.after(budget.nothing, gdp("0.6")))
        'μ² = 0.64'
    """

    kind: ClassVar[str] = "gaussian"
    mu2: Fraction
    unit: Unit
    __repr__ = short_repr

    @property
    def ceiling(self) -> Guarantee:
        return gdp(mu2=self.mu2, unit=self.unit)

    def ceilings(self) -> Totals:
        return (Number(self.mu2),)

    def _zero(self) -> Totals:
        return (ZERO,)

    def _charge(self, guarantee: Guarantee) -> Totals | None:
        squares = [part.mu2 for part in guarantee.parts if isinstance(part, Gdp)]
        return (Number(sum(squares, start=Fraction(0))),) if len(squares) == len(guarantee.parts) else None

    def _admits(self, total: Totals) -> bool:
        return total[0] <= self.mu2

    def left(self, spent: Spent) -> str:
        return f"μ² = {room_text(self.mu2 - spent.totals[0])}"

    def used(self, spent: Spent) -> Fraction:
        return part_of(spent.totals[0], Number(self.mu2))

    def parts_of(self, guarantee: Guarantee) -> dict[str, Fraction]:
        price = self.price(guarantee)
        return {} if price is None else {"μ²": ratio(price[0], Number(self.mu2))}

    def _words(self, total: Totals) -> str:
        return f"μ² = {four_digits(total[0])}"


@argument_errors
@dataclass(frozen=True)
class ApproxFilter(Filter):
    """Target (epsilon, delta) by rho, with the plain sum of epsilons beside it. `approx_filter` makes it.

    Args:
        epsilon: the target.
        delta: the target.
        delta_events: the part of delta that questions with a delta of their own may use.
        rho: a ceiling that converts to (epsilon, delta - delta_events).
        unit: the neighbouring relation.
        classical: whether a pure epsilon costs epsilon^2/2, as it did in ledgers that were made before it cost less.

    Raises:
        GuaranteeError: a question is no guarantee, or a state that of another filter.

    Example:
        >>> from dither import filter
        >>> budget = filter.approx_filter(1, "1e-6")
        >>> budget.left(budget.nothing)
        'ρ = 0.02435 or ε = 1, δ = 0'
    """

    kind: ClassVar[str] = "approx"
    epsilon: Number
    delta: Fraction
    delta_events: Fraction
    rho: Fraction  # converts to (epsilon, delta - delta_events)
    unit: Unit
    classical: bool = False  # type: ignore[misc]  # of each filter of this kind
    __repr__ = short_repr

    @property
    def ceiling(self) -> Guarantee:
        return approx(self.epsilon, self.delta, unit=self.unit)

    def ceilings(self) -> Totals:
        return (Number(self.rho), self.epsilon, Number(self.delta_events))

    def deciding(self, totals: Totals) -> int:
        of_rho, of_epsilon = ratio(totals[0], Number(self.rho)), ratio(totals[1], self.epsilon)
        return fullest(totals, self.ceilings(), 0 if of_rho <= of_epsilon else 1, 2)  # whichever of the two has more room

    def _zero(self) -> Totals:
        return (ZERO, ZERO, ZERO)

    def _charge(self, guarantee: Guarantee) -> Totals | None:
        charge = guarantee.charge(classical=self.classical)
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
        words = " or ".join(f"{letter} = {room_text(room)}" for letter, room in rooms if room >= 0) or "ε = 0"
        return f"{words}, δ = {room_text(self.delta_events - delta)}"

    def used(self, spent: Spent) -> Fraction:
        return part_used(spent.totals, self)

    def parts_of(self, guarantee: Guarantee) -> dict[str, Fraction]:
        price = self.price(guarantee)
        if price is None:
            return {}
        parts = {"ρ": ratio(price[0], Number(self.rho)), "ε": ratio(price[1], self.epsilon)}
        return parts if guarantee.charge().epsilon is not None else {"ρ": parts["ρ"]}

    def _words(self, total: Totals) -> str:
        return f"ρ = {four_digits(total[0])}, δ = {four_digits(total[2])}"
