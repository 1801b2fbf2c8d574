"""States of filters: records, rounding upwards, what is left, how many more."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dither import Number, approx, filter, gdp, ln, pure, renyi, zcdp  # noqa: A004
from dither.errors import GuaranteeError
from dither.privacy.budget.filter_state import PRICE_BITS, TOTAL_BITS

FILTERS = [
    filter.sum_filter(1),
    filter.sum_filter(ln(3), "1e-6"),
    filter.zcdp_filter("0.5"),
    filter.zcdp_filter("0.5", "1e-9"),
    filter.gaussian_filter("1/3"),
    filter.renyi_filter({2: 1, "7.5": ln(2)}),
    filter.approx_filter(1, "1e-6"),
    filter.approx_filter(1, "1e-6", delta_events="5e-7", unit="replace one person"),
    filter.some_order_filter(2, "1e-6", [4, 16]),
]


@pytest.mark.parametrize("one", FILTERS, ids=lambda one: one.kind)
def test_records_are_exact(one):
    assert filter.from_json(one.to_json()) == one
    assert one.stored([total.to_json() for total in one.nothing.totals]) == one.nothing
    assert one.used(one.nothing) == 0
    assert one.left(one.nothing)
    with pytest.raises(GuaranteeError):
        one.stored(["0"] * 7)
    with pytest.raises(GuaranteeError):
        one.stored("0")


@pytest.mark.parametrize(
    "bad",
    [
        *("", "null", "[]", "{}", "nonsense", '{"filter": 2, "kind": "sum"}', '{"filter": true, "kind": "sum"}'),
        '{"filter": 1, "kind": "none"}',
        '{"filter": 1, "kind": "sum", "epsilon": "1", "delta": "0"}',
        '{"filter": 1, "kind": "sum", "epsilon": "1", "delta": "-1", "unit": "add/remove one person"}',
        '{"filter": 1, "kind": "sum", "epsilon": "1", "delta": "1e9", "unit": "add/remove one person"}',
        '{"filter": 1, "kind": "sum", "epsilon": "1", "delta": "0", "unit": "add/remove one person", "more": 1}',
        '{"filter": 1, "kind": "renyi", "caps": [], "unit": "add/remove one person"}',
        '{"filter": 1, "kind": "renyi", "caps": 3, "unit": "add/remove one person"}',
    ],
)
def test_records_that_nobody_wrote(bad):
    with pytest.raises(GuaranteeError):
        filter.from_json(bad)


def brute(one, spent, guarantee, most=500):
    for count in range(most):
        spent = one.after(spent, guarantee)
        if spent is None:
            return count
    return most


@pytest.mark.parametrize("one", FILTERS, ids=lambda one: one.kind)
@pytest.mark.parametrize(
    "question", [pure("0.06"), zcdp("0.0021"), gdp(mu2="1/37"), approx("0.05", "3e-8"), pure(ln(2) / 9)]
)
def test_how_many_more_is_how_many_are_admitted(one, question):
    if question.unit is not one.unit:
        question = question.to(one.unit)
    assert one.more_like(one.nothing, question) == brute(one, one.nothing, question)
    spent = one.after(one.nothing, question)
    if spent is not None:
        assert one.more_like(spent, question) == brute(one, spent, question)


def test_what_costs_nothing_can_be_asked_without_end():
    one = filter.sum_filter(1)
    assert one.more_like(one.nothing, pure(0)) is None
    assert one.more_like(one.nothing, zcdp(1)) == 0
    assert filter.renyi_filter({2: 1}).more_like(filter.renyi_filter({2: 1}).nothing, renyi({2: "0.3"})) == 3


@given(st.lists(st.fractions(0, 1, max_denominator=10**12), min_size=1, max_size=40))
def test_small_sums_are_exact(prices):
    one = filter.sum_filter(100)
    spent = one.nothing
    for price in prices:
        spent = one.after(spent, pure(price))
        assert spent is not None
    exact = sum(prices, start=Fraction(0))
    if exact.denominator.bit_length() <= TOTAL_BITS:
        assert spent.totals[0] == exact
    assert exact <= spent.totals[0].fraction() <= exact + Fraction(len(prices), 2**512)


def test_large_prices_and_totals_are_rounded_up_and_stay_small():
    one = filter.sum_filter(10**6)
    fine = Fraction(1, 3**700)  # 1110 bits
    (rounded, _) = one.price(pure(fine))
    assert fine < rounded.fraction() <= fine + Fraction(1, 2**512)
    spent, exact = one.nothing, Number(0)
    for number in range(200):
        price = ln(1000003 + 2 * number) / (number + 1) + Fraction(1, 10007 + number)
        spent, exact = one.after(spent, pure(price)), exact + price
        assert spent.totals[0].size() <= TOTAL_BITS
        assert spent.totals[0] >= exact
    assert spent.totals[0] <= exact + Fraction(200, 2**512)
    assert spent.totals[0].size() < exact.size()
    # a total that was rounded once is not rounded again by multiples of one price
    price = pure(ln(5) / 7 + Fraction(1, 3**200))
    assert one.price(price)[0].size() <= PRICE_BITS
    after = one.after(spent, price)
    again = one.paid(after, one.price(price), 3)
    assert again.totals[0] == after.totals[0] + 3 * one.price(price)[0]


def test_what_is_left_is_rounded_down_and_never_below_zero():
    one = filter.sum_filter(1)
    spent = one.after(one.nothing, pure("1/3"))
    assert one.left(spent) == "ε = 0.6666"
    assert one.figure(spent).startswith("so far ε = 0.3334")
    mixed = filter.approx_filter(1, "1e-6")
    spent = mixed.nothing
    for _ in range(5):
        spent = mixed.after(spent, pure("0.1"))
    assert mixed.left(spent) == "ε = 0.5, δ = 0"  # rho is gone, half of the plain sum is not
    assert mixed.used(spent) == Fraction(1, 2)
    for _ in range(5):
        spent = mixed.after(spent, pure("0.1"))
    assert mixed.left(spent) == "ε = 0, δ = 0"  # rho is long gone; the plain sum lasted
    assert mixed.used(spent) == 1
