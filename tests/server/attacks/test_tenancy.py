"""Another tenant's things are absent, in the same bytes; roles may do what they may; tokens end when they end."""

from __future__ import annotations

import itertools
import os
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from dither.server.core.problems import Problem
from tests.server.attacks.hostile_clinic import gateway, hostile_clinic
from tests.server.attacks.http_door import Door
from tests.server.gateways import count, run

COUNT = "SELECT COUNT(*) AS n FROM visits WHERE age > {}"
POLICY = "version = 1"
# Method, path and body of every route, with places for a dataset, an id and a number that was not asked before; and who
# may use it about a dataset of their own: o(wner), a(nalyst), u(auditor).
ROUTES = [
    ("GET", "/v1/me", None, "oau"),
    ("GET", "/v1/datasets", None, "oau"),
    ("GET", "/v1/datasets/{dataset}", None, "oau"),
    ("GET", "/v1/datasets/{dataset}/sample?table=visits&rows=3", None, "oau"),
    ("GET", "/v1/datasets/{dataset}/questions", None, "oau"),
    ("GET", "/v1/budget", None, "oau"),
    ("GET", "/v1/budget?dataset={dataset}", None, "oau"),
    ("GET", "/v1/answers", None, "oau"),
    ("GET", "/v1/answers?dataset={dataset}", None, "oau"),
    ("GET", "/v1/answers/{receipt}", None, "oau"),
    ("POST", "/v1/quotes", {"dataset": "{dataset}", "sql": COUNT.format(1), "epsilon": "0.1"}, "oau"),
    ("POST", "/v1/queries", {"dataset": "{dataset}", "sql": COUNT.format("{number}"), "epsilon": "0.001"}, "oa"),
    ("GET", "/v1/ledger?dataset={dataset}", None, "ou"),
    ("POST", "/v1/ledger/verify?dataset={dataset}", None, "ou"),
    ("POST", "/v1/policy/diff", {"dataset": "{dataset}", "policy": POLICY}, "o"),
    ("POST", "/v1/tokens", {"name": "eve", "role": "owner", "datasets": ["{dataset}"]}, "o"),
    ("GET", "/v1/tokens", None, "o"),
    ("DELETE", "/v1/tokens/{token}", None, "o"),
]
ROLES = {"o": "owner", "a": "analyst", "u": "auditor"}
UNIQUE = itertools.count(1000)


