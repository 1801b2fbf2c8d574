"""The page of a question when something is wrong: words for every problem, and what was typed stays; nothing is charged."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from dither.server.core.gateway import Gateway
from dither.server.core.problems import STATUS, Problem
from dither.server.core.questions import Question
from tests.server.page.ask_gateway import COLUMN, KEYS, SQL, TABLE, ana, ben, gateway
from tests.server.page.asking import Asker, PageForm

__all__ = ["ana", "ben", "gateway"]


# -- cautions and problems -----------------------------------------------------------------------------------------------


def test_much_of_what_is_left_and_more_than_is_left(ana: Asker):
    page = ana.form("/ask?dataset=small")
    assert "more than a tenth of what is left" in page.words
    none = PageForm(ana.send("price", page, epsilon="0.4").text)
    assert "What is left for you does not cover this question" in none.words
    assert "Ask: costs ε 0.4, more than is left" in none.words
    reply = ana.send("ask", page, epsilon="0.4")
    assert reply.status_code == 402
    assert "Ways on: a lower price, a stored answer (free)" in PageForm(reply.text).words
    cheap = PageForm(ana.send("price", page, epsilon="0.01").text)
    assert "tenth" not in cheap.words
    assert "does not cover" not in cheap.words


def test_a_refusal_has_its_place_and_what_was_meant(ana: Asker):
    sql = "SELECT ward,\n  COUNT(*) AS n\nFROM visits\nGROUP BY wrad"
    reply = ana.send("price", sql=sql)
    page = PageForm(reply.text)
    assert reply.status_code == 422
    assert page.fields["sql"] == sql
    assert "GROUP BY <mark>wrad</mark>" in reply.text
    assert "Line 4:" in page.words
    assert "did you mean ward?" in page.words


@pytest.mark.parametrize("kind", sorted(set(STATUS) - {"unauthorized"}))
def test_every_problem_has_words_and_what_was_typed_stays(ana: Asker, monkeypatch: pytest.MonkeyPatch, kind: Any):
    async def ask(*_: Any, **__: Any) -> Question:
        raise Problem(kind, why="<b>so</b>", instead="this", receipt="r-<i>", retry_after=7, where="x", came="'y'")

    monkeypatch.setattr(ana.gateway, "ask", ask)
    reply = ana.send("ask", sql=f"{SQL} ", epsilon="0.07")
    page = PageForm(reply.text)
    assert reply.status_code == STATUS[kind]
    assert reply.headers["retry-after"] == "7"
    assert Problem(kind).title in page.words
    assert "<b>so</b>. What would work: this." in page.words
    assert "Receipt r-<i>" in page.words
    assert (page.fields["sql"], page.fields["epsilon"]) == (f"{SQL} ", "0.07")
    assert page.fields["key"]


@pytest.mark.parametrize("kind", ["too-many", "busy", "unavailable", "too-large"])
def test_no_price_is_no_broken_page(ana: Asker, monkeypatch: pytest.MonkeyPatch, kind: Any):
    async def quote(*_: Any, **__: Any) -> Any:
        raise Problem(kind, why="so", instead="this", retry_after=2)

    monkeypatch.setattr(ana.gateway, "quote", quote)
    reply = ana.get("/ask")
    page = PageForm(reply.text)
    assert reply.status_code == STATUS[kind]
    assert Problem(kind).title in page.words
    assert page.fields["sql"] == SQL
    assert page.fields["quote"] == ""


def test_a_dataset_that_cannot_be_asked_leaves_the_others(ana: Asker, monkeypatch: pytest.MonkeyPatch):
    async def broken(*_: Any, **__: Any) -> Any:
        raise Problem("unavailable", why="so", instead="later", retry_after=5)

    monkeypatch.setattr(ana.gateway, "first_questions", broken)
    reply = ana.get("/ask?dataset=small")
    assert reply.status_code == 503
    assert "The dataset cannot be asked now" in reply.text
    assert '<option value="clinic">' in reply.text


def test_a_login_that_has_ended_goes_to_the_login(gateway: Gateway):
    made = Asker(gateway, "tom", datasets=["clinic"])
    page = made.form()
    made.revoke("tom")
    assert made.send("ask", page).headers["location"] == "/login?ended=1"
    assert made.get("/ask?sql=a").headers["location"].startswith("/login?next=%2Fask%3Fsql%3Da")
    made.leave()


def test_an_auditor_asks_nothing(gateway: Gateway):
    made = Asker(gateway, "aude", role="auditor")
    assert made.get("/ask").status_code == 403
    assert made.post("/ask", {"action": "ask"}).status_code == 403
    made.leave()


# -- what others send ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
def test_other_sites_ask_nothing(ana: Asker, site: str):
    before, page = ana.entries(), ana.form()
    reply = ana.post("/ask", {**page.fields, "sql": f"{SQL} LIMIT 1", "action": "ask"}, headers={"Sec-Fetch-Site": site})
    assert reply.status_code == 403
    assert ana.entries() == before


WRONG = [
    {"action": "pay"}, {"key": ""}, {"key": "short"}, {"key": "é" * 20}, {"key": "a" * 65}, {"way": "guarantee"},
    {"way": "x"}, {"seed": "7"}, {"analyst": "ben"}, {"epsilon": "1" * 201}, {"dataset": "d" * 201}, {"guarantee": "{}"},
    *({f"error:{number}": "1" for number in range(many)} for many in (1001,)),
]  # fmt: skip


@pytest.mark.parametrize("typed", WRONG, ids=lambda typed: f"{next(iter(typed))}-{len(typed)}")
def test_what_is_not_of_the_page_is_refused(ana: Asker, typed: dict[str, str]):
    before, page = ana.entries(), ana.form()
    reply = ana.post("/ask", {**page.fields, "action": "ask", **typed})
    assert reply.status_code == 422
    assert "What would work" in reply.text
    assert ana.entries() == before


NO_NUMBERS = [
    {"size": "x"}, {"size": "-1"}, {"size": "٣"}, {"slot": "x"}, {"slot": "1e5"}, {"noise": "loud"}, {"epsilon": ""},
    {"epsilon": "NaN"}, {"epsilon": "1e999"}, {"epsilon": "-1"}, {"confidence": "2"}, {"sql": ""}, {"sql": "\x00"},
    {"sql": "a" * 30_000}, {"spread": "age"}, {"spread": "age="}, {"spread": "age=1, age=2"}, {"spread": "age=0"},
]  # fmt: skip


@pytest.mark.parametrize("typed", NO_NUMBERS)
@pytest.mark.parametrize("action", ["price", "ask"])
def test_numbers_that_are_none_cost_nothing_and_stay_in_their_field(ana: Asker, typed: dict[str, str], action: str):
    before = ana.entries()
    reply = ana.send(action, **typed)
    assert reply.status_code in (413, 422)
    page = PageForm(reply.text)
    assert "What would work" in page.words
    (name,) = typed
    if name != "slot" and "\x00" not in typed[name]:  # a browser gets no NUL through; slots are shown where there are any
        assert page.fields[name] == typed[name] or name == "noise"
    assert ana.entries() == before


@pytest.mark.parametrize(
    "query",
    [
        "x=1",
        "sql=a&sql=b",
        "question=b&sql=a",
        "answer=a&sql=b",
        "question=a&epsilon=1",
        "key=aaaaaaaaaaaaaaaaaaaa",
        "way=x",
    ],
)
def test_addresses_that_say_what_nobody_knows_are_refused(ana: Asker, query: str):
    assert ana.get(f"/ask?{query}").status_code == 422


def test_what_is_not_the_callers_is_absent(ana: Asker, ben: Asker):
    receipt = ana.answered(ana.send("ask", ana.form("/ask?dataset=small"), epsilon="0.02"))
    texts = {
        ben.get(address).text
        for address in ("/ask?dataset=small", f"/ask?answer={receipt}", "/ask?answer=none", "/ask?question=qy_none")
    }
    assert len(texts) == 1
    assert ben.get(f"/ask?answer={receipt}").status_code == 404
    assert ben.send("price", dataset="small").status_code == 404


# -- names that attack ---------------------------------------------------------------------------------------------------


def test_names_that_attack_are_texts(ana: Asker):
    sql = f'SELECT COUNT(*) AS {json.dumps("<b onclick=alert(4)>n</b>")} FROM "{TABLE.replace(chr(34), chr(34) * 2)}"'
    first = ana.get("/ask?dataset=hostile")
    asked = ana.send("price", PageForm(first.text), sql=sql)
    wrong = ana.send("price", PageForm(first.text), sql="SELECT </textarea><script>alert(5)</script>")
    wish = ana.send("price", PageForm(asked.text), way="error", **{"error:<svg onload=alert(6)>": "<i>"})
    for reply in (first, asked, wrong, wish):
        page = PageForm(reply.text)
        assert {tag for tag, _ in page.tags}.isdisjoint({"img", "svg", "b", "i"})
        assert all(
            re.fullmatch(r"/assets/[0-9a-f]{16}/\w+\.js", given.get("src", ""))
            for tag, given in page.tags
            if tag == "script"
        )
        assert not any(name.startswith("on") for _, given in page.tags for name in given)
        assert "49" not in page.words
        assert "\u202e" not in page.words
        assert "\x07" not in page.words
    inserted = [given["data-insert"] for _, given in PageForm(first.text).tags if "data-insert" in given]
    assert '"' + COLUMN.replace('"', '""') + '"' in inserted
    assert {"'" + key.replace("'", "''") + "'" for key in KEYS} <= set(inserted)  # as it is, whatever it looks like
    assert "a⟨U+202E⟩b⟨U+2066⟩c" in PageForm(first.text).words
    assert PageForm(asked.text).fields["sql"] == sql
    assert "error:<b onclick=alert(4)>n</b>" in PageForm(asked.text).fields
