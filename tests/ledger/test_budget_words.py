"""What is left, in the same words wherever a budget is shown."""

from __future__ import annotations

import pytest

from dither import Ledger, approx, calibrate, gdp, pure, zcdp
from dither.errors import BudgetError, ConflictError
from dither.ledger.entries.budget import COMPOSED, Remaining, read_ceiling
from dither.ledger.history import history_lines


def test_percent_questions_and_details():
    budget = read_ceiling(pure(1))
    left = Remaining(budget.after(budget.nothing, pure("0.4")))
    assert left.words() == "60% of the budget"
    assert left.words(pure("0.3")) == "60% of the budget: about 2 more questions like this one"
    assert left.words(pure("0.6")) == "60% of the budget: about 1 more question like this one"
    assert left.words(pure("0.7"), of="left") == "60% left: no more questions like this one"
    assert left.words(pure("0.01"), which="batch like this one").endswith("about 60 more batches like this one")
    assert left.words(details=True) == "60% of the budget; ε = 0.6 left of ε = 1 (add/remove one person)"
    assert str(left) == "60%: ε = 0.6 left of ε = 1 (add/remove one person)"


def test_why_there_are_more_than_epsilons_add_up_to():
    """Of questions of ε = 0.5, a budget of ε = 3 has six by a plain sum; where no more are left, there is nothing to say."""
    half = gdp(1 / calibrate.gaussian("0.5", "1e-6"))
    budget = read_ceiling(approx(3, "1e-6"))
    spent = budget.nothing
    for left in range(22, 6, -1):
        assert Remaining(spent).like(half) == left
        assert Remaining(spent).reason(half) == COMPOSED
        spent = budget.after(spent, half)
    assert Remaining(spent).like(half) == 6
    assert Remaining(spent).reason(half) == Remaining(spent).reason(None) == ""
    assert Remaining(budget.nothing).reason(pure(1)) == ""  # three, as by a plain sum
    assert Remaining(read_ceiling(pure(3)).nothing).reason(pure("0.01")) == ""
    assert Remaining(read_ceiling(zcdp(1)).nothing).reason(half) == ""  # it has no ε to compare with


def test_so_many_questions_are_admitted_and_no_more(tmp_path):
    """Where prices do not add up in the currency they are stated in, too; and where the delta runs out first."""
    budgets = (approx(1, "1e-6"), approx("0.3", "1e-6"), zcdp("0.01", delta="1e-6"), pure("0.3"))
    for place, budget in enumerate(budgets):
        for number, price in enumerate((pure("0.07"), approx("0.01", "1.2e-7"), zcdp("0.0009"))):
            if read_ceiling(budget).price(price) is None:
                continue
            with Ledger.create(tmp_path / f"{place} {number}", budget=budget, domain="clinic") as ledger:
                more = ledger.remaining().like(price)
                for turn in range(more):
                    ledger.reserve(price, f"question {turn}")
                assert ledger.remaining().words(price).endswith("no more questions like this one")
                with pytest.raises(BudgetError, match="no more questions like this one"):
                    ledger.reserve(price, "one more")


def test_the_delta_is_counted(tmp_path):
    with Ledger.create(tmp_path / "a.ledger", budget=approx(1, "1e-6"), domain="clinic") as ledger:
        receipt = ledger.reserve(approx("0.001", "4.9e-7"), "much of the delta")
        left = ledger.remaining()
        assert left.percent == "2%"  # of the half that questions may have
        with pytest.raises(BudgetError) as found:
            ledger.reserve(approx("0.001", "4.9e-7"), "and again")
        of = "2% left of (ε = 1, δ = 1e-06) (add/remove one person)"
        assert found.value.why.startswith(f"the ledger has {of}: no more questions like this one [ρ = ")
        assert found.value.why.endswith("δ = 1e-08 left]")
        assert found.value.instead.startswith("a question of ε = 0.001 or less that has no δ of its own")
        told = ledger.explain(receipt, details=True)
        assert told.startswith(f"receipt {receipt.name}: charged (ε = 0.001, δ = 4.9e-07)")
        assert "left after it: 2% of the budget: no more questions like this one; ρ = " in told
        lines = history_lines(ledger.history(), [], ledger.budget, details=True)
        assert lines[-1].left.startswith("2%: ρ = ")
        assert lines[-1].left.endswith("δ = 1e-08")
        with Ledger.temporary(pure(1), domain="class") as other, pytest.raises(ConflictError, match="another ledger"):
            other.explain(receipt)
