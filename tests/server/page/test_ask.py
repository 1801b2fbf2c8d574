"""The page of a question without script: price before payment, one charge for one press, answers at addresses that last."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from dither.server.core.gateway import Gateway
from dither.server.core.problems import Problem, failed
from dither.server.core.questions import Asked, Question
from tests.server.gateways import caller, run
from tests.server.page.ask_gateway import SQL, ana, ben, gateway
from tests.server.page.asking import Asker, PageForm
from tests.server.page.visitor import OURS

__all__ = ["ana", "ben", "gateway"]


# -- the way of a question -----------------------------------------------------------------------------------------------


def test_the_first_page_has_a_question_and_its_price(ben: Asker):
    reply = ben.get("/ask")
    page = PageForm(reply.text)
    assert reply.status_code == 200
    assert page.fields["sql"] == SQL
    assert (page.fields["way"], page.fields["epsilon"]) == ("epsilon", "0.1")
    assert "Ask: costs ε 0.1" in page.words
    assert "With 95% probability n is off by at most 99.86; about" in page.words
    assert {"ward", "age", "'A'", "'B'", "visits"} <= {value for _, given in page.tags for value in given.values()}
    assert "integer, 0 to 100" in page.words
    assert len(page.attributes("a", "data-sql")) == 4
    assert [tag for tag, _ in page.tags].count("h1") == 1
    assert "dataset" not in page.attributes("select", "id")  # there is only one
    form = [given.get("id") for _, given in page.tags].index("ask")
    first = next(given for tag, given in page.tags[form:] if tag == "button")
    assert first["value"] == "price"  # it is what Enter in a field presses, which never pays


def test_the_price_changes_with_the_question_and_with_its_price(ana: Asker):
    dear = PageForm(ana.send("price", epsilon="0.2").text)
    assert "Ask: costs ε 0.2" in dear.words
    assert "off by at most 49.93" in dear.words
    assert dear.fields["epsilon"] == "0.2"
    other = PageForm(ana.send("price", dear, sql="SELECT COUNT(*) AS visits\r\nFROM visits").text)
    assert other.fields["sql"] == "SELECT COUNT(*) AS visits\nFROM visits"
    assert "visits is off by" in other.words


def test_an_answer_is_paid_once_however_often_the_form_is_sent(ana: Asker):
    page = ana.form()
    sql = "SELECT COUNT(*) AS n FROM visits WHERE age > 1"
    receipt = ana.answered(ana.send("ask", page, sql=sql))
    paid = ana.entries()
    again = ana.send("ask", page, sql=sql)
    assert ana.answered(again) == receipt
    assert ana.entries() == paid
    left = run(ana.gateway.budget(caller(ana.gateway), "clinic"))
    other = ana.send("ask", sql=sql)  # of another rendering: it is not charged either, and says so
    assert ana.answered(other) == receipt
    assert "It was paid for once" in ana.form(other.headers["location"].partition("#")[0]).words
    assert run(ana.gateway.budget(caller(ana.gateway), "clinic")) == left
    shown = ana.form(again.headers["location"].partition("#")[0])
    assert (shown.fields["sql"], shown.fields["epsilon"]) == (sql, "0.1")
    assert "answer" in [given.get("id") for _, given in shown.tags]
    assert shown.fields["key"] != page.fields["key"]
    edited = ana.answered(ana.send("ask", page, sql=sql + "0"))  # somebody went back, and asks something else
    assert edited != receipt


def test_the_same_question_is_offered_for_nothing(ana: Asker):
    sql = "SELECT COUNT(*) AS n FROM visits WHERE age > 2"
    receipt = ana.answered(ana.send("ask", sql=sql))
    page = PageForm(ana.send("price", sql=f"  {sql.replace(' FROM', chr(10) + 'FROM')} ").text)
    assert "The same question was answered on" in page.words
    assert f"/answers/{receipt}" in page.attributes("a", "href")
    other = PageForm(ana.send("price", sql=sql + "0").text)
    assert "The same question" not in other.words


def test_a_wish_is_paid_only_after_its_price_was_shown(ana: Asker, ben: Asker):
    sql = "SELECT COUNT(*) AS n FROM visits WHERE age > 3"
    wish = {"dataset": "clinic", "sql": sql, "way": "error", "error:n": "50"}
    before = ana.entries()
    other = PageForm(ana.send("price", **{**wish, "error:n": "60"}).text)
    foreign = PageForm(ben.send("price", **wish).text)
    for quote in ("", "qt_none", other.fields["quote"], foreign.fields["quote"]):
        reply = ana.send("ask", **wish, quote=quote)
        page = PageForm(reply.text)
        assert reply.status_code == 200
        assert "Here is the price of what you wish" in page.words
        assert page.fields["error:n"] == "50"
        assert re.search(r"Ask: costs ε 0\.[0-9]+", page.words)
    assert ana.entries() == before
    ana.answered(ana.send("ask", page))
    assert ana.entries() > before


def test_wishes_go_with_the_columns_of_the_question(ana: Asker):
    page = PageForm(ana.send("price", way="error", **{"error:n": "50"}, sql="SELECT COUNT(*) AS m FROM visits").text)
    assert page.fields["error:m"] == "50"
    assert "error:n" not in page.fields
    assert "no aggregate of that name" in page.words
    empty = ana.send("price", way="error", **{"error:n": ""})
    assert empty.status_code == 422
    assert PageForm(empty.text).fields["error:n"] == ""


def test_a_question_that_needs_no_row_is_free(ana: Asker):
    page = PageForm(ana.send("price", sql="SELECT DISTINCT ward FROM visits").text)
    assert "Ask: free" in page.words
    before = ana.entries()
    place = ana.answered(ana.send("ask", page))
    assert ana.get(f"/ask?question={place}").status_code == 200
    assert ana.entries() == before


def test_prices_in_rho(ana: Asker):
    page = ana.form("/ask?dataset=counted")
    assert page.fields["way"] == "rho"
    assert "Ask: costs ρ 0.001" in page.words
    assert "epsilon" not in page.fields
    receipt = ana.answered(ana.send("ask", page))
    assert ana.form(f"/ask?answer={receipt}&rho=0.01").fields["rho"] == "0.01"


def test_more_terms_are_those_of_the_library(ana: Asker):
    more = {"confidence": "0.9", "size": "500", "noise": "geometric", "bounding": "weights"}
    sql = "SELECT AVG(age) AS a, COUNT(*) AS n FROM visits"
    page = PageForm(ana.send("price", sql=sql, **more).text)
    assert "With 90% probability a is off by" in page.words
    assert {name: page.fields[name] for name in more} == more
    median = ana.send("price", sql="SELECT MEDIAN(age) AS m FROM visits", intervals="no")
    assert (median.status_code, PageForm(median.text).fields["intervals"]) == (200, "no")
    assert ana.send("price", intervals="no").status_code == 422  # counts have no such intervals
    spread = {"size": "500000", "spread": "age=12.5"}
    page = PageForm(ana.send("price", sql="SELECT STDDEV(age) AS s FROM visits", **spread).text)
    assert "probability s is off by at most" in page.words
    assert {name: page.fields[name] for name in spread} == spread
    plain = PageForm(ana.send("price", sql=sql).text)
    assert "How far a may be off depends on the rows" in plain.words


def test_of_several_datasets_one_is_chosen(ana: Asker):
    page = ana.form("/ask?dataset=small")
    assert [given.get("value") for tag, given in page.tags if tag == "option"][:4] == [
        "clinic",
        "hostile",
        "counted",
        "small",
    ]
    assert page.fields["dataset"] == "small"


def test_who_has_no_dataset_is_told_so(gateway: Gateway):
    made = Asker(gateway, "eva", datasets=["elsewhere"])
    assert "No dataset is yours to ask yet" in made.form().words
    made.leave()


def test_a_link_holds_a_question_with_its_price(ana: Asker):
    page = ana.form("/ask?dataset=clinic&sql=SELECT+COUNT(*)+AS+n%0D%0AFROM+visits&way=error&error%3An=40&confidence=0.9")
    assert page.fields["sql"] == "SELECT COUNT(*) AS n\nFROM visits"
    assert (page.fields["way"], page.fields["error:n"], page.fields["confidence"]) == ("error", "40", "0.9")
    assert "n is off by at most 40" in page.words


# -- questions under way -------------------------------------------------------------------------------------------------


@pytest.fixture
def slow(ana: Asker, monkeypatch: pytest.MonkeyPatch) -> Question:
    """A question of ana's that nobody answers yet."""
    who = ana.gateway.caller(ana.secrets["ana"], "")
    asked = Asked("clinic", f"{SQL} LIMIT 2", {"epsilon": "0.03"})
    question = ana.gateway.questions.add(who, asked, None)

    async def ask(*_: Any, **__: Any) -> Question:
        return question

    monkeypatch.setattr(ana.gateway, "ask", ask)
    return question


