"""Plans: prices of quotes, added up as the ledger adds them; what fits, what would, and what is refused."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pyarrow.parquet
import pytest

import dither
from dither.errors import BudgetError, ConflictError, DataError, GuaranteeError, NumberError, QuestionError, SizeError
from tests.query.clinics import clinic, ledger, visits

WARDS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
COST = "SELECT SUM(cost) AS cost FROM visits"
FREE = "SELECT DISTINCT ward FROM visits"
BUDGETS = {
    "pure": (dither.pure(3), {"epsilon": "0.25"}),
    "approx": (dither.approx(3, "1e-6"), {"epsilon": "0.4"}),
    "zcdp": (dither.zcdp("0.1"), {"rho": "0.01"}),
    "gaussian": (dither.filter.gaussian_filter("0.5"), {"rho": "0.01"}),
}


def asked(sql=WARDS, times=12, **terms):
    return {"sql": sql, "times": times, **(terms or {"epsilon": "0.25"})}


@pytest.mark.parametrize("name", BUDGETS)
def test_the_ledger_grants_what_fits_and_not_one_more(tmp_path, name):
    """Every line is paid as often as the plan says, each time for a new version of the data, and then refused."""
    budget, terms = BUDGETS[name]
    data = clinic(tmp_path, budget=budget)
    plan = data.plan([asked(WARDS, 9, **terms), asked(COST, 1000, **terms), asked(FREE, 7, size=None)])
    assert not plan.fits
    assert [line.fits for line in plan.lines][0::2] == [9, 7]
    for line in plan.lines[:2]:
        for time in range(line.fits):
            data.ledger.reserve(line.quote.guarantee, line.quote.question, data_version=f"{time}")
    with pytest.raises(BudgetError):
        data.ledger.reserve(plan.lines[1].quote.guarantee, plan.lines[1].quote.question, data_version="one more")


@pytest.mark.parametrize("name", BUDGETS)
def test_errors_at_which_it_fits(tmp_path, name):
    budget, terms = BUDGETS[name]
    data = clinic(tmp_path, budget=budget)
    plan = data.plan([asked(WARDS, 52, **terms), asked(COST, 3, **terms)])
    assert (plan.fits, plan.fitting.fits) == (False, True)
    assert plan.factor > 1
    less = plan._with_errors(plan.factor - Fraction(1, 100), {})
    assert less is None, "a hundredth less does not fit"
    for line in plan.fitting.lines:  # and the ledger grants all of it
        for time in range(line.question.times):
            data.ledger.reserve(line.quote.guarantee, line.quote.question, data_version=f"{time}")


def test_a_plan_that_fits(tmp_path):
    data = clinic(tmp_path, budget=dither.pure(3))
    plan = data.plan([asked(times=6), asked(COST, "quarterly", epsilon="0.1")])
    assert plan.fits
    assert (plan.needed, plan.left, plan.factor) == (Fraction(19, 30), "36.6%", 1)
    assert plan.fitting is plan
    assert "Fits       all of it; 36.6% of the budget is left afterwards" in str(plan)


def test_nothing_is_charged_and_no_row_is_read(tmp_path):
    path = tmp_path / "visits.parquet"
    pyarrow.parquet.write_table(visits(), path)
    data = clinic(tmp_path, path, budget=dither.pure(3))
    path.unlink()
    head = data.ledger.head
    plan = data.plan([asked(times="weekly"), asked("SELECT MEDIAN(age) AS age FROM visits", 2)])
    assert not plan.fits
    assert plan.fitting.fits
    assert data.ledger.head == head


def test_prices_are_those_of_quotes(tmp_path):
    data = clinic(tmp_path, budget=dither.approx(3, "1e-6"))
    several = [
        {"sql": WARDS, "error": {"n": 100}},
        {"sql": [WARDS, COST], "epsilon": "0.5"},
        {"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "0.5", "limits": "auto"},
        {"sql": "SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)", "epsilon": "0.5"},
    ]
    plan = data.plan([{**one, "times": 2} for one in several])
    for one, line in zip(several, plan.lines, strict=True):
        quote = data.quote(one["sql"], **{name: fact for name, fact in one.items() if name != "sql"})
        assert quote.guarantee == line.quote.guarantee
        assert line.errors == (quote.errors if isinstance(one["sql"], list) else [quote.errors])


def test_what_was_spent_before_counts(tmp_path):
    data = clinic(tmp_path, budget=dither.pure(1))
    data.ledger.reserve(dither.pure("0.5"), "another")
    plan = data.plan([asked(times=3)])
    assert (plan.lines[0].fits, plan.fits) == (2, False)
    assert "; 50% is left" in str(plan)
    data.ledger.reserve(dither.pure("0.5"), "the last")
    plan = data.plan([asked(times=1)])
    assert (plan.lines[0].fits, plan.factor, plan.fitting) == (0, None, None)
    assert "no larger error makes it fit" in str(plan)


def test_a_share_counts_too(tmp_path):
    own = ledger(tmp_path, dither.pure(3))
    own.share("ana", dither.pure("0.5"))
    data = clinic(tmp_path, ledger=own)
    assert data.plan([asked(times=3)]).fits
    plan = data.plan([asked(times=3)], analyst="ana")
    assert plan.lines[0].fits == 2
    assert "100%, of the share: 100% is left" in str(plan)
    with pytest.raises(DataError, match="no such share"):
        data.plan([asked()], analyst="eve")


def test_what_the_policy_does_not_allow_for_one_question(tmp_path):
    data = clinic(tmp_path, budget=dither.pure(3), per_question=dither.pure("0.2"))
    plan = data.plan([asked(times=2), asked(COST, 2, epsilon="0.1")])
    assert [line.fits for line in plan.lines] == [0, 2]
    assert "question 1: 0 of 2 times: the policy allows" in str(plan)
    assert plan.factor == Fraction("1.25")


def test_deltas_that_no_error_mends(tmp_path):
    data = clinic(tmp_path, budget=dither.approx(3, "1e-6"), keys={})
    plan = data.plan([asked("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", 120, epsilon="0.001")])
    assert plan.lines[0].fits == 100, "each takes a hundredth of the delta that such questions may have"
    assert plan.factor is None


def test_how_it_is_shown(tmp_path):
    data = clinic(tmp_path, budget=dither.approx(3, "1e-6"))
    plan = data.plan(
        [{**asked(times="monthly"), "name": "by <b>ward</b>"}, asked(COST + " WHERE " + "age > 1 AND " * 30 + "age > 2", 9)]
    )
    assert max(map(len, str(plan).splitlines())) <= 80
    assert "data_version" in str(plan)
    assert "&lt;b&gt;ward" in plan._repr_html_()
    assert "ρ" not in str(plan)
    assert "ρ = " in plan.explain(details=True)
    assert "error 95%" in str(plan)
    facts = json.loads(json.dumps(plan.facts()))
    assert [line["fits"] for line in facts["questions"]] == [line.fits for line in plan.lines]
    assert facts["would_fit"]["factor"] == str(plan.factor)


def test_a_question_stands_in_a_plan_once(tmp_path):
    """Planted: without the refusal the plan counts twice what the ledger charges once."""
    data = clinic(tmp_path, budget=dither.pure(3))
    with pytest.raises(ConflictError, match=r"question 2 .* is question 1 again"):
        data.plan([asked(), asked("select Ward, count(*) as n from visits group by 1", "quarterly")])
    assert data.plan([asked(), asked(epsilon="0.1")]).lines
    first = data.quote(WARDS, epsilon="0.25")
    for _ in range(2):
        receipt = data.ledger.reserve(first.guarantee, first.question)
        data.ledger.commit(receipt, "42")
    assert data.ledger.remaining().details.startswith("ε = 2.75 left")


@pytest.mark.parametrize(
    ("questions", "error", "words"),
    [
        ([], SizeError, "1 to 1000 questions"),
        ({"sql": WARDS}, DataError, "neither a list"),
        (7, DataError, "neither a list"),
        (["SELECT 1"], DataError, "question 1 .* mapping"),
        ([{"sql": WARDS}], DataError, "question 1: times"),
        ([{"times": 1}], DataError, "question 1: sql"),
        ([{"sql": 7, "times": 1}], DataError, "question 1: sql"),
        ([asked(prize=1)], DataError, "question 1: prize"),
        ([asked(times="hourly")], DataError, "monthly"),
        ([asked(times=0)], NumberError, "question 1: times"),
        ([asked(times=-2)], NumberError, "question 1: times"),
        ([asked(times=1.5)], NumberError, "question 1: times"),
        ([asked(times=True)], NumberError, "question 1: times"),
        ([asked(times=10**7)], NumberError, "a slip"),
        ([{**asked(), "name": "a\nb"}], DataError, "short text"),
        ([asked(epsilon=1, error={"n": 1})], NumberError, "exactly one way"),
        ([asked(), asked("SELECT name FROM visits")], QuestionError, "question 2: "),
        ([asked(size=1)], NumberError, "question 1: price"),
        ([asked(error={"m": 1})], QuestionError, "question 1: error"),
        ([asked(rho=1)], GuaranteeError, "question 1: rho"),
        ([asked([WARDS, COST], error={"n": 1})], QuestionError, "question 1: error"),
        ("missing.toml", DataError, "it cannot be read"),
    ],
)
def test_refusals_say_which_question(tmp_path, questions, error, words):
    data = clinic(tmp_path, budget=dither.pure(3))
    with pytest.raises(error, match=words):
        data.plan(questions)


def test_plan_files(tmp_path):
    data = clinic(tmp_path, budget=dither.pure(3))
    path = tmp_path / "plan.toml"
    path.write_text(
        f"version = 1\n[[question]]\nname = 'wards'\nsql = '{WARDS}'\ntimes = 'yearly'\nepsilon = 0.1\n"
        f"[[question]]\nsql = ['{COST}', '{WARDS}']\ntimes = 29\nepsilon = 0.1\n"
    )
    plan = data.plan(path)
    assert plan.fits, "thirty tenths are three, exactly"
    assert plan.left == "0%"
    assert str(data.plan(str(path))) == str(plan)
    for text, words in (
        ("[[question]]", "version = 1"),
        ("version = true", "version = 1"),
        ("version = 2", "a newer dither wrote it"),
        ("version = 1", "1 to 1000 questions"),
        ("version = 1\nquestion = 3", "two brackets"),
        ("version = 1\n[question]\nsql = ''", "two brackets"),
        ("version = 1\nplan = 3", "no such part"),
        ("version = ", "it is not TOML"),
        ("version = 1\n[[question]]\nsql = 'SELECT COUNT(*) AS n FROM visits'", "question 1: times"),
    ):
        path.write_text(text)
        with pytest.raises((DataError, SizeError), match=words):
            data.plan(path)
    Path(path).write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="saved as UTF-8"):
        data.plan(path)
