"""Routes: who may, what comes, and that what is absent and what is not yours are the same bytes, on each of them."""

from __future__ import annotations

import json
import re

import pytest

from dither.server.app import create_app
from tests.server.http.stand_in import StandIn, body, call, calls

JSON = {"Content-Type": "application/json"}
POLICY = json.dumps({"dataset": "clinic", "policy": "version = 1"})
TOKEN = json.dumps({"name": "bob", "datasets": ["clinic"], "share": {"epsilon": "0.5"}, "days": 3})
# Every route, with a request that is answered, and who may send it.
EVERY = [
    ("POST", "/v1/quotes", body(), {"analyst", "owner", "auditor"}),
    ("POST", "/v1/queries", body(), {"analyst", "owner"}),
    ("GET", "/v1/queries/done", None, {"analyst"}),
    ("GET", "/v1/queries/done/events", None, {"analyst"}),
    ("GET", "/v1/me", None, {"analyst", "owner", "auditor", "stranger"}),
    ("GET", "/v1/datasets", None, {"analyst", "owner", "auditor", "stranger"}),
    ("GET", "/v1/datasets/clinic", None, {"analyst", "owner", "auditor"}),
    ("GET", "/v1/datasets/clinic/sample", None, {"analyst", "owner", "auditor"}),
    ("GET", "/v1/datasets/clinic/questions", None, {"analyst", "owner", "auditor"}),
    ("GET", "/v1/budget?dataset=clinic", None, {"analyst", "owner", "auditor"}),
    ("GET", "/v1/answers?dataset=clinic", None, {"analyst", "owner", "auditor"}),
    ("GET", "/v1/answers/r-1", None, {"analyst", "owner", "auditor"}),
    ("GET", "/v1/ledger?dataset=clinic", None, {"owner", "auditor"}),
    ("POST", "/v1/ledger/verify?dataset=clinic", None, {"owner", "auditor"}),
    ("POST", "/v1/policy/diff", POLICY, {"owner"}),
    ("POST", "/v1/tokens", TOKEN, {"owner"}),
    ("GET", "/v1/tokens", None, {"owner"}),
    ("DELETE", "/v1/tokens/t-1", None, {"owner"}),
]
# The same about what is not there, and about what is somebody else's.
ABSENT = [
    ("POST", "/v1/quotes", body(), body(dataset="nothing")),
    ("POST", "/v1/queries", body(), body(dataset="nothing")),
    ("POST", "/v1/queries", '{"quote": "nothing"}', '{"quote": "qt_of_ana"}'),
    ("GET", "/v1/queries/done", None, "/v1/queries/nothing"),
    ("GET", "/v1/queries/done/events", None, "/v1/queries/nothing/events"),
    ("GET", "/v1/datasets/clinic", None, "/v1/datasets/nothing"),
    ("GET", "/v1/datasets/clinic/sample", None, "/v1/datasets/nothing/sample"),
    ("GET", "/v1/datasets/clinic/questions", None, "/v1/datasets/nothing/questions"),
    ("GET", "/v1/budget?dataset=clinic", None, "/v1/budget?dataset=nothing"),
    ("GET", "/v1/answers?dataset=clinic", None, "/v1/answers?dataset=nothing"),
    ("GET", "/v1/answers/r-1", None, "/v1/answers/nothing"),
    ("GET", "/v1/ledger?dataset=clinic", None, "/v1/ledger?dataset=nothing"),
    ("POST", "/v1/ledger/verify?dataset=clinic", None, "/v1/ledger/verify?dataset=nothing"),
]


def sent(method: str, url: str, content: str | None, who: str | None):
    headers = JSON if content else {}
    return (method, url, who, {"content": content, "headers": headers})


def test_every_route_is_tried():
    paths = create_app(StandIn()).openapi()["paths"]
    tried = {(method.lower(), re.sub(r"\?.*", "", url)) for method, url, *_ in EVERY}
    known = {(method, re.sub(r"\{id\}", "ID", path)) for path, each in paths.items() for method in each}
    named = {(m, re.sub(r"/(done|r-1|t-1)\b", "/ID", u).replace("/clinic", "/{name}")) for m, u in tried}
    assert named == known - {("get", "/health")}


