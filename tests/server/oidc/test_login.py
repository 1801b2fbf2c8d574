"""The login: to the provider and back, and every way to come back that is not the way there."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from datetime import datetime
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from dither.errors import MissingExtraError
from dither.server.core.config import Limits
from dither.server.core.oidc_facts import OidcFacts
from dither.server.oidc.login import AT_ONCE, LOGINS
from dither.server.oidc.provider import Provider
from tests.server.http.stand_in import StandIn, call
from tests.server.oidc.doorkeeper import STAFF, doorkeeper
from tests.server.oidc.providers import hang_up, reply
from tests.server.oidc.signatures import jwk, token

CALLBACK = "/v1/login/callback"


def begun(browser):
    """Where a browser is sent."""
    found = browser.get("/v1/login")
    assert found.status_code == 302, found.text
    return found.headers["location"]


def logged_in(provider, browser, **claims):
    return browser.get(CALLBACK, **provider.log_in(begun(browser), **claims))


def test_a_login_gives_a_token_of_its_role_that_ends(provider, gateway):
    ana = gateway.browser()
    found = logged_in(provider, ana)
    assert found.status_code == 200
    told = found.json()
    assert (told["name"], told["role"], told["datasets"]) == ("oidc:ana", "analyst", ["clinic"])
    assert 0 < _hours(told) <= 8.01
    assert found.headers["cache-control"] == "no-store"
    assert "location" not in found.headers
    assert not ana.cookies  # the login is over
    assert ana.get("/v1/me", told["secret"]).json() == {
        "name": "oidc:ana", "role": "analyst", "datasets": ["clinic"], "token": told["id"],
    }  # fmt: skip
    gateway.tokens.revoke(told["id"])
    assert ana.get("/v1/me", told["secret"]).status_code == 401


def test_people_come_back_to_the_page_with_a_cookie_of_this_site(provider, gateway):
    ana = gateway.browser()
    found = ana.look(CALLBACK, **provider.log_in(begun(ana)))
    assert found.status_code == 200
    assert "dth_" not in found.text
    assert '<meta http-equiv="refresh" content="0; url=/">' in found.text
    ended, kept = found.headers.get_list("set-cookie")
    assert ended.startswith("dither-login=; Max-Age=0")
    assert kept.startswith("dither-token=dth_")
    assert kept.endswith("; Path=/; HttpOnly; SameSite=Strict")
    assert "Log in with your organisation" in ana.look("/login").text


def test_people_are_told_on_a_page_that_a_login_failed(gateway):
    found = gateway.browser().look(CALLBACK)
    assert found.status_code == 401
    assert found.headers["content-type"].startswith("text/html")
    assert "set-cookie" not in found.headers
    assert gateway.browser().look("/nothing").status_code == 404


def _hours(told):
    return (datetime.fromisoformat(told["expires"]) - datetime.fromisoformat(told["created"])).total_seconds() / 3600


def test_what_the_provider_is_asked_for(provider, gateway):
    ana, bob = gateway.browser(), gateway.browser()
    asked = parse_qs(urlsplit(begun(ana)).query)
    other = parse_qs(urlsplit(begun(bob)).query)
    assert begun(ana).startswith(f"{provider.issuer}/authorize?")
    assert asked["redirect_uri"] == ["http://127.0.0.1:8765/v1/login/callback"]
    assert (asked["response_type"], asked["scope"], asked["code_challenge_method"]) == (["code"], ["openid"], ["S256"])
    secrets = [asked[name][0] for name in ("state", "nonce", "code_challenge")]
    secrets += [other[name][0] for name in ("state", "nonce", "code_challenge")]
    assert len(set(secrets)) == 6
    assert all(len(each) == 43 for each in secrets)
    (cookie,) = ana.cookies.jar
    assert (cookie.name, cookie.path, cookie.has_nonstandard_attr("HttpOnly")) == ("dither-login", "/", True)
    assert cookie.value.partition(".")[2] not in begun(ana)


def test_over_tls_the_cookie_is_bound_to_the_host(provider, tmp_path):
    with doorkeeper(tmp_path, provider.issuer, address="https://gateway.example.org") as gateway:
        line = gateway.browser().get("/v1/login").headers["set-cookie"]
    assert line.startswith("__Host-dither-login=")
    assert line.endswith("; Max-Age=600; Path=/; HttpOnly; SameSite=Lax; Secure")


def test_the_secret_of_the_client_goes_to_the_provider_alone(provider, tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_SECRET", "ge:heim&")
    for methods in (None, ["client_secret_post"], ["client_secret_post", "client_secret_basic"]):
        provider.reset()
        if methods:
            provider.document["token_endpoint_auth_methods_supported"] = methods
        with doorkeeper(tmp_path, provider.issuer, client_secret_env="SOME_SECRET") as gateway:
            assert logged_in(provider, gateway.browser()).status_code == 200
        (heard,) = provider.heard
        if methods == ["client_secret_post"]:
            assert "client_secret=ge%3Aheim%26" in heard
            assert heard.endswith(" ")
        else:
            assert base64.b64decode(heard.rpartition("Basic ")[2]) == b"dither:ge%3Aheim%26"
            assert "client_secret" not in heard


# -- ways that are not the way ---------------------------------------------------------------------------------------


def refused(gateway, found):
    """The same bytes for every login that fails; no token was made."""
    expected = gateway.browser().get(CALLBACK)  # nobody at all
    assert (found.status_code, found.content) == (401, expected.content)
    assert found.headers["content-type"] == "application/problem+json"
    assert not gateway.tokens.list()


def test_nobody_comes_back_without_having_gone(provider, gateway):
    back = provider.log_in(begun(gateway.browser()))
    refused(gateway, gateway.browser().get(CALLBACK, **back))


@pytest.mark.parametrize("missing", ["code", "state"])
def test_a_part_that_is_missing_empty_or_twice(provider, gateway, missing):
    for value in (None, "", "x", "é", ["a", "b"], "a\nb", "x" * 5000):
        ana = gateway.browser()
        back = provider.log_in(begun(ana))
        right = back.pop(missing)
        more = {} if value is None else {missing: [right, *value] if isinstance(value, list) else value}
        refused(gateway, ana.get(CALLBACK, **back, **more))


def test_a_code_of_another_login_is_of_no_use(provider, gateway):
    """Somebody has the code of another, and puts it into a login of her own: neither verifier nor nonce fit."""
    ana, eve = gateway.browser(), gateway.browser()
    stolen = provider.log_in(begun(ana))["code"]
    own = provider.log_in(begun(eve), sub="eve")
    refused(gateway, eve.get(CALLBACK, code=stolen, state=own["state"]))


def test_nobody_is_logged_in_as_somebody_else_by_a_link(provider, gateway):
    """The link of eve's login, opened in ana's browser, with or without a login of ana's under way."""
    eve, ana = gateway.browser(), gateway.browser()
    link = provider.log_in(begun(eve), sub="eve")
    refused(gateway, ana.get(CALLBACK, **link))
    begun(ana)
    refused(gateway, ana.get(CALLBACK, **link))


