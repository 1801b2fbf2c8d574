"""What a ledger will have added up when all of a plan is asked, in whatever order.

Theorem. Let a filter admit T + sum n_i p_i + s. Then the ledger grants every ask of the plan, in every order, if nothing
else is asked meanwhile. Where s = 0 the converse holds: what is not admitted is refused at some ask, in every order.

    T          what is spent before
    p_i, n_i   the price of a question, and how many times it is charged; N is the sum of the n_i
    s          0 where no partial sum can grow past TOTAL_BITS bits, otherwise N / GRID, in each total

Proof. A ledger adds a price to its totals and rounds up, by less than 1 / GRID, only where the sum has grown past TOTAL_BITS
(`privacy/budget/filter_state.py`). So after any asks its totals are at most the exact sum of their prices, T and s. Filters
compare totals with ceilings by <=, joined by `and` and `or`, and prices are not negative: what is admitted at the end is
admitted before it. With s = 0 nothing is rounded, and the totals after all asks are the exact sum: if all were granted, the
last of them was admitted with that sum.

Why sizes can be told beforehand. Denominators of a sum divide the product of denominators, so a rational partial sum has at
most S bits, S being the sum of the sizes of T and of each price once (a multiple has no other denominator). Where logarithms
are among them, bases are split into at most S coprime parts, each of at most S bits and with a coefficient whose denominator
has at most S bits: S + S (S + S) bits at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from dither.numeric.number import Number
from dither.privacy.budget.filter import Spent
from dither.privacy.budget.filter_state import GRID, TOTAL_BITS, Totals


class Charge(NamedTuple):
    """A price, as a filter counts it, and how many times it is charged."""

    price: Totals
    times: int


def planned_total(spent: Spent, charges: Sequence[Charge], *, slack: Fraction) -> Totals:
    """The totals after all charges, exactly, with the slack on each."""
    totals = [total + slack for total in spent.totals]
    for price, times in charges:
        totals = [total + part * times for total, part in zip(totals, price, strict=True)]
    return tuple(totals)


def rounding_slack(spent: Spent, charges: Sequence[Charge]) -> Fraction:
    """How much the ledger's own rounding can add to a total while these charges are made, in whatever order."""
    for place, total in enumerate(spent.totals):
        parts = {total, *(price[place] for price, _ in charges)}
        size = sum(part.size() for part in parts)
        if not all(part.is_rational for part in parts):
            size += 2 * size**2
        if size > TOTAL_BITS:
            return Fraction(sum(times for _, times in charges), GRID)
    return Fraction(0)


def admitted(spent: Spent, totals: Totals) -> bool:
    """Whether a filter admits these totals."""
    nothing = (Number(0),) * len(totals)
    return spent.budget.paid(Spent(spent.budget, totals), nothing) is not None


def most_times(spent: Spent, before: Sequence[Charge], charge: Charge, *, slack: Fraction) -> int:
    """How many of the times of a charge are admitted after those before it."""
    low, high = -1, charge.times + 1  # admitted, not admitted
    while high - low > 1:
        middle = (low + high) // 2
        if admitted(spent, planned_total(spent, [*before, Charge(charge.price, middle)], slack=slack)):
            low = middle
        else:
            high = middle
    return max(low, 0)