@pytest.mark.parametrize("who", ["analyst", "owner", "auditor", "stranger", None, "nobody"])
def test_who_may(who):
    gateway = StandIn()
    replies = calls(gateway, [sent(method, url, content, who) for method, url, content, _ in EVERY])
    for (method, url, _, allowed), reply in zip(EVERY, replies, strict=True):
        may = who in allowed
        expected = {200, 201} if may else {401} if who in (None, "nobody") else {403, 404}
        assert reply.status_code in expected, (method, url, reply.text)
        if not may:
            assert reply.headers["content-type"] == "application/problem+json"
        if reply.status_code == 401:
            assert reply.headers["www-authenticate"].startswith("Bearer")


def test_strangers_learn_nothing_from_a_refusal_of_their_token():
    """Without a token every route under /v1 that is known says the same, whatever else is wrong with the request."""
    bad = [sent(method, url, "{" if content else None, None) for method, url, content, _ in EVERY]
    good = [sent(method, url, content, "nobody") for method, url, content, _ in EVERY]
    assert {(reply.status_code, reply.content) for reply in calls(StandIn(), bad + good)} == {
        (401, calls(StandIn(), good[:1])[0].content)
    }


def test_absent_and_not_yours_are_the_same_bytes():
    first = call(StandIn(), "GET", "/v1/datasets/nothing")
    expected = (404, first.content, sorted(first.headers.items()))
    for method, url, content, other in ABSENT:
        absent = (method, other, None, "stranger") if content is None else (method, url, other, "stranger")
        replies = calls(StandIn(), [sent(method, url, content, "stranger"), sent(*absent)])
        for reply in replies:
            assert (reply.status_code, reply.content, sorted(reply.headers.items())) == expected, (method, url)
    for url in ("/v1/nothing", "/nothing", "/docs", "/redoc", "/v1/queries/", "/v1/tokens/a/b", "/v1"):
        reply = call(StandIn(), "GET", url, "analyst")
        assert (reply.status_code, reply.content, sorted(reply.headers.items())) == expected, url
    deleted = calls(StandIn(), [sent("DELETE", "/v1/tokens/nothing", None, "owner")])[0]
    assert (deleted.status_code, deleted.content) == expected[:2]


def test_every_reply_has_the_headers():
    for url, who in (
        ("/v1/me", "analyst"),
        ("/v1/me", None),
        ("/nothing", None),
        ("/health", None),
        ("/openapi.json", None),
    ):
        headers = call(StandIn(), "GET", url, who).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert "server" not in headers
        assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "TRACE", "HEAD", "DELETE"])
def test_a_method_that_is_not_taken(method):
    reply = call(StandIn(), method, "/v1/quotes")
    assert (reply.status_code, reply.headers["allow"]) == (405, "POST")


# -- questions ---------------------------------------------------------------------------------------------------------


def test_a_question_under_way_is_located():
    reply = call(StandIn(), "POST", "/v1/queries", content='{"quote": "running"}', headers=JSON)
    assert reply.status_code == 202
    assert reply.headers["location"] == "/v1/queries/qy_1"
    assert reply.json() == {"id": "qy_1", "dataset": "clinic", "state": "running", "seconds": 0}
    assert call(StandIn(), "GET", "/v1/queries/running").status_code == 202


def test_a_question_that_failed_is_one_fixed_text_with_its_receipt():
    reply = call(StandIn(), "GET", "/v1/queries/failed")
    assert (reply.status_code, reply.headers["dither-receipt"]) == (500, "r-2")
    assert reply.json()["type"] == "urn:dither:failed"


@pytest.mark.parametrize(
    ("prefer", "wait"),
    [
        (None, 10.0),
        ("wait=0", 0.0),
        ("wait=5", 5.0),
        ("respond-async, wait = 7; x=y", 7.0),
        ("WAIT=30", 30.0),
        ("wait=31", 30.0),
        ("wait=999999999", 30.0),
        ("wait=9999999999", 10.0),
        ("wait=-1", 10.0),
        ("wait=nan", 10.0),
        ("wait=1e3", 10.0),
        ("", 10.0),
    ],
)
def test_how_long_a_reply_waits(prefer, wait):
    gateway = StandIn()
    headers = JSON if prefer is None else {**JSON, "Prefer": prefer}
    assert call(gateway, "POST", "/v1/queries", content=body(), headers=headers).status_code == 200
    assert gateway.calls[-1][1][2] == wait


