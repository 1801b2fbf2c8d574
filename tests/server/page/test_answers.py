"""Stored answers on the page: who sees which, texts that mean harm, exports, and two answers compared."""

from __future__ import annotations

import csv
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote as escaped

import httpx
import pytest

import dither
from dither.server.app import create_app
from dither.server.core.gateway import Gateway
from dither.server.core.problems import failed
from dither.server.page.facts.answer_facts import answer_facts
from dither.server.page.facts.stored_facts import COUNT, split_page
from dither.server.page.routes.answers import file_name
from tests.server.gateways import caller, count, finished, run
from tests.server.http.listening import listening
from tests.server.page import stored
from tests.server.page.stored import HEAD, KEYS, MARKUP, Elements, answers, keep
from tests.server.page.visitor import OURS, Visitor

TYPES = {
    "json": "application/json",
    "csv": "text/csv",
    "arrow": "application/vnd.apache.arrow.stream",
    "html": "text/html",
}
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066\u2067\ufeff]")  # charts isolate


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with stored.gateway(tmp_path_factory.mktemp("answers")) as found:
        yield found


@pytest.fixture
def visitor(gateway: Gateway) -> Visitor:
    made = Visitor(gateway)
    for name in ("ana", "bob"):
        made.add(name)
    made.add("eve", datasets=("alone",))
    made.add("olga", "owner")
    made.add("aude", "auditor", ("clinic",))
    made.enter("ana")
    return made


@pytest.fixture(scope="module")
def kept(gateway: Gateway) -> dict[str, str]:
    """The receipts of answers of every kind that are stored."""
    return {kind: keep(gateway, answer) for kind, answer in answers().items() if kind != "free"}


def page(visitor: Visitor, path: str, status: int = 200) -> Elements:
    reply = visitor.get(path)
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert not CONTROLS.search(re.sub(r"<input [^>]*>", "", reply.text))  # a field isolates what somebody typed
    found = Elements(reply.text)
    assert all("src" in one for one in found.every("script"))
    assert found.every("img") == found.every("b") == []
    assert not any(name.startswith("on") or name == "style" for _, given in found.tags for name in given)
    assert [tag for tag, _ in found.tags].count("h1") == 1
    names = [str(given["id"]) for _, given in found.tags if "id" in given]
    assert len(names) == len(set(names))
    return found


# -- one answer ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["groups", "counts", "number", "median", "ranks", "batch"])
def test_an_answer_of_every_kind_is_a_page(visitor: Visitor, kept: dict[str, str], kind: str):
    found = page(visitor, f"/answers/{kept[kind]}")
    assert kept[kind] in found.text
    assert "It was paid for once, and is stored." in found.text
    exports = {link.rpartition("/")[2] for link in found.links if "/export/" in link}
    several = {"batch": {"json", "html"}, "ranks": {"csv", "json", "arrow", "html"}}
    assert exports == several.get(kind, {"csv", "json", "arrow", "html", "svg"})
    assert f"/ask?answer={kept[kind]}" in found.links
    assert all(button.get("hidden", "shown") is None for button in found.every("button") if "data-copy" in button)
    assert len(found.every("table")) == (2 if kind == "batch" else 1)


def test_texts_that_mean_harm_are_shown_as_texts(visitor: Visitor, kept: dict[str, str]):
    found = page(visitor, f"/answers/{kept['groups']}")
    for shown in (MARKUP, "=1+1", "⟨U+202E⟩evil⟨U+2066⟩", "x⟨U+0007⟩y", "a'b\"c&d", "שלום", HEAD):
        assert shown in found.text
    text = visitor.get(f"/answers/{kept['groups']}").text
    for shown in ("⟨U+202E⟩evil⟨U+2066⟩", "שלום", "=1+1", "a&#39;b&#34;c&amp;d"):
        assert f"<bdi>{shown}</bdi>" in text  # what it turns, it turns within itself


def test_names_that_mean_harm_do_none_in_lists_and_addresses(gateway: Gateway, visitor: Visitor):
    name = keep(gateway, answers()["counts"], analyst=f"{MARKUP}\u202e", sql=f"SELECT harm, '{MARKUP}\u202e\x00'")
    found = page(visitor, "/answers?words=harm")
    assert f"/answers/{name}" in found.links
    assert found.text.count(MARKUP) == 2
    for words in (f'"><script>{MARKUP}', "\u202e", "%", "_", "!", "' OR 1=1 --"):
        found = page(visitor, f"/answers?words={escaped(words)}")
        assert f"/answers/{name}" not in found.links or words == "\u202e"  # wild cards of SQL are signs like others


