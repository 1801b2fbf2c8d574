"""What a policy states: a value of TOML, or the same in Python. It is checked where it is read."""

from __future__ import annotations

import datetime
from typing import Any, TypeAlias

Fact: TypeAlias = str | float | datetime.date | datetime.time | list[Any] | tuple[Any, ...] | dict[str, Any] | None
