"""The roles of a gateway: an owner may do everything, an analyst asks, an auditor reads the history and asks nothing."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Role: TypeAlias = Literal["owner", "analyst", "auditor"]
ROLES: tuple[Role, ...] = get_args(Role)
