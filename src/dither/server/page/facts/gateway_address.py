"""The address of this gateway, as the browser knows it: for code that people copy."""

from __future__ import annotations

import re

from dither.extras import needs
from dither.server.core.config import GatewayConfig
from dither.server.http.session_cookie import is_secure

with needs("dither[server]"):
    from starlette.requests import Request

HOST = re.compile(r"(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")


def gateway_address(request: Request, config: GatewayConfig) -> str:
    """Scheme and host; of the configuration where the browser's are none."""
    hosts = request.headers.getlist("host")
    host = hosts[0] if len(hosts) == 1 and HOST.fullmatch(hosts[0]) else f"{config.host}:{config.port}"
    return f"{'https' if is_secure(config) else 'http'}://{host}"
