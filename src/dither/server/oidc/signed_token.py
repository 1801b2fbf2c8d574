"""Tokens that the provider signed (JWT, RFC 7519): whether one is the provider's, for this client, and in force.

Theorem. `read_claims` gives claims only if they are signed, by an algorithm that the owner allows, with a key that the
provider published within the last hour; are of the issuer, sign for sign; for the audience; of this client where they say
whose they are, or are for several; and in force now, but for the leeway.

Proof. The key is looked up by the algorithm that it is for and the name in the token, among those that `read_keys` made of
the provider's own document: `jku`, `x5u`, `jwk` and `x5c` are read nowhere, and names are compared, never used as places.
`PinnedRegistry` knows the algorithm of the key alone, so the signature is checked by that one. Only what was signed is read,
after it was checked. Each of the other parts is a line of `_must_be_in_force`; what is missing, or of another type, fails
it. Every failure is one `NobodyError`. ∎
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cache
from typing import Any

from dither.extras import needs
from dither.server.core.oidc_facts import OidcFacts
from dither.server.oidc.key_set import KeySet, ProviderKey
from dither.server.oidc.refusals import NobodyError

LONGEST = 16_384  # characters of a token
HEADER = 8192  # bytes
ID_TOKEN = frozenset({"jwt"})
ACCESS_TOKEN = frozenset({"jwt", "at+jwt", "application/at+jwt"})  # a token of either kind
Claims = dict[str, Any]


def read_claims(
    text: str,
    facts: OidcFacts,
    find: Callable[[Callable[[KeySet], ProviderKey | None]], ProviderKey | None],
    now: float,
    *,
    kinds: frozenset[str] = ID_TOKEN,
) -> Claims:
    """The claims of a token.

    Args:
        text: the token, from anybody.
        facts: whose it must be, and for whom.
        find: looks into the keys of the provider, and into newer ones where there is nothing.
        now: seconds since 1970.
        kinds: which kinds of tokens are meant, by `typ`.

    Raises:
        NobodyError: it is not the provider's, not for this client, or not in force.
        ProviderError: the keys cannot be had.
    """
    if not isinstance(text, str) or len(text) > LONGEST or not text.isascii() or text.count(".") != 2:
        raise NobodyError
    header = _header(text)
    algorithm, kid, kind = header.get("alg"), header.get("kid"), header.get("typ", "JWT")
    if algorithm not in facts.algorithms or "crit" in header or "b64" in header:
        raise NobodyError
    if not (kid is None or isinstance(kid, str)) or not isinstance(kind, str) or kind.lower() not in kinds:
        raise NobodyError
    key = find(lambda keys: keys.find(kid, algorithm))
    if key is None:
        raise NobodyError
    claims = _signed(text, key)
    audience = facts.client_id if kinds is ID_TOKEN else facts.audience or facts.client_id
    _must_be_in_force(claims, facts, audience, now)
    return claims


def _must_be_in_force(claims: Claims, facts: OidcFacts, audience: str, now: float) -> None:
    whom = claims.get("aud")
    audiences = whom if isinstance(whom, list) else [whom]
    issued, expires, begins = _time(claims.get("iat")), _time(claims.get("exp")), _time(claims.get("nbf", 0))
    right = (
        claims.get("iss") == facts.issuer,
        all(isinstance(each, str) for each in audiences) and audience in audiences,
        claims["azp"] == facts.client_id if "azp" in claims else len(audiences) == 1,
        now < expires + facts.leeway,
        issued <= now + facts.leeway,
        begins <= now + facts.leeway,
        now < issued + 3600 * facts.token_hours + facts.leeway,  # whatever the provider says of its end
        "events" not in claims,  # a token that ends a session (RFC 8417) is none that begins one
    )
    if not all(right):
        raise NobodyError


def _time(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise NobodyError
    if not (math.isfinite(value) if isinstance(value, float) else abs(value) < 2**53):
        raise NobodyError
    return float(value)


@cache
def _registry(algorithm: str) -> Any:
    with needs("dither[server-oidc]"):
        from joserfc.errors import UnsupportedAlgorithmError
        from joserfc.jws import JWSRegistry

    class PinnedRegistry(JWSRegistry):
        """One algorithm, without the library's word on its age."""

        max_header_length = HEADER

        def get_alg(self, name: str) -> Any:
            """The one."""
            if name != algorithm:
                raise UnsupportedAlgorithmError
            return self.algorithms[name]

    return PinnedRegistry(algorithms=[algorithm], strict_check_header=False)


def _header(text: str) -> Claims:
    """What a token says of itself; nobody knows yet whether it is true."""
    with needs("dither[server-oidc]"):
        from joserfc.util import urlsafe_b64decode
    try:
        found = json.loads(urlsafe_b64decode(text.partition(".")[0].encode()))
    except (ValueError, TypeError, RecursionError):
        raise NobodyError from None
    if not isinstance(found, dict):
        raise NobodyError
    return found


def _signed(text: str, key: ProviderKey) -> Claims:
    with needs("dither[server-oidc]"):
        from joserfc.errors import JoseError
        from joserfc.jws import deserialize_compact
    try:
        found = json.loads(deserialize_compact(text, key.key, [key.algorithm], _registry(key.algorithm)).payload)
    except (JoseError, ValueError, TypeError, RecursionError):
        raise NobodyError from None
    if not isinstance(found, dict):
        raise NobodyError
    return found