def test_a_free_answer_is_shown_by_the_id_of_its_question(gateway: Gateway, visitor: Visitor):
    asked = run(finished(gateway, caller(gateway, "ana"), stored.Asked("clinic", "SELECT * FROM visits LIMIT 0")))
    found = page(visitor, f"/answers/{asked.id}")
    assert "Free: nothing private is read." in found.text
    assert "There are no rows." in found.text
    visitor.enter("bob")
    assert visitor.get(f"/answers/{asked.id}").status_code == 404


def test_a_question_that_is_not_answered_has_a_way_on(gateway: Gateway, visitor: Visitor, kept: dict[str, str]):
    asked = gateway.questions.add(caller(gateway, "ana"), count("age > 3"), None)
    reply = visitor.get(f"/answers/{asked.id}")
    assert (reply.status_code, reply.headers["location"]) == (303, f"/ask?question={asked.id}#answer")
    for path in (f"/answers/{asked.id}/export/csv", f"/answers/compare?a={asked.id}&b={kept['counts']}"):
        assert "computed now" in page(visitor, path, 409).text
    asked.problem = failed("a-1")
    asked.end("failed")
    gateway.questions.ended(asked)
    for path in (
        f"/answers/{asked.id}",
        f"/answers/{asked.id}/export/csv",
        f"/answers/compare?a={asked.id}&b={kept['counts']}",
    ):
        assert "a-1" in page(visitor, path, 500).text


def test_what_the_guarantee_does_not_cover_is_told(gateway: Gateway, visitor: Visitor):
    answer = replace(answers()["number"], unprotected=f"the keys of ward {MARKUP}")  # type: ignore[type-var]
    found = page(visitor, f"/answers/{keep(gateway, answer)}")
    assert "Not protected" in found.words
    assert f"the keys of ward {MARKUP}" in found.words


def test_an_auditor_looks_and_is_not_sent_to_ask(visitor: Visitor, kept: dict[str, str]):
    visitor.enter("aude")
    for path in ("/answers", f"/answers/{kept['counts']}", "/answers?words=nobody-asked-that"):
        assert not any(link.startswith("/ask?") for link in page(visitor, path).links)


# -- who sees which ------------------------------------------------------------------------------------------------------


def test_what_is_not_the_callers_is_absent_in_the_same_bytes(gateway: Gateway, visitor: Visitor, kept: dict[str, str]):
    own = keep(gateway, answers()["counts"], dataset="alone", analyst="bob")
    asked = run(finished(gateway, caller(gateway, "bob"), count("age > 7")))
    for who, hidden in (("ana", (own, asked.id)), ("eve", (own, kept["counts"], asked.id)), ("aude", (own, asked.id))):
        visitor.enter(who)
        mine = keep(gateway, answers()["counts"], dataset="alone", analyst="eve") if who == "eve" else kept["number"]
        for form in ("/answers/{}", "/answers/{}/export/csv", "/answers/{}/export/svg", f"/answers/compare?a={mine}&b={{}}"):
            absent = visitor.get(form.format("nobody-1"))
            assert absent.status_code == 404
            for name in (*hidden, "qy_nobody", "x" * 300, "%2e%2e", "\u202e"):
                reply = visitor.get(form.format(name))
                assert (reply.status_code, reply.content) == (404, absent.content), (who, form, name)
    visitor.enter("bob")
    assert visitor.get(f"/answers/{own}").status_code == 200
    visitor.enter("olga")
    assert visitor.get(f"/answers/{own}").status_code == 200


def test_lists_have_what_the_caller_may_see(gateway: Gateway, visitor: Visitor):
    shared = keep(gateway, answers()["counts"], sql="SELECT 1 -- tenancy", analyst="bob")
    own = keep(gateway, answers()["counts"], dataset="alone", sql="SELECT 1 -- tenancy", analyst="bob")
    seen = {"ana": {shared}, "bob": {shared, own}, "eve": set(), "olga": {shared, own}, "aude": {shared}}
    for who, expected in seen.items():
        visitor.enter(who)
        links = page(visitor, "/answers?words=tenancy").links
        assert {name for name in (shared, own) if f"/answers/{name}" in links} == expected, who
    visitor.enter("aude")
    assert visitor.get("/answers?dataset=alone").status_code == visitor.get("/answers?dataset=nobodys").status_code == 404
    assert page(visitor, "/answers?dataset=clinic&words=tenancy").links.count(f"/answers/{shared}") == 1


