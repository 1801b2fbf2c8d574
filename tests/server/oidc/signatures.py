"""Tokens as a provider, or somebody who would be one, signs them; made without the library that checks them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from functools import cache
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

NOW = 1_800_000_000.0
ISSUER = "https://login.example.org"


def b64(value: bytes) -> str:
    """As tokens have it."""
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


@cache
def private_key(kind: str, number: int = 0) -> Any:
    """A key; the number tells two of a kind apart."""
    if kind == "RS256":
        return rsa.generate_private_key(65537, 2048)
    return ec.generate_private_key(ec.SECP256R1()) if kind == "ES256" else ed25519.Ed25519PrivateKey.generate()


def jwk(kind: str, number: int = 0, **changes: Any) -> dict[str, Any]:
    """The public part, as a provider publishes it."""
    public = private_key(kind, number).public_key()
    if kind == "RS256":
        numbers = public.public_numbers()
        n, e = (b64(value.to_bytes((value.bit_length() + 7) // 8, "big")) for value in (numbers.n, numbers.e))
        found = {"kty": "RSA", "n": n, "e": e}
    elif kind == "ES256":
        numbers = public.public_numbers()
        found = {
            "kty": "EC",
            "crv": "P-256",
            "x": b64(numbers.x.to_bytes(32, "big")),
            "y": b64(numbers.y.to_bytes(32, "big")),
        }
    else:
        found = {"kty": "OKP", "crv": "Ed25519", "x": b64(public.public_bytes_raw())}
    return {**found, "kid": f"{kind}-{number}", "use": "sig", "alg": kind, **changes}


def signature(kind: str, number: int, message: bytes) -> bytes:
    """Of bytes."""
    key = private_key(kind, number)
    if kind == "RS256":
        return key.sign(message, padding.PKCS1v15(), hashes.SHA256())
    if kind == "ES256":
        r, s = decode_dss_signature(key.sign(message, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")
    return key.sign(message)


def token(
    claims: Any,
    kind: str = "ES256",
    number: int = 0,
    *,
    header: dict[str, Any] | None = None,
    secret: bytes | None = None,
) -> str:
    """A token; with a secret it is signed by HMAC, with an empty one not at all."""
    told = {"alg": kind, "kid": f"{kind}-{number}", "typ": "JWT"} | (header or {})
    told = {name: value for name, value in told.items() if value is not ...}
    text = f"{b64(json.dumps(told).encode())}.{b64(claims if isinstance(claims, bytes) else json.dumps(claims).encode())}"
    if secret is None:
        return f"{text}.{b64(signature(kind, number, text.encode()))}"
    return f"{text}.{b64(hmac.new(secret, text.encode(), hashlib.sha256).digest()) if secret else ''}"


def claims(now: float = NOW, **changes: Any) -> dict[str, Any]:
    """Of ana, who is staff; `...` leaves one out."""
    found: dict[str, Any] = {"iss": ISSUER, "aud": "dither", "sub": "ana", "groups": ["staff"]}
    found |= {"iat": int(now), "exp": int(now) + 300, **changes}
    return {name: value for name, value in found.items() if value is not ...}
