"""The provider: its endpoints and keys, kept for an hour, and who its tokens speak of."""

from __future__ import annotations

import time
from collections.abc import Callable

from dither.extras import needs
from dither.server.core.callers import Caller
from dither.server.core.oidc_facts import OidcFacts
from dither.server.oidc.cached_document import CachedDocument, Clock
from dither.server.oidc.discovery import Endpoints, discover
from dither.server.oidc.key_set import KeySet, ProviderKey, read_keys
from dither.server.oidc.people import read_person
from dither.server.oidc.provider_request import is_plain, request_json
from dither.server.oidc.refusals import NobodyError, ProviderError, provider_down
from dither.server.oidc.signed_token import ACCESS_TOKEN, Claims, read_claims

Lookup = Callable[[KeySet], ProviderKey | None]


class Provider:
    """Whom the owner trusts to say who people are.

    Args:
        facts: what the owner states of it.
        clock: seconds that never go back, for what is kept.
        now: seconds since 1970, for tokens.

    Raises:
        PolicyError: the secret of the client is not where the owner said.
        MissingExtraError: `dither[server-oidc]` is not installed.
    """

    def __init__(self, facts: OidcFacts, *, clock: Clock = time.monotonic, now: Clock = time.time) -> None:
        with needs("dither[server-oidc]"):
            import joserfc  # noqa: F401 - so that who lacks it hears so now
        self.facts, self.now, self.secret = facts, now, facts.client_secret()
        self.plain = is_plain(facts.issuer)
        self._endpoints = CachedDocument(lambda: discover(facts.issuer), clock)
        self._keys = CachedDocument(self._load_keys, clock)

    def endpoints(self) -> Endpoints:
        """Where its parts are."""
        return self._endpoints.get(wait=True)

    def id_claims(self, text: str) -> Claims:
        """The claims of an ID token; see `read_claims`."""
        return read_claims(text, self.facts, lambda lookup: self._key(lookup, wait=True), self.now())

    def caller(self, text: str) -> Caller | None:
        """Who sends a token of the provider as a bearer; None of every text that is no such token.

        No thread waits while another asks for the keys: those who look up tokens of the gateway are not kept waiting.
        """
        try:
            find = lambda lookup: self._key(lookup, wait=False)  # noqa: E731 - what differs from the above is seen at once
            return read_person(read_claims(text, self.facts, find, self.now(), kinds=ACCESS_TOKEN), self.facts)
        except NobodyError:
            return None
        except ProviderError:
            raise provider_down() from None

    def _load_keys(self) -> KeySet:
        return read_keys(request_json(self.endpoints().keys, plain=self.plain))

    def _key(self, lookup: Lookup, *, wait: bool) -> ProviderKey | None:
        found = lookup(self._keys.get(wait=wait))
        if found is None:
            newer = self._keys.newer()
            found = None if newer is None else lookup(newer)
        return found