def end(gateway: Gateway, question: Question, problem: Problem | None) -> None:
    question.problem = problem
    question.end("failed" if problem else "done")
    gateway.questions.ended(question)


def test_a_question_under_way_has_a_page_that_looks_again(ana: Asker, ben: Asker, slow: Question):
    reply = ana.send("ask")
    assert reply.headers["location"] == f"/ask?question={slow.id}#answer"
    address = f"/ask?question={slow.id}"
    text = ana.get(address).text
    page = PageForm(text)
    assert "It waits for its turn." in page.words
    assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in text
    assert (page.fields["sql"], page.fields["epsilon"]) == (f"{SQL} LIMIT 2", "0.03")
    assert slow.id in page.attributes("section", "data-question")
    assert ben.get(address).status_code == 404
    slow.state = "running"
    assert "It runs: 0 s." in ana.form(address).words
    end(ana.gateway, slow, failed("r-17"))
    over = ana.get(address)
    page = PageForm(over.text)
    assert over.status_code == 500
    assert "It failed after it was charged" in page.words
    assert "Receipt r-17" in page.words
    assert "it costs nothing more" in page.words
    assert "refresh" not in over.text


def test_an_answer_that_is_done_meanwhile_gets_its_lasting_address(ana: Asker):
    who = ana.gateway.caller(ana.secrets["ana"], "")
    question = run(ana.gateway.ask(who, Asked("clinic", f"{SQL} LIMIT 1", {"epsilon": "0.02"}), wait=30))
    reply = ana.get(f"/ask?question={question.id}")
    address = f"/ask?answer={question.receipt}&question={question.id}&epsilon=0.02#answer"
    assert (reply.status_code, reply.headers["location"]) == (303, address)
    assert "It was charged now, once" in ana.form(address.partition("#")[0]).words
    for other in ("", "&question=qy_none", "&question="):
        assert "It was paid for once" in ana.form(f"/ask?answer={question.receipt}{other}").words


# -- the log of the owner ------------------------------------------------------------------------------------------------


def refusals(gateway: Gateway) -> list[str]:
    lines = run(gateway.ledger(caller(gateway, "olga", "owner"), "clinic", last=1000))
    return [json.dumps(line, default=str) for line in lines if line["kind"] == "refused"]


def test_half_a_question_is_not_logged_and_one_that_is_asked_is(ana: Asker):
    before = len(refusals(ana.gateway))
    body = {"dataset": "clinic", "sql": "SELECT x", "epsilon": "0.1"}
    assert ana.send("price", sql="SELECT x").status_code == 422
    assert ana.client.post("/v1/quotes", json=body, headers=OURS).status_code == 422
    assert len(refusals(ana.gateway)) == before
    assert ana.send("ask", sql="SELECT x").status_code == 422
    assert len(refusals(ana.gateway)) == before + 1
    token = {"Authorization": f"Bearer {ana.secrets['ana']}"}
    assert ana.client.post("/v1/quotes", json=body, headers=token).status_code == 422
    assert len(refusals(ana.gateway)) == before + 2
