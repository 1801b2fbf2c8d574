"""HTTP over a real gateway: answers, prices that are none, what is absent, canaries, and a description that is true."""

from __future__ import annotations

import csv
import io
import json

import httpx
import pytest
from prometheus_client import generate_latest

from tests.server.http.conftest import CANARY, POLICY

JSON = {"Content-Type": "application/json"}
SQL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
HUGE = "31415926"


def asked(**facts):
    return {"dataset": "clinic", "sql": SQL, "epsilon": "0.5"} | facts


def test_quote_then_answer_then_the_same_for_nothing(real):
    quote = real.call("POST", "/v1/quotes", json=asked()).json()
    reply = real.call("POST", "/v1/queries", json={"quote": quote["id"]}, headers={"Idempotency-Key": "first"})
    assert (reply.status_code, reply.headers["dither-replay"]) == (200, "false")
    paid = real.entries()
    again = real.call("POST", "/v1/queries", json=asked(), headers={"Accept": "text/csv"})
    assert (again.status_code, again.headers["dither-replay"]) == (200, "true")
    assert again.headers["dither-receipt"] == reply.headers["dither-receipt"]
    answer = reply.json()["answer"]["columns"]
    rows = list(csv.DictReader(io.StringIO(again.text)))
    assert {name: [row[name] for row in rows] for name in rows[0]} == {n: list(map(str, c)) for n, c in answer.items()}
    stored = real.call("GET", f"/v1/answers/{reply.headers['dither-receipt']}")
    assert stored.json()["answer"]["columns"] == answer
    assert real.call("GET", reply.headers["content-location"]).json()["answer"] == reply.json()["answer"]
    assert real.entries() == paid
    assert real.call("GET", "/v1/budget").json()["budgets"][0]["dataset"] == "clinic"
    same = real.call("POST", "/v1/queries", json=asked(epsilon="0.6"), headers={"Idempotency-Key": "first"})
    assert (same.status_code, same.json()["type"]) == (409, "urn:dither:conflict")


PRICES = ["NaN", "-1", "0", "inf", "Infinity", "1e999", "1e-320", "-0.0", "", " ", "1e-400", "0/0", "1/0", "0x1", "٣"]


@pytest.mark.parametrize("term", ["epsilon", "rho"])
@pytest.mark.parametrize("price", [*PRICES, True, False, None, [], {}, 0, -1, 1e-320, 10**30])
def test_a_price_that_is_none_is_refused_and_costs_nothing(real, term, price):
    before = real.entries()
    terms = {"dataset": "clinic", "sql": SQL, term: price}
    for url in ("/v1/quotes", "/v1/queries"):
        reply = real.call("POST", url, json=terms)
        assert reply.status_code == 422, (price, reply.text)
        assert reply.json()["instead"]
    assert real.entries() == before


@pytest.mark.parametrize("term", ["epsilon", "rho"])
def test_what_the_budget_does_not_cover_is_told_and_costs_nothing(real, term):
    before = real.entries()
    terms = {"dataset": "clinic", "sql": SQL, term: "1e5"}
    assert real.call("POST", "/v1/quotes", json=terms).json()["left"] == 0
    reply = real.call("POST", "/v1/queries", json=terms)
    assert (reply.status_code, reply.json()["type"]) == (402, "urn:dither:budget")
    assert real.entries() == before


