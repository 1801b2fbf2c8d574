"""Tokens on the page: made and ended by forms alone, by the rules of the API; a secret is in one reply and nowhere else."""

from __future__ import annotations

import re
from html import unescape

import pytest

from tests.server.gateways import config, finished, run, running
from tests.server.gateways import count as asked
from tests.server.page.visitor import Visitor

SECRET = re.compile(r"dth_[a-z2-7]{12}_[a-z2-7]{52}")
FORM = {
    "name": "ben",
    "role": "analyst",
    "dataset:shop": "yes",
    "days": "30",
    "epsilon": "",
    "delta": "",
    "rho": "",
    "daily": "",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory):
    with running(config(tmp_path_factory.mktemp("shop"), "clinic", "shop", "mill")) as gateway:
        yield gateway


@pytest.fixture
def olga(shop) -> Visitor:
    made = Visitor(shop)
    made.add("olga", "owner")
    made.enter("olga")
    return made


def entries(olga: Visitor, name: str) -> int:
    who = olga.gateway.caller(olga.secrets["olga"], "127.0.0.1")
    found: int = run(olga.gateway.verify(who, name))["entries"]
    return found


def test_a_token_is_made_and_its_secret_is_shown_once(olga: Visitor):
    before = len(olga.gateway.tokens.list())
    reply = olga.post("/people", FORM)
    assert (reply.status_code, reply.headers["cache-control"]) == (201, "no-store")
    assert "location" not in reply.headers
    (secret,) = set(SECRET.findall(reply.text))
    assert f'href="/login#token={secret}"' in reply.text
    token = olga.gateway.tokens.find(secret)
    assert token is not None
    assert (token.name, token.role, token.datasets) == ("ben", "analyst", ("shop",))
    assert (token.expires - token.created).days in (29, 30)
    assert len(olga.gateway.tokens.list()) == before + 1
    for path in ("/people", "/people?ended=yes", "/history?dataset=shop", "/data"):
        page = olga.get(path).text
        assert not SECRET.search(page)
    assert token.id in olga.get("/people").text
    assert "never" in olga.get("/people").text


def test_a_share_is_written_into_the_ledger_after_its_consequences_were_seen(olga: Visitor):
    form = FORM | {"dataset:shop": "yes", "name": "cleo", "epsilon": "0.5", "daily": "0.25", "days": "0"}
    before, tokens = entries(olga, "shop"), len(olga.gateway.tokens.list())
    page = olga.post("/people", form)
    assert page.status_code == 200
    assert "this is the first share" in page.text
    assert 'name="sure"' in page.text
    assert 'value="0.5"' in page.text  # what was typed stays
    assert "checked" in page.text
    assert (entries(olga, "shop"), len(olga.gateway.tokens.list())) == (before, tokens)
    reply = olga.post("/people", form | {"sure": "yes"})
    assert reply.status_code == 201
    assert "shop: a share of ε = 0.5" in reply.text
    assert "It does not end by itself." in reply.text
    assert entries(olga, "shop") == before + 1
    listed = unescape(olga.get("/people").text)
    assert "shop: 100% left of ε = 0.5 (add/remove one person)" in listed
    assert "ε = 0.25 (add/remove one person)" in listed
    # What is spent is told.
    secret = SECRET.search(reply.text)[0]
    who = olga.gateway.caller(secret, "127.0.0.1")
    assert run(finished(olga.gateway, who, asked(dataset="shop"))).state == "done"
    assert "shop: 80% left of ε = 0.5" in unescape(olga.get("/people").text)
    # A second token of the name has the same share; another share is refused as by the API.
    assert olga.post("/people", form | {"daily": ""}).status_code == 201
    refused = olga.post("/people", form | {"epsilon": "0.7", "sure": "yes"})
    assert refused.status_code == 422
    assert "cleo has a share of" in refused.text


def test_a_share_above_what_is_left_has_a_caution(olga: Visitor):
    form = FORM | {"name": "dora", "epsilon": "2.95"}
    del form["dataset:shop"]
    before = entries(olga, "mill")
    page = unescape(olga.post("/people", form | {"dataset:mill": "yes"}).text)
    assert "more than what is left" not in page  # it is just within
    page = unescape(olga.post("/people", form | {"dataset:mill": "yes", "epsilon": "3.5"}).text)
    assert "mill: the share is more than what is left of the budget (100% of the budget)" in page
    assert entries(olga, "mill") == before


