"""The privacy budget of a ledger: a guarantee as the ceiling, the privacy filter that keeps it, and what is left of it.

pure(epsilon)           epsilons add up
approx(epsilon, delta)  rhos add up to what converts to (epsilon, delta/2), or epsilons add up, whichever lasts longer;
                        deltas of questions add up to delta/2
zcdp(rho, delta)        rhos and deltas add up
a filter                of `dither.filter`, as it is
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from dither.errors import BudgetError, GuaranteeError, NumberError, TamperError, UnitError
from dither.ledger.entries.largest_price import Limits, told_price
from dither.numeric.number import Number
from dither.privacy.budget.filter import Filter, Spent, SumFilter, approx_filter, sum_filter, zcdp_filter
from dither.privacy.budget.filter_state import Totals, without
from dither.privacy.guarantee.approx import Approx
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.guarantee.zcdp import Zcdp
from dither.privacy.text import percent_down

COMPOSED = (
    "more than a plain sum of ε allows: losses of many questions add up slower, by zero-concentrated DP at that δ; "
    "docs/choosing-epsilon.md"
)
SMALLEST = Fraction(1, 10**100)  # a price below this is a slip, not a question


BudgetLike: TypeAlias = Guarantee | Filter


def read_ceiling(budget: BudgetLike, *, name: str = "budget") -> Filter:
    """The privacy filter that keeps a budget, from a guarantee or a filter."""
    if isinstance(budget, Filter):
        return _above_zero(budget, budget, name)
    if not isinstance(budget, Guarantee):
        raise GuaranteeError(name, budget, "a budget is a guarantee", "pure(1), approx(3, '1e-6') or zcdp('0.5')")
    charge, part = budget.charge(), budget.parts[0]
    if len(budget.parts) == 1 and isinstance(part, Zcdp) and charge.rho is not None:
        return _above_zero(zcdp_filter(charge.rho, charge.delta, unit=budget.unit), budget, name)
    if len(budget.parts) > 1 or not isinstance(part, Approx) or charge.epsilon is None:
        instead = "pure(1), approx(3, '1e-6'), zcdp('0.5'), or a filter such as filter.gaussian_filter(1)"
        raise GuaranteeError(name, str(budget), "it is neither pure, nor (ε, δ), nor zCDP", instead)
    if charge.delta == 0:
        return _above_zero(sum_filter(charge.epsilon, unit=budget.unit), budget, name)
    return approx_filter(charge.epsilon, charge.delta, delta_events=charge.delta / 2, unit=budget.unit)


def read_price(ceiling: Filter, guarantee: Guarantee) -> Totals:
    """What a question costs under a ceiling; refused where that is nothing, or cannot be said."""
    if not isinstance(guarantee, Guarantee):
        raise GuaranteeError("guarantee", guarantee, "it is not a guarantee", "mechanism.guarantee, or pure('0.1')")
    return _price(ceiling, guarantee)


@lru_cache(maxsize=1024)
def _price(ceiling: Filter, guarantee: Guarantee) -> Totals:
    if guarantee.unit is not ceiling.unit:
        why = f"the budget is about '{ceiling.unit}'"
        raise UnitError("guarantee", str(guarantee), why, "the same unit; .to(unit) where that proves something")
    price = ceiling.price(guarantee)
    if price is None:
        why = f"it has no price under {ceiling.ceiling}"
        raise GuaranteeError("guarantee", str(guarantee), why, "a mechanism with the kind of promise that the budget counts")
    if any(part < 0 for part in price):
        raise GuaranteeError("guarantee", str(guarantee), "it promises less than nothing", "one that dither made")
    if not any(price):
        raise NumberError("guarantee", str(guarantee), "it costs nothing", "a price above zero: every answer has one")
    if any(0 < part < SMALLEST for part in price):
        raise NumberError(
            "guarantee", str(guarantee), "it costs less than 1e-100, which is a slip", "a price that people use"
        )
    return price


@dataclass(frozen=True)
class Remaining:
    """What is left of a privacy budget, or of an analyst's share of it."""

    spent: Spent

    @property
    def ceiling(self) -> Guarantee:
        """The guarantee of everything together, whatever is asked."""
        return self.spent.budget.ceiling

    @property
    def used(self) -> float:
        """The part that is gone, from 0 to 1: for a bar."""
        return float(self.spent.budget.used(self.spent))

    def like(self, guarantee: Guarantee) -> int:
        """How many more questions like this one could be asked, if nothing else were."""
        read_price(self.spent.budget, guarantee)
        return _more_like(self.spent, guarantee)

    def totals(self) -> list[Number]:
        """What was spent, in exact numbers, as the filter counts it."""
        return list(self.spent.totals)

    @property
    def percent(self) -> str:
        """The part that is left, such as '95.6%', rounded down."""
        return percent_down(1 - self.spent.budget.used(self.spent))

    @property
    def details(self) -> str:
        """What is left, as the filter counts it: ε, or ρ and δ."""
        return f"{self.counted} left of {self.ceiling}"

    @property
    def counted(self) -> str:
        """What is left, as the filter counts it, and nothing beside."""
        return self.spent.budget.left(self.spent)

    @property
    def in_epsilon(self) -> bool:
        """Whether the budget counts ε and nothing else."""
        budget = self.spent.budget
        return isinstance(budget, SumFilter) and not budget.delta

    def words(
        self,
        like: Guarantee | None = None,
        *,
        which: str = "question like this one",
        of: str = "of the budget",
        details: bool = False,
    ) -> str:
        """What is left in words, the same wherever a budget is shown: in percent, and in questions of the price `like`.

        So many the filter would admit, one after the other, if nothing else were asked; `which` says what they are, and `of`
        what the percent are of. With `details` also as the filter counts: ε, or ρ and δ.
        """
        told = f"{self.percent} {of}"
        if like is not None:
            more, (noun, _, rest) = self.like(like), which.partition(" ")
            number = f"about {more:,} more" if more else "no more"
            told += f": {number} {noun if more == 1 else _plural(noun)} {rest}"
        return f"{told}; {self.details}" if details else told

    def reason(self, like: Guarantee | None) -> str:
        """Why there is room for more questions of the price `like` than their ε add up to; '' where there is not."""
        return COMPOSED if like is not None and _is_beyond_sum(self.like(like), like, self.ceiling) else ""

    def __repr__(self) -> str:
        return f"Remaining({str(self)!r})"

    def __str__(self) -> str:
        """In percent; also in ε where the budget counts nothing else: few know how much a ρ is."""
        return f"{self.percent}: {self.details}" if self.in_epsilon else f"{self.percent} left of {self.ceiling}"


