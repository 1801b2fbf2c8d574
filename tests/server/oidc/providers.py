"""A provider on this machine that does as a test says, also what no provider should, and a browser."""

from __future__ import annotations

import hashlib
import itertools
import json
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from tests.server.gateways import run
from tests.server.oidc.signatures import b64, claims, jwk, token

Reply = Callable[[BaseHTTPRequestHandler], None]


class FakeProvider:
    """What it says of itself, its keys, the people at its door and the requests that it had."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.issuer = f"http://127.0.0.1:{port}"
        self.reset()

    def reset(self) -> None:
        """As good as new."""
        self.document: dict[str, Any] = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
        }
        self.keys = [jwk("ES256")]
        self.replies: dict[str, Reply] = {}  # by path, instead of what is right
        self.count: Counter[str] = Counter()
        self.heard: list[str] = []  # forms and headers that came to the token endpoint
        self.numbers = itertools.count()
        self.codes: dict[str, tuple[dict[str, str], str]] = {}

    def log_in(self, location: str, sign: Callable[[dict[str, Any]], str] = token, **changes: Any) -> dict[str, str]:
        """Somebody logs in where a browser was sent: the parameters with which the browser comes back."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
        code = f"code-{next(self.numbers)}"
        told = {"iss": self.issuer, "aud": asked["client_id"], "nonce": asked["nonce"]} | changes
        self.codes[code] = asked, sign(claims(time.time(), **told))
        return {"code": code, "state": asked["state"]}

    def exchange(self, form: dict[str, str]) -> dict[str, Any] | None:
        """An ID token for a code, once, for whoever has its verifier."""
        asked, signed = self.codes.pop(form.get("code", ""), ({}, ""))
        challenge = b64(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if not signed or asked["code_challenge"] != challenge or asked["redirect_uri"] != form["redirect_uri"]:
            return None
        return {"access_token": "opaque", "token_type": "Bearer", "id_token": signed}

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """One request."""
        path = urlsplit(handler.path).path
        self.count[path] += 1
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0))).decode()
        if path in self.replies:
            self.replies[path](handler)
        elif path == "/token":
            self.heard.append(f"{body} {handler.headers.get('Authorization', '')}")
            found = self.exchange({name: values[0] for name, values in parse_qs(body).items()})
            reply(200 if found else 400, found or {"error": "invalid_grant"})(handler)
        else:
            documents = {"/.well-known/openid-configuration": self.document, "/keys": {"keys": self.keys}}
            reply(200, documents[path])(handler)


def reply(status: int, value: Any, **headers: str) -> Reply:
    """JSON, or bytes as they are."""

    def write(handler: BaseHTTPRequestHandler) -> None:
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        handler.send_response(status)
        for name, text in {"Content-Length": str(len(body)), **headers}.items():
            handler.send_header(name, text)
        handler.end_headers()
        handler.wfile.write(body)

    return write


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    """No reply at all."""
    handler.close_connection = True


class Server(ThreadingHTTPServer):
    """Says nothing of those who go away."""

    def handle_error(self, *_: Any) -> None:
        """As it is meant here."""


@contextmanager
def serving(certificate: Path | None = None) -> Iterator[FakeProvider]:
    """One that listens; with a certificate by TLS."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.answer(self)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    server = Server(("127.0.0.1", 0), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    found = FakeProvider(server.server_port)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Browser:
    """Somebody's browser at a gateway: it keeps cookies, and goes nowhere by itself."""

    def __init__(self, app: Any, address: str = "192.0.2.1") -> None:
        self.app, self.address, self.cookies = app, address, httpx.Cookies()

    def get(self, url: str, token: str | None = None, /, **query: Any) -> httpx.Response:
        """One request."""
        return self._request("GET", url, token, params=query or None)

    def post(self, url: str, token: str, body: Any) -> httpx.Response:
        """One with a body."""
        return self._request("POST", url, token, json=body)

    def look(self, url: str, **query: Any) -> httpx.Response:
        """What people see of an address."""
        return self._request("GET", url, None, params=query or None, headers={"Accept": "text/html,*/*;q=0.8"})

    def _request(self, method: str, url: str, token: str | None, **what: Any) -> httpx.Response:
        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, client=(self.address, 5))
            headers = what.pop("headers", {}) | ({} if token is None else {"Authorization": f"Bearer {token}"})
            how: dict[str, Any] = {"transport": transport, "base_url": "http://127.0.0.1:8765", "cookies": self.cookies}
            async with httpx.AsyncClient(**how) as client:
                found = await client.request(method, url, headers=headers, **what)
                self.cookies = client.cookies
                return found

        return run(send())
