"""What surrounds every request: sizes while they come, time, faults, the log; bytes as attackers send them."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import tracemalloc
from types import SimpleNamespace

import pytest

from dither.server.app import create_app
from dither.server.core.config import Limits
from dither.server.core.problems import Problem
from dither.server.http.authentication import OpenRequests
from dither.server.http.logs import RequestLog, rounded_up
from dither.server.http.middleware import Middleware
from dither.server.http.protocol import TimedProtocol
from tests.server.http.listening import ended, listening, raw, status
from tests.server.http.stand_in import StandIn, body, call, calls

JSON = {"Content-Type": "application/json"}
HEAD = b"POST /v1/quotes HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer analyst\r\nContent-Type: application/json\r\n"
CLOSE = b"Connection: close\r\n"


@pytest.fixture(scope="module")
def port():
    gateway = StandIn(limits=Limits(body_bytes=30_000))
    with listening(create_app(gateway), gateway.config) as found:
        yield found


# -- sizes -------------------------------------------------------------------------------------------------------------


def test_a_length_above_the_limit_is_refused_before_a_byte_of_it():
    gateway = StandIn(limits=Limits(body_bytes=30_000))
    reply = call(gateway, "POST", "/v1/quotes", content=b" " * 30_001, headers=JSON)
    assert (reply.status_code, reply.json()["type"]) == (413, "urn:dither:too-large")
    assert gateway.calls == []
    assert (
        call(gateway, "POST", "/v1/quotes", content=body() + " " * (30_000 - len(body())), headers=JSON).status_code == 200
    )


def test_a_stream_without_a_length_is_cut_where_the_limit_is():
    """What was read is at most the limit and one part of the stream, however long it goes on."""
    sent = []

    async def long():
        while len(sent) < 1000:  # far beyond the limit, so that a failure ends too
            sent.append(1)
            yield b" " * 1000

    gateway = StandIn(limits=Limits(body_bytes=30_000))

    async def run():
        app = create_app(gateway)
        replies, stream = [], long()

        async def receive():
            part = await anext(stream, b"")
            return {"type": "http.request", "body": part, "more_body": part != b""}

        async def send(message):
            replies.append(message)

        headers = [(b"authorization", b"Bearer analyst"), (b"content-type", b"application/json")]
        scope = {"type": "http", "method": "POST", "path": "/v1/quotes", "raw_path": b"/v1/quotes", "query_string": b""}
        scope |= {
            "headers": [*headers, (b"transfer-encoding", b"chunked")],
            "client": ("192.0.2.1", 5),
            "http_version": "1.1",
        }
        await app(scope | {"server": ("g", 80), "scheme": "http", "root_path": ""}, receive, send)
        return replies

    start = asyncio.run(run())[0]
    assert start["status"] == 413
    assert (b"connection", b"close") in start["headers"]
    assert len(sent) == 31
    assert gateway.calls == [("caller", ("analyst", "192.0.2.1"))]


def test_chunks_without_end_over_the_network(port):
    chunk = b"3E8\r\n" + b"[" * 1000 + b"\r\n"
    assert ended(raw(port, HEAD, b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 100), 413)


def test_a_million_brackets_take_no_memory(port):
    text = b"[" * 10**6
    tracemalloc.start()
    try:
        reply = raw(port, HEAD, b"Content-Length: 1000000\r\n\r\n", text)
        assert tracemalloc.get_traced_memory()[1] < 20 * 2**20
    finally:
        tracemalloc.stop()
    assert ended(reply, 413)


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 29_000,
        b'{"a":' * 5_000,
        b'{"dataset": "clinic", "sql": "SELECT 1", "epsilon": ' + b"9" * 20_000 + b"}",
        b'{"dataset": "clinic", "sql": "SELECT 1", "epsilon": 1e' + b"9" * 20_000 + b"}",
        b'{"dataset": "clinic", "sql": "SELECT 1", "size": ' + b"9" * 20_000 + b"}",
        b'{"dataset": "clinic", "sql": "SELECT 1", "epsilon": NaN}',
        b'{"dataset": "clinic", "dataset": "other", "sql": "SELECT 1", "epsilon": 1}',
        b'{"dataset": "clinic", "sql": "\xff\xfe", "epsilon": 1}',
        b'"' + b'\\"' * 14_000,
        b"",
        gzip.compress(body().encode()),
    ],
)
def test_bombs_are_refused(port, content):
    length = b"Content-Length: %d\r\n" % len(content)
    assert status(raw(port, HEAD, CLOSE, length, b"\r\n", content)) == 422
    assert status(raw(port, HEAD, CLOSE, length, b"Content-Encoding: gzip\r\n\r\n", content)) == 415


def test_a_lone_surrogate_goes_nowhere_as_text(port):
    """JSON can spell what UTF-8 cannot: it is asked as it is, and told back without an error."""
    content = b'{"dataset": "clinic", "sql": "\\ud800", "epsilon": 1}'
    reply = raw(port, HEAD, CLOSE, b"Content-Length: %d\r\n\r\n" % len(content), content)
    assert status(reply) in (200, 422)


# -- tricks with lines, paths and headers --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        b"GET //v1/me",
        b"GET /v1//me",
        b"GET /v1/me/",
        b"GET /v1/%2e%2e/v1/me",
        b"GET /v1/../v1/me",
        b"GET /v1/./me",
        b"GET /v1/me%00",
        b"GET /v1/me%2f",
        b"GET /V1/me",
        b"GET /v1/me;x=1",
        b"GET /v1\\me",
        b"GET /%76%31/%2e/me",
    ],
)
def test_a_path_is_what_it_is(port, line):
    asked = line + b" HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer analyst\r\n" + CLOSE + b"\r\n"
    absent = b"GET /v1/nothing HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer analyst\r\n" + CLOSE + b"\r\n"
    found = raw(port, asked)
    assert status(found) == 404
    assert found.partition(b"\r\n\r\n")[2] == raw(port, absent).partition(b"\r\n\r\n")[2]


@pytest.mark.parametrize(
    "header",
    [
        b"X-Original-URL: /v1/tokens",
        b"X-Rewrite-URL: /v1/tokens",
        b"X-HTTP-Method-Override: DELETE",
        b"X-Forwarded-For: 127.0.0.1",
        b"X-Forwarded-Host: evil.example",
        b"X-Forwarded-Proto: https",
        b"Forwarded: for=127.0.0.1",
        b"X-User: olga",
        b"X-Remote-User: olga",
        b"Cookie: token=owner",
        b"Host: evil.example",
        b"Upgrade: websocket\r\nConnection: upgrade",
        b"Expect: 100-continue",
        b"Range: bytes=0-1",
    ],
)
def test_headers_that_claim_something_change_nothing(port, header):
    plain = b"GET /v1/me HTTP/1.1\r\nAuthorization: Bearer analyst\r\n" + CLOSE
    host = b"" if header.startswith(b"Host") else b"Host: g\r\n"
    expected = raw(port, plain, b"Host: g\r\n\r\n").partition(b"\r\n\r\n")[2]
    assert raw(port, plain, host, header + b"\r\n\r\n").partition(b"\r\n\r\n")[2] == expected
    assert b"ana" in expected


@pytest.mark.parametrize(
    "request_",
    [
        b"GARBAGE\r\n\r\n",
        b"GET /v1/me HTTP/9.9\r\nHost: g\r\n" + CLOSE + b"\r\n",
        b"GET /v1/me HTTP/1.1\r\nHost: g\r\nBad Header: x\r\n\r\n",
        b"GET /v1/me HTTP/1.1\r\nHost: g\r\nX: a\x00b\r\n\r\n",
        b"GET /v1/me HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n[]",
        HEAD + b"Content-Length: -5\r\n\r\n[]",
        HEAD + b"Content-Length: 1_0\r\n\r\n[]",
        HEAD + b"Content-Length: 99999999999999999999\r\n\r\n[]",
        HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"GET /v1/me HTTP/1.1\r\nHost: g\r\nX: " + b"x" * 100_000 + b"\r\n" + CLOSE + b"\r\n",
        b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\nHost: g\r\n" + CLOSE + b"\r\n",
        b"GET /v1/me HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer analyst\r\nAuthorization: Bearer owner\r\n"
        + CLOSE
        + b"\r\n",
        b"GET http://evil.example/v1/me HTTP/1.1\r\nHost: g\r\n" + CLOSE + b"\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\nHost: g\r\n" + CLOSE + b"\r\n",
    ],
)
def test_what_is_no_request_is_a_refusal(port, request_):
    reply = raw(port, request_)
    assert ended(reply, *range(400, 500))
    assert reply or len(request_) > 60_000
    assert b"Traceback" not in reply


def test_the_rest_of_a_body_is_no_second_request(port):
    """A reply that came before the body was read ends the connection: what follows is not taken for a request."""
    hidden = b"GET /v1/me HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer owner\r\n\r\n"
    unknown = HEAD.replace(b"/v1/quotes", b"/v1/nothing") + b"Content-Length: %d\r\n\r\n" % len(hidden)
    assert raw(port, unknown, hidden).count(b"HTTP/1.1 ") == 1


@pytest.fixture
def hurried(monkeypatch):
    """A server that waits for heads no longer than a moment, and for anything else as always."""
    monkeypatch.setattr(TimedProtocol, "head_seconds", 0.2)
    gateway = StandIn()
    with listening(create_app(gateway), gateway.config) as found:
        yield found


@pytest.mark.parametrize("said", [b"", b"GET /v1/me HTTP/1.1\r\nHost: g\r\nX"])
def test_a_connection_that_says_nothing_more_ends(hurried, said):
    assert raw(hurried, said) == b""


class Timers:
    """A loop that starts no timer, and remembers them."""

    def __init__(self):
        self.started = []

    def call_later(self, seconds, late):
        timer = SimpleNamespace(late=late, ended=False)
        timer.cancel = lambda: setattr(timer, "ended", True)
        self.started.append(timer)
        return timer


def test_each_head_is_timed_by_itself():
    """From the first sign of it, or from the start of the connection, until it is whole; a reply may take longer."""
    made = TimedProtocol.__new__(TimedProtocol)
    closed = []
    made.loop, made.cycle = Timers(), None
    made.transport = SimpleNamespace(close=lambda: closed.append(1), is_closing=lambda: False)
    made._watch()  # open
    made._watch()  # a part of a head: the same timer goes on
    assert [timer.ended for timer in made.loop.started] == [False]
    made.cycle = SimpleNamespace(response_complete=False)
    made._watch()  # all of it
    assert [timer.ended for timer in made.loop.started] == [True]
    made._watch()  # a body
    made.cycle.response_complete = True
    assert len(made.loop.started) == 1
    made._watch()  # the next head begins
    assert [timer.ended for timer in made.loop.started] == [True, False]
    made.loop.started[1].late()
    assert closed == [1]


# -- time, faults, the log ---------------------------------------------------------------------------------------------


def test_a_body_that_does_not_come_is_not_waited_for():
    gateway = StandIn()
    app = create_app(gateway)
    around = Middleware(app.router, body_bytes=1000, log=RequestLog(None), body_seconds=0.01)
    told = []

    async def never():
        await asyncio.Event().wait()

    async def send(message):
        told.append(message)

    async def reads(scope, receive, send):
        await receive()

    around.app = reads
    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"content-length", b"5")]}
    asyncio.run(around(scope, never, send))
    assert told[0]["status"] == 408


def test_a_client_that_goes_away_is_no_fault():
    log, sent = io.StringIO(), []
    app = create_app(StandIn(), log=RequestLog(log))

    async def gone():
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    headers = [(b"authorization", b"Bearer analyst"), (b"content-type", b"application/json"), (b"content-length", b"9")]
    scope = {"type": "http", "method": "POST", "path": "/v1/quotes", "raw_path": b"/v1/quotes", "query_string": b""}
    scope |= {"headers": headers, "client": ("192.0.2.1", 5), "http_version": "1.1", "root_path": ""}
    asyncio.run(app(scope | {"server": ("g", 80), "scheme": "http"}, gone, send))
    line = json.loads(log.getvalue())
    assert (sent, line["status"], "fault" in line) == ([], 499, False)


def test_a_fault_is_one_text_and_its_place_in_the_log():
    gateway, log = StandIn(), io.StringIO()

    async def wrong(caller):
        raise KeyError("canary")

    gateway.datasets = wrong
    reply = calls(gateway, [("GET", "/v1/datasets", "analyst", {})], log)[0]
    assert (reply.status_code, reply.json()["type"]) == (500, "urn:dither:failed")
    assert "canary" not in reply.text + log.getvalue()
    line = json.loads(log.getvalue())
    assert line["fault"].startswith("KeyError at dither.server.http.routes.datasets:")
    assert (line["status"], line["route"], line["token"]) == (500, "/v1/datasets", "t-analyst")


def test_one_line_a_request_and_nothing_of_what_was_asked():
    log = io.StringIO()
    asked = body(sql="SELECT COUNT(*) AS canary FROM visits")
    requests = [
        ("POST", "/v1/queries", "analyst", {"content": asked, "headers": {**JSON, "Idempotency-Key": "canary"}}),
        ("GET", "/v1/datasets/canary?canary=1", "analyst", {"headers": {"User-Agent": "canary"}}),
        ("GET", "/canary", "canary", {}),
        ("CANARY", "/v1/me", "analyst", {}),
        ("GET", "/v1/queries/failed", "analyst", {}),
    ]
    calls(StandIn(), requests, log)
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert "canary" not in log.getvalue().lower()
    assert [(line["method"], line["route"], line["status"]) for line in lines] == [
        ("POST", "/v1/queries", 200),
        ("GET", "/v1/datasets/{name}", 422),
        ("GET", "-", 404),
        ("-", "/v1/me", 405),
        ("GET", "/v1/queries/{id}", 500),
    ]
    assert [line.get("receipt") for line in lines] == ["r-1", None, None, None, "r-2"]
    assert all(line["milliseconds"] % 10 == 0 for line in lines)
    assert set().union(*lines) == {"time", "method", "route", "status", "milliseconds", "token", "receipt"}


def test_models_come_through_the_same_gate():
    """The protocol for models has the same limit, the same tokens, headers and log."""
    log = io.StringIO()
    requests = [
        ("POST", "/mcp", None, {"content": "{}", "headers": JSON}),
        ("POST", "/mcp", "analyst", {"content": b" " * 70_000, "headers": JSON}),
        ("POST", "/mcp/", "analyst", {"content": "{}", "headers": JSON}),
        ("GET", "/openapi.json", None, {}),
    ]
    replies = calls(StandIn(), requests, log)
    assert [reply.status_code for reply in replies] == [401, 413, 404, 200]
    assert all(reply.headers["cache-control"] == "no-store" for reply in replies)
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [line["route"] for line in lines] == ["/mcp", "/mcp", "-", "/openapi.json"]


@pytest.mark.parametrize(("seconds", "told"), [(0, 10), (0.0001, 10), (0.01, 10), (0.0101, 20), (1.999, 2000), (2, 2000)])
def test_durations_are_rounded_up(seconds, told):
    assert rounded_up(seconds) == told


def test_a_log_that_cannot_be_written_stops_nothing():
    log = io.StringIO()
    log.close()
    assert calls(StandIn(), [("GET", "/v1/me", "analyst", {})], log)[0].status_code == 200


def test_one_token_does_not_take_all_connections():
    opened = OpenRequests(2)
    opened.enter("a")
    opened.enter("a")
    opened.enter("b")
    with pytest.raises(Problem) as told:
        opened.enter("a")
    assert (told.value.status, told.value.retry_after) == (429, 1)
    opened.leave("a")
    opened.enter("a")
    for each in "aab":
        opened.leave(each)
    assert not opened._counts


def test_requests_that_ended_are_not_open_any_more():
    """Also those that were refused, and those that failed: more of them than may be open at a time, one after the other."""
    requests = [("GET", "/v1/me", "analyst", {}), ("GET", "/v1/queries/failed", "analyst", {})] * 20
    found = calls(StandIn(), [*requests, ("GET", "/v1/queries/done/events", "analyst", {})])
    assert {reply.status_code for reply in found} == {200, 500}


def test_traces_are_not_exported_whatever_the_environment_says(monkeypatch):
    monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
    app = create_app(StandIn())
    assert not any(getattr(app, "_telemetry", {}).get(name) for name in ("tracing", "metrics", "logs", "auto_configure"))
