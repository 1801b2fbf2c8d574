"""The provider at which people log in to a gateway (OpenID Connect): its address, and which group has which role.

The secret of the client is never in the file, which people copy, compare and send around: it is in a file of its own or in
a variable of the environment, and is read when the gateway starts. Names of people who log in begin with a prefix, so that
nobody becomes, and spends the share of, somebody whose token has that name.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from dither.errors import PolicyError
from dither.server.core.config_values import (
    Stated,
    must_be_known,
    read_file,
    read_flag,
    read_integer,
    read_line,
    read_part,
)
from dither.server.core.roles import ROLES, Role

LOOPBACK = ("localhost", "127.0.0.1", "::1")
KNOWN = (
    "issuer", "client_id", "client_secret_file", "client_secret_env", "address", "scopes", "name_claim", "name_prefix",
    "groups_claim", "roles", "datasets", "audience", "algorithms", "leeway", "token_hours", "bearer",
)  # fmt: skip
ALGORITHMS = ("RS256", "ES256", "EdDSA")  # signatures that only the provider can make; none with a shared secret
CHANGEABLE = ("name", "given_name", "family_name", "nickname")  # people choose these, and several may have the same
LONGEST_SECRET = 4096
LONGEST_PREFIX = 100
PORT = 8765


@dataclass(frozen=True)
class GroupRole:
    """What the members of a group may do."""

    group: str
    role: Role
    datasets: tuple[str, ...] = ("*",)


@dataclass(frozen=True)
class OidcFacts:
    """The provider, and what its claims mean here."""

    issuer: str  # its address; what else there is, is discovered there
    client_id: str
    roles: tuple[GroupRole, ...]  # by group, the first that fits decides the role; who is in none of them does not get in
    address: str = f"http://127.0.0.1:{PORT}"  # of the gateway, for browsers; the provider sends people back there
    name_claim: str = "sub"  # whose value, after the prefix, is the name of the analyst in ledgers
    name_prefix: str = "oidc:"
    groups_claim: str = "groups"  # a claim, or one inside others: "realm_access.roles"
    scopes: tuple[str, ...] = ("openid",)
    audience: str | None = None  # whom tokens that are sent to the API are for; None: the client
    algorithms: tuple[str, ...] = ALGORITHMS
    leeway: int = 60  # seconds that clocks may differ
    token_hours: int = 8  # that a login lasts
    bearer: bool = False  # whether tokens of the provider may be sent to the API
    client_secret_file: Path | None = None
    client_secret_env: str | None = None

    def client_secret(self) -> str | None:
        """The secret of the client, from where it is; None of a client that has none.

        Raises:
            PolicyError: it is not there, or is no text on one line.
        """
        where, found = "oidc.client_secret_env", os.environ.get(self.client_secret_env or "", "")
        if self.client_secret_file is not None:
            where = "oidc.client_secret_file"
            try:
                with self.client_secret_file.open(encoding="utf-8") as file:
                    found = file.read(LONGEST_SECRET + 2).rstrip("\r\n")
            except (OSError, UnicodeDecodeError):
                found = ""
        elif self.client_secret_env is None:
            return None
        if not found.isprintable() or not found or len(found) > LONGEST_SECRET:
            came = str(self.client_secret_file or self.client_secret_env)
            raise PolicyError(where, came, "there is no secret on one line", "the secret that the provider gave the client")
        return found


def read_oidc(stated: Stated, folder: Path) -> OidcFacts | None:
    """The part [oidc] of the configuration; None where it is left out."""
    if "oidc" not in stated:
        return None
    if isinstance(stated["oidc"], dict) and "client_secret" in stated["oidc"]:
        why = "this file is copied and compared, and a secret is not"
        instead = 'client_secret_file = "client-secret", or client_secret_env = "DITHER_CLIENT_SECRET"'
        raise PolicyError("oidc.client_secret", None, why, instead)
    part = read_part(stated, "oidc", KNOWN)
    read: dict[str, Any] = {
        "issuer": _safe_address(part.get("issuer"), "oidc.issuer", "https://login.example.org"),
        "roles": _roles(part, stated.get("datasets")),
        "client_id": read_line(part.get("client_id"), "oidc.client_id", 'client_id = "dither"'),
        "address": _gateway_address(part, stated.get("server", {})),
        "name_claim": _name_claim(part.get("name_claim", "sub")),
        "name_prefix": _prefix(part.get("name_prefix", "oidc:")),
        "groups_claim": read_line(part.get("groups_claim", "groups"), "oidc.groups_claim", '"groups"'),
        "scopes": _texts(part.get("scopes", ["openid"]), "oidc.scopes", '["openid", "profile"]'),
        "algorithms": _texts(part.get("algorithms", list(ALGORITHMS)), "oidc.algorithms", str(list(ALGORITHMS))),
        "leeway": read_integer(part.get("leeway", 60), "oidc.leeway", least=0, most=300),
        "token_hours": read_integer(part.get("token_hours", 8), "oidc.token_hours", least=1, most=168),
        "bearer": read_flag(part.get("bearer", False), "oidc.bearer"),
    }
    if "openid" not in read["scopes"]:
        why = "without openid the provider does not say who somebody is"
        raise PolicyError("oidc.scopes", list(read["scopes"]), why, '["openid"]')
    for each in read["algorithms"]:
        if each not in ALGORITHMS:
            why = "only signatures that the provider alone can make say that it is the provider"
            raise PolicyError("oidc.algorithms", each, why, ", ".join(ALGORITHMS))
    if "audience" in part:
        read["audience"] = read_line(part["audience"], "oidc.audience", 'audience = "dither"')
    return OidcFacts(**read, **_secret_place(part, folder))


def _secret_place(part: Stated, folder: Path) -> dict[str, Any]:
    if "client_secret_file" in part and "client_secret_env" in part:
        raise PolicyError("oidc.client_secret_env", part["client_secret_env"], "there is a file as well", "one of the two")
    if "client_secret_file" in part:
        where, instead = "oidc.client_secret_file", "a file that has the secret and nothing else"
        return {"client_secret_file": read_file(part["client_secret_file"], where, folder, instead)}
    if "client_secret_env" in part:
        return {"client_secret_env": read_line(part["client_secret_env"], "oidc.client_secret_env", "DITHER_CLIENT_SECRET")}
    return {}


def _safe_address(value: Any, where: str, example: str) -> str:
    found = read_line(value, where, f'"{example}"')
    try:
        parts = urlsplit(found)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if not host or parts.username is not None or parts.query or parts.fragment or "\\" in found or " " in found:
        raise PolicyError(where, found, "it is not the address of a server", f'"{example}"')
    if parts.scheme != "https" and not (parts.scheme == "http" and host in LOOPBACK):
        why = "what comes from it says who people are, and over http anybody on the way can change it"
        raise PolicyError(where, found, why, f'an address that begins with https://, such as "{example}"')
    return found


def _gateway_address(part: Stated, server: Any) -> str:
    """Where browsers find the gateway. It is never taken from a request, which may say what it likes."""
    if "address" in part:
        return _safe_address(part["address"], "oidc.address", "https://gateway.example.org").rstrip("/")
    stated = server if isinstance(server, dict) else {}
    if stated.get("host", "127.0.0.1") not in LOOPBACK or "certificate" in stated or stated.get("port", PORT) == 0:
        why = "the provider sends people back to the gateway, and has to know where it is"
        raise PolicyError("oidc.address", None, why, 'address = "https://gateway.example.org"')
    host = stated.get("host", "127.0.0.1")
    return f"http://{f'[{host}]' if ':' in host else host}:{stated.get('port', PORT)}"


def _roles(part: Stated, known: Any) -> tuple[GroupRole, ...]:
    every = _texts(part.get("datasets", ["*"]), "oidc.datasets", '["clinic"], or ["*"] for all')
    _must_exist(every, "oidc.datasets", known)
    roles = part.get("roles")
    if not isinstance(roles, dict) or not roles:
        raise PolicyError(
            "oidc.roles", roles, "nobody could do anything", '[oidc.roles] and a line such as: staff = "analyst"'
        )
    found = []
    for group, stated in roles.items():
        where, role, datasets = f"oidc.roles.{group}", stated, every
        if isinstance(stated, dict):
            must_be_known(stated, f"{where}.", ("role", "datasets"))
            role = stated.get("role")
            datasets = _texts(stated.get("datasets", list(every)), f"{where}.datasets", '["clinic"], or ["*"] for all')
            _must_exist(datasets, f"{where}.datasets", known)
        if role not in ROLES:
            raise PolicyError(where, role, "there is no such role", ", ".join(ROLES))
        found.append(GroupRole(group, cast(Role, role), datasets))
    return tuple(found)


def _must_exist(datasets: tuple[str, ...], where: str, known: Any) -> None:
    for each in datasets:
        if each != "*" and isinstance(known, dict) and each not in known:
            raise PolicyError(where, each, "there is no such dataset", ", ".join(["*", *known]))


def _name_claim(value: Any) -> str:
    found = read_line(value, "oidc.name_claim", '"sub"')
    if found in CHANGEABLE:
        why = "people choose it themselves, and could take the name, and the share, of somebody else"
        raise PolicyError("oidc.name_claim", found, why, '"sub", which the provider never gives to two people')
    return found


def _prefix(value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable() or len(value) > LONGEST_PREFIX:
        raise PolicyError("oidc.name_prefix", value, "it is not a short text on one line", '"oidc:", or "" for none')
    return value


def _texts(value: Any, where: str, instead: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise PolicyError(where, value, "it is not a list of texts", instead)
    return tuple(read_line(each, where, instead) for each in value)