def test_a_state_is_for_one_login(provider, gateway):
    ana = gateway.browser()
    location = begun(ana)
    kept = dict(ana.cookies)
    assert ana.get(CALLBACK, **provider.log_in(location)).status_code == 200
    (made,) = gateway.tokens.list()
    ana.cookies.update(kept)
    again = ana.get(CALLBACK, **provider.log_in(location))  # a new code for the same state, nonce and verifier
    assert again.status_code == 401
    assert gateway.tokens.list() == [made]


def test_a_code_is_for_one_login(provider, gateway):
    ana = gateway.browser()
    back = provider.log_in(begun(ana))
    assert ana.get(CALLBACK, **back).status_code == 200
    again = gateway.browser()
    state = provider.log_in(begun(again))["state"]
    assert again.get(CALLBACK, code=back["code"], state=state).status_code == 401
    assert len(gateway.tokens.list()) == 1


@pytest.mark.parametrize("nonce", [..., None, "", "other", 3, ["x"], "é"])
def test_a_nonce_of_another_login(provider, gateway, nonce):
    refused(gateway, logged_in(provider, gateway.browser(), nonce=nonce))


def test_a_login_is_over_after_ten_minutes(provider, gateway, monkeypatch):
    ana = gateway.browser()
    flow = gateway.app.state.login.provider
    now = flow.now()
    back = provider.log_in(begun(ana), exp=now + 3600)  # what the provider says is in force for longer
    monkeypatch.setattr(flow, "now", lambda: now + 601)
    refused(gateway, ana.get(CALLBACK, **back))


