"""Bodies: JSON is read strictly, numbers keep their digits, and no text takes longer than its length."""

from __future__ import annotations

import json

import pytest

from dither.server.core.problems import Problem
from dither.server.http.models import QuoteRequest
from dither.server.http.request_body import DEPTH, OTHER, PART, WORDS, Written, _depth, read_as, read_json
from tests.server.http.stand_in import StandIn, body, call

JSON = {"Content-Type": "application/json"}


def test_numbers_are_as_they_were_written():
    found = read_json(b'{"a": 0.10, "b": 1e999, "c": 123456789012345678901234567890, "d": -0}')
    assert found == {"a": Written("0.10"), "b": Written("1e999"), "c": Written("123456789012345678901234567890")} | {
        "d": Written("-0")
    }


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it is not JSON"),
        (b"{", "it is not JSON"),
        (b"{} {}", "it is not JSON"),
        (b'{"a": NaN}', "it is not JSON"),
        (b'{"a": -Infinity}', "it is not JSON"),
        (b"\xff\xfe{\x00}\x00", "it is not UTF-8"),
        (b'{"a": "\xed\xa0\x80"}', "it is not UTF-8"),
        (b"\xef\xbb\xbf{}", "it is not JSON"),
        (b'{"a": 1, "a": 2}', "a name stands twice in one object"),
        (b'{"b": {"a": 1, "\\u0061": 2}}', "a name stands twice in one object"),
        (b"[" * (DEPTH + 1), f"it is nested more than {DEPTH} deep"),
        (b"[" * 60_000, f"it is nested more than {DEPTH} deep"),
        (b'{"a":' * 10_000, f"it is nested more than {DEPTH} deep"),
        (b'"\\', "it is not JSON"),
    ],
)
def test_what_readers_may_read_differently_is_refused(data, why):
    with pytest.raises(Problem) as told:
        read_json(data)
    assert (told.value.status, told.value.where, told.value.why) == (422, "body", why)


def test_depth_is_counted_outside_texts():
    assert _depth('{"[[[": ["]]]", "\\"[[["]}') == 2
    assert _depth('["[[[[') == 1


def test_a_text_without_an_end_is_looked_at_once():
    """Each sign is passed by one match: quotes behind backslashes start no text of their own."""
    for text in ('"' + '\\"' * 30_000, '"' + '\\"' * 30_000 + "\\", '"' * 60_001):
        assert _depth(text) == 0
        assert sum(len(found[0]) for found in PART.finditer(text)) == len(text)


@pytest.mark.parametrize(
    ("facts", "where"),
    [
        ({"dataset": None}, "dataset"),
        ({"dataset": ""}, "dataset"),
        ({"dataset": 5}, "dataset"),
        ({"sql": 5}, "sql"),
        ({"sql": []}, "sql"),
        ({"sql": [5]}, "sql"),
        ({"sql": ["SELECT 1"] * 101}, "sql"),
        ({"epsilon": True}, "epsilon"),
        ({"epsilon": [1]}, "epsilon"),
        ({"epsilon": {}}, "epsilon"),
        ({"epsilon": "9" * 201}, "epsilon"),
        ({"size": "5"}, "size"),
        ({"size": 1.5}, "size"),
        ({"size": 0}, "size"),
        ({"size": 10**15}, "size"),
        ({"error": 5}, "error"),
        ({"error": {"n": True}}, "error.n"),
        ({"spread": 5}, "spread"),
        ({"spread": {"cost": True}}, "spread.cost"),
        ({"noise": "pink"}, "noise"),
        ({"slot": "1"}, "slot"),
        ({"slot": -1}, "slot"),
        ({"other": "x" * 201}, "other"),
        ({"guarantee": "x"}, "guarantee"),
        ({"guarantee": {"a": 1.5}}, "guarantee"),
        ({"seed": 7}, "seed"),
        ({"analyst": "bob"}, "analyst"),
        ({"token": "dth_"}, "token"),
    ],
)
def test_what_is_wrong_is_told_with_its_place_and_without_what_came(facts, where):
    gateway = StandIn()
    reply = call(gateway, "POST", "/v1/quotes", content=body(**facts), headers=JSON)
    told = reply.json()
    assert (reply.status_code, told["where"]) == (422, where)
    assert reply.headers["content-type"] == "application/problem+json"
    assert told["why"] in {why for why, _ in [*WORDS.values(), OTHER]}  # words of ours
    assert told["instead"]
    assert told.keys() == {"type", "title", "status", "detail", "where", "why", "instead"}
    assert [name for name, _ in gateway.calls] == ["caller"]  # nothing was asked


def test_a_misspelled_name_is_told_the_right_one():
    assert call(StandIn(), "POST", "/v1/quotes", content=body(epsilom=1), headers=JSON).json()["instead"] == "epsilon"


def test_terms_go_on_exactly():
    gateway = StandIn()
    text = body().replace('"0.1"', "0.10")[:-1]
    text += ', "confidence": 0.95, "size": 5000, "error": {"n": 20.50}, "intervals": false, "slot": 0.25,'
    text += ' "spread": {"cost": 0.10},'
    text += ' "guarantee": {"guarantee": 1, "parts": [{"rho": "1/10", "count": 3}]}}'
    reply = call(gateway, "POST", "/v1/quotes", content=text, headers=JSON)
    assert reply.status_code == 200
    (_, asked) = gateway.calls[-1]
    assert asked.terms == {
        **{"epsilon": "0.10", "confidence": "0.95", "size": 5000, "error": {"n": "20.50"}, "intervals": False},
        "spread": {"cost": "0.10"},
        "guarantee": {"guarantee": 1, "parts": [{"rho": "1/10", "count": 3}]},
    }
    assert asked.slot == 0.25


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "application/json; charset=utf-16"},
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
        {"Content-Type": "application/json", "Content-Encoding": "identity, br"},
    ],
)
def test_a_body_is_json_as_it_is(headers):
    reply = call(StandIn(), "POST", "/v1/quotes", content=body(), headers=headers)
    assert (reply.status_code, reply.json()["where"]) == (415, "Content-Type")


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=UTF-8", 'application/json;charset="utf-8"'])
def test_json_by_its_names(kind):
    assert call(StandIn(), "POST", "/v1/quotes", content=body(), headers={"Content-Type": kind}).status_code == 200


def test_a_model_reads_what_its_schema_says():
    found = read_as(QuoteRequest, read_json(json.dumps({"dataset": "c", "sql": ["a", "b"], "rho": 0.5}).encode()))
    assert found.asked().terms == {"rho": "0.5"}
