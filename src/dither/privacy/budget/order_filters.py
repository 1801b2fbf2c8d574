"""Privacy filters on a list of Rényi orders. `budget/filter.py` says why they hold."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dither.arguments import argument_errors
from dither.numeric.number import Number
from dither.numeric.representation import short_repr
from dither.privacy.budget.filter_state import ZERO, Caps, Filter, Spent, Totals, part_of, ratio, room_text
from dither.privacy.guarantee.definitions import approx, renyi
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.text import four_digits
from dither.privacy.unit import Unit


class OrderFilter(Filter):
    """Tracks the Rényi divergence at each of a list of orders; questions with a delta have no price here."""

    caps: Caps

    def ceilings(self) -> Totals:
        return tuple(cap for _, cap in self.caps)

    def deciding(self, totals: Totals) -> int:
        parts = [ratio(total, cap) if cap else Fraction(1) for (_, cap), total in zip(self.caps, totals, strict=True)]
        return parts.index(self._of_orders(parts))

    def _zero(self) -> Totals:
        return tuple(ZERO for _ in self.caps)

    def _charge(self, guarantee: Guarantee) -> Totals | None:
        if guarantee.charge().delta:
            return None
        found = [guarantee.charged_renyi(order) for order, _ in self.caps]
        return None if None in found else tuple(divergence for divergence in found if divergence is not None)

    def left(self, spent: Spent) -> str:
        rooms = [(order, cap - total) for (order, cap), total in zip(self.caps, spent.totals, strict=True)]
        return ", ".join(f"D_{four_digits(order)} = {room_text(room)}" for order, room in rooms if room >= 0) or "nothing"

    def used(self, spent: Spent) -> Fraction:
        parts = [part_of(total, cap) for (_, cap), total in zip(self.caps, spent.totals, strict=True)]
        return self._of_orders(parts)

    @staticmethod
    @abstractmethod
    def _of_orders(parts: list[Fraction]) -> Fraction:
        """The part used, from the parts of the orders: which of them decides."""

    def _words(self, total: Totals) -> str:
        return ", ".join(f"D_{four_digits(a)} = {four_digits(s)}" for (a, _), s in zip(self.caps, total, strict=True))


@argument_errors
@dataclass(frozen=True)
class RenyiFilter(OrderFilter):
    """The sum of divergences at *every* listed order stays below its cap. `renyi_filter` makes it.

    Args:
        caps: (order, ceiling), by increasing order.
        unit: the neighbouring relation.

    Raises:
        GuaranteeError: a question is no guarantee, or a state that of another filter.

    Example:
        >>> from dither import filter, zcdp
        >>> budget = filter.renyi_filter({2: "0.1", 8: "0.5"})
        >>> budget.left(budget.after(budget.nothing, zcdp("0.01")))
        'D_2 = 0.08, D_8 = 0.42'
    """

    kind: ClassVar[str] = "renyi"
    caps: Caps
    unit: Unit
    __repr__ = short_repr

    @property
    def ceiling(self) -> Guarantee:
        return renyi(dict(self.caps), unit=self.unit)

    @staticmethod
    def _of_orders(parts: list[Fraction]) -> Fraction:
        return max(parts)

    def _admits(self, total: Totals) -> bool:
        return all(divergence <= cap for divergence, (_, cap) in zip(total, self.caps, strict=True))


@argument_errors
@dataclass(frozen=True)
class SomeOrderFilter(OrderFilter):
    """Target (epsilon, delta): continue while some order of a list has room. `some_order_filter` makes it.

    Args:
        epsilon: the target.
        delta: the target, of which each order has an equal share.
        caps: (order, ceiling), by increasing order.
        unit: the neighbouring relation.

    Raises:
        GuaranteeError: a question is no guarantee, or a state that of another filter.

    Example:
        >>> from dither import filter
        >>> budget = filter.some_order_filter(1, "1e-6", [32, 64])
        >>> budget.left(budget.nothing)
        'D_32 = 0.6755, D_64 = 0.8514'
    """

    kind: ClassVar[str] = "some order"
    epsilon: Number
    delta: Fraction
    caps: Caps
    unit: Unit
    __repr__ = short_repr

    @property
    def ceiling(self) -> Guarantee:
        return approx(self.epsilon, self.delta, unit=self.unit)

    @staticmethod
    def _of_orders(parts: list[Fraction]) -> Fraction:
        return min(parts)

    def _admits(self, total: Totals) -> bool:
        return any(divergence <= cap for divergence, (_, cap) in zip(total, self.caps, strict=True))
