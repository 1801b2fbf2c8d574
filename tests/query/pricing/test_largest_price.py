"""Refusals of the budget: the price in the ε that was asked for, and the largest ε that still fits does fit."""

from __future__ import annotations

import re

import pytest

import dither
from dither.errors import BudgetError
from tests.query.clinics import clinic

QUESTIONS = [
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT ward, COUNT(*) AS n, AVG(cost) AS c, STDDEV(age) AS d FROM visits GROUP BY ward",
    "SELECT MEDIAN(age) AS m, COUNT(*) AS n FROM visits",
    "SELECT COUNT(DISTINCT ward) AS k FROM visits",
    "SELECT MODE(ward) AS m FROM visits",
    "SELECT ward, SUM(COUNT(*)) OVER (ORDER BY ward) AS n FROM visits GROUP BY ward",
    "SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)",
]
APPROX = dither.approx(1, "1e-6")


def proposed(error: BudgetError, letter: str = "ε") -> str:
    """The amount that a refusal says would work."""
    found = re.fullmatch(rf"a question of {letter} = ([0-9.e-]+) or less(, or this one .*)?", error.instead)
    assert found is not None, error.instead
    return found[1]


def refused(call) -> BudgetError:
    with pytest.raises(BudgetError) as found:
        call()
    return found.value


@pytest.mark.parametrize("sql", QUESTIONS)
@pytest.mark.parametrize("how", [{}, {"noise": "geometric"}])
def test_what_is_proposed_fits(tmp_path, sql, how):
    data = clinic(tmp_path, budget=APPROX)
    data.quote("SELECT COUNT(*) AS first FROM visits", epsilon="0.83").release()
    error = refused(data.quote(sql, epsilon="0.9", **how).release)
    assert error.came == f"{'ε = 0.9' if how else '(ε = 0.9, δ = 1e-06)'} (add/remove one person)"
    data.quote(sql, epsilon=proposed(error), **how).release()


@pytest.mark.parametrize("budget", [dither.pure(1), APPROX])
def test_of_a_batch_too(tmp_path, budget):
    data = clinic(tmp_path, budget=budget)
    data.quote("SELECT COUNT(*) AS first FROM visits", epsilon="0.83").release()
    error = refused(data.quote(QUESTIONS[:3], epsilon="0.9").release)
    data.quote(QUESTIONS[:3], epsilon=proposed(error)).release()


def test_it_is_the_largest(tmp_path):
    """To four digits: one more in the last does not fit."""
    data = clinic(tmp_path, budget=APPROX)
    data.quote("SELECT COUNT(*) AS first FROM visits", epsilon="0.83").release()
    largest = proposed(refused(data.quote(QUESTIONS[0], epsilon="0.9").release))
    more = f"{float(largest) * 1.001:.6f}"
    assert proposed(refused(data.quote(QUESTIONS[0], epsilon=more).release)) == largest


def test_the_unit_of_the_budget_stands_at_the_end(tmp_path):
    data = clinic(tmp_path, budget=APPROX)
    data.quote("SELECT COUNT(*) AS first FROM visits", epsilon="0.83").release()
    why = refused(data.quote(QUESTIONS[0], epsilon="0.5").release).why
    assert re.fullmatch(
        r"the ledger has [0-9.]+% left of \(ε = 1, δ = 1e-06\) \(add/remove one person\): no more questions like this one "
        r"\[ρ = [0-9.]+, δ = 5e-07 left, charged as μ = [0-9.]+ Gaussian DP \(add/remove one person\)\]",
        why,
    )


def test_a_budget_in_rho_speaks_of_rho(tmp_path):
    data = clinic(tmp_path, budget=dither.zcdp("0.01"))
    data.quote("SELECT COUNT(*) AS first FROM visits", rho="0.007").release()
    error = refused(data.quote(QUESTIONS[1], rho="0.005").release)
    assert proposed(error, "ρ") == "0.003"
    data.quote(QUESTIONS[1], rho="0.003").release()


def test_keys_that_nobody_declared(tmp_path):
    """Their δ adds up by itself: where it is spent, no ε fits."""
    towns = "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex"
    data = clinic(tmp_path, budget=APPROX, keys={"ward": ["A", "B"]})
    data.quote("SELECT COUNT(*) AS first FROM visits", epsilon="0.83").release()
    largest = proposed(refused(data.quote(towns, epsilon="0.9", delta="3e-7").release))
    data.quote(towns, epsilon=largest, delta="3e-7").release()
    data = clinic(tmp_path, budget=APPROX, keys={"ward": ["A", "B"]})
    data.quote(towns, epsilon="0.1", delta="3e-7").release()
    error = refused(data.quote(towns, epsilon="0.2", delta="3e-7").release)
    told = re.fullmatch(r"a question of ε = ([0-9.]+) or less that has no δ of its own, .*", error.instead)
    assert told is not None, error.instead
    data.quote(QUESTIONS[0], epsilon=told[1]).release()


