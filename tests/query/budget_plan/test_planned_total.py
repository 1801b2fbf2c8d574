"""What a plan says of the budget is what the ledger's own filter does, ask by ask, in every order."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product
from math import ceil

import pytest

from dither import approx, gdp, ln, pure, zcdp
from dither.ledger.entries.budget import read_ceiling
from dither.numeric.number import Number
from dither.privacy.budget.filter import Spent, gaussian_filter, renyi_filter, some_order_filter, sum_filter
from dither.privacy.budget.filter_state import GRID, ratio
from dither.query.budget_plan import planned_total as module
from dither.query.budget_plan.planned_total import Charge, admitted, most_times, planned_total, rounding_slack

THIRD = pure("1/3")
PRIMES = [(3, 500), (5, 380), (7, 320), (11, 260), (13, 240), (17, 220), (19, 210), (23, 200), (29, 185)]  # with powers
FILTERS = {
    "pure": (read_ceiling(pure(1)), [pure("0.1"), THIRD, pure(ln(3) / 7)]),
    "logarithm": (sum_filter(ln(27)), [pure(ln(3)), pure(ln(6)), pure("0.5")]),
    "approx": (read_ceiling(approx(1, "1e-6")), [pure("0.1"), gdp("0.11"), approx("0.1", "2e-7")]),
    "sums of both": (sum_filter(1, "1e-6"), [pure("0.1"), approx("0.1", "3e-7"), THIRD]),
    "zcdp": (read_ceiling(zcdp("0.05", delta="1e-6")), [zcdp("0.01"), gdp("0.13"), pure("0.2")]),
    "gaussian": (gaussian_filter(1), [gdp("0.4"), gdp("0.5"), gdp("0.6")]),
    "renyi": (renyi_filter({2: "0.1", 8: "0.3"}), [zcdp("0.01"), gdp("0.15"), pure("0.2")]),
    "some order": (some_order_filter(1, "1e-6", [32, 64]), [zcdp("0.004"), gdp("0.1"), pure("0.01")]),
}


def granted(start: Spent, prices) -> bool:
    """Whether a filter grants all of these, one after the other."""
    now: Spent | None = start
    for price in prices:
        now = now and now.budget.paid(now, price)
    return now is not None


def ended(start: Spent, charges) -> bool:
    return admitted(start, planned_total(start, charges, slack=rounding_slack(start, charges)))


@pytest.mark.parametrize("name", FILTERS)
def test_a_plan_fits_exactly_where_every_order_of_its_asks_is_granted(name):
    budget, guarantees = FILTERS[name]
    start = budget.after(budget.nothing, guarantees[0])
    prices, seen = [budget.price(one) for one in guarantees], set()
    for times in product(range(4), repeat=3):
        charges = [Charge(price, count) for price, count in zip(prices, times, strict=True)]
        assert rounding_slack(start, charges) == 0
        asks = [price for price, count in charges for _ in range(count)]
        orders = set(permutations(asks)) if len(asks) < 5 else {tuple(asks), tuple(reversed(asks))}
        every = {granted(start, order) for order in orders}
        assert every == {ended(start, charges)}
        seen |= every
        if not all(every):
            before = charges[:2]
            if granted(start, [price for price, count in before for _ in range(count)]):
                most = most_times(start, before, charges[2], slack=Fraction(0))
                assert ended(start, [*before, Charge(prices[2], most)])
                assert not ended(start, [*before, Charge(prices[2], most + 1)])
    assert seen == {True, False}, "the examples reach both"


def test_ten_tenths_are_all_of_a_budget():
    budget, (tenth, *_) = FILTERS["pure"]
    charges = [Charge(budget.price(tenth), 10)]
    assert ended(budget.nothing, charges)
    assert not ended(budget.nothing, [Charge(budget.price(tenth), 11)])
    budget, (third, *_) = FILTERS["logarithm"]
    assert ended(budget.nothing, [Charge(budget.price(third), 3)]), "three logarithms of 3 are that of 27"


def over_by_rounding():
    """A ceiling that the exact sum meets and that the sum which is rounded on the way does not."""
    several = [Number(Fraction(1, prime**power)) for prime, power in PRIMES]
    whole = sum((one.fraction() for one in several), start=Fraction(0))
    budget = sum_filter(Number(Fraction(ceil(whole * 2**1000), 2**1000)))
    return budget, [(one, Number(0)) for one in several]


def test_what_the_ledger_rounds_is_against_the_plan():
    budget, prices = over_by_rounding()
    charges = [Charge(price, 1) for price in prices]
    assert rounding_slack(budget.nothing, charges) == Fraction(len(prices), GRID)
    refused = not granted(budget.nothing, prices)
    assert refused, "the ledger's own rounding takes more than the exact sum"
    assert not ended(budget.nothing, charges)


def test_planted_no_slack(monkeypatch):
    """Planted: the exact sum alone would promise what the ledger then refuses."""
    budget, prices = over_by_rounding()
    charges = [Charge(price, 1) for price in prices]
    total = planned_total(budget.nothing, charges, slack=Fraction(0))
    assert budget._admits(total)
    monkeypatch.setattr(module, "TOTAL_BITS", 10**9)
    assert rounding_slack(budget.nothing, charges) == 0, "so the bound on sizes decides"


def test_planted_one_time_too_few():
    """Planted: whoever counts one time less says that it fits where the ledger refuses."""
    budget, (tenth, *_) = FILTERS["pure"]
    price = budget.price(tenth)
    assert ended(budget.nothing, [Charge(price, 11 - 1)])
    assert not granted(budget.nothing, [price] * 11)


@pytest.mark.parametrize("name", FILTERS)
def test_the_part_of_the_total_that_decides_is_what_is_used(name):
    budget, guarantees = FILTERS[name]
    for several in ([guarantees[0]], guarantees[:2]):
        state = budget.nothing
        for one in several:
            state = budget.after(state, one)
        place = budget.deciding(state.totals)
        assert len(budget.ceilings()) == len(state.totals)
        assert ratio(state.totals[place], budget.ceilings()[place]) == budget.used(state)
