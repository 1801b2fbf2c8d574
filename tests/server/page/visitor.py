"""Somebody who looks at the page without a browser: requests as a browser would send them, cookies kept."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_network
from typing import Any

import httpx
from starlette.testclient import TestClient

from dither.server.app import create_app
from dither.server.core.gateway import Gateway
from dither.server.core.roles import Role

OURS = {"Sec-Fetch-Site": "same-origin"}
ADDRESSES = ip_network("10.0.0.0/8").hosts()


class Visitor:
    """A client of one gateway, with tokens by name."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        # Each comes from an address of its own: wrong tokens are counted by address.
        self.client = TestClient(
            create_app(gateway),
            base_url="http://127.0.0.1:8765",
            follow_redirects=False,
            client=(str(next(ADDRESSES)), 50_000),
        )
        self.secrets: dict[str, str] = {}
        self.ids: dict[str, str] = {}

    def add(self, name: str, role: Role = "analyst", datasets: Sequence[str] = ("*",)) -> str:
        """A new token for somebody; gives its secret."""
        token, secret = self.gateway.tokens.create(name=name, role=role, datasets=datasets)
        self.secrets[name], self.ids[name] = secret, token.id
        return secret

    def revoke(self, name: str) -> None:
        """Let somebody's token end."""
        self.gateway.tokens.revoke(self.ids[name])

    def enter(self, name: str) -> httpx.Response:
        """Log in, and be this person from now on."""
        self.client.cookies.clear()
        return self.post("/login", {"token": self.secrets[name]})

    def get(self, path: str, **request: Any) -> httpx.Response:
        """A page."""
        reply: httpx.Response = self.client.get(path, **request)
        return reply

    def post(self, path: str, form: dict[str, str], **request: Any) -> httpx.Response:
        """A form that a page of ours sends."""
        headers = {**OURS, "Content-Type": "application/x-www-form-urlencoded", **request.pop("headers", {})}
        reply: httpx.Response = self.client.post(path, data=form, headers=headers, **request)
        return reply
