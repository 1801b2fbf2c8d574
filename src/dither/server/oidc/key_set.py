"""The keys with which the provider signs, as it publishes them (RFC 7517): of three kinds, each for one algorithm.

A key of another kind, of a shared secret, for another use or too small is passed over: no token names it into being. What a
key is for is decided by the key, so a token that says `HS256` has no key here, and one that says `none` neither.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Any

from dither.extras import needs
from dither.server.oidc.refusals import ProviderError

MOST = 100  # keys
FIELDS = {"RSA": ("n", "e"), "EC": ("crv", "x", "y"), "OKP": ("crv", "x")}  # nothing private, and no address
SMALLEST, LARGEST = 2048, 8192  # bits of RSA


@dataclass(frozen=True)
class ProviderKey:
    """A public key, and what it signs with."""

    id: str | None
    algorithm: str
    key: Any  # of joserfc


@dataclass(frozen=True)
class KeySet:
    """The keys of a provider."""

    keys: tuple[ProviderKey, ...]

    def find(self, kid: Any, algorithm: Any) -> ProviderKey | None:
        """The key of that name for that algorithm; without a name the only one for it."""
        fitting = [key for key in self.keys if key.algorithm == algorithm]
        if kid is not None:
            return next((key for key in fitting if key.id is not None and key.id == kid), None)
        return fitting[0] if len(fitting) == 1 else None


def read_keys(document: dict[str, Any]) -> KeySet:
    """The keys in a document.

    Raises:
        ProviderError: it is not one.
    """
    stated = document.get("keys")
    if not isinstance(stated, list):
        raise ProviderError
    found = [_key(each) for each in stated[:MOST] if isinstance(each, dict)]
    return KeySet(tuple(key for key in found if key is not None))


def _key(stated: dict[str, Any]) -> ProviderKey | None:
    kind, algorithm, kid = stated.get("kty"), _algorithm(stated), stated.get("kid")
    operations = stated.get("key_ops", ["verify"])
    if algorithm is None or stated.get("use", "sig") != "sig":
        return None
    if not isinstance(operations, list) or "verify" not in operations:
        return None
    fields: dict[str, Any] = {name: stated.get(name) for name in ("kty", *FIELDS[str(kind)])}
    if not (kid is None or isinstance(kid, str)) or not all(isinstance(value, str) for value in fields.values()):
        return None
    with needs("dither[server-oidc]"):
        from joserfc.errors import JoseError
        from joserfc.jwk import import_key
    try:
        return ProviderKey(kid, algorithm, import_key(fields))
    except (JoseError, ValueError, TypeError, OverflowError):
        return None


def _algorithm(stated: dict[str, Any]) -> str | None:
    """The one algorithm that a key is for; None of a key that is for none of ours."""
    named = stated.get("alg")
    match stated.get("kty"), stated.get("crv"):
        case "RSA", _ if named in (None, "RS256") and SMALLEST <= _bits(stated.get("n")) <= LARGEST:
            return "RS256"
        case "EC", "P-256" if named in (None, "ES256"):
            return "ES256"
        case "OKP", "Ed25519" if named in (None, "EdDSA", "Ed25519"):
            return "EdDSA"
    return None


def _bits(modulus: Any) -> int:
    if not isinstance(modulus, str) or not modulus.isascii() or len(modulus) > 2 * LARGEST // 6:
        return 0
    try:
        return int.from_bytes(base64.urlsafe_b64decode(modulus + "=" * (-len(modulus) % 4))).bit_length()
    except (binascii.Error, ValueError):
        return 0
