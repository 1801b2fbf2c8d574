"""What every privacy filter has: a state that grows by exact numbers, questions that it admits or not, a stored record.

Totals are exact sums. Only when one has grown past 4096 bits (many prices with unlike denominators) is it rounded, upwards,
to a multiple of 2^-512, and a price beyond 1024 bits likewise. So a state has a bounded size however many questions were
asked, it is never below the true sum, and prices that people write (0.1, 1/3, ln 3) are never rounded.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from fractions import Fraction
from math import ceil
from typing import ClassVar, Self

from dither.arguments import argument_errors
from dither.errors import GuaranteeError
from dither.numeric.balls import ends, precision
from dither.numeric.number import Number
from dither.numeric.representation import short_repr
from dither.numeric.search import first_integer
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.records import stored_fraction
from dither.privacy.text import four_digits_down
from dither.privacy.unit import Unit, read_unit

VERSION = 2  # of filters that count rho: with epsilon tanh(epsilon/2) for a pure epsilon, and rhos of mechanisms' own
PRICE_BITS = 1024
TOTAL_BITS = 4096
GRID = 1 << 512
ZERO = Number(0)

Totals = tuple[Number, ...]  # what a filter tracks, in its own order
Caps = tuple[tuple[Fraction, Number], ...]  # Rényi orders and the divergence that each may reach


@argument_errors
@dataclass(frozen=True)
class Spent:
    """What was admitted so far under one filter. Only `Filter.nothing`, `after` and `stored` make these.

    Args:
        budget: the filter.
        totals: what it tracks, exact sums in its own order.

    Raises:
        GuaranteeError: a filter is given a state of another one.

    Example:
        >>> from dither import filter, pure
        >>> budget = filter.sum_filter(1)
        >>> budget.after(budget.nothing, pure("0.25")).totals
        (Number('0.25'), Number('0'))
    """

    budget: Filter
    totals: Totals
    __repr__ = short_repr


@argument_errors
class Filter(ABC):
    """A privacy filter: a budget for an adaptive analyst. States are values; `after` gives the next, or None if refused.

    Example:
        >>> from dither import filter, pure
        >>> budget = filter.sum_filter(1)
        >>> spent = budget.after(budget.nothing, pure("0.25"))
        >>> budget.left(spent), budget.more_like(spent, pure("0.25")), budget.after(spent, pure(1))
        ('ε = 0.75', 3, None)
    """

    kind: ClassVar[str]
    unit: Unit
    classical: ClassVar[bool] = True  # whether it counts as filters of version 1 do; those that count rho have a choice

    @property
    @abstractmethod
    def ceiling(self) -> Guarantee:
        """The guarantee of everything that was ever admitted, together."""

    @property
    def nothing(self) -> Spent:
        """The state before the first question."""
        return Spent(self, self._zero())

    def price(self, guarantee: Guarantee) -> Totals | None:
        """What one question with this guarantee adds to the totals; None if it has no price in this filter."""
        if not isinstance(guarantee, Guarantee):
            raise GuaranteeError("question", guarantee, "it is not a guarantee", "pure(1), or any other Guarantee")
        charge = self._charge(self.counted(guarantee)) if guarantee.unit is self.unit else None
        return None if charge is None else tuple(_rounded_up(more, PRICE_BITS) for more in charge)

    def counted(self, guarantee: Guarantee) -> Guarantee:
        """What this filter counts of a guarantee, and a ledger writes down: a mechanism's own rho only where rho counts."""
        return guarantee.without_own_rho() if self.classical else guarantee

    def has_ceiling_of(self, other: Filter) -> bool:
        """Whether this and `other` keep one ceiling in one way, by whatever rule a pure epsilon is counted."""
        mine, theirs = (json.loads(one.to_json()) for one in (self, other))
        return {**mine, "filter": VERSION} == {**theirs, "filter": VERSION}

    def after(self, spent: Spent, guarantee: Guarantee) -> Spent | None:
        """The state after `spent` and one more question with this guarantee, or None if the ceiling could be broken."""
        if not isinstance(spent, Spent) or spent.budget != self:
            raise GuaranteeError("spent", spent, "it is not a state of this filter", "filter.nothing, or what .after gave")
        price = self.price(guarantee)
        return None if price is None else self.paid(spent, price)

    def paid(self, spent: Spent, price: Totals, times: int = 1) -> Spent | None:
        """The state after `spent` and a price, paid so many times; None if the ceiling could be broken."""
        total = added(spent.totals, price if times == 1 else tuple(part * times for part in price))
        return Spent(self, total) if self._admits(total) else None

    def more_like(self, spent: Spent, guarantee: Guarantee) -> int | None:
        """How many more questions with this guarantee `spent` leaves room for; None where they cost nothing."""
        price = self.price(guarantee)
        if price is None:
            return 0
        if not any(price):
            return None
        # The first by itself: it may round the total. Multiples of one price do not round it again: 512 + 2 * 1024 < 4096.
        first = self.paid(spent, price)
        if first is None:
            return 0
        each = self.used(first) - self.used(spent)
        guess = int((1 - self.used(first)) / each) + 1 if each > 0 else 1  # it decides how long this takes, and nothing else
        # one too many, and the first
        return first_integer(lambda more: self.paid(first, price, more) is None, least=1, guess=guess)

    def figure(self, spent: Spent) -> str:
        """What was `spent` so far, in words: a figure, not a guarantee."""
        return f"so far {self._words(spent.totals)} (a figure; the guarantee is {self.ceiling})"

    @abstractmethod
    def left(self, spent: Spent) -> str:
        """What `spent` leaves of the budget, in words, rounded down."""

    @abstractmethod
    def used(self, spent: Spent) -> Fraction:
        """The part of the budget that is `spent`, from 0 to 1: for a bar, not for a decision.

        Of several totals that all need room, such as ε and δ, the part of the fuller one; where one of two is enough, such
        as ρ or ε, that of the emptier one.
        """

    def parts_of(self, guarantee: Guarantee) -> dict[str, Fraction]:
        """The part of the whole budget that a `guarantee` takes, by what is counted; where there are two, one needs room."""
        return {}

    @abstractmethod
    def ceilings(self) -> Totals:
        """The most that each total may reach, in the order of the totals."""

    def deciding(self, totals: Totals) -> int:
        """The place among `totals` of the one that `used` goes by, where there are several."""
        return 0

    @abstractmethod
    def _zero(self) -> Totals: ...

    @abstractmethod
    def _charge(self, guarantee: Guarantee) -> Totals | None:
        """What one question adds to the totals, exactly."""

    @abstractmethod
    def _admits(self, total: Totals) -> bool: ...

    @abstractmethod
    def _words(self, total: Totals) -> str: ...

    # -- storing -----------------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """Exact text. What a filter derives when it is made (rho, caps) is written too, so a record keeps its meaning."""
        values = {name: _to_record(getattr(self, name)) for name in _stored_fields(type(self))}
        version = 1 if self.classical else VERSION
        return json.dumps({"filter": version, "kind": self.kind, **values}, sort_keys=True)

    @classmethod
    def from_record(cls, stored: dict[str, object]) -> Self:
        """The filter of this kind with the stored fields that `to_json` wrote."""
        names = _stored_fields(cls)
        if set(names) != set(stored) - {"filter", "kind"}:
            raise ValueError("other fields than this kind has")
        values = {name: _from_record(type_, stored[name]) for name, type_ in names.items()}
        if len(names) < len(fields(cls)):  # type: ignore[arg-type]
            values["classical"] = stored["filter"] == 1  # its version says how it counts
        return cls(**values)

    def stored(self, totals: object) -> Spent:
        """The state whose totals were written as a list."""
        if not isinstance(totals, list) or len(totals) != len(self._zero()):
            raise GuaranteeError("stored totals", totals, "this filter tracks something else", "totals of its own states")
        return Spent(self, tuple(Number.from_json(total) for total in totals))


