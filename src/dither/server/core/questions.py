"""Questions under way and lately done, each known by its id to whoever asked it. Kept in memory, for an hour.

A question that is forgotten here is not lost: its answer is in the ledger, and the same question or the same key gives it
again for nothing.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Literal

from dither.server.core.callers import Caller
from dither.server.core.problems import Problem, absent

State = Literal["queued", "running", "done", "failed"]
MOST = 10_000  # questions that are kept
MOST_BYTES = 256 * 2**20  # of answers that are kept
KEPT = 3600.0  # seconds after it is done


@dataclass(frozen=True)
class Asked:
    """What somebody wants to know, at which terms."""

    dataset: str
    sql: str | list[str]
    terms: dict[str, Any] = field(default_factory=dict)
    slot: float | None = None  # a wish, in seconds


@dataclass(eq=False)
class Question:
    """A question that was put, and what became of it."""

    id: str
    asked: Asked
    analyst: str
    token_id: str
    key: str | None  # of the caller's own; the same question without one is never charged twice either
    state: State = "queued"
    began: float | None = None  # by the monotonic clock, when a worker took it
    seconds: int = 0  # that it took, or has taken so far
    answer: str | None = None  # JSON
    receipt: str | None = None
    replay: bool = False
    price: str = ""
    problem: Problem | None = None
    ended: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    @property
    def dataset(self) -> str:
        """Which dataset it is about."""
        return self.asked.dataset

    def elapsed(self) -> int:
        """Whole seconds since a worker took it."""
        if self.ended.is_set() or self.began is None:
            return self.seconds
        return int(time.monotonic() - self.began)

    def end(self, state: State) -> None:
        """It is over."""
        self.seconds, self.state = self.elapsed(), state
        self.ended.set()


class Questions:
    """Questions by id, and by the key of who asked."""

    def __init__(self) -> None:
        self._by_id: OrderedDict[str, tuple[Question, float]] = OrderedDict()
        self._by_key: dict[tuple[str, str, str], Question] = {}
        self._bytes = self._open = 0

    def find(self, caller: Caller, id: str) -> Question:  # noqa: A002
        """The question of that id, if this caller asked it; a problem otherwise, the same for all other ids."""
        self._forget()
        found, _ = self._by_id.get(id, (None, 0.0))
        if found is None or found.analyst != caller.name or not caller.sees(found.dataset):
            raise absent()
        return found

    def same(self, caller: Caller, asked: Asked, key: str | None) -> Question | None:
        """The question that this caller put with this key; a problem if that was another question."""
        found = None if key is None else self._by_key.get((caller.name, asked.dataset, key))
        if found is None or (found.state == "failed"):
            return None
        if found.asked != asked:
            why = "that Idempotency-Key stands for another question"
            raise Problem("conflict", why=why, instead="a new key for a new question", error="ConflictError")
        return found

    def add(self, caller: Caller, asked: Asked, key: str | None) -> Question:
        """A new question."""
        self._forget()
        made = Question(f"qy_{secrets.token_hex(16)}", asked, caller.name, caller.token_id, key)
        self._by_id[made.id] = made, time.monotonic()
        self._open += 1
        if key is not None:
            self._by_key[caller.name, asked.dataset, key] = made
        return made

    def under_way(self) -> int:
        """How many are queued or running."""
        return self._open

    def ended(self, question: Question) -> None:
        """Count its answer, and forget older ones where they are too many."""
        self._by_id[question.id] = question, time.monotonic()
        self._by_id.move_to_end(question.id)
        self._bytes += len(question.answer or "")
        self._open -= 1

    def _forget(self) -> None:
        now = time.monotonic()
        while self._by_id:
            id, (first, at) = next(iter(self._by_id.items()))  # noqa: A001
            old = at < now - KEPT or len(self._by_id) >= MOST or self._bytes > MOST_BYTES
            if not first.ended.is_set():
                if not old:
                    return
                self._by_id.move_to_end(id)  # still under way: looked at again later
                if all(not one.ended.is_set() for one, _ in self._by_id.values()):
                    return
                continue
            if not old:
                return
            del self._by_id[id]
            self._bytes -= len(first.answer or "")
            name = (first.analyst, first.dataset, first.key or "")
            if self._by_key.get(name) is first:
                del self._by_key[name]
