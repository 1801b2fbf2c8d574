"""A gateway that knows who asks and nothing else: neither processes nor ledgers."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dither.server.app import create_app
from dither.server.core.config import GatewayConfig, GatewayDataset, Limits
from dither.server.core.gateway import Gateway
from dither.server.core.oidc_facts import GroupRole, OidcFacts
from dither.server.core.rate_limits import RateLimits
from dither.server.core.tokens import TokenStore
from dither.server.http.logs import RequestLog
from tests.server.oidc.providers import Browser

STAFF = (GroupRole("staff", "analyst", ("clinic",)), GroupRole("boss", "owner"))


class Doorkeeper(Gateway):
    """The real `caller`, and the real tokens."""

    def __init__(self, folder: Path, facts: OidcFacts, limits: Limits) -> None:
        self.config = GatewayConfig(
            (GatewayDataset("clinic", folder / "policy.toml"),), str(folder / "gateway.db"), oidc=facts, limits=limits
        )
        self.foreign_caller = None
        self.tokens, self.rates = TokenStore(self.config.database), RateLimits(limits)
        self.log = io.StringIO()
        self.app = create_app(self, log=RequestLog(self.log))

    def browser(self, **how: Any) -> Browser:
        """One more browser."""
        return Browser(self.app, **how)


@contextmanager
def doorkeeper(folder: Path, issuer: str, *, limits: Limits | None = None, **facts: Any) -> Iterator[Doorkeeper]:
    """One with a provider."""
    many = Limits(wrong_tokens_per_minute=10_000)
    found = Doorkeeper(folder, OidcFacts(issuer, "dither", STAFF, **facts), limits or many)
    try:
        yield found
    finally:
        found.tokens.close()
