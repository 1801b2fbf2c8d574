"""Refusals that HTTP itself makes, before the gateway is asked: each is a `Problem`, with words of ours.

What a library says of a request is never passed on: it may repeat what came, and it changes with its version.
"""

from __future__ import annotations

from dataclasses import dataclass

from dither.server.core.problems import Problem

BODY = '{"dataset": "clinic", "sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "0.1"}'
TITLES = {4: "The request is refused", 5: "The request failed"}  # by the hundreds of the status


@dataclass(eq=False)
class RequestProblem(Problem):
    """What HTTP itself says of a request, by the status that it has for it."""

    code: int = 422

    @property
    def status(self) -> int:
        """As HTTP counts them."""
        return self.code

    @property
    def title(self) -> str:
        """In words."""
        return TITLES[self.code // 100]


def refused(where: str, why: str, instead: str, *, status: int = 422) -> Problem:
    """A request that cannot be what it should be."""
    return RequestProblem("refused", where=where, why=why, instead=instead, code=status)


def unknown_method() -> Problem:
    """The address is known, and the method is not."""
    return refused("method", "the address does not take it", "the methods in /openapi.json", status=405)


def too_large(most: int) -> Problem:
    """A body above the limit, of which no more was read."""
    why, instead = f"a body may have {most:,} bytes", "a shorter question"
    return Problem("too-large", where="body", why=why, instead=instead)


def too_slow(seconds: float) -> Problem:
    """A body that did not come to its end in time."""
    return refused("body", f"it did not come within {seconds:g} seconds", "the same request again", status=408)


def too_many(most: int) -> Problem:
    """More requests of one token at a time than are kept open."""
    why = f"this token has {most} requests open"
    return Problem("too-many", why=why, instead="waiting for one of them", retry_after=1)


def not_acceptable(instead: str) -> Problem:
    """No format that is asked for is written here."""
    return Problem("unacceptable", where="Accept", why="no such format is written here", instead=instead)


def wrong_type() -> Problem:
    """A body that is no JSON by its own words."""
    why = "a body is JSON in UTF-8, as it is, without compression"
    return refused("Content-Type", why, "Content-Type: application/json", status=415)


def fault() -> Problem:
    """Something went wrong in the web process. One text for every cause; what was charged is in the ledger."""
    why = "the gateway failed; if the question was charged, its answer is stored"
    instead = "the same request again with the same Idempotency-Key, which never pays twice"
    return RequestProblem("failed", why=why, instead=instead, code=500)
