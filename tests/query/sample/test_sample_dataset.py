"""Questions tried on made-up rows: by the same code, for nothing, and every answer says what it is about."""

from __future__ import annotations

import json
import tomllib

import pytest

import dither
from dither.errors import DataError, PolicyError, UnitError
from dither.query.conformance.node_examples import QUESTIONS as NODES
from dither.query.free_quote import FreeQuote
from dither.query.policy.policy import MADE_UP, read_policy
from dither.query.sample.first_questions import first_price, first_questions
from dither.query.sample.sample_dataset import sample_dataset
from dither.query.sample.sample_policy import sample_policy
from tests.golden.questions import BATCHES, QUESTIONS
from tests.query.sample.policies import POLICIES, TEXTS
from tests.seeds import examples, of_the_day

LARGE = dither.approx(10**6, "1e-6")  # a budget for many questions
ASKED = [*(("golden rho", sql) for sql in QUESTIONS.values()), *(("nodes", sql) for sql in NODES)]


def some(questions):
    """A few of them on a push, others every day; all with --all."""
    count = examples(8, len(questions))
    return questions if count == len(questions) else of_the_day("trials").sample(questions, count)


@pytest.mark.parametrize("policy", ["golden rho", "nodes"])
def test_whatever_is_answered_under_a_policy_runs_on_made_up_rows(policy):
    trial = sample_dataset(POLICIES[policy], 60, budget=LARGE)
    with trial.ledger:
        for sql in some([sql for name, sql in ASKED if name == policy]):
            quote = trial.quote(sql, epsilon=1)
            answer = quote.release()
            if quote.question:
                assert answer.says.startswith(MADE_UP), sql
            else:
                assert MADE_UP in answer.says or type(quote) is FreeQuote, sql  # which is of no rows


def test_joins_on_made_up_rows_count_some():
    trial = sample_dataset(POLICIES["chain"], 200, budget=dither.pure(10**9))  # no noise to speak of
    with trial.ledger:
        for rows in (
            "orders JOIN lines ON orders.oid = lines.oid",
            "lines JOIN returns ON lines.lid = returns.lid",
            "orders JOIN wards ON orders.ward = wards.ward",
        ):
            counted = trial.quote(f"SELECT COUNT(*) AS n FROM {rows}", epsilon=10**6).release().scalar()
            assert 50 < counted <= 200, rows


@pytest.mark.parametrize("unit", ["golden rho", "golden replace"])
def test_the_price_is_the_one_of_the_data(tmp_path, unit):
    trial = sample_dataset(POLICIES[unit])
    with trial.ledger:
        assert trial.ledger.budget.unit.value in trial.quote("SELECT COUNT(*) AS n FROM visits", epsilon="0.5").price
        assert str(trial.ledger.remaining()).startswith("100% left of (ε = 300, δ = 1e-06)")


# -- what is said of it --------------------------------------------------------------------------------------------------