def test_without_a_cookie_there_is_the_login(visitor: Visitor, kept: dict[str, str]):
    visitor.client.cookies.clear()
    for path in (
        "/answers",
        f"/answers/{kept['counts']}",
        f"/answers/{kept['counts']}/export/csv",
        "/answers/compare",
        "/budget",
    ):
        reply = visitor.get(path)
        assert (reply.status_code, reply.headers["location"]) == (303, f"/login?next={escaped(path, safe='')}")


# -- the list ------------------------------------------------------------------------------------------------------------


def test_older_answers_follow_without_one_lost(gateway: Gateway, visitor: Visitor):
    names = {keep(gateway, answers()["counts"], sql=f"SELECT {n} -- paging & more") for n in range(103)}
    found, path, pages = [], "/answers?words=paging+%26+more", 0
    while path:
        shown = page(visitor, path)
        found += [link.removeprefix("/answers/") for link in shown.links if re.fullmatch(r"/answers/test-\d+", link)]
        path = next((link for link in shown.links if "before=" in link), "")
        pages += 1
    assert (len(found), set(found), pages) == (103, names, 3)


def test_answers_of_one_moment_stay_on_one_page():
    for tied in (1, 2, 7):
        times = [1000 - n if n < COUNT - tied + 1 else 1 for n in range(COUNT + 1)]
        shown, before = split_page([{"time": time} for time in times])
        later = [time for time in times if before is not None and time < before]
        assert len(shown) + len(later) == COUNT + 1
    assert split_page([{"time": 1}] * (COUNT + 1))[0] == [{"time": 1}] * COUNT  # more than a page of one moment
    assert split_page([{"time": 1}] * COUNT) == ([{"time": 1}] * COUNT, None)


def test_nothing_stored_and_nothing_found_have_words(tmp_path: Path, visitor: Visitor):
    assert "No stored answer has all these words." in page(visitor, "/answers?words=nobody-asked-that").text
    visitor.add("new", datasets=("alone",))
    visitor.enter("new")
    assert "There are no stored answers yet." in page(visitor, "/answers").text


@pytest.mark.parametrize(
    "parameters",
    [
        "q=a",
        "words=a&words=b",
        "before=x",
        "before=-1",
        "before=1e3",
        "before=²",
        f"words={'a' * 1001}",
        "before=" + "9" * 30,
    ],
)
def test_addresses_that_say_something_else_are_refused(visitor: Visitor, parameters: str):
    assert "What would work" in page(visitor, f"/answers?{parameters}", 422).text


@pytest.mark.parametrize(
    "path", ["/answers/{}?a=1", "/answers/{}/export/csv?a=1", "/answers/compare?a={}&b={}&c=1", "/budget?a=1"]
)
def test_other_addresses_take_no_more_either(visitor: Visitor, kept: dict[str, str], path: str):
    assert visitor.get(path.format(*[kept["counts"]] * 2)).status_code == 422


# -- exports -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["groups", "number", "batch"])
@pytest.mark.parametrize("form", ["json", "csv", "arrow", "html"])
def test_an_export_has_the_bytes_of_the_api(visitor: Visitor, kept: dict[str, str], kind: str, form: str):
    reply = visitor.get(f"/answers/{kept[kind]}/export/{form}")
    if kind == "batch" and form in ("csv", "arrow"):
        assert reply.status_code == 406
        assert "several questions" in reply.text
        return
    api = visitor.get(f"/v1/answers/{kept[kind]}", headers={**OURS, "Accept": TYPES[form]})
    assert (reply.status_code, reply.content) == (200, api.content)
    assert reply.headers["content-type"] == api.headers["content-type"]
    assert reply.headers["content-security-policy"] == api.headers["content-security-policy"]
    ending = {"arrow": "arrows"}.get(form, form)
    assert reply.headers["content-disposition"] == f'attachment; filename="dither-clinic-{kept[kind]}.{ending}"'
    assert reply.headers["x-content-type-options"] == "nosniff"


def test_a_table_has_no_formula(visitor: Visitor, kept: dict[str, str]):
    text = visitor.get(f"/answers/{kept['groups']}/export/csv").text
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[0][4] == HEAD
    assert {row[0] for row in rows[1:]} == {"'=1+1" if key == "=1+1" else key for key in KEYS}


