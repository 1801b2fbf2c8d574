"""Releases over HTTP: one key a quote whatever is lost, waiting for a condition, and answers as in one process."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

import dither
from dither.client.quote import RemoteBatch, RemoteQuote
from dither.errors import (
    ArgumentError,
    BudgetError,
    ConflictError,
    DataError,
    DitherError,
    GatewayError,
    InProgressError,
    NumberError,
    ReleaseError,
)
from dither.query.answers.free_answer import FREE, FreeAnswer
from tests.client.stub import DATASET, GUARANTEE, QUOTE, TOKEN, Said, Stub, done, problem
from tests.golden.formats import FOLDER

SQL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
ANSWER, BATCH, FREE_ANSWER = (
    json.loads((FOLDER / f"{name}.json").read_text()) for name in ("answer-2", "batch-answer-1", "free-answer-1")
)
ASK = "POST /v1/queries"
GONE = Said(raw=lambda handler: None)  # the reply is lost
WAITS = Said(202, {"id": "qy_1", "state": "queued", "seconds": 0}, {"Location": "http://evil.example/"})
RUNS = Said(202, {"id": "qy_1", "state": "running", "seconds": 1})
FREE_FACTS = {"free": True, "price": FREE, "guarantee": None, "errors": {}, "left": None}
LOOK = "GET /v1/queries/qy_1"


def keys(stub: Stub) -> set[str]:
    return {one.headers["Idempotency-Key"] for one in stub.asked("POST", "/v1/queries")}


@pytest.fixture
def quote(stub) -> RemoteQuote:
    return dither.connect(stub.url, TOKEN, timeout=10).quote(SQL, epsilon="0.5")


def test_a_quote_has_what_a_quote_has(stub, quote):
    assert type(quote) is RemoteQuote
    assert (quote.sql, quote.price, quote.errors, quote.affordable) == (SQL, "ε = 0.5", {"n": 6.0}, 41)
    assert (quote.confidence, quote.epsilon(), quote.unprotected) == (Fraction(19, 20), 0.5, "")
    assert quote.guarantee == dither.pure("0.5")
    assert quote.explain() == str(quote) == QUOTE["explain"]
    assert quote._repr_html_().startswith("<pre")
    sent = stub.asked("POST", "/v1/quotes")[0].body
    assert sent == {"dataset": "clinic", "sql": SQL, "epsilon": "0.5", "confidence": "0.95", "intervals": True}


def test_numbers_go_as_they_were_written(stub):
    clinic = dither.connect(stub.url, TOKEN)["clinic"]
    exact = {0.1: "0.1", Fraction(1, 3): "1/3", Decimal("0.10"): "0.1", dither.ln(3): "ln(3)", 2: "2", "1e-3": "1e-3"}
    for given, text in exact.items():
        clinic.quote(SQL, epsilon=given, error={"n": given}, delta=given, confidence=given, intervals=given)
        sent = stub.heard[-1].body
        assert [sent[name] for name in ("epsilon", "delta", "confidence", "intervals")] == [text] * 4
        assert sent["error"] == {"n": text}
    clinic.quote(SQL, guarantee=dither.pure("0.5"), size=10, noise="geometric", bounding="clip", other="rest", limits="auto")
    sent = stub.heard[-1].body
    assert sent["guarantee"] == GUARANTEE
    assert [sent[name] for name in ("size", "noise", "bounding", "other")] == [10, "geometric", "clip", "rest"]
    clinic.quote(SQL, epsilon=1, spread={"cost": 0.1, "age": "1/3"})
    assert stub.heard[-1].body["spread"] == {"cost": "0.1", "age": "1/3"}
    before = len(stub.heard)
    nan, inf = float("nan"), float("inf")
    wrongs: list[dict[str, Any]] = [{"epsilon": nan}, {"epsilon": inf}, {"rho": True}, {"epsilon": [1]}, {"size": 1.5}]
    wrongs += [{"size": "x"}, {"error": 5}, {"error": {"n": None}}, {"error": {1: 2}}, {"guarantee": "pure"}]
    wrongs += [{"spread": 5}, {"spread": {"n": nan}}, {"spread": {1: 2}}]
    wrongs += [{"other": 5}, {"noise": {}}, {"limits": True}]
    for wrong in wrongs:
        with pytest.raises(DitherError):
            clinic.quote(SQL, **wrong)
    for sql in (5, None, [5], {"sql": 1}, b"SELECT"):
        with pytest.raises(DataError):
            clinic.quote(sql, epsilon=1)
    with pytest.raises(ArgumentError):
        clinic.quote(SQL, epsilom=1)
    assert len(stub.heard) == before, "all that is refused here is refused before it is sent"


def test_an_answer_comes(stub, quote):
    stub.replies[ASK] = done(ANSWER)
    answer = quote.release()
    assert type(answer) is dither.Answer
    assert answer.to_json() == ANSWER
    assert stub.heard[-1].body == {"quote": "qt_1"}
    assert stub.heard[-1].headers["Prefer"] == "wait=30"


def test_a_free_answer_comes(stub):
    stub.replies["POST /v1/quotes"] = Said(
        body=QUOTE | {"free": True, "price": FREE, "guarantee": None, "errors": {}, "left": None}
    )
    stub.replies[ASK] = done(FREE_ANSWER)
    quote = dither.connect(stub.url, TOKEN).quote("SELECT DISTINCT ward FROM visits")
    assert type(quote.release()) is FreeAnswer
    assert quote.errors == {}
    for asked in (lambda: quote.affordable, lambda: quote.guarantee):
        with pytest.raises(DataError, match="free"):
            asked()


def test_the_answers_of_a_batch_come(stub):
    stub.replies["POST /v1/quotes"] = Said(body=QUOTE | {"errors": [{"n": 6.0}, {"cost": None}]})
    stub.replies[ASK] = done(BATCH)
    batch = dither.connect(stub.url, TOKEN).quote((SQL, SQL), epsilon=1)
    assert type(batch) is RemoteBatch
    assert (len(batch), list(batch), batch.errors) == (2, [SQL, SQL], [{"n": 6.0}, {"cost": None}])
    assert batch.release().to_json() == BATCH
    stub.replies[ASK] = done(ANSWER)
    with pytest.raises(GatewayError):
        batch.release()


def test_an_answer_of_another_kind_is_none(stub, quote):
    whole = json.loads(ANSWER)
    for body in (BATCH, json.dumps(whole | {"sql": 5}), json.dumps({"answer": 2}), "null", "[]", '"x"', "{}"):
        stub.replies[ASK] = done(body)
        with pytest.raises(GatewayError, match="release\\(\\) of the same quote again"):
            quote.release()


def test_all_requests_of_a_quote_have_one_key(stub, quote):
    """Whatever is lost: the gateway sees one key, under which it charges once."""
    busy = problem("busy", 503, {"Retry-After": "0"})
    stub.replies[ASK] = [GONE, busy, GONE, problem("in-progress", 409, {"Retry-After": "0"}), WAITS]
    stub.replies[LOOK] = [GONE, RUNS, problem("absent", 404)]  # the gateway began anew, and knows nothing of it
    stub.replies["POST /v1/quotes"] = Said(body=QUOTE | {"id": "qt_2"})
    asked: list[Any] = []

    def later(heard: Any) -> Said:
        asked.append(heard)
        return done(ANSWER) if heard.body == {"quote": "qt_2"} else stub_replies(heard)

    first = stub.replies[ASK]

    def stub_replies(_: Any) -> Said:
        return first.pop(0) if len(first) > 1 else first[0]

    stub.replies[ASK] = later
    assert quote.release().to_json() == ANSWER
    assert [one.body["quote"] for one in asked] == ["qt_1"] * 5 + ["qt_2"]
    assert quote.release().to_json() == ANSWER, "and again"
    assert keys(stub) == {quote.idempotency_key}
    assert len(quote.idempotency_key) == 32


def test_two_quotes_have_two_keys_and_a_key_may_be_given(stub, quote):
    other = dither.connect(stub.url, TOKEN).quote(SQL, epsilon="0.5")
    assert quote.idempotency_key != other.idempotency_key
    stub.replies[ASK] = done(ANSWER)
    quote.release(idempotency_key="report-2024")
    assert keys(stub) == {"report-2024"}
    for wrong in ("", "a b", "a\n", "ü", "x" * 201, 5):
        with pytest.raises(DataError):
            quote.release(idempotency_key=wrong)
    for wrong in (-1, float("nan"), float("inf"), "x", None, True):
        with pytest.raises(NumberError):
            quote.release(wait=wrong)
    with pytest.raises(ArgumentError):
        quote.release(analyst="somebody else")


def test_a_price_that_changed_is_not_paid(stub, quote):
    stub.replies[ASK] = problem("absent", 404)
    for change in ({"price": "ε = 5"}, {"errors": {"n": 60.0}}, {"guarantee": None}, {"free": True}):
        stub.replies["POST /v1/quotes"] = Said(body=QUOTE | {"id": "qt_2"} | change)
        with pytest.raises(ConflictError, match="a new quote"):
            quote.release()
    assert {one.body["quote"] for one in stub.asked("POST", "/v1/queries")} == {"qt_1"}


def test_waiting(stub, quote):
    seen: list[float] = []
    stub.replies[ASK] = WAITS
    stub.replies[LOOK] = [WAITS, RUNS, RUNS, done(ANSWER)]
    assert quote.release(progress=seen.append).to_json() == ANSWER
    assert seen == [0.0] * 4 + [1.0]
    assert {one.headers["Prefer"] for one in stub.asked("GET", "/v1/queries/qy_1")} == {"wait=1"}
    assert all("evil" not in one.path for one in stub.heard)


def test_the_wait_is_over(stub, quote):
    stub.replies[ASK] = WAITS
    with pytest.raises(InProgressError, match="pays at most once"):
        quote.release(wait=0)
    assert stub.heard[-1].headers["Prefer"] == "wait=0"
    stub.replies[ASK] = problem("in-progress", 409, {"Retry-After": "5"})
    with pytest.raises(InProgressError):
        quote.release(wait=0)
    stub.replies[ASK] = done(ANSWER)
    assert quote.release().to_json() == ANSWER
    assert len(keys(stub)) == 1


@pytest.mark.parametrize(
    "body", [{"id": "../../evil", "state": "running"}, {"id": "x", "state": "odd"}, {"id": 5, "state": "queued"}, []]
)
def test_what_is_no_question_is_not_looked_for(stub, quote, body):
    stub.replies[ASK] = Said(202, body)
    before = len(stub.heard)
    with pytest.raises(GatewayError):
        quote.release()
    assert len(stub.heard) == before + 1


def test_refusals_of_a_release(stub, quote):
    for said, kind in (
        (problem("budget", 402, why="the share of ana has ρ = 0.01 left", instead="a smaller price"), BudgetError),
        (problem("conflict", 409, why="that key stands for another question"), ConflictError),
        (problem("failed", 500, receipt="abc-7", why="it stays charged"), ReleaseError),
        (problem("unauthorized", 401), GatewayError),
    ):
        stub.replies[ASK] = said
        with pytest.raises(kind) as told:
            quote.release()
        if kind is ReleaseError:
            assert (told.value.where, repr(told.value.came)) == ("receipt", "abc-7")
    assert "release() of the same quote" not in str(told.value), "a new token is what is needed"
    stub.replies[ASK] = WAITS
    stub.replies[LOOK] = problem("failed", 500, receipt="abc-8")
    with pytest.raises(ReleaseError, match="abc-8"):
        quote.release()


def test_a_reply_that_never_comes_says_how_to_go_on(stub):
    quote = dither.connect(stub.url, TOKEN, timeout=0.2).quote(SQL, epsilon=1)
    stub.replies[ASK] = GONE
    with pytest.raises(GatewayError, match="pays at most once"):
        quote.release(wait=0)
    assert len(keys(stub)) == 1


def test_datasets_in_words_and_what_is_stored(stub):
    clinic = dither.connect(stub.url, TOKEN)["clinic"]
    today = {"left": "50%", "words": "half of today"}
    told = {
        "dataset": "clinic",
        "left": "90%",
        "used": 0.1,
        "words": "90% left",
        "share": {"words": "5% left"},
        "today": today,
    }
    stub.replies["GET /v1/budget"] = Said(body={"budgets": [told | {"today": today}]})
    assert str(clinic.remaining()) == "90% left; your share: 5% left; today: half of today"
    assert clinic.explain().splitlines() == [
        "Dataset    clinic: add/remove one person",
        "Table      visits: of patient, at most 6 rows of each person count",
        "             ward: text, one of 2, may be missing",
        "Budget     90% left; your share: 5% left; today: half of today",
    ]
    stored = {"id": "abc-7", "dataset": "clinic", "sql": SQL, "analyst": "ben", "when": "2024", "price": "ε", "free": True}
    stub.replies["GET /v1/answers"] = Said(body={"answers": [stored]})
    (found,) = clinic.answers("ward & co", count=5)
    assert (found.id, found.sql, found.analyst) == ("abc-7", SQL, "ben")
    assert stub.heard[-1].path == "/v1/answers?dataset=clinic&q=ward+%26+co&count=5"
    stub.replies["GET /v1/answers/abc-7"] = done(ANSWER)
    assert clinic.answer(found.id).to_json() == ANSWER
    for wrong in ("../me", "", "a/b", "a?b"):
        with pytest.raises(GatewayError):
            clinic.answer(wrong)


def test_names_in_paths_are_escaped_and_the_only_dataset_is_the_one(stub):
    gateway = dither.connect(stub.url, TOKEN)
    with pytest.raises(DataError, match="not yours"):
        gateway["../me?x=/"]
    assert stub.heard[-1].path == "/v1/datasets/..%2Fme%3Fx%3D%2F"
    for several in ([], [DATASET, DATASET | {"name": "other"}]):
        stub.replies["GET /v1/datasets"] = Said(body={"datasets": several})
        with pytest.raises(DataError, match=f"you have {len(several)}"):
            gateway.quote(SQL, epsilon=1)
    for wrong in (5, None, b"clinic"):
        with pytest.raises(DataError):
            gateway[wrong]
