"""Logins by a token, the cookie, and what other sites can make a browser send."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from starlette.requests import Request

from dither.server.core.config import GatewayConfig
from dither.server.http.session_cookie import cookie_line, is_same_origin
from dither.server.page.routes.login import onward
from tests.server.page.visitor import OURS, Visitor

CONFIG = GatewayConfig((), "gateway.db")


def test_a_token_becomes_a_cookie_that_scripts_and_other_sites_have_not(visitor: Visitor):
    reply = visitor.enter("ana")
    assert (reply.status_code, reply.headers["location"]) == (303, "/ask")
    told = reply.headers["set-cookie"].split("; ")
    assert told == [f"dither-token={visitor.secrets['ana']}", "Path=/", "HttpOnly", "SameSite=Strict"]


def test_with_tls_the_cookie_is_of_this_host_alone():
    for config in (replace(CONFIG, certificate=Path("a.pem")), replace(CONFIG, proxy=True)):
        line = cookie_line(config, "dth_a_b")
        assert line == "__Host-dither-token=dth_a_b; Path=/; HttpOnly; SameSite=Strict; Secure"


@pytest.mark.parametrize("secret", ["", "x", "dth_", "dth_aaaaaaaaaaaa_b", "\x00", "é" * 100, "a; Path=/x"])
def test_a_wrong_token_is_told_on_the_page(visitor: Visitor, secret: str):
    reply = visitor.post("/login", {"token": secret})
    assert reply.status_code == 401
    assert "set-cookie" not in reply.headers
    assert reply.text.lower().count("no valid token") == 1
    assert len(secret) < 8 or secret not in reply.text


def test_many_wrong_tokens_of_an_address_are_told_to_wait(visitor: Visitor):
    statuses = [visitor.post("/login", {"token": "dth_no"}).status_code for _ in range(7)]
    assert statuses[0] == 401
    assert statuses[-1] == 429
    assert visitor.enter("ana").status_code == 303  # the right one passes


@pytest.mark.parametrize(
    ("wanted", "goes"),
    [
        ("/answers?q=a%20b", "/answers?q=a%20b"),
        *((bad, "/") for bad in ("//evil.example", "/\\evil.example", "https://evil.example", "", "evil", "/login?next=/")),
        *((bad, "/") for bad in ("/a\nb", "/a\r\nSet-Cookie: a=b", "javascript:alert(1)", "/\t/evil.example", "/é")),
    ],
)
def test_the_way_after_a_login_stays_on_this_site(wanted: str, goes: str):
    assert onward(wanted) == goes


def test_who_has_no_cookie_is_sent_to_the_login_and_back(visitor: Visitor):
    reply = visitor.get("/answers?q=a b")
    assert reply.status_code == 303
    assert reply.headers["location"] == "/login?next=%2Fanswers%3Fq%3Da%2520b"


def test_a_link_on_another_site_goes_on_by_itself(visitor: Visitor):
    reply = visitor.get("/answers", headers={"Sec-Fetch-Site": "cross-site"})
    assert reply.status_code == 200
    assert '<meta http-equiv="refresh" content="0; url=/answers">' in reply.text


def test_a_token_that_was_revoked_ends_the_cookie_and_says_so(visitor: Visitor):
    visitor.enter("ana")
    assert visitor.get("/answers").status_code == 200
    visitor.revoke("ana")
    reply = visitor.get("/answers")
    assert reply.status_code == 303
    assert reply.headers["location"] == "/login?next=%2Fanswers&ended=1"
    assert "Max-Age=0" in reply.headers["set-cookie"]
    assert "has ended, or was revoked" in visitor.get(reply.headers["location"]).text


def test_the_cookie_counts_for_the_api_only_where_a_page_of_ours_asks(visitor: Visitor):
    visitor.enter("ana")
    assert visitor.get("/v1/me", headers=OURS).status_code == 200
    others: list[dict[str, str]] = [{}, {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "none"}]
    others += [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://evil.example"}, OURS | {"Authorization": "Bearer no"}]
    for headers in others:
        assert visitor.get("/v1/me", headers=headers).status_code in (401, 429)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", "same-origin, same-origin", ""])
def test_no_other_site_sends_a_form(visitor: Visitor, site: str):
    for path in ("/login", "/logout"):
        reply = visitor.client.post(path, data={"token": visitor.secrets["ana"]}, headers={"Sec-Fetch-Site": site})
        assert reply.status_code == 403
        assert "set-cookie" not in reply.headers


def test_everybody_begins_at_a_page_of_theirs(visitor: Visitor):
    visitor.add("eve", "auditor")
    for name, first in (("ana", "/ask"), ("eve", "/answers")):
        for reply in (visitor.enter(name), visitor.get("/")):
            assert (reply.status_code, reply.headers["location"]) == (303, first)
        assert visitor.get(first).status_code == 200


def test_logout_ends_the_cookie(visitor: Visitor):
    visitor.enter("ana")
    reply = visitor.post("/logout", {})
    assert (reply.status_code, reply.headers["location"]) == (303, "/login")
    assert visitor.get("/answers").status_code == 303


def _request(**headers: str) -> Request:
    told = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "headers": told})


def test_pages_let_a_browser_say_where_their_requests_come_from(visitor: Visitor):
    reply = visitor.get("/login")
    assert reply.headers["referrer-policy"] == "same-origin"  # with no-referrer a form has the Origin "null"
    assert 'name="referrer"' not in reply.text


def test_who_brings_no_cookie_keeps_it(visitor: Visitor):
    assert "set-cookie" not in visitor.get("/answers").headers  # a link on another site, from a browser that does not say so


def test_a_browser_that_says_no_site_says_its_origin():
    assert is_same_origin(_request(host="a:1", origin="http://a:1"))
    assert not is_same_origin(_request(host="a:1", origin="http://a:2"))
    assert not is_same_origin(_request(host="a:1", origin="null"))
    assert not is_same_origin(_request(host="", origin="http://"))
    assert not is_same_origin(_request(host="a:1"))
    assert not is_same_origin(_request(host="a:1", origin="http://[a:1"))
    assert is_same_origin(_request(host="a:1", referer="http://a:1/ask?sql=b"))  # of a script's GET, which has no Origin
    assert not is_same_origin(_request(host="a:1", referer="http://a:2/ask"))
    assert not is_same_origin(_request(host="a:1", referer="http://a:1@b:1/"))
    assert not is_same_origin(_request(host="a:1", origin="null", referer="http://a:1/"))
    assert not is_same_origin(_request(host="a:1", origin="http://a:1", sec_fetch_site="same-site"))


@pytest.mark.parametrize("body", [b"token=%ff", b"token=a&token=b", b"\xff", b"&" * 5000])
def test_forms_that_cannot_be_read_are_refused(visitor: Visitor, body: bytes):
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    reply = visitor.client.post("/login", content=body, headers=OURS | kind)
    assert reply.status_code in (401, 422)


def test_assets_are_kept_forever_and_only_of_this_version(visitor: Visitor):
    page = visitor.get("/login").text
    address = page.split('stylesheet" href="')[1].split('"')[0]
    reply = visitor.get(address)
    assert reply.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert reply.headers["content-type"] == "text/css; charset=utf-8"
    version = address.split("/")[2]
    for bad in (address.replace(version, "0" * 16), f"/assets/{version}/nothing.css", f"/assets/{version}/..%2Frender.py"):
        assert visitor.get(bad).status_code == 404
