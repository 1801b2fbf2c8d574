"""The address of a gateway: https, or http on this machine alone, since a token in the clear is anybody's."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from dither.errors import DataError

EXAMPLE = "'https://gateway.example', or 'http://127.0.0.1:8765' on this machine"
PORTS = {"http": 80, "https": 443}
LONGEST = 2000


@dataclass(frozen=True)
class Address:
    """Where a gateway is."""

    scheme: str  # "http" or "https"
    host: str
    port: int
    folder: str = ""  # before /v1, where a proxy puts the gateway into a folder

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.folder}"


def read_address(url: str, *, cleartext: bool) -> Address:
    """The address of a text; http to another machine only with `cleartext`. A refusal does not repeat what may be secret."""
    if not isinstance(url, str):
        raise DataError.from_text("url", f"a {type(url).__name__}", "it is not a text", EXAMPLE)
    if len(url) > LONGEST or not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise DataError.from_text("url", "a text", "it has signs that no address has, or too many", EXAMPLE)
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise DataError.from_text("url", "a text", "it is no address", EXAMPLE) from None
    if parts.scheme not in PORTS or not host:
        raise DataError.from_text("url", "a text", "it is no address of http or https", EXAMPLE)
    if "@" in parts.netloc or parts.query or parts.fragment:
        why = "it has a name, a password or a question mark in it, and addresses are written to logs"
        raise DataError.from_text("url", "an address with more", why, f"{EXAMPLE}, and the token as token=")
    if parts.scheme == "http" and not cleartext and not is_loopback(host):
        why = "http would send the token in the clear to another machine"
        raise DataError("url", f"http://{host}", why, "https://, or cleartext=True where another layer encrypts")
    return Address(parts.scheme, host, PORTS[parts.scheme] if port is None else port, parts.path.rstrip("/"))


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its very name: nobody is asked."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
