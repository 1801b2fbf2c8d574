"""Addresses: the peer's, or the last that the proxy before us adds; never what a client says of itself."""

from __future__ import annotations

import pytest

from dither.server.http.address import address_of
from tests.server.http.stand_in import StandIn, call


@pytest.mark.parametrize(
    ("peer", "forwarded", "proxy", "found"),
    [
        ("192.0.2.7", [], False, "192.0.2.7"),
        ("192.0.2.7", ["198.51.100.1"], False, "192.0.2.7"),  # nobody believes it without a proxy
        ("127.0.0.1", ["198.51.100.1"], True, "198.51.100.1"),
        ("127.0.0.1", ["10.0.0.1, 198.51.100.1"], True, "198.51.100.1"),  # the first was the client's own word
        ("127.0.0.1", ["10.0.0.1", "198.51.100.1:443"], True, "198.51.100.1"),
        ("127.0.0.1", ["unknown"], True, "127.0.0.1"),
        ("127.0.0.1", [""], True, "127.0.0.1"),
        ("2001:db8::1", [], False, "2001:db8::/64"),
        ("2001:db8:0:0:ffff::9", [], False, "2001:db8::/64"),  # who has one address there has all
        ("127.0.0.1", ["[2001:db8:1::5]:80"], True, "2001:db8:1::/64"),
        ("::ffff:192.0.2.7", [], False, "192.0.2.7"),
        ("fe80::1%eth0", [], False, "fe80::/64"),
        (None, [], False, "unknown"),
        ("/run/socket", [], False, "unknown"),
    ],
)
def test_the_address_of_a_request(peer, forwarded, proxy, found):
    assert address_of(peer, forwarded, proxy=proxy) == found


@pytest.mark.parametrize("proxy", [False, True])
def test_the_gateway_hears_it(proxy):
    gateway = StandIn(proxy=proxy)
    call(gateway, "GET", "/v1/me", headers={"X-Forwarded-For": "10.0.0.1, 198.51.100.1"})
    assert gateway.calls[0] == ("caller", ("analyst", "198.51.100.1" if proxy else "192.0.2.1"))


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ("Bearer dth_x", "dth_x"),
        ("bearer  dth_x ", "dth_x"),
        ("Basic dth_x", None),
        ("dth_x", None),
        ("Bearer", None),
        ("Bearer ", None),
        ("", None),
    ],
)
def test_the_secret_of_a_request(value, secret):
    gateway = StandIn()
    reply = call(gateway, "GET", "/v1/me", None, headers={"Authorization": value})
    assert reply.status_code == 401
    assert gateway.calls == [("caller", (secret, "192.0.2.1"))]
