"""The version of a file that people write: a policy, or the configuration of a gateway."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dither.errors import PolicyError
from dither.privacy.records import refuse_newer


def check_version(stated: Mapping[str, Any], read: int) -> None:
    """Refuse a version that is not read, before parts of the file that only another version knows."""
    version = stated.get("version")
    refuse_newer("version", version, read, PolicyError)
    if version != read or type(version) is not int:
        raise PolicyError("version", version, f"this dither reads version {read}", f"version = {read}")
