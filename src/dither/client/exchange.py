"""One request and its reply over HTTP, bounded in time and size. Nothing is followed, nothing is believed.

A new connection each time: what an earlier reply left behind reaches nobody, and threads share nothing. Proxies of the
environment are not used: a token goes to the address that was given, and nowhere else.
"""

from __future__ import annotations

import io
import socket
import ssl
import time
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead, RemoteDisconnected
from typing import TYPE_CHECKING, Any

from dither.client.address import Address
from dither.client.token import Token
from dither.errors import GatewayError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from _typeshed import WriteableBuffer

PIECE = 65_536
WORKING = "the address of a gateway: dither serve prints it"


@dataclass(frozen=True)
class Request:
    """What is sent."""

    method: str
    path: str
    body: bytes | None = None
    accept: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    most: int = 16 * 2**20  # bytes of the reply


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    kind: str  # of its body: 'application/json'
    body: bytes
    retry_after: float | None = None  # seconds


class LostError(Exception):
    """There is no whole reply. `sent`: the request may have arrived."""

    def __init__(self, why: str, *, sent: bool) -> None:
        super().__init__(why)
        self.why, self.sent = why, sent


class _TimedBytes(io.RawIOBase):
    """What a socket gives, until a moment: a reply that comes drop by drop ends then, too."""

    def __init__(self, connected: socket.socket, end: float, held: io.BufferedIOBase) -> None:
        self._connected, self._end, self._held = connected, end, held  # the connection is open as long as `held` is

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connected.settimeout(left)
        return self._connected.recv_into(buffer)

    def close(self) -> None:
        self._held.close()
        super().close()


class _TimedResponse(HTTPResponse):
    def __init__(self, connected: socket.socket, *given: Any, end: float, **named: Any) -> None:
        super().__init__(connected, *given, **named)
        self.fp = io.BufferedReader(_TimedBytes(connected, end, self.fp), PIECE)


def exchange(address: Address, token: Token, request: Request, *, seconds: float, tls: ssl.SSLContext | None) -> Reply:
    """Send a request and read the whole reply, in so many seconds.

    Raises:
        LostError: nobody is there, the connection broke, or time was up.
        GatewayError: who is there has no certificate that is trusted, speaks no HTTP, redirects, or says too much.
    """
    end = time.monotonic() + seconds
    line = _connection(address, seconds, tls)
    line.response_class = partial(_TimedResponse, end=end)  # type: ignore[assignment] # it is only called
    try:
        _connect(line, address)
        try:
            line.request(request.method, address.folder + request.path, request.body, _headers(token, request))
            with line.getresponse() as response:
                return _read(response, request)
        except (RemoteDisconnected, IncompleteRead):
            raise LostError("the connection broke before the reply was whole", sent=True) from None
        except HTTPException:
            raise GatewayError("reply", str(address), "what came is no HTTP", WORKING) from None
        except TimeoutError:
            raise LostError(f"no whole reply came within {seconds:.0f} seconds", sent=True) from None
        except OSError:  # its text may have anything in it
            raise LostError("the connection broke", sent=True) from None
    finally:
        line.close()


def _connection(address: Address, seconds: float, tls: ssl.SSLContext | None) -> HTTPConnection:
    if address.scheme == "https":
        return HTTPSConnection(address.host, address.port, timeout=seconds, context=tls)
    return HTTPConnection(address.host, address.port, timeout=seconds)


def _connect(line: HTTPConnection, address: Address) -> None:
    try:
        line.connect()
    except ssl.SSLCertVerificationError as error:
        instead = "certificates='ca.pem' with the certificate of its authority, or the name that it was made out to"
        raise GatewayError("certificate", str(address), f"it is not trusted: {error.verify_message}", instead) from None
    except ssl.SSLError:
        raise GatewayError("connection", str(address), "TLS did not come about", "https:// where TLS is spoken") from None
    except TimeoutError:
        raise LostError("nobody answers there", sent=False) from None
    except OSError as error:
        raise LostError(f"nobody is there ({error.strerror or type(error).__name__})", sent=False) from None


def _headers(token: Token, request: Request) -> Mapping[str, str]:
    told = {"Authorization": token.header, "Accept": request.accept, "User-Agent": "dither", "Connection": "close"}
    told |= {"Content-Type": "application/json"} if request.body is not None else {}
    return told | dict(request.headers)


def _read(response: HTTPResponse, request: Request) -> Reply:
    if 300 <= response.status < 400:
        why = "it redirects, and a token is not sent on to another address"
        raise GatewayError("reply", response.status, why, "the address that it redirects to, if you trust that one")
    if response.getheader("Content-Encoding", "identity").strip().lower() != "identity":
        raise GatewayError("reply", response.status, "it is packed, which was not asked for", WORKING)
    told = (response.getheader("Content-Length") or "").strip()
    if told.isdecimal() and (len(told) > 18 or int(told) > request.most):
        raise _too_much(request)
    body = bytearray()
    while piece := response.read(min(PIECE, request.most + 1 - len(body))):
        body += piece
        if len(body) > request.most:
            raise _too_much(request)
    if response.length:  # http.client says nothing of a body that ends early when it is read piece by piece
        raise IncompleteRead(b"")
    kind = response.getheader("Content-Type", "").partition(";")[0].strip().lower()
    return Reply(response.status, kind, bytes(body), _seconds(response.getheader("Retry-After")))


def _too_much(request: Request) -> GatewayError:
    return GatewayError("reply", f"more than {request.most} bytes", "no reply to this is so long", WORKING)


def _seconds(text: str | None) -> float | None:
    """Of `Retry-After`; a date, or what is no number, says nothing."""
    stripped = (text or "").strip()
    return float(stripped) if stripped.isascii() and stripped.isdecimal() and len(stripped) < 10 else None
