"""Scripts and styles: read once, compressed once, and served under an address that changes whenever one of them does."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

TYPES = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "svg": "image/svg+xml"}


@dataclass(frozen=True)
class Asset:
    """A file as it is sent."""

    kind: str
    plain: bytes
    small: bytes  # by gzip


@cache
def assets() -> dict[str, Asset]:
    """All files, by name."""
    found = {}
    for file in sorted((files(__package__) / "assets").iterdir(), key=lambda each: each.name):
        kind = TYPES.get(file.name.rpartition(".")[2])
        if kind is not None:  # licences stand beside them
            data = file.read_bytes()
            found[file.name] = Asset(kind, data, gzip.compress(data, 9, mtime=0))
    return found


@cache
def digest() -> str:
    """Of all of them: modules name each other without it, and are never mixed with those of another version."""
    whole = hashlib.sha256()
    for name, asset in assets().items():
        whole.update(f"{name} {len(asset.plain)} ".encode() + asset.plain)
    return whole.hexdigest()[:16]


def asset_address(name: str) -> str:
    """Where a file is served."""
    if name not in assets():
        raise KeyError(name)
    return f"/assets/{digest()}/{name}"
