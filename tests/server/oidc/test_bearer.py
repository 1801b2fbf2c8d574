"""Tokens of the provider at the API: one path with those of the gateway, and the same bytes for every one that is wrong."""

from __future__ import annotations

import threading
import time

import pytest

from dither.server.core.callers import Caller
from dither.server.core.config import Limits
from dither.server.core.problems import Problem
from dither.server.oidc.provider import Provider
from tests.server.oidc.doorkeeper import doorkeeper
from tests.server.oidc.providers import hang_up
from tests.server.oidc.signatures import claims, jwk, token
from tests.server.oidc.test_signed_token import FORGERIES

ME = "/v1/me"


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def mine(provider, number=0, **changes):
    return token(claims(time.time(), iss=provider.issuer, **changes), number=number)


def asked(provider):
    return provider.count["/keys"]


def test_a_script_needs_no_token_of_the_gateway(provider, gateway):
    found = gateway.browser().get(ME, mine(provider))
    assert found.status_code == 200
    told = found.json()
    assert (told["name"], told["role"], told["datasets"]) == ("oidc:ana", "analyst", ["clinic"])
    assert told["token"].startswith("oidc_")
    assert not gateway.tokens.list()
    assert f'"token": "{told["token"]}"' in gateway.log.getvalue()


def test_an_owner_who_does_not_say_so_has_none(provider, tmp_path):
    with doorkeeper(tmp_path, provider.issuer) as gateway:
        assert gateway.foreign_caller is None
        assert gateway.browser().get(ME, mine(provider)).status_code == 401
    assert not provider.count


def test_every_wrong_token_is_the_same_bytes(provider, gateway):
    browser = gateway.browser()
    expected = browser.get(ME)
    wrong = [token(claims(time.time())), "dth_x", "dth_aaaaaaaaaaaa_" + "a" * 52]
    wrong += [mine(provider, groups=["x"]), mine(provider, exp=1), mine(provider, number=1), mine(provider, sub="a\nb")]
    for text in (*wrong, "x" * 20_000):
        found = browser.get(ME, text)
        assert (found.status_code, found.content, dict(found.headers)) == (401, expected.content, dict(expected.headers))


def test_no_forgery_gets_past_the_gateway(provider, gateway):
    told = set()
    for text in FORGERIES.values():
        with pytest.raises(Problem) as problem:
            gateway.caller(text, "192.0.2.1")
        told.add(str(problem.value.to_json()))
    assert len(told) == 1


def test_wrong_tokens_are_counted_whosoever_they_would_be(provider, tmp_path):
    with doorkeeper(tmp_path, provider.issuer, bearer=True, limits=Limits(wrong_tokens_per_minute=2)) as gateway:
        browser = gateway.browser()
        assert [browser.get(ME, mine(provider, number=1)).status_code for _ in range(3)] == [401, 401, 429]
        assert browser.get(ME, mine(provider)).status_code == 200  # a right one passes, whatever its neighbours try


def test_keys_are_asked_for_once_and_again_when_they_are_old(provider, gateway):
    clock = Clock()
    found = Provider(gateway.config.oidc, clock=clock)
    for _ in range(3):
        assert isinstance(found.caller(mine(provider)), Caller)
    assert asked(provider) == 1
    clock.seconds = 3599
    assert found.caller(mine(provider))
    assert asked(provider) == 1
    clock.seconds = 3600
    assert found.caller(mine(provider))
    assert asked(provider) == 2


def test_a_new_key_is_found_and_unknown_ones_ask_once_a_minute(provider, gateway):
    clock = Clock()
    found = Provider(gateway.config.oidc, clock=clock)
    assert found.caller(mine(provider))
    provider.keys = [jwk("ES256", 1)]  # the old one is no key any more
    clock.seconds = 10
    assert found.caller(mine(provider, 1))
    assert asked(provider) == 2
    assert found.caller(mine(provider, 0)) is None
    for number in range(50):
        assert found.caller(token(claims(), number=1, header={"kid": f"guess-{number}"})) is None
    clock.seconds = 69.9
    assert found.caller(mine(provider, 0)) is None
    assert asked(provider) == 2
    clock.seconds = 70
    for number in range(50):
        assert found.caller(token(claims(), number=1, header={"kid": f"guess-{number}"})) is None
    assert asked(provider) == 3
    assert found.caller(mine(provider, 1))


def test_a_provider_that_is_down_leaves_what_is_known_for_an_hour(provider, gateway):
    clock = Clock()
    found = Provider(gateway.config.oidc, clock=clock)
    assert found.caller(mine(provider))
    provider.replies["/keys"] = hang_up
    clock.seconds = 100
    assert found.caller(mine(provider, 1)) is None  # nobody can be made to look as if the provider were down
    assert found.caller(mine(provider))
    clock.seconds = 3600
    before = asked(provider)
    for _ in range(10):
        with pytest.raises(Problem) as told:
            found.caller(mine(provider))
        assert told.value.status == 503
    assert asked(provider) == before + 1  # not once a request
    assert found.caller("dth_" + "a" * 60) is None
    provider.replies.clear()
    clock.seconds += 5
    assert found.caller(mine(provider))


def test_nobody_waits_while_another_asks_for_the_keys(provider, gateway):
    """One that is slow keeps one thread, and no more: the others look up tokens of the gateway."""
    came, go = threading.Event(), threading.Event()

    def slow(handler):
        came.set()
        go.wait(60)
        provider.replies.clear()
        provider.answer(handler)

    provider.replies["/keys"] = slow
    found, told = Provider(gateway.config.oidc), []
    first = threading.Thread(target=lambda: told.append(found.caller(mine(provider))))
    first.start()
    try:
        assert came.wait(60)
        with pytest.raises(Problem) as problem:
            found.caller(mine(provider))
        assert problem.value.status == 503
    finally:
        go.set()
        first.join()
    assert told[0].name == "oidc:ana"
    assert found.caller(mine(provider)).name == "oidc:ana"