def test_quotes_and_answers_say_that_the_rows_are_made_up():
    trial = sample_dataset(POLICIES["golden rho"], 50)
    with trial.ledger:
        assert f"Made up    {MADE_UP}" in trial.explain()
        quote = trial.quote("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon="0.1")
        assert f"Made up    {MADE_UP}" in quote.explain().splitlines()
        answer = quote.release()
        for shown in (str(answer), answer.explain(), answer.to_html(), answer._repr_html_()):
            assert "made-up rows: no row is real" in shown
        assert json.loads(answer.to_json())["says"].startswith(MADE_UP)
        assert dither.Answer.from_json(answer.to_json()).says == answer.says
        assert answer.to_arrow().schema.metadata[b"dither.says"].startswith(MADE_UP.encode())
        assert answer.receipt.name.startswith("temporary-")
        assert quote.release().says == answer.says, "a stored answer says it too"


def test_batches_subqueries_and_public_tables_say_it_too():
    trial = sample_dataset(POLICIES["golden rho"], 50, budget=LARGE)
    with trial.ledger:
        batch = trial.quote([QUESTIONS[name] for name in BATCHES["two counts"][0]], epsilon=1)
        assert MADE_UP in batch.explain()
        assert all(answer.says.startswith(MADE_UP) for answer in batch.release())
        for name in ("scalar subquery", "unknown keys", "own counts"):
            assert trial.quote(QUESTIONS[name], epsilon=1).release().says.startswith(MADE_UP), name
        public = trial.quote("SELECT SUM(beds) AS beds FROM wards")
        assert MADE_UP in public.explain()
        assert MADE_UP in public.release().says


def test_answers_about_data_do_not_say_it(tmp_path):
    frame = sample_dataset(POLICIES["demo"], 20).sources["visits"].frame
    with dither.Ledger.temporary(dither.pure(1), domain="clinic") as ledger:
        data = dither.protect(frame, name="visits", person="patient_id", max_rows=6, ledger=ledger)
        quote = data.quote("SELECT COUNT(*) AS n FROM visits", epsilon=1)
        assert "made-up" not in quote.explain() + str(quote.release()) + data.explain()


def test_the_policy_of_made_up_rows_is_another_one():
    for name, policy in POLICIES.items():
        own = sample_policy(policy, "x")
        assert own.hash != policy.hash, name
        assert own.domain.startswith("sample of ")
        assert len(own.domain) <= 200
        assert own.made_up
        assert not policy.made_up


# -- nothing is touched --------------------------------------------------------------------------------------------------


def test_neither_data_nor_ledger_is_touched(tmp_path):
    """Attack A25: sources that are not there, and a ledger that is not made."""
    policy = tmp_path / "policy.toml"
    policy.write_text(TEXTS["golden rho"])
    trial = sample_dataset(policy, 30)
    assert trial.quote("SELECT COUNT(*) AS n FROM visits", epsilon=1).release()["n_low"]
    trial.ledger.close()
    assert [path.name for path in tmp_path.iterdir()] == ["policy.toml"]


def test_what_is_no_policy_is_refused(tmp_path):
    with pytest.raises(DataError, match="neither a policy nor a path"):
        sample_dataset({"version": 1})
    with pytest.raises(PolicyError, match="cannot be read"):
        sample_dataset(tmp_path / "nowhere.toml")
    with pytest.raises(UnitError, match="another unit"):
        sample_dataset(POLICIES["demo"], budget=dither.pure(1, unit="replace one person"))


# -- first questions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", POLICIES)
def test_first_questions_are_quoted(name):
    policy = POLICIES[name]
    found, price = first_questions(policy), first_price(policy)
    assert 1 <= len(found) <= 5
    assert len(set(found)) == len(found)
    if name.startswith("odd") or name in ("hospital", "postgres 0", "shop"):
        trial = sample_dataset(policy, 40, budget=LARGE if policy.unit is LARGE.unit else None)
        with trial.ledger:
            for sql in found:
                assert trial.quote(sql, **price).release().says.startswith(MADE_UP), sql


def test_first_questions_have_all_kinds_where_the_columns_allow_it():
    assert first_questions(POLICIES["hospital"]) == [
        "SELECT COUNT(*) AS n FROM visits",
        'SELECT "Station", COUNT(*) AS n FROM visits GROUP BY "Station"',
        'SELECT "Station", AVG("Kosten (EUR)") AS average FROM visits GROUP BY "Station"',
        'SELECT MEDIAN("Kosten (EUR)") AS median FROM visits',
        "SELECT DATE_TRUNC('month', \"Aufnahme\") AS month, COUNT(*) AS n FROM visits GROUP BY month",
    ]
    assert len(first_questions(POLICIES["shop"])) == 5  # of several tables
    assert first_questions(POLICIES["odd: the person alone"]) == ["SELECT COUNT(*) AS n FROM t"]


@pytest.mark.parametrize(
    ("budget", "most", "price"),
    [
        ('{ epsilon = "3", delta = "1e-6" }', '{ epsilon = "1", delta = "1e-6" }', {"epsilon": "0.1"}),
        ('{ epsilon = "3" }', '{ epsilon = "0.05" }', {"epsilon": "0.01"}),
        ('{ rho = "0.5" }', '{ rho = "0.002" }', {"rho": "0.001"}),
        ('{ epsilon = "1e-9" }', '{ epsilon = "1e-10" }', {}),
    ],
)
def test_a_price_that_the_policy_allows_is_found(budget, most, price):
    facts = tomllib.loads(TEXTS["demo"])
    facts["ledger"]["budget"], facts["limits"]["per_question"] = (tomllib.loads(f"x = {x}")["x"] for x in (budget, most))
    policy = read_policy(facts)
    assert first_price(policy) == price
    assert bool(first_questions(policy)) == bool(price)
