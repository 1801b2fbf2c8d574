"""Texts without the passwords of addresses: what owners write into policies, as it may be shown.

An address is `scheme://user:password@host/...?password=...`. In a text the password goes, and the rest stays. TOML can spell
a text in several ways (escapes, for one), so what is left is read again: where an address in it still has a password, nobody
knows how it is spelled, and nothing of the text is shown.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from dither.query.policy.toml_text import read_toml

# From the colon after a user to the last @ of the word: too much goes where a path has an @, and no password stays.
USER = re.compile(r"(://[^\s\"'/?#:@]*):[^\s\"']*@")
OPTION = re.compile(r"(?i)([?&])(?:ssl)?password=[^&#\s\"']*")
LEFT = re.compile(r"(?i)://[^\s\"'/?#:@]*:[^\n/]*@|(?:ssl)?password=")  # also in comments


def masked(text: str) -> str:
    """The text, its addresses without passwords."""
    return OPTION.sub(r"\1", USER.sub(r"\1@", text))


def masked_policy(text: str) -> str | None:
    """The text of a policy without passwords; None where it is no TOML, or one could be left in it."""
    shown = masked(text)
    try:
        stated = read_toml(shown)
    except tomllib.TOMLDecodeError:
        return None
    if LEFT.search(shown) or any(_has_password(value) for value in _texts(stated)):
        return None
    return shown


def _texts(stated: Any) -> Iterator[str]:
    if isinstance(stated, str):
        yield stated
    elif isinstance(stated, dict):
        for name, value in stated.items():
            yield name
            yield from _texts(value)
    elif isinstance(stated, list):
        for value in stated:
            yield from _texts(value)


def _has_password(text: str) -> bool:
    if "://" not in text:
        return False
    try:
        parts = urlsplit(text)
        return parts.password is not None or "password=" in parts.query.lower()
    except ValueError:  # no address, so nobody knows which part of it is secret
        return True