@pytest.mark.parametrize("key", ["", "x" * 201, "a b", "é", "a\tb"])
def test_a_key_that_is_none_is_refused_before_anything_is_asked(key):
    gateway = StandIn()
    headers = {**JSON, "Idempotency-Key": key.encode("latin-1")}
    reply = call(gateway, "POST", "/v1/queries", content=body(), headers=headers)
    assert (reply.status_code, reply.json()["where"]) == (422, "Idempotency-Key")
    assert [name for name, _ in gateway.calls] == ["caller"]


def test_a_key_goes_on():
    gateway = StandIn()
    call(gateway, "POST", "/v1/queries", content=body(), headers={**JSON, "Idempotency-Key": "k!~"})
    assert gateway.calls[-1][1][1] == "k!~"


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ("{}", "dataset"),
        ('{"dataset": "clinic"}', "sql"),
        ('{"quote": "done", "epsilon": "5"}', "quote"),
        ('{"quote": "done", "sql": "SELECT 1"}', "quote"),
        ('{"quote": "done", "slot": 1}', "quote"),
    ],
)
def test_a_quote_or_a_question_and_never_both(content, where):
    reply = call(StandIn(), "POST", "/v1/queries", content=content, headers=JSON)
    assert (reply.status_code, reply.json()["where"]) == (422, where)


def test_progress_as_events():
    reply = call(StandIn(), "GET", "/v1/queries/done/events")
    assert reply.headers["content-type"].startswith("text/event-stream")
    states = [re.fullmatch(r"event: (\w+)\ndata: (.*)", each) for each in reply.text.strip().split("\n\n")]
    assert [each[1] for each in states] == ["queued", "running", "done"]
    assert json.loads(states[0][2]) == {"state": "queued", "seconds": 1}


# -- owners ------------------------------------------------------------------------------------------------------------


def test_a_token_with_a_share():
    gateway = StandIn()
    reply = call(gateway, "POST", "/v1/tokens", "owner", content=TOKEN, headers=JSON)
    assert (reply.status_code, reply.json()["secret"]) == (201, "dth_secret")
    told = gateway.calls[-1][1]
    assert (told["share"], told["days"]) == ({"epsilon": "0.5"}, 3)
    listed = call(gateway, "GET", "/v1/tokens", "owner").text
    assert "secret" not in listed
    assert "hash" not in listed


@pytest.mark.parametrize("named", ["clinic", "nothing"])
def test_who_is_no_owner_learns_nothing_of_datasets_from_tokens(named):
    content = json.dumps({"name": "bob", "datasets": [named], "share": {"epsilon": "-1"}})
    reply = call(StandIn(), "POST", "/v1/tokens", "analyst", content=content, headers=JSON)
    assert (reply.status_code, reply.json()["type"]) == (403, "urn:dither:forbidden")


@pytest.mark.parametrize(
    ("share", "where"),
    [
        ({}, "share"),
        ({"epsilon": True}, "share.epsilon"),
        ({"mu": "1"}, "share.mu"),
    ],
)
def test_a_share_that_is_none_makes_no_token(share, where):
    gateway = StandIn()
    content = json.dumps({"name": "bob", "datasets": ["clinic"], "share": share})
    reply = call(gateway, "POST", "/v1/tokens", "owner", content=content, headers=JSON)
    assert (reply.status_code, reply.json()["where"]) == (422, where)
    assert "token" not in [name for name, _ in gateway.calls]


@pytest.mark.parametrize("given", ["count=0", "count=501", "count=1e2", "before=-1", "limit=5", "dataset="])
def test_parameters_out_of_range_or_unknown_are_refused(given):
    reply = call(StandIn(), "GET", f"/v1/answers?{given}")
    assert (reply.status_code, reply.json()["where"]) == (422, given.partition("=")[0])
