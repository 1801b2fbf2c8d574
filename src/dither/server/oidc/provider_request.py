"""Requests to the provider: over TLS, to where the configuration and the discovery say, bounded in size and in time.

No redirect is followed, no compression is read, and no variable of the environment names a proxy. A watch ends the
connection when the time is over, whatever the other side does: one byte a second is no way to stay.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

from dither.server.core.oidc_facts import LOOPBACK
from dither.server.oidc.refusals import CodeRefusedError, ProviderError

SECONDS = 5.0  # from the connection to the last byte
BYTES = 262_144  # of a reply
REFUSED = (400, 403)  # of a code; 401 is of the client, which is the owner's to mend
Json = dict[str, Any]


def must_be_safe(url: Any, *, plain: bool = False) -> str:
    """An address that may be asked: https; `plain` allows http on this machine.

    Raises:
        ProviderError: it is none.
    """
    if not isinstance(url, str) or not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise ProviderError
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ProviderError from None
    right = parts.scheme == "https" or (plain and parts.scheme == "http" and host in LOOPBACK)
    if not right or not host or parts.username is not None or parts.fragment:
        raise ProviderError
    return url


def is_plain(issuer: str) -> bool:
    """Whether the provider is on this machine, and speaks without TLS."""
    return urlsplit(issuer).scheme == "http"


def request_json(
    url: str, *, plain: bool, form: str | None = None, headers: dict[str, str] | None = None, seconds: float = SECONDS
) -> Json:
    """The object of JSON at an address; with a `form` it is posted.

    Raises:
        CodeRefusedError: the provider refuses what it was sent.
        ProviderError: there is none, in that time and of that size.
    """
    parts = urlsplit(must_be_safe(url, plain=plain))
    host, tls = parts.hostname or "", parts.scheme == "https"
    path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
    sent = {"Host": parts.netloc, "Accept": "application/json", **(headers or {})}
    if form is not None:
        sent["Content-Type"] = "application/x-www-form-urlencoded"
    try:
        with _connected(host, parts.port or (443 if tls else 80), tls, seconds) as link:
            watch = threading.Timer(seconds, _end, (link,))
            watch.daemon = True
            watch.start()
            try:
                if isinstance(link, ssl.SSLSocket):
                    link.do_handshake()
                return _exchange(link, "GET" if form is None else "POST", path, form, sent)
            finally:
                watch.cancel()
    except (OSError, HTTPException, ValueError, RecursionError):
        raise ProviderError from None  # its text may hold a code, or what the provider sent


def _connected(host: str, port: int, tls: bool, seconds: float) -> socket.socket:
    link = socket.create_connection((host, port), timeout=seconds)
    if not tls:
        return link
    try:
        return ssl.create_default_context().wrap_socket(link, server_hostname=host, do_handshake_on_connect=False)
    except BaseException:
        link.close()
        raise


def _end(link: socket.socket) -> None:
    with suppress(OSError):
        link.shutdown(socket.SHUT_RDWR)


def _exchange(link: socket.socket, method: str, path: str, form: str | None, headers: dict[str, str]) -> Json:
    connection = HTTPConnection("provider")
    connection.sock, connection.auto_open = link, 0
    connection.request(method, path, form, headers)
    with connection.getresponse() as reply:
        if reply.status != 200:
            raise CodeRefusedError if reply.status in REFUSED else ProviderError
        body = reply.read(BYTES + 1)
    if len(body) > BYTES:
        raise ProviderError
    found = json.loads(body)
    if not isinstance(found, dict):
        raise ProviderError
    return found
