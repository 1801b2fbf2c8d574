"""The part of a budget that is used: that of what runs out first, whatever it is counted in."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dither import approx, pure, zcdp
from dither.privacy.budget.filter import approx_filter, sum_filter, zcdp_filter
from dither.privacy.budget.filter_state import Spent, ratio

BUDGETS = {
    "pure": sum_filter(1),
    "sum": sum_filter(1, "1e-6"),
    "zcdp": zcdp_filter("0.5", "1e-6"),
    "approx": approx_filter(1, "1e-6", delta_events="5e-7"),
    "approx without": approx_filter(1, "1e-6"),
}
QUESTIONS = [
    pure("0.01"),
    approx("0.01", "1e-7"),
    approx("0.001", "3e-7"),
    pure("0.3"),
    zcdp("0.01"),
    zcdp("0.001", delta="2e-7"),
]


@pytest.mark.parametrize(
    ("name", "question", "part"),
    [
        ("sum", approx("0.1", "5e-7"), Fraction(1, 2)),  # the delta is half gone, the epsilon a tenth
        ("sum", approx("0.7", "5e-7"), Fraction(7, 10)),
        ("sum", pure("0.25"), Fraction(1, 4)),
        ("zcdp", zcdp("0.05", delta="9e-7"), Fraction(9, 10)),
        ("zcdp", zcdp("0.05"), Fraction(1, 10)),
        ("approx", zcdp("0.0001", delta="4e-7"), Fraction(4, 5)),  # of the delta that questions may have
        ("pure", pure("0.5"), Fraction(1, 2)),
        ("approx without", pure("0.5"), Fraction(1, 2)),
    ],
)
def test_the_fuller_of_two_that_both_need_room(name, question, part):
    budget = BUDGETS[name]
    assert budget.used(budget.after(budget.nothing, question)) == part


@pytest.mark.parametrize("name", BUDGETS)
def test_it_never_falls_and_at_all_of_it_nothing_of_the_kind_is_admitted(name):
    budget = BUDGETS[name]
    for question in QUESTIONS:
        if budget.price(question) is None:
            continue
        spent, used = budget.nothing, Fraction(0)
        most = budget.more_like(spent, question)
        for _ in range(min(most, 40)):
            spent = budget.after(spent, question)
            place = budget.deciding(spent.totals)
            assert used <= budget.used(spent) == min(1, ratio(spent.totals[place], budget.ceilings()[place])) <= 1
            used = budget.used(spent)
        full = budget.paid(budget.nothing, budget.price(question), most) if most else budget.nothing
        assert isinstance(full, Spent)
        assert budget.after(full, question) is None, "so many as it says, and not one more"
        if budget.used(full) == 1:
            assert budget.more_like(full, question) == 0
