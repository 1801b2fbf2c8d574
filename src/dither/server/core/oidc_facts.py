"""The provider at which people log in to a gateway (OpenID Connect): its address, and which group has which role."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from dither.errors import PolicyError
from dither.server.core.config_values import Stated, read_line, read_part
from dither.server.core.roles import ROLES, Role

LOOPBACK = ("localhost", "127.0.0.1", "::1")
KNOWN = ("issuer", "client_id", "name_claim", "groups_claim", "scopes", "roles", "datasets")


@dataclass(frozen=True)
class OidcFacts:
    """The provider, and what its claims mean here."""

    issuer: str  # its address; what else there is, is discovered there
    client_id: str
    roles: tuple[tuple[str, Role], ...]  # by group; who is in none of them may do nothing
    name_claim: str = "sub"  # whose value is the name of the analyst in ledgers
    groups_claim: str = "groups"
    scopes: tuple[str, ...] = ("openid",)
    datasets: tuple[str, ...] = ("*",)  # what people who log in may see


def read_oidc(stated: Stated) -> OidcFacts | None:
    """The part [oidc] of the configuration; None where it is left out."""
    if "oidc" not in stated:
        return None
    part = read_part(stated, "oidc", KNOWN)
    issuer = read_line(part.get("issuer"), "oidc.issuer", 'issuer = "https://login.example.org"')
    parts = urlsplit(issuer)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        why = "what comes from it says who people are, and over http anybody on the way can change it"
        raise PolicyError("oidc.issuer", issuer, why, "an address that begins with https://")
    roles = part.get("roles")
    if not isinstance(roles, dict) or not roles:
        raise PolicyError(
            "oidc.roles", roles, "nobody could do anything", '[oidc.roles] and a line such as: staff = "analyst"'
        )
    for group, role in roles.items():
        if role not in ROLES:
            raise PolicyError(f"oidc.roles.{group}", role, "there is no such role", ", ".join(ROLES))
    return OidcFacts(
        issuer,
        read_line(part.get("client_id"), "oidc.client_id", 'client_id = "dither"'),
        tuple((group, cast(Role, role)) for group, role in roles.items()),
        read_line(part.get("name_claim", "sub"), "oidc.name_claim", '"sub"'),
        read_line(part.get("groups_claim", "groups"), "oidc.groups_claim", '"groups"'),
        _texts(part.get("scopes", ["openid"]), "oidc.scopes", '["openid", "profile"]'),
        _texts(part.get("datasets", ["*"]), "oidc.datasets", '["clinic"], or ["*"] for all'),
    )


def _texts(value: Any, where: str, instead: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise PolicyError(where, value, "it is not a list of texts", instead)
    return tuple(read_line(each, where, instead) for each in value)
