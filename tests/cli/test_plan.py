"""`dither plan`, the history and what is left, as people type it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import dither
from dither import demo
from dither.errors import BudgetError, DataError, NumberError, QuestionError
from tests.cli.test_query import dither as run

WARDS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
PLAN = f"""version = 1

[[question]]
name = "visits by ward"
sql = "{WARDS}"
times = "monthly"
error = {{ n = 150 }}

[[question]]
sql = "SELECT COUNT(*) AS n, AVG(cost) AS cost FROM visits"
times = "quarterly"
epsilon = 0.5
size = 5000
"""


@pytest.fixture
def clinic(tmp_path, monkeypatch) -> Path:
    demo.save(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_plan_from_its_file(clinic):
    Path("plan.toml").write_text(PLAN)
    shown = run("plan")
    assert "visits by ward" in shown
    assert "Fits       all of it; 61.4% of the budget is left afterwards" in shown
    assert "ρ" not in shown
    assert "ρ = " in run("plan", "--details")
    facts = json.loads(run("plan", "plan.toml", "--json"))
    assert (facts["fits"], facts["needed"], facts["left_after"]) == (True, "38.6%", "61.4%")
    assert [line["times"] for line in facts["questions"]] == [12, 4]
    Path("plan.toml").write_text(PLAN.replace("monthly", "daily"))
    assert "Would fit  all of it, with errors 2." in run("plan")
    assert " 0.0 % used" in run("ledger", "show", "clinic.ledger")
    with pytest.raises(DataError, match="no such share"):
        run("plan", "--analyst", "eve")
    with pytest.raises(DataError, match="cannot be read"):
        run("plan", "other.toml")
    Path("plan.toml").write_text(PLAN.replace("AVG(cost)", "AVG(price)"))
    with pytest.raises(QuestionError, match="question 2: "):
        run("plan")


def test_what_was_refused_and_handed_out_is_in_the_history(clinic):
    asked = ("query", WARDS, "--epsilon", "0.5", "--analyst", "ann")
    run(*asked, "--format", "csv", "--out", "wards.csv")
    run(*asked)
    with pytest.raises(QuestionError):
        run("query", "SELECT name FROM visits", "--epsilon", "0.5", "--analyst", "eve")
    with pytest.raises(NumberError):
        run("query", "SELECT COUNT(*) AS n FROM visits", "--analyst", "eve")
    with pytest.raises(QuestionError):
        run("quote", "SELECT name FROM visits", "--epsilon", "0.5")  # a quote asks nothing
    shown = run("ledger", "history", "clinic.ledger")
    assert shown.count("refused") == 2
    assert "SELECT name FROM visits" in shown
    assert "the answer of entry 3, as csv" in shown
    assert "ε = 0.5 at δ = 1e-06" in shown
    rows = list(csv.DictReader(io.StringIO(run("ledger", "history", "clinic.ledger", "--csv"))))
    assert [row["what"] for row in rows[2:]] == ["asked", "answered", "handed out", "refused", "refused"]
    assert [row["who"] for row in rows[2:]] == ["ann", "", "ann", "eve", "eve"]
    lines = [json.loads(line) for line in run("ledger", "history", "clinic.ledger", "--json", "--last", "1").splitlines()]
    assert [(line["what"], line["question"]) for line in lines] == [("refused", "SELECT COUNT(*) AS n FROM visits")]
    with pytest.raises(DataError, match="one spelling"):
        run("ledger", "history", "clinic.ledger", "--csv", "--json")
    run("ledger", "verify", "clinic.ledger")


def test_what_the_ledger_refuses_is_in_the_history(clinic):
    data = dither.open("policy.toml")
    quote = data.quote("SELECT COUNT(*) AS n FROM visits", epsilon="1")
    for place in range(quote.affordable):
        data.ledger.reserve(quote.guarantee, f"{place}")
    with pytest.raises(BudgetError):
        quote.release(analyst="ann")
    (line,) = data.ledger.access_log.lines()
    assert (line.kind, line.body["analyst"]) == ("refused", "ann")
    assert line.body["text"] == "SELECT COUNT(*) AS n FROM visits"
    assert "left of" in line.body["why"]
    data.ledger.close()


def test_an_owner_may_keep_no_texts(clinic):
    """Planted: a text that is kept against the policy's word would be in the file."""
    policy = Path("policy.toml").read_text()
    Path("policy.toml").write_text(policy.replace('location = "clinic', 'texts = false\nlocation = "clinic'))
    run("query", WARDS + " /* a secret */", "--epsilon", "0.5")
    with pytest.raises(QuestionError):
        run("query", "SELECT secret FROM visits", "--epsilon", "0.5")
    shown = run("ledger", "history", "clinic.ledger")
    assert shown.count("(its text was not kept)") == 2
    with dither.Ledger("clinic.ledger") as ledger:
        assert [entry.body["text"] for entry in ledger.history() if entry.kind == "reserved"] == [""]
        assert [line.body["text"] for line in ledger.access_log.lines()] == [""]
    Path("policy.toml").write_text(policy)  # the same policy, to the ledger
    assert "95.6% of the budget" in run("quote", WARDS, "--epsilon", "0.5")
    Path("policy.toml").write_text(policy.replace('location = "clinic', 'texts = "no"\nlocation = "clinic'))
    with pytest.raises(dither.errors.PolicyError, match="neither true nor false"):
        run("quote", WARDS, "--epsilon", "0.5")


def test_what_is_left_is_told_in_percent_and_in_questions(clinic):
    assert "left: 95.6% of the budget: about 21 more questions like this one" in run("query", WARDS, "--epsilon", "0.5")
    assert "Left       95.6% of the budget: about 21 more" in run("quote", WARDS, "--epsilon", "0.5")
    details = " ".join(run("quote", WARDS, "--epsilon", "0.5", "--details").split())
    assert "ρ = 0.168, δ = 5e-07 left of" in details
    shown = run("ledger", "show", "clinic.ledger")
    assert "95.6%" in shown
    assert "about 21 more questions like the last one" in shown
    assert "ρ" not in shown
    assert "ρ = 0.168" in run("ledger", "show", "clinic.ledger", "--details")
    assert json.loads(run("ledger", "show", "clinic.ledger", "--json"))["left_percent"] == "95.6%"