def test_shares_and_portions_count(tmp_path):
    """What fits the share may be more than the budget, or than a day."""
    data = clinic(tmp_path, budget=APPROX)
    data.ledger.share("ana", dither.approx("0.9", "1e-6"))
    data.ledger.share("bob", APPROX)
    data.quote("SELECT COUNT(*) AS first FROM visits", epsilon="0.83").release(analyst="bob")
    error = refused(lambda: data.quote(QUESTIONS[0], epsilon="0.95").release(analyst="ana"))
    assert error.why.startswith("the share of ana has 100% left of (ε = 0.9, δ = 1e-06)")
    data.quote(QUESTIONS[0], epsilon=proposed(error)).release(analyst="ana")
    data.ledger.share("eve", APPROX)
    error = refused(
        lambda: data.quote(QUESTIONS[1], epsilon="0.3").release(analyst="eve", daily=dither.approx("0.1", "1e-6"))
    )
    data.quote(QUESTIONS[1], epsilon="0.0001").release(analyst="eve", daily=dither.approx("0.1", "1e-6"))


def test_nothing_is_proposed_where_nothing_fits(tmp_path):
    data = clinic(tmp_path, budget=dither.pure("0.5"))
    data.quote(QUESTIONS[0], epsilon="0.5").release()
    error = refused(data.quote(QUESTIONS[1], epsilon="0.1").release)
    assert error.instead == "none: what is left is too little for a question of this kind"


def test_the_limit_for_one_question(tmp_path):
    data = clinic(tmp_path, budget=dither.approx(3, "1e-6"), per_question=APPROX)
    for sql in (one for one in QUESTIONS if "MODE" not in one):  # whose noise keeps less than what is asked for
        error = refused(lambda sql=sql: data.quote(sql, epsilon=2))
        assert error.came.startswith("(ε = 2, δ = 1e-06)")
        assert error.instead == "a question of ε = 1 or less"
        data.quote(sql, epsilon=1)
    assert "[it would be charged as μ = " in error.why
    assert refused(lambda: data.quote(QUESTIONS[0], rho="0.5")).came.startswith("(ε = ")


def test_no_more_is_proposed_than_was_asked_for(tmp_path):
    """The policy's limit for one question is not known to the ledger."""
    towns = "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex"
    data = clinic(tmp_path, budget=dither.approx(3, "1e-6"), per_question=dither.approx("0.5", "1e-6"), keys={"ward": ["A"]})
    data.quote(towns, epsilon="0.2", delta="4e-7").release()
    error = refused(data.quote(towns, epsilon="0.3", delta="4e-7").release)
    told = re.fullmatch(r"a question of ε = ([0-9.]+) or less that has no δ of its own, .*", error.instead)
    assert told is not None, error.instead
    assert float(told[1]) <= 0.3
    data.quote(QUESTIONS[0], epsilon=told[1]).release()


def test_a_median_under_rho_is_told_in_rho(tmp_path):
    data = clinic(tmp_path, budget=dither.zcdp("0.01"))
    median = "SELECT MEDIAN(age) AS m FROM visits"
    largest = proposed(refused(data.quote(median, rho="0.02").release), "ρ")
    data.quote(median, rho=largest).release()


def test_where_no_kind_is_priced_a_smaller_price_is_named():
    from dither.privacy.budget import filter as filters

    with dither.Ledger.temporary(filters.gaussian_filter(1), domain="class") as ledger:
        ledger.reserve(dither.gdp("0.5"), "first")
        error = refused(lambda: ledger.reserve(dither.gdp(1), "second"))
        assert error.instead == "a question with a smaller price"
        ledger.reserve(dither.gdp("0.5"), "third")


def test_what_a_new_day_does_not_change(tmp_path):
    """Nothing is promised for tomorrow that the ledger has no room for, and no limit is blamed for another."""
    with dither.Ledger.temporary(dither.pure(1), domain="class") as ledger:
        ledger.share("ana", dither.pure(1))
        ledger.share("bob", dither.pure(1))
        day = dither.pure("0.4")
        ledger.reserve(dither.pure("0.5"), "1", analyst="ana")
        ledger.reserve(dither.pure("0.3"), "2", analyst="bob", daily=day)
        later = refused(lambda: ledger.reserve(dither.pure("0.2"), "3", analyst="bob", daily=day))
        assert ", or this one from " in later.instead
        ledger.reserve(dither.pure("0.1"), "4", analyst="ana")
        never = refused(lambda: ledger.reserve(dither.pure("0.2"), "3", analyst="bob", daily=day))
        assert ", or this one from " not in never.instead
        ledger.reserve(dither.pure("0.1"), "5", analyst="bob", daily=day)
        error = refused(lambda: ledger.reserve(dither.pure("0.8"), "6", analyst="bob", daily=day))
        assert error.instead.startswith(
            "none at present: a question must fit the ledger, the share and the portion of a day"
        )
