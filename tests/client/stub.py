"""A server for tests that says whatever it is told to, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "dth_abc_SECRETSECRET"
ME = {"name": "ana", "role": "analyst", "datasets": ["clinic"], "token": "abc"}
COLUMN = {"name": "ward", "type": "text", "bounds": None, "step": None, "keys": ["A", "B"], "nullable": True}
TABLE = {"name": "visits", "public": False, "person": "patient", "max_rows": 6, "columns": [COLUMN]}
DATASET = {"name": "clinic", "domain": "clinic", "unit": "add/remove one person", "data_version": "1", "tables": [TABLE]}
GUARANTEE = {"guarantee": 1, "parts": [{"entries": [["1/2", "0", 1]], "kind": "approx"}], "unit": "add/remove one person"}
QUOTE = {
    **{"id": "qt_1", "dataset": "clinic", "sql": "SELECT", "free": False, "price": "ε = 0.5", "epsilon": 0.5},
    **{"guarantee": GUARANTEE, "confidence": "19/20", "errors": {"n": 6.0}, "left": 41, "words": "n is off by at most 6"},
    **{"explain": "Question   ...", "describe": "Asks ...", "unprotected": "", "slot": None},
}


@dataclass
class Said:
    """A reply: JSON where `body` is no bytes."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    kind: str | None = None
    raw: Callable[[Any], None] | None = None  # writes to the connection itself

    @property
    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass
class Heard:
    """A request."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


class Stub:
    """Replies by method and path: a list is taken in turn, and its last one stays."""

    def __init__(self) -> None:
        self.replies: dict[str, Said | list[Said] | Callable[[Heard], Said]] = {
            "GET /v1/me": Said(body=ME),
            "GET /v1/datasets": Said(body={"datasets": [DATASET]}),
            "GET /v1/datasets/clinic": Said(body=DATASET),
            "POST /v1/quotes": Said(body=QUOTE),
        }
        self.heard: list[Heard] = []
        self.url = ""

    def asked(self, method: str, path: str) -> list[Heard]:
        return [one for one in self.heard if (one.method, one.path) == (method, path)]

    def reply(self, heard: Heard) -> Said:
        found = self.replies.get(f"{heard.method} {heard.path.partition('?')[0]}", problem("absent", 404))
        if isinstance(found, list):
            return found.pop(0) if len(found) > 1 else found[0]
        return found if isinstance(found, Said) else found(heard)


def problem(kind: str, status: int, headers: dict[str, str] | None = None, **told: Any) -> Said:
    body = {"type": f"urn:dither:{kind}", "title": "no", "status": status, **told}
    return Said(status, body, headers or {}, "application/problem+json")


def done(answer: str, **told: Any) -> Said:
    return Said(body={"id": "qy_1", "dataset": "clinic", "state": "done", "answer": json.loads(answer), **told})


@contextmanager
def serving(stub: Stub, tls: Any = None) -> Iterator[Stub]:
    class Handler(BaseHTTPRequestHandler):
        def _all(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            heard = Heard(self.command, self.path, dict(self.headers), json.loads(body) if body else None)
            stub.heard.append(heard)
            said = stub.reply(heard)
            if said.raw is not None:
                said.raw(self)
                self.close_connection = True
                return
            self.send_response(said.status)
            for name, value in {"Content-Type": said.kind or "application/json", **said.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(said.content)))
            self.end_headers()
            self.wfile.write(said.content)

        do_GET = do_POST = _all  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:  # a client that does not trust us hangs up
            pass

    server = Server(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    stub.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
