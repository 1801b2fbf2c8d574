"""Logins: a browser goes to the provider and comes back with a token of the gateway, which lasts for some hours.

The provider is asked in two threads of their own: one that is slow keeps nobody waiting who has a token. Logins of a
person, and logins from an address that did not succeed, are limited: each makes a token, or a request to the provider. A
person has few tokens at a time, since the limits of a gateway are a token's: one more ends the oldest.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import TypeVar

from dither.server.core.problems import Problem
from dither.server.core.rate_limits import Clock, TokenBuckets
from dither.server.core.tokens import Token, TokenStore
from dither.server.oidc.code_flow import SECONDS, CodeFlow
from dither.server.oidc.provider import Provider
from dither.server.oidc.refusals import NobodyError, ProviderError, login_failed, provider_down, too_many_logins

THREADS = 2
QUEUE = 64  # logins that wait for the provider
LOGINS = 20  # of a person in an hour
AT_ONCE = 5  # tokens of a person; as far as this process remembers
MOST = 10_000  # people whose tokens are remembered
T = TypeVar("T")


class Login:
    """The way from a browser to a token."""

    def __init__(
        self, provider: Provider, tokens: TokenStore, *, failures_per_minute: int, clock: Clock = time.monotonic_ns
    ) -> None:
        self.provider = provider
        self._flow, self._tokens = CodeFlow(provider), tokens
        self._people = TokenBuckets(Fraction(LOGINS, 3600), LOGINS, clock)
        self._failures = TokenBuckets(Fraction(failures_per_minute, 60), failures_per_minute, clock)
        self._threads = ThreadPoolExecutor(THREADS, "login")
        self._waiting = 0
        self._made: OrderedDict[str, list[str]] = OrderedDict()  # ids of tokens by person, the longest idle first
        self._lock = threading.Lock()

    @property
    def cookie(self) -> str:
        """The name of the cookie; with TLS one that no neighbouring host can set."""
        return "__Host-dither-login" if self._secure else "dither-login"

    @property
    def _secure(self) -> bool:
        return self.provider.facts.address.startswith("https:")

    def cookie_line(self, value: str) -> str:
        """`Set-Cookie` that keeps a value while a login lasts; an empty one ends it."""
        age = SECONDS if value else 0
        # Lax: the way back from the provider is a navigation from another site, and brings the cookie.
        return f"{self.cookie}={value}; Max-Age={age}; Path=/; HttpOnly; SameSite=Lax{'; Secure' if self._secure else ''}"

    async def begin(self) -> tuple[str, str]:
        """Where to send a browser, and its cookie."""
        return await self._asked(self._flow.begin)

    async def finish(
        self, address: str, *, cookie: str | None, state: str | None, code: str | None, issuer: str | None
    ) -> tuple[Token, str]:
        """A token of the gateway for whoever came back, and its secret."""
        self._must_wait(self._failures.wait(address))
        try:
            return await self._asked(lambda: self._token(cookie, state, code, issuer))
        except NobodyError:
            self._failures.take(address)
            raise login_failed() from None

    def _token(self, cookie: str | None, state: str | None, code: str | None, issuer: str | None) -> tuple[Token, str]:
        person = self._flow.finish(cookie, state, code, issuer)
        self._must_wait(self._people.take(person.token_id))
        expires = datetime.now(UTC) + timedelta(hours=self.provider.facts.token_hours)
        made = self._tokens.create(name=person.name, role=person.role, datasets=person.datasets, expires=expires)
        for old in self._older(person.token_id, made[0].id):
            self._tokens.revoke(old)
        return made

    def _older(self, person: str, new: str) -> list[str]:
        """What a person has no more, now that there is a new one."""
        with self._lock:
            mine = [*self._made.pop(person, []), new]
            self._made[person] = mine[-AT_ONCE:]
            if len(self._made) > MOST:
                self._made.popitem(last=False)
            return mine[:-AT_ONCE]

    async def _asked(self, work: Callable[[], T]) -> T:
        if self._waiting >= QUEUE:
            raise provider_down()
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except ProviderError:
            raise provider_down() from None
        finally:
            self._waiting -= 1

    def _must_wait(self, seconds: float) -> None:
        if seconds:
            problem: Problem = too_many_logins(math.ceil(seconds))
            raise problem
