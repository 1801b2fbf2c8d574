"""The cookie of a browser: a token of the gateway, which scripts cannot read and other sites cannot send.

Theorem. A request with the cookie that changes something, or whose reply a script reads, was made by a page of the gateway.
Proof. `SameSite=Strict` keeps the cookie from requests that other sites begin. Sites on other ports of the same host are no
other sites, so the cookie counts only where the browser says `Sec-Fetch-Site: same-origin`, which no script can set. An old
browser does not say it, and none does over plain HTTP: they say the `Origin` of every POST, and the `Referer` of what our
pages ask for, whose policy is `same-origin` (with `no-referrer` the `Origin` would be "null"); no script can set either to
an address of ours. A GET of a page, which changes nothing, needs none of them: another site cannot read its reply. ∎
"""

from __future__ import annotations

from urllib.parse import urlsplit

from dither.extras import needs
from dither.server.core.config import GatewayConfig

with needs("dither[server]"):
    from starlette.requests import Request

NAME = "dither-token"


def is_secure(config: GatewayConfig) -> bool:
    """Whether browsers reach the gateway over TLS, its own or a proxy's."""
    return config.certificate is not None or config.proxy


def cookie_name(config: GatewayConfig) -> str:
    """With TLS a name that no neighbouring host can set."""
    return f"__Host-{NAME}" if is_secure(config) else NAME


def cookie_line(config: GatewayConfig, secret: str) -> str:
    """`Set-Cookie` that keeps a secret until the browser is closed; an empty one ends it."""
    age = "" if secret else "; Max-Age=0"
    secure = "; Secure" if is_secure(config) else ""
    return f"{cookie_name(config)}={secret}{age}; Path=/; HttpOnly; SameSite=Strict{secure}"


def cookie_secret(request: Request, config: GatewayConfig) -> str | None:
    """The secret that a browser keeps; None where there is none."""
    return request.cookies.get(cookie_name(config)) or None


def is_same_origin(request: Request) -> bool:
    """Whether a page of the gateway itself made the request."""
    sites, hosts = request.headers.getlist("sec-fetch-site"), request.headers.getlist("host")
    if sites:
        return sites == ["same-origin"]
    begun = request.headers.getlist("origin") or request.headers.getlist("referer")
    try:
        return len(begun) == len(hosts) == 1 and urlsplit(begun[0]).netloc == hosts[0] != ""
    except ValueError:  # no address at all
        return False
