"""Formats: what a client likes best, refused before anything is charged; text of keys is data."""

from __future__ import annotations

import csv
import io
import json

import pyarrow
import pytest

import dither
from dither.server.core.problems import Problem
from dither.server.http.formats import choose, csv_cell, read_answer
from tests.server.http.stand_in import StandIn, answer_json, body, call, free_json

JSON = {"Content-Type": "application/json"}
ARROW = "application/vnd.apache.arrow.stream"


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DITHER_HOME", str(tmp_path_factory.mktemp("home")))
        return answer_json(tmp_path_factory.mktemp("people"))


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ([], "json"),
        ([""], "json"),
        (["*/*"], "json"),
        (["text/csv"], "csv"),
        (["TEXT/CSV ; q=1.0"], "csv"),
        (["text/*"], "csv"),
        (["application/json;q=0.5, text/csv"], "csv"),
        (["text/csv;q=0.1", "text/html;q=0.2"], "html"),
        (["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"], "html"),
        ([ARROW], "arrow"),
        (["*/*, application/json;q=0"], "csv"),
        (["text/csv;q=nan, */*;q=0.1"], "json"),
        (["text/csv;q=x, */*"], "json"),
    ],
)
def test_the_format_that_is_liked_best(accept, form):
    assert choose(accept) == form


@pytest.mark.parametrize("accept", ["image/png", "*/*;q=0", "text/csv;q=-1", "text", "application/json;q=2", ",;,="])
def test_a_format_that_nobody_writes_is_refused_before_anything_is_asked(accept):
    with pytest.raises(Problem) as told:
        choose([accept])
    assert told.value.status == 406
    gateway = StandIn()
    reply = call(gateway, "POST", "/v1/queries", content=body(), headers={**JSON, "Accept": accept})
    assert reply.status_code == 406
    assert ARROW in reply.json()["instead"]
    assert [name for name, _ in gateway.calls] == ["caller"]


def test_several_questions_are_no_one_table(text):
    gateway = StandIn(answer=text)
    several = body(sql=["SELECT 1", "SELECT 2"])
    reply = call(gateway, "POST", "/v1/queries", content=several, headers={**JSON, "Accept": "text/csv"})
    assert reply.status_code == 406
    assert [name for name, _ in gateway.calls] == ["caller"]
    assert call(gateway, "POST", "/v1/queries", content=several, headers={**JSON, "Accept": "text/html"}).status_code == 200


def asked(text: str, accept: str):
    reply = call(StandIn(answer=text), "POST", "/v1/queries", content=body(), headers={**JSON, "Accept": accept})
    assert reply.status_code == 200
    assert reply.headers["vary"] == "Accept"
    assert (reply.headers["dither-receipt"], reply.headers["dither-replay"]) == ("r-1", "true")
    return reply


def test_json_has_the_answer_as_it_is_stored(text):
    reply = asked(text, "application/json")
    assert reply.text.endswith(f'"answer": {text}}}')
    told = reply.json()
    assert {name: told[name] for name in ("id", "dataset", "state", "receipt", "replay")} == {
        **{"id": "qy_1", "dataset": "clinic", "state": "done", "receipt": "r-1", "replay": True}
    }
    assert dither.Answer.from_json(json.dumps(told["answer"])).columns == dither.Answer.from_json(text).columns


def test_csv_has_no_formula(text):
    reply = asked(text, "text/csv")
    assert reply.headers["content-type"].startswith("text/csv")
    rows = list(csv.reader(io.StringIO(reply.text, newline="")))
    answer = dither.Answer.from_json(text)
    assert rows[0] == list(answer.columns)
    assert [row[0] for row in rows[1:]] == ["<b>", "'=A1", "é,\n"]
    assert [row[1] for row in rows[1:]] == [str(n) for n in answer["n"]]


@pytest.mark.parametrize("value", ["=1", "+1", "-1", "@x", "\t=1", "\r=1"])
def test_what_a_spreadsheet_would_compute_is_text(value):
    assert csv_cell(value) == f"'{value}"


@pytest.mark.parametrize("value", [-1, -1.5, "a=1", "", None, True])
def test_other_cells_stay_as_they_are(value):
    assert csv_cell(value) is value


def test_arrow_has_the_types(text):
    reply = asked(text, ARROW)
    with pyarrow.ipc.open_stream(reply.content) as reader:
        assert reader.read_all().equals(dither.Answer.from_json(text).to_arrow())


def test_a_page_runs_nothing_and_escapes_keys(text):
    reply = asked(text, "text/html")
    assert "&lt;b&gt;" in reply.text
    assert "<b>" not in reply.text
    policy = reply.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


@pytest.mark.parametrize("accept", ["application/json", "text/csv", ARROW, "text/html"])
def test_free_answers_and_answers_to_several_in_every_format(accept, tmp_path):
    assert asked(free_json(), accept).content
    ledger = dither.Ledger.create(tmp_path / "people.ledger", budget=dither.pure(3))
    people = dither.protect(pyarrow.table({"x": [1]}), name="p", person="each row", ledger=ledger)
    batch = people.quote(["SELECT COUNT(*) AS n FROM p", "SELECT COUNT(x) AS n FROM p"], epsilon=1).release().to_json()
    ledger.close()
    assert len(read_answer(batch)) == 2
    reply = asked(batch, accept)  # by the id of a quote: it is paid, so it is told, in the nearest format
    kind = "text/html; charset=utf-8" if accept == "text/html" else "application/json"
    assert reply.headers["content-type"] == kind


@pytest.mark.parametrize(("accept", "start"), [("text/csv", "ward,cost,day\r\n'=A1,-1.5,2026-01-02\r\n"), (ARROW, "")])
def test_made_up_rows_as_one_table(accept, start):
    gateway = StandIn()
    reply = call(gateway, "GET", "/v1/datasets/clinic/sample?table=visits&rows=3", headers={"Accept": accept})
    assert (reply.status_code, gateway.calls[-1]) == (200, ("sample", 3))
    assert accept != "text/csv" or reply.text.startswith(start)
    reply = call(gateway, "GET", "/v1/datasets/clinic/sample", headers={"Accept": accept})
    assert (reply.status_code, reply.json()["where"]) == (422, "table")


def test_made_up_rows_as_json():
    told = call(StandIn(), "GET", "/v1/datasets/clinic/sample").json()
    assert list(told["tables"]) == ["visits", "wards"]
    assert told["tables"]["visits"][0] == {"ward": "=A1", "cost": -1.5, "day": "2026-01-02"}
    assert call(StandIn(), "GET", "/v1/datasets/clinic/sample", headers={"Accept": "text/html"}).status_code == 406
