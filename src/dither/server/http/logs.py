"""The log of requests: one line of JSON each, of what HTTP saw, and nothing of what was asked or answered.

A line has the time, the id of the token, the method, the template of the route (never the address, which may hold names),
the status, the duration and the name of the receipt. SQL is in the ledger, for the owner. Durations are rounded up to
10 ms: how long a question took may depend on rows.
"""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TextIO

STEP = 10  # milliseconds


@dataclass(frozen=True)
class LogLine:
    """One request, as it is logged."""

    method: str
    route: str  # its template, or "-" where none is known
    status: int
    milliseconds: int
    token: str | None = None  # the id, which is public
    receipt: str | None = None
    fault: str | None = None  # where in our own code something failed; never what was said


def rounded_up(seconds: float) -> int:
    """Milliseconds, to the next ten."""
    return max(1, -int(-seconds * 1000 // STEP)) * STEP


def place_of(error: BaseException) -> str:
    """The kind of an error and the last line of ours that it went through: of the code, so nothing of a request."""
    found, trace = "", error.__traceback__
    while trace is not None:
        module = trace.tb_frame.f_globals.get("__name__", "")
        if module.startswith("dither."):
            found = f" at {module}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__}{found}"


class RequestLog:
    """Writes the lines, each whole; a stream that cannot be written loses them and stops no request."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def write(self, line: LogLine) -> None:
        """Add a line, now."""
        if self._stream is None:
            return
        told: dict[str, Any] = {"time": datetime.now(UTC).isoformat(timespec="seconds")}
        told |= {name: value for name, value in vars(line).items() if value is not None}
        with self._lock, suppress(OSError, ValueError):  # a full disk, a stream that was closed
            self._stream.write(json.dumps(told) + "\n")
            self._stream.flush()
