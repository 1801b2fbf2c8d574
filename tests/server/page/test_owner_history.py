"""The history on the page: filters, pages, files without formulas, and whether the ledger holds."""

from __future__ import annotations

import csv
import io
import re
import sqlite3
from contextlib import closing
from html import unescape

import pytest

from dither.ledger.history import WORDS
from dither.server.core.problems import Problem
from dither.server.core.questions import Asked
from tests.server.gateways import config, count, finished, run, running
from tests.server.page.visitor import Visitor

MARKUP = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory):
    """A gateway whose ledger has an answer and refusals, of names that a spreadsheet would compute."""
    with running(config(tmp_path_factory.mktemp("asked"), "clinic", "shop")) as gateway:
        for name in ("ana", "=1+1"):
            who = gateway.caller(gateway.tokens.create(name=name)[1], "127.0.0.1")
            run(finished(gateway, who, count("age > 3")))
            with pytest.raises(Problem):
                run(gateway.quote(who, Asked("clinic", f"SELECT '{MARKUP}\u202e', {name} FROM visits", {"epsilon": "1"})))
        yield gateway


@pytest.fixture
def people(asked) -> Visitor:
    made = Visitor(asked)
    made.add("aude", "auditor", ["clinic"])
    made.add("olga", "owner")
    made.enter("aude")
    return made


def rows(people: Visitor, address: str) -> int:
    reply = people.get(address)
    assert reply.status_code == 200
    return reply.text.partition("<tbody>")[2].count("<tr>")


def test_lines_are_shown_as_text_the_newest_first(people: Visitor):
    text = people.get("/history").text
    assert MARKUP not in text
    assert "\u202e" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    shown = unescape(text)
    assert "SELECT COUNT(*) AS n FROM visits WHERE age > 3" in shown
    assert "ε = 0.1" in shown
    numbers = [int(one) for one in re.findall(r'<td class="number">(\d+)</td>', text)]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[-1] == 1
    assert "shop" not in text  # which is not the auditor's


def test_filters_by_kind_by_who_and_by_words(people: Visitor):
    whole = rows(people, "/history")
    kinds = {kind: rows(people, f"/history?kind={kind}") for kind in WORDS}
    assert sum(kinds.values()) == whole
    assert kinds["reserved"] == 1
    assert kinds["refused"] == 2
    assert rows(people, "/history?who=ANA&kind=refused") == 1
    assert rows(people, "/history?who=%3D1%2B1&kind=refused") == 1
    assert rows(people, "/history?words=Script+alert") == 2
    assert rows(people, "/history?words=AGE+count&dataset=clinic&who=") == 1
    assert rows(people, "/history?words=nothing+such") == 0
    assert rows(people, "/history?last=1") == 1
    text = people.get('/history?words="><b>&who=%E2%80%AEx').text
    assert "<b>" not in text
    for wrong in ("kind=none", "last=0", "last=10001", "last=x", "page=0", "who=a&who=b", f"words={1001 * 'a'}", "sort=1"):
        assert people.get(f"/history?{wrong}").status_code == 422, wrong


def test_many_lines_come_in_pages_that_keep_the_filter(people: Visitor, monkeypatch):
    whole = rows(people, "/history")
    monkeypatch.setattr("dither.server.page.routes.history.LINES", 2)
    seen, address = 0, "/history?last=200"
    while address:
        text = people.get(address).text
        seen += text.partition("<tbody>")[2].count("<tr>")
        older = re.search(r'href="([^"]*)">Older', text)
        address = unescape(older[1]) if older else ""
        assert not address or "last=200" in address
    assert seen == whole


def test_files_have_the_lines_of_the_filter_and_no_formula(people: Visitor):
    reply = people.get("/history/export/csv?dataset=clinic")
    assert reply.headers["content-disposition"] == 'attachment; filename="history-clinic.csv"'
    assert reply.headers["content-type"].startswith("text/csv")
    table = list(csv.DictReader(io.StringIO(reply.text)))
    assert {line["who"] for line in table} >= {"ana", "'=1+1"}
    assert not [cell for line in table for cell in line.values() if cell[:1] in ("=", "+", "-", "@", "\t")]
    found = people.get("/history/export/json?who=ana").json()
    assert {line["who"] for line in found} == {"ana"}
    assert [line["kind"] for line in found if line["kind"] == "refused"] == ["refused"]
    assert people.get("/history/export/csv?kind=reserved").text.count("\n") == 2
    assert people.get("/history/export/pdf").status_code == 404
    assert people.get("/history/export/csv?page=1").status_code == 422


def test_a_ledger_is_verified_and_one_that_was_changed_is_told(people: Visitor):
    reply = people.post("/history/verify", {"dataset": "clinic"})
    whole = rows(people, "/history?last=10000") - rows(people, "/history?kind=refused")
    assert reply.status_code == 200
    assert f"clinic: the ledger holds, all {whole} entries of it" in reply.text
    assert people.post("/history/verify", {"dataset": "shop"}).status_code == 404
    for form in ({}, {"dataset": "clinic", "more": "1"}):
        assert people.post("/history/verify", form).status_code == 422
    people.enter("olga")
    file = people.gateway.known["shop"].policy.with_name("shop.ledger")
    with closing(sqlite3.connect(file)) as link, link:
        for (name,) in link.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            link.execute(f"DROP TRIGGER {name}")
        link.execute("UPDATE entries SET record = replace(record, 'shop', 'mill')")
    link.close()
    text = people.post("/history/verify", {"dataset": "shop"})
    assert (text.status_code, "shop: the ledger does not hold" in text.text) == (200, True)
