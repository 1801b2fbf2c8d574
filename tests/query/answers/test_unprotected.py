"""What was taken from the data is told wherever a guarantee is, stored with the answer, and changes no number."""

from __future__ import annotations

import csv
import io
import json
import warnings

import pytest

import dither
from dither.ledger.history import history_csv, history_json, history_lines, history_table
from dither.testing import seeded
from tests.query.clinics import clinic, ledger

BY_WARD = "SELECT ward, SUM(cost) AS cost FROM visits GROUP BY ward"
BY_SEX = "SELECT sex, SUM(age) AS age FROM visits GROUP BY sex"
SAID = "keys of ward and bounds of cost were taken from the data: outside the guarantee"
FACTS = {"steps": {}, "complete": ["person"]}
DATA = {**FACTS, "known_from": {"ward": "data", "cost": "data"}, "values_from_data": "accepted"}
LAW = {**FACTS, "known_from": {"ward": "law", "cost": "law"}}
BUDGETS = [dither.pure(1000), dither.approx(1000, "1e-6"), dither.approx(1000, "1e-6", unit="replace one person")]
WAYS = [{"epsilon": 1}, {"epsilon": 1, "bounds": "auto"}, {"epsilon": 1, "limits": "auto"}]


def flat(text: str) -> str:
    """On one line."""
    return " ".join(text.split())


@pytest.mark.parametrize("terms", WAYS, ids=str)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_an_origin_changes_no_price_and_no_noise(tmp_path, budget, terms):
    answers = []
    for facts in (DATA, LAW, FACTS):
        quote = clinic(tmp_path, budget=budget, **facts).quote(BY_WARD, **terms)
        with warnings.catch_warnings(action="ignore"), seeded(3):
            released = quote.release()
        words = [line for line in quote.explain().splitlines() if not line.startswith("Outside")]
        told = quote.guarantee, quote.price, quote.errors, quote.question, quote.affordable, quote.describe(), words
        answers.append((told, released.columns, released.released, released.statements))
    assert answers[0] == answers[1] == answers[2]


def places(data: dither.Dataset, sql: str) -> dict[str, str]:
    """Every place where a question, or its answer, tells its guarantee."""
    quote = data.quote(sql, epsilon=1)
    first = quote.release()
    again = quote.release()
    stored = dither.Answer.from_json(again.to_json())
    assert again.is_replay
    table = history_lines(data.ledger.history(), (), data.ledger.budget)
    (asked,) = (line for line in table if line.kind == "reserved")
    (row,) = (row for row in csv.DictReader(io.StringIO(history_csv(table))) if row["what"] == "asked")
    batch = data.quote([sql, BY_SEX], epsilon=1)
    both = batch.release()
    plan = data.plan([{"sql": sql, "times": 2, "epsilon": 1}])
    return {
        "quote": quote.unprotected,
        "quote in words": quote.explain(),
        "printed quote": str(quote),
        "quote in a notebook": quote._repr_html_(),
        "answer": first.unprotected,
        "answer in words": first.explain(),
        "what the answer says": first.says,
        "printed answer": str(first),
        "answer in a notebook": first._repr_html_(),
        "page": first.to_html(),
        "answer as JSON": json.loads(first.to_json()).get("unprotected", ""),
        "Arrow": first.to_arrow().schema.metadata[b"dither.says"].decode(),
        "answer again": again.unprotected,
        "answer read back": str(stored) + stored.unprotected + stored.explain(),
        "receipt": first.receipt.unprotected,
        "receipt again": again.receipt.unprotected,
        "receipt as JSON": json.loads(first.receipt.to_json()).get("unprotected", ""),
        "receipt read back": dither.Receipt.from_json(first.receipt.to_json()).unprotected,
        "history": history_table(table),
        "history as JSON": json.loads(history_json(asked))["about"],
        "history as CSV": row["about"],
        "batch": batch.unprotected,
        "batch in words": batch.explain(),
        "question of a batch": batch[0].explain(),
        "answer to a batch": both.explain(),
        "printed batch": str(both),
        "page of a batch": both.to_html(),
        "answer of a batch": both[0].says,
        "receipt of a batch": both.receipt.unprotected,
        "plan": plan.explain(),
        "plan for programs": plan.facts()["questions"][0].get("unprotected", ""),
    }