@pytest.mark.parametrize("text", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e-999", b"1e99999999999"])
def test_numbers_of_json_that_are_none(real, text):
    before = real.entries()
    content = json.dumps(asked()).encode().replace(b'"0.5"', text)
    for url in ("/v1/quotes", "/v1/queries"):
        assert real.call("POST", url, content=content, headers=JSON).status_code == 422
    assert real.entries() == before


@pytest.mark.parametrize(
    "sql",
    [
        "",
        ";",
        "\x00",
        "\ud800",
        "SELECT " + "(" * 9_000 + "1" + ")" * 9_000,
        "SELECT COUNT(*) AS n FROM visits WHERE " + "NOT " * 4_000 + "TRUE",
        "SELECT COUNT(*) AS n FROM visits WHERE cost IN (" + ",".join("1" for _ in range(9_000)) + ")",
        "SELECT COUNT(*) AS n FROM visits WHERE " + " OR ".join("cost = 1" for _ in range(1_500)),
        "SELECT COUNT(*) AS n FROM visits WHERE cost = " + "9" * 19_000,
        "SELECT COUNT(*) AS n FROM visits WHERE cost = 1e999999999",
        "SELECT " + "-" * 9_000 + "1",
        "WITH " + ",".join(f"a{n} AS (SELECT 1)" for n in range(800)) + " SELECT COUNT(*) AS n FROM visits",
        "SELECT COUNT(*) AS n FROM visits -- " + "x" * 10_000,
        "/*" * 9_000,
        "'" * 9_001,
        "COPY visits TO '/tmp/x'",
        "ATTACH '/etc/passwd'",
        "SELECT COUNT(*) AS n FROM read_csv('/etc/passwd')",
        "SELECT 1; DROP TABLE visits",
        "x" * 70_000,
        "SELECT '" + "x" * 20_000 + "'",
    ],
)
def test_questions_that_are_bombs_are_refused_or_priced(real, sql):
    before = real.entries()
    content = json.dumps(asked(sql=sql)).encode()
    reply = real.call("POST", "/v1/quotes", content=content, headers=JSON)
    assert reply.status_code in (200, 413, 422), reply.text
    assert real.call("GET", "/health").json() == {"status": "ok", "workers": 1, "waiting": 0}
    assert real.entries() == before


def test_absent_and_not_yours_are_the_same_bytes(real):
    """For each route, as bob: what is ana's, and what there is not."""
    done = real.call("POST", "/v1/queries", json=asked())
    id_, receipt = done.json()["id"], done.headers["dither-receipt"]
    quote = real.call("POST", "/v1/quotes", json=asked()).json()["id"]
    pairs = [
        (("POST", "/v1/quotes", asked()), ("POST", "/v1/quotes", asked(dataset="nothing"))),
        (("POST", "/v1/queries", asked()), ("POST", "/v1/queries", asked(dataset="nothing"))),
        (("POST", "/v1/queries", {"quote": quote}), ("POST", "/v1/queries", {"quote": "qt_nothing"})),
        *((("GET", url.format("clinic"), None), ("GET", url.format("nothing"), None)) for url in BY_NAME),
        *((("GET", url.format(id_), None), ("GET", url.format("qy_nothing"), None)) for url in BY_ID),
        (("GET", f"/v1/answers/{receipt}", None), ("GET", "/v1/answers/nothing", None)),
        (("POST", "/v1/ledger/verify?dataset=clinic", None), ("POST", "/v1/ledger/verify?dataset=nothing", None)),
    ]
    seen = set()
    for pair in pairs:
        for method, url, content in pair:
            reply = real.call(method, url, "bob", json=content)
            headers = tuple(sorted((name, value) for name, value in reply.headers.items() if name != "date"))
            seen.add((reply.status_code, reply.content, headers))
    assert len(seen) == 1, seen
    assert next(iter(seen))[0] == 404


BY_NAME = [
    *("/v1/datasets/{}", "/v1/datasets/{}/sample", "/v1/datasets/{}/questions"),
    *("/v1/budget?dataset={}", "/v1/answers?dataset={}", "/v1/ledger?dataset={}"),
]
BY_ID = ["/v1/queries/{}", "/v1/queries/{}/events"]


@pytest.mark.parametrize("accept", ["application/json", "text/csv", "application/vnd.apache.arrow.stream", "text/html"])
def test_what_is_free_and_what_is_several_in_every_format(real, accept):
    before = real.entries()
    free = real.call("POST", "/v1/queries", json=asked(sql="SELECT DISTINCT ward FROM visits"), headers={"Accept": accept})
    assert (free.status_code, free.headers["content-type"].partition(";")[0]) == (200, accept)
    assert real.entries() == before
    several = asked(sql=["SELECT COUNT(*) AS n FROM visits", SQL])
    quote = real.call("POST", "/v1/quotes", json=several).json()["id"]
    told = real.call("POST", "/v1/queries", json={"quote": quote}, headers={"Accept": accept})
    kind = "text/html" if accept == "text/html" else "application/json"
    assert (told.status_code, told.headers["content-type"].partition(";")[0]) == (200, kind)


def test_made_up_rows_and_first_questions(real):
    rows = real.call("GET", "/v1/datasets/clinic/sample?rows=5").json()["tables"]["visits"]
    assert (len(rows), set(rows[0])) == (5, {"patient", "ward", "cost"})
    assert real.call("GET", "/v1/datasets/clinic/questions").json()["questions"]


def test_the_difference_of_policies_is_the_owners(real):
    content = {"dataset": "clinic", "policy": POLICY.format(name="clinic").replace("max_rows = 2", "max_rows = 3")}
    assert real.call("POST", "/v1/policy/diff", json=content).status_code == 403
    assert real.call("POST", "/v1/policy/diff", "olga", json=content).json()["loosens"] is True
    assert real.call("POST", "/v1/policy/diff", "olga", json=content | {"policy": "version ="}).status_code == 422


def test_a_token_that_is_revoked_ends_at_once(real):
    told = real.call("POST", "/v1/tokens", "olga", json={"name": "eve", "datasets": ["other"], "days": 1}).json()
    assert real.call("GET", "/v1/me", told["secret"]).json()["name"] == "eve"
    assert real.call("DELETE", f"/v1/tokens/{told['id']}", "olga").status_code == 200
    for secret in (told["secret"], told["secret"][:-1] + "a", told["secret"].upper(), "dth_" + "a" * 65, "x" * 5000):
        assert real.call("GET", "/v1/me", secret).status_code == 401


def test_progress_of_a_real_question(real):
    done = real.call("POST", "/v1/queries", json=asked(epsilon="0.7"))
    events = real.call("GET", f"{done.headers['content-location']}/events")
    assert events.text.startswith("event: done\ndata: ")


def test_rows_appear_in_no_reply_no_log_and_no_metric(real):
    """The person, a ward that was never declared, and a cost far beyond its bounds."""
    replies = [
        real.call("POST", "/v1/queries", json=asked(sql=sql, size=5))
        for sql in (
            SQL,
            "SELECT SUM(cost) AS s, AVG(cost) AS a FROM visits",
            "SELECT MEDIAN(cost) AS m FROM visits",
            "SELECT COUNT(DISTINCT patient) AS p FROM visits",
            "SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient",
            "SELECT SUM(cost / 0) AS n FROM visits",
            "SELECT SUM(CAST(ward AS INTEGER)) AS n FROM visits",
            "SELECT * FROM visits",
            "SELECT MAX(patient) AS m FROM visits",
        )
    ]
    replies += [real.call("GET", url, "olga") for url in ("/v1/datasets", "/v1/budget", "/v1/answers", "/health")]
    replies += [real.call("GET", "/v1/ledger?dataset=clinic", who) for who in ("olga", "udo")]
    replies.append(real.call("POST", "/v1/queries", json={"quote": CANARY.lower()}))
    metrics = generate_latest(real.metrics.registry).decode()
    told = "".join(reply.text for reply in replies) + "".join(str(reply.headers) for reply in replies)
    for text in (told, real.log.getvalue(), metrics):
        assert CANARY not in text
        assert HUGE not in text
    assert 200 in {reply.status_code for reply in replies}
    assert not any(reply.status_code >= 500 for reply in replies)
    assert 'dither_requests_total{method="POST",route="/v1/queries",status="200"}' in metrics
    assert 'dither_budget_left{dataset="clinic"}' in metrics
    assert 'dither_questions_total{end="done"}' in metrics
    assert "dither_workers 1.0" in metrics


def test_many_at_a_time(real):
    """Requests of several connections, and one that goes away before its answer."""
    with httpx.Client(base_url=f"http://127.0.0.1:{real.port}", timeout=60) as client:
        client.headers["Authorization"] = f"Bearer {real.secrets['ana']}"
        with client.stream("POST", "/v1/queries", json=asked(epsilon="0.9"), headers={"Prefer": "wait=0"}) as reply:
            assert reply.status_code in (200, 202)
        found = client.post("/v1/queries", json=asked(epsilon="0.9"))
        assert (found.status_code, found.headers["dither-replay"]) in {(200, "true"), (200, "false")}