WRITTEN = ["x", "99999999999.AAAA", "99999999999." + "A" * 43, "0." + "A" * 43, "9" * 5000 + "." + "A" * 43]


@pytest.mark.parametrize("value", WRITTEN, ids=range(5))
def test_a_cookie_that_somebody_wrote(provider, gateway, value):
    ana = gateway.browser()
    back = provider.log_in(begun(ana))
    ana.cookies.set("dither-login", value, domain="127.0.0.1", path="/")
    refused(gateway, ana.get(CALLBACK, **back))


def test_a_provider_says_who_it_is_where_it_can(provider, gateway):
    """The answer of another provider (a mix-up): RFC 9207."""
    for issuer in ("https://other.example.org", "", [provider.issuer, provider.issuer]):
        ana = gateway.browser()
        refused(gateway, ana.get(CALLBACK, **provider.log_in(begun(ana)), iss=issuer))
    ana = gateway.browser()
    assert ana.get(CALLBACK, **provider.log_in(begun(ana)), iss=provider.issuer).status_code == 200


def test_a_provider_that_promises_to_say_who_it_is_must(provider, gateway):
    provider.document["authorization_response_iss_parameter_supported"] = True
    refused(gateway, logged_in(provider, gateway.browser()))


WRONG = [
    {"iss": "https://other.example.org"}, {"aud": "other"}, {"azp": "other"}, {"exp": 1}, {"iat": 2**40}, {"nbf": 2**40},
    {"groups": ["other"]}, {"groups": ...}, {"groups": {"staff": 1}}, {"sub": ...}, {"sub": "a\nb"}, {"sub": "x" * 500},
]  # fmt: skip


@pytest.mark.parametrize("claims", WRONG, ids=str)
def test_what_the_provider_says_of_nobody(provider, gateway, claims):
    refused(gateway, logged_in(provider, gateway.browser(), **claims))


def test_a_token_that_somebody_else_signed(provider, gateway):
    for sign in (
        lambda claims: token(claims, number=1, header={"kid": "ES256-0"}),
        lambda claims: token(claims, header={"alg": "none"}, secret=b""),
        lambda claims: token(claims, header={"alg": "HS256"}, secret=json.dumps(jwk("ES256")).encode()),
        lambda claims: "x" * 100_000,
        lambda claims: 3,
    ):
        refused(gateway, logged_in(provider, gateway.browser(), sign=sign))


def test_a_refusal_of_the_provider_and_its_text_go_no_further(provider, gateway):
    ana = gateway.browser()
    state = provider.log_in(begun(ana))["state"]
    said = {"error": "access_denied", "error_description": "<script>alert(1)</script>", "state": state}
    refused(gateway, ana.get(CALLBACK, **said))


@pytest.mark.parametrize("word", ["next", "redirect", "redirect_uri", "return_to", "url", "target"])
def test_no_parameter_says_where_to_go(provider, gateway, word):
    ana, there = gateway.browser(), "https://attacker.example.org"
    away = ana.get("/v1/login", **{word: there})
    assert away.headers["location"].startswith(f"{provider.issuer}/authorize?")
    assert "attacker" not in away.headers["location"]
    back = ana.get(CALLBACK, **provider.log_in(away.headers["location"]), **{word: there})
    assert (back.status_code, "location" in back.headers, "attacker" in back.text) == (200, False, False)


def test_no_header_says_where_to_go(provider, gateway):
    """The address of the gateway is the owner's word; a request may say what it likes."""

    async def run():
        transport = httpx.ASGITransport(gateway.app, client=("192.0.2.1", 5))
        headers = {"Host": "attacker.example.org", "X-Forwarded-Host": "attacker.example.org", "Forwarded": "host=attacker"}
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway", headers=headers) as client:
            return await client.get("/v1/login")

    assert "attacker" not in asyncio.run(run()).headers["location"]