def test_the_chart_is_a_file_of_its_own(visitor: Visitor, kept: dict[str, str]):
    reply = visitor.get(f"/answers/{kept['counts']}/export/svg")
    answer = answers()["counts"]
    assert isinstance(answer, dither.Answer)
    assert (reply.status_code, reply.text) == (200, answer.svg())
    assert reply.headers["content-type"] == "image/svg+xml"
    for kind in ("batch", "ranks"):
        assert visitor.get(f"/answers/{kept[kind]}/export/svg").status_code == 406
    for form in ("pdf", "CSV", "svg%00", "%2e%2e%2fcsv"):
        assert visitor.get(f"/answers/{kept['counts']}/export/{form}").status_code == 404


@pytest.mark.parametrize("name", ['a"; filename="b.exe', "../../etc", "é\r\nX: y", "\u202egpj.exe", "." * 300, ""])
def test_names_of_files_are_letters_and_digits(name: str):
    asked = stored.question(answers()["number"], asked=stored.Asked(name, "SELECT 1"))
    assert re.fullmatch(r"dither-[A-Za-z0-9._-]{1,130}\.csv", file_name(asked, "csv"))


# -- two answers ---------------------------------------------------------------------------------------------------------


def test_two_that_are_marked_are_compared(visitor: Visitor, kept: dict[str, str]):
    first, second = kept["groups"], kept["counts"]
    reply = visitor.get(f"/answers/compare?pick={first}&pick={second}")
    assert (reply.status_code, reply.headers["location"]) == (303, f"/answers/compare?a={first}&b={second}")
    found = page(visitor, reply.headers["location"])
    assert len(found.every("table")) == 3
    assert MARKUP in found.text
    assert "90% probability at least" in found.text
    unknown = answers()["groups"].uninformative  # no bar for what says nothing
    assert unknown
    assert len(found.every("svg")) == 1 + 3 * len(KEYS) - sum(map(len, unknown.values()))
    assert "the same, exactly" in page(visitor, f"/answers/compare?a={second}&b={second}").text


@pytest.mark.parametrize("parameters", ["", "pick={0}", "pick={0}&pick={0}&pick={0}", "a={0}", "a={0}&pick={0}", "b={0}"])
def test_another_number_than_two_has_words(visitor: Visitor, kept: dict[str, str], parameters: str):
    assert "Two answers are needed" in page(visitor, f"/answers/compare?{parameters.format(kept['counts'])}", 422).text


@pytest.mark.parametrize("kind", ["batch", "median", "ranks"])
def test_what_cannot_be_compared_has_words_and_both_tables(visitor: Visitor, kept: dict[str, str], kind: str):
    found = page(visitor, f"/answers/compare?a={kept[kind]}&b={kept['counts']}")
    assert "These two cannot be compared" in found.text
    assert len(found.every("table")) == (3 if kind == "batch" else 2)


def test_answers_of_two_datasets_are_compared_with_a_caution(gateway: Gateway, visitor: Visitor, kept: dict[str, str]):
    other = keep(gateway, answers()["counts"], dataset="alone", analyst="ana")
    assert "different datasets: clinic and alone" in page(visitor, f"/answers/compare?a={kept['counts']}&b={other}").text


# -- code that is copied -------------------------------------------------------------------------------------------------


def sent(command: str) -> str:
    """What a line for curl gets."""
    _, address, *options = shlex.split(command)
    given = list(zip(options[::2], options[1::2], strict=True))
    headers = dict(value.split(": ", 1) for name, value in given if name == "-H")
    body = next((value for name, value in given if name == "-d"), None)
    reply = httpx.request("GET" if body is None else "POST", address, headers=headers, content=body, timeout=60)
    assert reply.status_code == 200
    return reply.text


def test_code_gives_the_answer_again_and_pays_nothing(gateway: Gateway, visitor: Visitor):
    who = caller(gateway, "ana")
    asked = run(finished(gateway, who, count("age > 40")))
    used = run(gateway.budget(who, "clinic"))[0]["used"]
    answer = dither.Answer.from_json(asked.answer)
    with listening(create_app(gateway), gateway.config) as port:
        for question in (run(gateway.answer(who, asked.receipt)), asked):
            facts = answer_facts(question, f"http://127.0.0.1:{port}")
            environment = {**os.environ, "DITHER_TOKEN": visitor.secrets["ana"]}
            told = subprocess.run(
                [sys.executable, "-c", facts.python], env=environment, capture_output=True, text=True, check=True
            )
            assert f"{answer['n'][0]:,}" in told.stdout
            assert str(answer["n"][0]) in sent(facts.curl.replace("$DITHER_TOKEN", visitor.secrets["ana"]))
    assert run(gateway.budget(who, "clinic"))[0]["used"] == used > 0