@lru_cache(maxsize=1024)  # a quote says it several times, and a page for every key that is pressed
def _more_like(spent: Spent, guarantee: Guarantee) -> int:
    return spent.budget.more_like(spent, guarantee) or 0


@lru_cache(maxsize=1024)
def _is_beyond_sum(count: int, guarantee: Guarantee, ceiling: Guarantee) -> bool:
    most = ceiling.charge()
    if count < 2 or most.epsilon is None or most.delta == 0:
        return False
    each = told_price(guarantee, most.delta).charge().epsilon
    return each is not None and each * count > most.epsilon


def pay(
    spent: Spent, price: Totals, guarantee: Guarantee, *, whose: str, limits: Callable[[], Limits] | None = None
) -> Spent:
    """The state after a charge; refused where the ceiling could be broken. `limits` are all that it must fit."""
    after = spent.budget.paid(spent, price)
    if after is None:
        every = Limits([spent], spent.budget.ceiling.charge().delta) if limits is None else limits()
        raise beyond(Remaining(spent), guarantee, every, whose=whose)
    return after


def beyond(left: Remaining, guarantee: Guarantee, limits: Limits, *, whose: str, later: str = "") -> BudgetError:
    """The refusal of a charge that is more than what is left: in the ε that was asked for, with the largest that fits."""
    told = told_price(guarantee, limits.delta)
    why = f"{whose} has {left.words(guarantee, of='left', details=True)}"
    if not left.in_epsilon:
        plain = all(isinstance(part, Approx) for part in guarantee.parts)
        counted = f"{left.counted} left" + ("" if plain else f", charged as {guarantee}")
        why = f"{whose} has {left.words(guarantee, of=f'left of {left.ceiling}')} [{counted}]"
    instead = limits.proposal(guarantee) or _alone(left, guarantee, limits)
    return BudgetError("price", str(told), why, f"{instead}{later}")


def _alone(left: Remaining, guarantee: Guarantee, limits: Limits) -> str:
    """What to say where nothing fits all limits: another than the one that refuses may be the one with too little left."""
    alone = Limits([left.spent], limits.delta).proposal(guarantee) if len(limits.states) > 1 else ""
    if not alone:
        return "none: what is left is too little for a question of this kind"
    every = "the ledger, the share and the portion of a day" if len(limits.states) > 2 else "the ledger and the share"
    return f"none at present: a question must fit {every}, and one of the others has too little left"


def give_back(spent: Spent, price: Totals) -> Spent:
    """The state without a charge that was never used."""
    total = without(spent.totals, price)
    if any(part < 0 for part in total):
        raise TamperError("ledger", Remaining(spent).details, "more would be given back than was spent", "ledger.verify()")
    return Spent(spent.budget, total)


def _plural(noun: str) -> str:
    return f"{noun}es" if noun.endswith("ch") else f"{noun}s"


def _above_zero(ceiling: Filter, given: BudgetLike, name: str) -> Filter:
    if ceiling.used(ceiling.nothing) == 1:
        raise NumberError(
            name, given if isinstance(given, Filter) else str(given), "nothing could ever be asked", "more than 0"
        )
    return ceiling