# -- a provider that is not there ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/keys", "/token"])
def test_a_provider_that_is_down_is_one_text_and_tokens_go_on(provider, gateway, path):
    secret = gateway.tokens.create(name="olga", role="owner", datasets=("*",))[1]
    told = set()
    for wrong in (
        hang_up,
        reply(500, {"error": "geheim"}),
        reply(200, b"geheim"),
        reply(302, {}, Location="https://geheim"),
    ):
        provider.replies.clear()
        ana = gateway.browser()
        gateway.app.state.login.provider.__init__(gateway.config.oidc)  # nothing is kept
        if path == "/.well-known/openid-configuration":
            provider.replies[path] = wrong
            found = ana.get("/v1/login")
        else:
            back = provider.log_in(begun(ana))
            provider.replies[path] = wrong
            found = ana.get(CALLBACK, **back)
        told.add((found.status_code, found.content))
        assert found.headers["retry-after"] == "5"
        assert ana.get("/v1/me", secret).status_code == 200
    ((status, text),) = told
    assert (status, b"geheim" in text, json.loads(text)["title"]) == (503, False, "Nobody can log in now")
    assert len(gateway.tokens.list()) == 1


def test_logins_that_fail_are_few_from_an_address(provider, tmp_path):
    with doorkeeper(tmp_path, provider.issuer, limits=Limits(wrong_tokens_per_minute=3)) as gateway:
        eve = gateway.browser()
        for _ in range(3):
            back = provider.log_in(begun(eve))
            assert eve.get(CALLBACK, code="guess", state=back["state"]).status_code == 401
        asked = provider.count["/token"]
        assert asked == 3
        back = provider.log_in(begun(eve))
        assert eve.get(CALLBACK, **back).status_code == 429
        assert provider.count["/token"] == asked
        ana = gateway.browser(address="192.0.2.2")
        assert logged_in(provider, ana).status_code == 200


def test_a_person_has_few_tokens_an_hour(provider, gateway):
    ana = gateway.browser()
    for _ in range(LOGINS):
        assert logged_in(provider, ana).status_code == 200
    found = logged_in(provider, ana)
    assert (found.status_code, int(found.headers["retry-after"]) > 0) == (429, True)
    made = gateway.tokens.list()
    assert [token.revoked is None for token in made] == [False] * (LOGINS - AT_ONCE) + [True] * AT_ONCE
    assert logged_in(provider, gateway.browser(), sub="bob").status_code == 200


def test_the_description_says_that_a_login_needs_no_token(gateway):
    paths = gateway.browser().get("/openapi.json").json()["paths"]
    for path, status in (("/v1/login", "302"), (CALLBACK, "200")):
        assert paths[path]["get"]["security"] == []
        assert status in paths[path]["get"]["responses"]


def test_a_gateway_without_a_provider_has_no_login():
    assert call(StandIn(), "GET", "/v1/login").status_code == 404


def test_who_lacks_the_library_hears_so_when_it_starts(provider, monkeypatch):
    monkeypatch.setitem(sys.modules, "joserfc", None)
    with pytest.raises(MissingExtraError, match="server-oidc"):
        Provider(OidcFacts(provider.issuer, "dither", STAFF))


def test_no_log_holds_a_token_or_a_code(provider, gateway, caplog, capfd):
    ana = gateway.browser()
    location = begun(ana)
    back = provider.log_in(location)
    id_token = provider.codes[back["code"]][1]
    kept = dict(ana.cookies)["dither-login"]
    secret = ana.get(CALLBACK, **back).json()["secret"]
    ana.get("/v1/me", id_token)
    ana.get(CALLBACK, **back)
    nonce = parse_qs(urlsplit(location).query)["nonce"][0]
    said = "".join([gateway.log.getvalue(), caplog.text, *capfd.readouterr()])
    assert len(gateway.log.getvalue().splitlines()) == 4
    assert not [each for each in (*back.values(), id_token, secret, kept, nonce, "ana") if each in said]