WRONG = [
    ({"name": ""}, "name"),
    ({"name": "a\nb"}, "name"),
    ({"name": 201 * "a"}, "name"),
    ({"role": "king"}, "role"),
    ({"days": "-1"}, "days"),
    ({"days": "ten"}, "days"),
    ({"days": "36501"}, "days"),
    ({"days": "٣"}, "days"),
    ({"days": ""}, "days"),
    ({"epsilon": "1", "rho": "1"}, "epsilon, rho"),
    ({"epsilon": "much"}, "epsilon"),
    ({"epsilon": "-1"}, "epsilon"),
    ({"epsilon": "nan"}, "epsilon"),
    ({"epsilon": 201 * "1"}, "share.epsilon"),
    ({"delta": "1e-6"}, "delta"),
    ({"daily": "0.1"}, "daily"),
    ({"role": "auditor", "epsilon": "1"}, "role"),
    ({"extra": "1"}, "extra"),
    ({"dataset:none": "yes"}, None),
    ({"dataset:\u202e<b>": "yes"}, None),
]


@pytest.mark.parametrize(("wrong", "where"), WRONG, ids=str)
def test_what_is_wrong_is_told_in_place_and_nothing_is_written(olga: Visitor, wrong: dict[str, str], where: str | None):
    form = {name: text for name, text in FORM.items() if name != "dataset:shop"} | {"dataset:clinic": "yes", "sure": "yes"}
    before, tokens = entries(olga, "clinic"), len(olga.gateway.tokens.list())
    reply = olga.post("/people", form | wrong)
    assert reply.status_code == (404 if where is None else 422)
    assert where is None or f"Where: {where}" in unescape(reply.text)
    assert 'role="alert"' in reply.text
    assert "<b>" not in reply.text
    assert "\u202e" not in reply.text
    assert (entries(olga, "clinic"), len(olga.gateway.tokens.list())) == (before, tokens)


def test_none_chosen_is_refused(olga: Visitor):
    reply = olga.post("/people", {"name": "ben"})
    assert (reply.status_code, "Where: datasets" in reply.text) == (422, True)


def test_an_owner_of_one_dataset_gives_away_no_other(olga: Visitor):
    olga.add("otto", "owner", ["shop"])
    wide, _ = olga.gateway.tokens.create(name="wide", datasets=("clinic", "shop"))
    olga.enter("otto")
    page = olga.get("/people").text
    assert "wide" not in page
    assert "clinic" not in page
    assert 'name="dataset:*"' not in page
    for name, status in (("*", 403), ("clinic", 404), ("none", 404)):
        assert olga.post("/people", {"name": "eve", f"dataset:{name}": "yes"}).status_code == status
    for path in (f"/people?revoke={wide.id}", f"/people?revoked={wide.id}", "/people?revoke=none"):
        assert olga.get(path).status_code == 404
    assert olga.post("/people/revoke", {"id": wide.id, "sure": "yes"}).status_code == 404
    assert next(token for token in olga.gateway.tokens.list() if token.id == wide.id).revoked is None


def test_a_token_ends_after_a_question_whether_it_shall(olga: Visitor):
    token, secret = olga.gateway.tokens.create(name="<i>eve", datasets=("shop",))
    page = olga.get(f"/people?revoke={token.id}").text
    assert olga.gateway.tokens.find(secret) is not None  # asking ends nothing
    assert "<i>" not in page
    assert "\u202e" not in page
    assert "the token that you use now: you will be" not in page
    for form in ({"id": token.id}, {"id": token.id, "sure": "no"}, {"id": token.id, "sure": "yes", "more": "1"}):
        assert olga.post("/people/revoke", form).status_code == 422
    assert olga.gateway.tokens.find(secret) is not None
    reply = olga.post("/people/revoke", {"id": token.id, "sure": "yes"})
    assert (reply.status_code, reply.headers["location"]) == (303, f"/people?revoked={token.id}")
    assert olga.gateway.tokens.find(secret) is None
    page = olga.get(reply.headers["location"]).text
    assert "has ended" in page
    assert f"revoke={token.id}" not in page
    assert "revoked" in olga.get("/people?ended=yes").text
    assert "you will be logged out" in olga.get(f"/people?revoke={olga.ids['olga']}").text


def test_many_tokens_come_in_pages(olga: Visitor, monkeypatch):
    monkeypatch.setattr("dither.server.page.routes.people.LINES", 2)
    for _ in range(3):
        olga.gateway.tokens.create(name="many", datasets=("shop",))
    first, second = olga.get("/people").text, olga.get("/people?page=2").text
    assert first.count('href="/people?revoke=') == 2
    assert "/people?page=2#tokens" in first
    assert "/people?page=1#tokens" in second
    assert olga.get("/people?page=9999").status_code == 200
    for wrong in ("0", "-1", "x", "1e3", "99999999999"):
        assert olga.get(f"/people?page={wrong}").status_code == 422
    assert olga.get("/people?ended=no").status_code == 422