def added(totals: Totals, price: Totals) -> Totals:
    """The totals with a price on top; rounded up where they would grow too long."""
    return tuple(_rounded_up(before + more, TOTAL_BITS) for before, more in zip(totals, price, strict=True))


def without(totals: Totals, price: Totals) -> Totals:
    """The totals without a price that they contain."""
    return tuple(_rounded_up(before - less, TOTAL_BITS) for before, less in zip(totals, price, strict=True))


def room_text(left: Number) -> str:
    """What is left as text, rounded down; a share that was set below what had been spent has nothing left."""
    return four_digits_down(max(left, ZERO))


def part_of(total: Number, cap: Number) -> Fraction:
    """total / cap, at most 1; a budget of nothing is used up."""
    if not cap:
        return Fraction(1)
    return max(Fraction(0), min(Fraction(1), ratio(total, cap)))


def part_used(totals: Totals, budget: Filter) -> Fraction:
    """The part of the total that decides, at most 1."""
    place = budget.deciding(totals)
    return part_of(totals[place], budget.ceilings()[place])


def fullest(totals: Totals, ceilings: Totals, first: int, second: int) -> int:
    """Of two places whose totals both need room, the one with less of it; the first where the second counts nothing."""
    if not ceilings[second] or not ceilings[first]:
        return first
    return first if ratio(totals[first], ceilings[first]) >= ratio(totals[second], ceilings[second]) else second


def ratio(total: Number, cap: Number) -> Fraction:
    """total / cap, rounded up where it is not rational; for a bar or a table, not for a decision."""
    if total.is_rational and cap.is_rational:
        return total.fraction() / cap.fraction()
    with precision(128):
        return ends(total.ball() / cap.ball())[1]


def _rounded_up(value: Number, bits: int) -> Number:
    if value.size() <= bits:
        return value
    with precision(TOTAL_BITS):
        upper = value.fraction() if value.is_rational else ends(value.ball())[1]
    return Number(Fraction(ceil(upper * GRID), GRID))


def _stored_fields(kind: type[Filter]) -> dict[str, str]:
    """The fields that a record lists, with their types; how rho is counted is said by its version."""
    return {field.name: str(field.type) for field in fields(kind) if field.name != "classical"}  # type: ignore[arg-type]


def _to_record(value: Number | Fraction | Unit | Caps) -> object:
    if isinstance(value, Number):
        return value.to_json()
    if isinstance(value, tuple):
        return [[str(order), cap.to_json()] for order, cap in value]
    return value.value if isinstance(value, Unit) else str(value)


def _from_record(type_: str, value: object) -> object:
    if type_ == "Number":
        return Number.from_json(value)
    if type_ == "Unit":
        return read_unit(value)  # type: ignore[arg-type]  # a record is checked as it is read
    if type_ == "Caps":
        if not isinstance(value, list) or not value:
            raise ValueError("a list of orders and caps")
        return tuple((stored_fraction(order), Number.from_json(cap)) for order, cap in value)
    return stored_fraction(value)
