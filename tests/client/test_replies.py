"""Replies are anybody's: sizes, kinds, times and texts are bounded, and nothing but a refusal comes of a wrong one."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import pyarrow
import pytest

import dither
from dither.client import exchange
from dither.client.exchange import Request
from dither.client.parts import sign_text
from dither.errors import DitherError, GatewayError
from tests.client.stub import DATASET, ME, QUOTE, TOKEN, Said, problem
from tests.seeds import examples

SQL = "SELECT COUNT(*) AS n FROM visits"


def raw(*pieces: bytes) -> Said:
    def write(handler: Any) -> None:
        for piece in pieces:
            handler.wfile.write(piece)

    return Said(raw=write)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNK = b"100000\r\n" + b" " * 2**20 + b"\r\n"
NOT_REPLIES = {
    "no JSON": Said(body=b"hello"),
    "half of JSON": Said(body=b'{"name": "ana"'),
    "deep": Said(body=b"[" * 200_000),
    "a number of many digits": Said(body=b'{"name": ' + b"1" * 10_000 + b"}"),
    "not UTF-8": Said(body=b'{"name": "\xff"}'),
    "a list": Said(body=[ME]),
    "a number": Said(body=5),
    "null": Said(body=None),
    "another kind": Said(body=ME, kind="text/html"),
    "no kind": raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
    "packed": Said(body=ME, headers={"Content-Encoding": "gzip"}),
    "parts of another kind": Said(body={"name": 5, "role": "analyst"}),
    "no parts": Said(body={}),
    "no HTTP": raw(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "HTTP of another time": raw(b"HTTP/9.9 200 OK\r\n\r\n"),
    "a status that is none": raw(b"HTTP/1.1 abc OK\r\n\r\n"),
    "a long line": raw(b"HTTP/1.1 200 " + b"x" * 100_000),
    "many headers": raw(HEAD + b"".join(b"X-%d: 1\r\n" % at for at in range(300)) + b"\r\n"),
    "too long, as it says": raw(HEAD + b"Content-Length: 99999999999\r\n\r\n{}"),
    "absurdly long": raw(HEAD + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n{}"),
    "too long, without a word": raw(HEAD + b"\r\n", *([b" " * 2**20] * 17)),
    "too long, in chunks": raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *([CHUNK] * 17)),
    "nothing found": Said(404, b"not here", kind="text/html"),
    "somebody's error": Said(500, b"<h1>" + b"x" * 10_000, kind="text/html"),
    "a teapot": Said(418, {"type": 5, "why": 7, "where": []}, kind="application/problem+json"),
}


@pytest.mark.parametrize("name", NOT_REPLIES)
def test_what_is_no_reply_is_one_refusal(stub, name):
    stub.replies["GET /v1/me"] = NOT_REPLIES[name]
    with pytest.raises(DitherError) as told:
        dither.connect(stub.url, TOKEN)
    assert len(str(told.value)) < 1000
    assert len(stub.heard) == 1
    assert ("so long" in str(told.value)) == ("long" in name and name != "a long line")


LOST = {
    "nothing": raw(),
    "half a body": raw(HEAD + b"Content-Length: 1000\r\n\r\n{"),
    "half a chunk": raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\n100\r\n{"),
}


@pytest.mark.parametrize("name", LOST)
def test_a_connection_that_breaks_is_tried_again(stub, name):
    stub.replies["GET /v1/me"] = [LOST[name], LOST[name], Said(body=ME)]
    assert dither.connect(stub.url, TOKEN).name == "ana"
    assert len(stub.heard) == 3


def test_time_is_up_in_the_middle_of_a_reply(stub):
    """Drop by drop, each well within the time for one: the whole has a time, too, in the head as in the body."""
    for start in (b"HTTP/1.1 200 OK\r\nX: ", HEAD + b"\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"):

        def drip(handler: Any, start: bytes = start) -> None:
            handler.wfile.write(start)
            while True:
                handler.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n" if b"Continue" in start else b"x")
                handler.wfile.flush()
                time.sleep(0.005)  # until the client has gone, and writing fails

        stub.replies["GET /v1/me"] = Said(raw=drip)
        with pytest.raises(GatewayError, match=r"no whole reply|too long|no HTTP"):
            dither.connect(stub.url, TOKEN, timeout=0.3)


def test_problems_are_errors_of_the_same_classes(stub):
    gateway = dither.connect(stub.url, TOKEN)
    parts = {"where": "epsilon", "came": "-1", "why": "it must be above zero", "instead": "'0.5'"}
    cases = [
        (problem("refused", 422, **parts, error="NumberError"), dither.errors.NumberError),
        (problem("refused", 422, **parts, error="GuaranteeError"), dither.errors.GuaranteeError),
        (problem("refused", 422, **parts, error="UnitError"), dither.errors.UnitError),
        (problem("refused", 422, **parts, error="BudgetError"), dither.errors.BudgetError),
        (problem("refused", 422, **parts, error="PrecisionError"), dither.errors.PrecisionError),
        (problem("refused", 422, **parts, error="QuestionError"), dither.errors.QuestionError),
        (problem("refused", 422, **parts), dither.errors.QuestionError),
        *((problem("refused", 422, **parts, error=name), dither.errors.QuestionError)
          for name in ("show", "TamperError", "MissingExtraError", "EntropyError", "os", "__doc__", "DitherError")),
        (problem("budget", 402, **parts, error="NumberError"), dither.errors.BudgetError),
        (problem("conflict", 409, **parts), dither.errors.ConflictError),
        (problem("too-large", 413, **parts), dither.errors.SizeError),
        (problem("absent", 404), dither.errors.DataError),
        (problem("unauthorized", 401), GatewayError),
        (problem("forbidden", 403), GatewayError),
        (problem("failed", 500, receipt="abc-7"), dither.errors.ReleaseError),
        (problem("unacceptable", 406), GatewayError),
        (problem("in-progress", 409, {"Retry-After": "100"}), dither.errors.InProgressError),
        (problem("unavailable", 503, {"Retry-After": "100"}), dither.errors.LedgerError),
        (problem("too-many", 429, {"Retry-After": "100"}), GatewayError),
        (problem("busy", 503, {"Retry-After": "100"}), GatewayError),
    ]  # fmt: skip
    for said, kind in cases:
        stub.replies["POST /v1/quotes"] = said
        with pytest.raises(DitherError) as told:
            gateway.quote(SQL, epsilon=1)
        assert type(told.value) is kind, said
        if "where" in said.body:
            found = told.value
            assert (found.where, repr(found.came), found.why, found.instead) == tuple(parts.values())
            assert str(found) == "epsilon = -1 is refused: it must be above zero. What would work: '0.5'."


def test_later_is_asked_again(stub):
    gateway = dither.connect(stub.url, TOKEN)
    said = [problem("too-many", 429, {"Retry-After": "0"}), problem("busy", 503), problem("unavailable", 503)]
    stub.replies["POST /v1/quotes"] = [*said, problem("in-progress", 409, {"Retry-After": "tomorrow"}), Said(body=QUOTE)]
    assert gateway.quote(SQL, epsilon=1).affordable == 41
    assert len(stub.asked("POST", "/v1/quotes")) == 5


def test_texts_of_others_move_no_cursor():
    assert sign_text("a\x1b[2Jb\u202ec\x00\x9b\ud800é\n", 100) == "a\\x1b[2Jb\\u202ec\\x00\\x9b\\ud800é\n"
    assert sign_text("x" * 50, 10) == "x" * 7 + "..."


def test_hostile_words_in_errors_and_quotes(stub):
    gateway = dither.connect(stub.url, TOKEN)
    evil = "\x1b]0;you\x07\u202e" + "x" * 10**6
    stub.replies["POST /v1/quotes"] = problem("refused", 422, **dict.fromkeys(("where", "came", "why", "instead"), evil))
    with pytest.raises(DitherError) as told:
        gateway.quote(SQL, epsilon=1)
    assert len(str(told.value)) < 20_000
    stub.replies["POST /v1/quotes"] = Said(body=QUOTE | dict.fromkeys(("price", "explain", "describe", "words"), evil))
    quote = gateway.quote(SQL, epsilon=1)
    for text in (str(told.value), quote.price, quote.explain(), quote.describe(), quote.words, str(quote)):
        assert "\x1b" not in text
        assert "\u202e" not in text


JUNK: list[Any] = [
    None,
    True,
    0,
    -1,
    10**400,
    1.5,
    float("nan"),
    "",
    "x",
    "../..",
    [],
    [[]],
    {},
    {"x": {}},
    [1],
    {"name": 1},
]


def mutated(whole: Any, draw: random.Random) -> Any:
    """The same JSON with something else in one place."""
    if isinstance(whole, dict) and whole and draw.random() < 0.85:
        name = draw.choice([*whole])
        return whole | {name: mutated(whole[name], draw)}
    if isinstance(whole, list) and whole and draw.random() < 0.85:
        at = draw.randrange(len(whole))
        return [*whole[:at], mutated(whole[at], draw), *whole[at + 1 :]]
    return draw.choice(JUNK)


def test_any_part_of_a_reply_may_be_anything(stub):
    """Nothing but errors of dither comes of it, and no value of another kind goes on."""
    gateway, draw = dither.connect(stub.url, TOKEN), random.Random(7)
    budget = {"dataset": "clinic", "left": "90%", "used": 0.1, "words": "90%", "share": {"left": "5%", "words": "5%"}}
    stored = {"id": "abc-7", "dataset": "clinic", "sql": SQL, "analyst": "ana", "when": "now", "price": "", "free": True}
    whole = {
        "POST /v1/quotes": QUOTE,
        "GET /v1/datasets/clinic": DATASET,
        "GET /v1/datasets": {"datasets": [DATASET]},
        "GET /v1/budget": {"budgets": [budget]},
        "GET /v1/answers": {"answers": [stored]},
    }
    for _ in range(examples(150, 3000)):
        for name, body in whole.items():
            stub.replies[name] = Said(body=json.dumps(mutated(body, draw) if draw.random() < 0.5 else body).encode())
        for look in (
            lambda: [gateway.datasets, gateway.dataset().explain()],
            lambda: gateway["clinic"].answers("ward"),
            lambda: str(gateway["clinic"].remaining()),
            lambda: [
                str(found := gateway.quote(SQL, epsilon=1)),
                found.errors,
                found.columns,
                found.describe(),
                repr(found),
            ],
            lambda: [
                (found := gateway.quote(SQL, epsilon=1)).guarantee.epsilon(),
                found.epsilon() >= 0,
                found.affordable >= 0,
            ],
        ):
            try:
                look()
            except DitherError:
                continue


def test_samples_are_tables(stub):
    clinic = dither.connect(stub.url, TOKEN)["clinic"]
    table = pyarrow.table({"ward": ["ZZZZ", None], "cost": [1.5, 2.5]})
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    whole, kind = sink.getvalue().to_pybytes(), "application/vnd.apache.arrow.stream"
    path, no_text = "GET /v1/datasets/clinic/sample", whole.replace(b"ZZZZ", b"\xff\xfe\xff\xfe")
    stub.replies[path] = Said(body=whole, kind=kind)
    assert clinic.sample(rows=2).equals(table)
    assert stub.heard[-1].path.endswith("?table=visits&rows=2")
    assert stub.heard[-1].headers["Accept"] == kind
    for body, said in ((whole, "application/json"), (b"", kind), (whole[:-50], kind), (b"x" * 100, kind), (no_text, kind)):
        stub.replies[path] = Said(body=body, kind=said)
        with pytest.raises(GatewayError):
            clinic.sample()
    draw = random.Random(3)
    for _ in range(examples(100, 2000)):
        changed = bytearray(whole)
        for _ in range(3):
            changed[draw.randrange(len(changed))] = draw.randrange(256)
        stub.replies[path] = Said(body=bytes(changed), kind=kind)
        try:
            clinic.sample().to_pylist()
        except GatewayError:
            continue
    for rows in (0, -1, 10**9, 1.5, True, None, "x"):
        with pytest.raises(DitherError):
            clinic.sample(rows=rows)


def test_requests_say_what_they_are(stub):
    dither.connect(stub.url, TOKEN)
    headers = stub.heard[0].headers
    assert headers["Accept"] == "application/json"
    assert headers["Accept-Encoding"] == "identity"
    assert headers["User-Agent"] == "dither"
    assert Request("GET", "/").most == 16 * 2**20
    assert exchange._seconds("007") == 7
    assert [exchange._seconds(text) for text in (None, "", "-1", "1.5", "1" * 11, "²", "Wed, 21 Oct 2015 07:28:00 GMT")] == [
        None
    ] * 7
