"""People, as claims describe them: a name for ledgers, a role, datasets.

Theorem. Who gets role r and dataset d is in a group to which the owner gave role r and dataset d.

Proof. The role is that of the first group of the owner's list that the person is in, and the datasets are those of the
person's groups that have this same role. ∎ So two groups never make more than each of them says.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from dither.errors import DataError
from dither.ledger.entries.texts import plain_text, read_name
from dither.server.core.callers import Caller
from dither.server.core.oidc_facts import OidcFacts
from dither.server.oidc.refusals import NobodyError


def read_person(claims: Mapping[str, Any], facts: OidcFacts) -> Caller:
    """Who the claims say somebody is, as a caller.

    Raises:
        NobodyError: they say no name that a ledger can have, or no group that has a role.
    """
    subject = claims.get("sub")  # there is one whatever claim is the name: two tokens without it would be one person
    name = claims.get(facts.name_claim)
    if facts.name_claim == "email" and claims.get("email_verified") is not True:
        raise NobodyError
    if not isinstance(subject, str) or not subject or not isinstance(name, str) or name != name.strip() or not name:
        raise NobodyError
    try:
        full = plain_text(read_name(facts.name_prefix + name, "name"), "name")
        id_ = hashlib.sha256(f"{facts.issuer}\n{subject}".encode()).hexdigest()[:16]
    except (DataError, UnicodeEncodeError):
        raise NobodyError from None
    groups = _groups(claims, facts.groups_claim)
    mine = [each for each in facts.roles if each.group in groups]
    if not mine:
        raise NobodyError
    role = mine[0].role
    datasets = dict.fromkeys(name for each in mine if each.role == role for name in each.datasets)
    return Caller(full, role, tuple(datasets), f"oidc_{id_}")


def _groups(claims: Mapping[str, Any], name: str) -> frozenset[str]:
    """The groups in a claim: a list of texts, or one text, which is one group however many signs divide it."""
    found = claims[name] if name in claims else _inside(claims, name)
    if isinstance(found, str):
        return frozenset({found})
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        return frozenset()
    return frozenset(found)


def _inside(claims: Mapping[str, Any], name: str) -> Any:
    """A claim inside others, by a path with dots."""
    found: Any = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found