def test_every_place_tells_it(tmp_path):
    for place, text in places(clinic(tmp_path, budget=BUDGETS[1], **DATA), BY_WARD).items():
        assert SAID in flat(text), place


def test_no_place_tells_it_of_a_question_that_uses_nothing_from_the_data(tmp_path):
    data = clinic(tmp_path, budget=BUDGETS[1], **DATA)
    for place, text in places(data, BY_SEX).items():
        assert "outside" not in flat(text).lower(), place
    answer = data.quote(BY_SEX, epsilon=1).release()
    assert "unprotected" not in answer.to_json()
    assert "unprotected" not in answer.receipt.to_json()
    assert all("unprotected" not in entry.body for entry in data.ledger.history())
    assert data.quote([BY_WARD, BY_SEX], epsilon=1).release()[1].unprotected == ""


def test_it_is_stored_with_the_charge(tmp_path):
    """Whoever opens the ledger later, without the policy, is told; and a chain with it verifies."""
    budget = BUDGETS[1]
    book = ledger(tmp_path, budget)
    clinic(tmp_path, ledger=book, **DATA).quote(BY_WARD, epsilon=1).release()
    place = book.location
    book.close()
    with dither.Ledger(place) as found:
        (entry,) = (entry for entry in found.history() if entry.kind == "reserved")
        assert entry.body["unprotected"] == SAID
        assert found.verify().ok


def test_the_words_decide_nothing_in_a_ledger(tmp_path):
    """Words may change with versions: the same question is found, and its receipt says what was said at the charge."""
    with dither.Ledger.create(tmp_path / "a.ledger", budget=dither.pure(1), domain="clinic") as book:
        first = book.reserve(dither.pure("0.1"), "how many?", unprotected="bounds of cost")
        book.commit(first, "42")
        again = book.reserve(dither.pure("0.1"), "how many?", unprotected="other words")
        assert (again.number, again.answer, again.unprotected) == (first.number, "42", "bounds of cost")
        assert book.recall(dither.pure("0.1"), "how many?").unprotected == "bounds of cost"
        with pytest.raises(dither.errors.DataError):
            book.reserve(dither.pure("0.1"), "how many more?", unprotected=3)


def test_a_free_list_of_keys_says_that_they_were_taken_from_the_data(tmp_path):
    data = clinic(tmp_path, **DATA)
    quote = data.quote("SELECT DISTINCT ward FROM visits")
    answer, said = quote.release(), "keys of ward were taken from the data: outside the guarantee"
    texts = [quote.unprotected, quote.explain(), answer.unprotected, str(answer), answer.explain(), answer.to_html()]
    for text in (*texts, json.loads(answer.to_json())["unprotected"], answer.to_json()):
        assert said in flat(text)
    plain = data.quote("SELECT DISTINCT sex FROM visits")
    assert (plain.unprotected, "unprotected" in plain.release().to_json()) == ("", False)
    empty = data.quote("SELECT * FROM visits LIMIT 0")
    assert "Outside" not in empty.explain()


def test_a_policy_in_words_tells_origins(tmp_path):
    facts = {**DATA, "known_from": {"ward": "data", "cost": "private release 7"}, "limits_known_from": "unit"}
    lines = clinic(tmp_path, **facts).explain().splitlines()
    assert "Table      visits: by person, 3 groups of 5 rows (known from unit)" in lines
    assert any(line.endswith("may be missing (taken from the data: outside the guarantee)") for line in lines)
    assert any(line.endswith("may be missing (known from private release 7)") for line in lines)