@pytest.fixture(scope="module")
def door(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tenancy")
    os.environ["DITHER_HOME"], before = str(folder / "home"), os.environ["DITHER_HOME"]
    answers = {"mine": "shared", "yours": "shared", "alone": "own"}
    datasets = [
        hostile_clinic(folder / name, name, budget='{ epsilon = "9" }', answers=how) for name, how in answers.items()
    ]
    with gateway(folder, datasets, events=[["age > 66", "read", "sleep 0.5"]]) as found:
        yield Door(found)
    os.environ["DITHER_HOME"] = before


def filled(body, **names: str):
    """A body with its places filled in."""
    if isinstance(body, dict):
        return {name: filled(value, **names) for name, value in body.items()}
    if isinstance(body, list):
        return [filled(value, **names) for value in body]
    return body.format(**names) if isinstance(body, str) else body


def asked(door: Door, who: dict[str, str], route, **names: str) -> httpx.Response:
    method, path, body, _ = route
    names |= {"number": f"{next(UNIQUE) / 10**6}"}
    return run(door.ask(method, path.format(**names), who, filled(body, **names)))


def things(door: Door, dataset: str) -> dict[str, str]:
    """A question, a quote, an answer and a token of a tenant."""
    who = door.secret(f"ana of {dataset}", "analyst", (dataset,))
    body = {"dataset": dataset, "sql": COUNT.format(f"{next(UNIQUE) / 10**6}"), "epsilon": "0.01"}
    quote = run(door.ask("POST", "/v1/quotes", who, body)).json()["id"]
    reply = run(door.ask("POST", "/v1/queries", who, {"quote": quote}))
    token = door.gateway.tokens.create(name="bob", datasets=(dataset,))[0].id
    assert reply.status_code == 200
    return {
        "quote": quote,
        "query": reply.json()["id"],
        "receipt": reply.headers["dither-receipt"],
        "token": token,
        "dataset": dataset,
    }


def same_bytes(one: httpx.Response, other: httpx.Response) -> bool:
    return (one.status_code, one.headers.raw, one.content) == (other.status_code, other.headers.raw, other.content)


@pytest.mark.parametrize("role", "oau")
def test_each_role_may_use_each_route_or_not(door, role):
    """Also with a body, a dataset or an id that is wrong: who may not, may not, whatever comes with it."""
    names = things(door, "mine")
    who = door.secret("who", ROLES[role], ("mine",))
    for route in ROUTES:
        reply = asked(door, who, route, **names)
        if role in route[3]:
            assert reply.status_code in (200, 201, 422), (route, reply.text)  # 422: no such policy
        else:
            assert reply.status_code == 403, (route, reply.text)
            assert "dither-receipt" not in reply.headers


def test_every_route_is_listed_here(door):
    """A route that is new comes here, with who may use it."""
    known = {
        path.partition("?")[0].replace("{dataset}", "{name}").replace("{receipt}", "{id}").replace("{token}", "{id}")
        for _, path, _, _ in ROUTES
    }
    free = {"/health", "/v1/queries/{id}", "/v1/queries/{id}/events"}
    assert set(door.app.openapi()["paths"]) - known - free == set()


@pytest.mark.parametrize("role", "oau")
def test_things_of_another_tenant_are_absent_in_the_same_bytes(door, role):
    theirs = things(door, "yours")
    who = door.secret("mallory", ROLES[role], ("mine",))
    none = {"dataset": "nothere", "receipt": "01234567-3", "token": "aaaaaaaaaaaa", "query": f"qy_{32 * '0'}"}
    for route in ROUTES:
        if "{" not in route[1] + str(route[2]).replace("{number}", "").replace("{'", ""):
            continue
        absent, other = (asked(door, who, route, **names) for names in (none, theirs))
        assert same_bytes(absent, other), (route, absent.text, other.text)
        assert absent.status_code in (403, 404), route
    for path in ("/v1/queries/{query}", "/v1/queries/{query}/events"):
        absent, other = (run(door.ask("GET", path.format(**names), who)) for names in (none, theirs))
        assert same_bytes(absent, other)
        assert absent.status_code == 404
    absent, other = (run(door.ask("POST", "/v1/queries", who, {"quote": q})) for q in (f"qt_{24 * '0'}", theirs["quote"]))
    assert same_bytes(absent, other)
    assert absent.status_code == (403 if role == "u" else 404)
    listed = [run(door.ask("GET", path, who)).text for path in ("/v1/datasets", "/v1/budget", "/v1/answers", "/v1/tokens")]
    assert not any("yours" in text for text in listed)


def test_a_colleague_of_the_same_dataset_sees_answers_as_the_owner_wants(door):
    shared, alone = things(door, "mine"), things(door, "alone")
    eve = door.secret("eve", "analyst", ("mine", "alone"))
    assert run(door.ask("GET", f"/v1/answers/{shared['receipt']}", eve)).status_code == 200
    absent, other = (run(door.ask("GET", f"/v1/answers/{receipt}", eve)) for receipt in ("01234567-3", alone["receipt"]))
    assert same_bytes(absent, other)
    assert "alone" not in run(door.ask("GET", "/v1/answers", eve)).text
    for names in (shared, alone):  # questions and quotes are their asker's
        absent, other = (run(door.ask("GET", f"/v1/queries/{one}", eve)) for one in (f"qy_{32 * '0'}", names["query"]))
        assert same_bytes(absent, other)
        assert run(door.ask("POST", "/v1/queries", eve, {"quote": names["quote"]})).status_code == 404


def test_an_owner_of_one_dataset_gets_no_hold_on_another(door):
    owner = door.secret("olga", "owner", ("mine",))
    for datasets in (["*"], ["yours"], ["mine", "yours"], ["mine", "*"], ["nothere"], []):
        reply = run(door.ask("POST", "/v1/tokens", owner, {"name": "eve", "role": "owner", "datasets": datasets}))
        assert reply.status_code in (403, 404, 422), reply.text
    wide, _ = door.gateway.tokens.create(name="w", datasets=("mine", "yours"))
    assert run(door.ask("DELETE", f"/v1/tokens/{wide.id}", owner)).status_code == 404
    assert wide.id not in run(door.ask("GET", "/v1/tokens", owner)).text


def test_tokens_that_are_none_are_one_reply(door):
    """Unknown, wrong, malformed, expired, revoked, missing, twice: one status, one body."""
    _, good = door.gateway.tokens.create(name="ana")
    expired = door.gateway.tokens.create(name="ana", expires=datetime.now(UTC) + timedelta(milliseconds=1))[1]
    gone, revoked = door.gateway.tokens.create(name="ana")
    door.gateway.tokens.revoke(gone.id)
    wrong = [
        f"{good[:-1]}{'b' if good[-1] == 'a' else 'a'}",
        good.upper(),
        good[:-1],
        f"{good}a",
        "dth_",
        "",
        "x" * 4000,
        good.replace("_", "-"),
    ]
    headers = [{"Authorization": f"Bearer {secret}"} for secret in [*wrong, expired, revoked]]
    headers += [
        {},
        {"Authorization": good},
        {"Authorization": f"Basic {good}"},
        {"X-Dither-Token": good},
        {"Cookie": f"token={good}"},
    ]
    while door.gateway.tokens.find(expired) is not None:  # until it is over
        pass
    replies = []
    for place, header in enumerate(headers):
        transport = httpx.ASGITransport(door.app, client=(f"10.0.0.{place}", 1), raise_app_exceptions=False)
        client = httpx.AsyncClient(transport=transport, base_url="http://gateway")
        replies.append(run(client.get("/v1/me", headers=header)))
    assert {reply.status_code for reply in replies} == {401}
    assert all(same_bytes(reply, replies[0]) for reply in replies)
    assert run(door.ask("GET", "/v1/me", {"Authorization": f"Bearer {good}"})).status_code == 200


def test_a_token_that_is_revoked_while_its_question_runs(door):
    """What was put goes on and is charged; nobody gets at it by that token any more."""
    found = door.gateway
    token, secret = found.tokens.create(name="short", datasets=("mine",))
    who = {"Authorization": f"Bearer {secret}"}
    body = {"dataset": "mine", "sql": COUNT.format(66), "epsilon": "0.01"}  # which takes a while
    reply = run(door.ask("POST", "/v1/queries", who, body, Prefer="wait=0"))
    assert reply.status_code == 202
    found.tokens.revoke(token.id)
    after = [run(door.ask("GET", path, who)) for path in (reply.headers["location"], "/v1/me", "/v1/datasets/mine")]
    assert {one.status_code for one in after} == {401}
    assert {one.content for one in after} == {after[0].content}
    again = found.caller(found.tokens.create(name="short", datasets=("mine",))[1], "127.0.0.1")
    question = run(found.question(again, reply.json()["id"], wait=30))
    assert question.state == "done"
    assert run(found.ask(again, count("age > 66", "mine", epsilon="0.01"), wait=30)).replay


def test_a_name_is_no_key_to_another_tenant(door):
    """Two tenants may call an analyst the same; a question of one is absent for the other."""
    theirs = things(door, "yours")
    same_name = door.gateway.caller(door.gateway.tokens.create(name="ana of yours", datasets=("mine",))[1], "127.0.0.1")
    with pytest.raises(Problem) as refused:
        run(door.gateway.question(same_name, theirs["query"]))
    assert refused.value.kind == "absent"
    with pytest.raises(Problem) as refused:
        run(door.gateway.ask(same_name, theirs["quote"]))
    assert refused.value.kind == "absent"
