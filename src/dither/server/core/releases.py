"""Releases: a question goes to a worker, and what comes back is kept; with time slots it leaves when its slot ends."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import Counter
from contextlib import suppress
from typing import Any

from dither.errors import DitherError
from dither.server.core.callers import Caller
from dither.server.core.problems import Problem, failed
from dither.server.core.processes.desk import Desk
from dither.server.core.processes.worker_pool import WorkerPool
from dither.server.core.questions import Asked, Question, Questions
from dither.server.core.rate_limits import Concurrency
from dither.server.core.stored_answers import StoredAnswers

Json = dict[str, Any]


class Releases:
    """What happens to a question between the moment it is put and the moment its answer may leave."""

    def __init__(
        self,
        questions: Questions,
        workers: WorkerPool,
        desk: Desk,
        stored: StoredAnswers,
        under_way: Concurrency,
        seconds: float,
    ) -> None:
        self._questions, self._workers, self._desk, self._stored = questions, workers, desk, stored
        self._under_way, self._seconds = under_way, seconds
        self._running: set[asyncio.Task[None]] = set()
        self._keeps: dict[str, bool] = {}  # whether the policy lets texts of questions be kept, by dataset
        self.ends = Counter[str]()  # by what became of them: "done", or the kind of the problem

    def start(self, question: Question, caller: Caller, slot: float | None, door: str) -> None:
        """Give a question to the next worker that is free."""
        task = asyncio.create_task(self._answer(question, caller, slot, door))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def close(self) -> None:
        """Wait for nothing any more."""
        for task in self._running:
            task.cancel()

    async def _answer(self, question: Question, caller: Caller, slot: float | None, door: str) -> None:
        """Give a question to a worker, and keep what comes."""
        seconds = self._seconds if slot is None else min(slot, self._seconds)
        asked = question.asked
        message: Json = {"task": "release", "dataset": asked.dataset, "sql": asked.sql, "terms": asked.terms, "door": door}
        key = None if question.key is None else _ledger_key(caller.name, question.key)
        message |= {"analyst": caller.name, "key": key, "daily": caller.daily}
        early = False

        async def is_early(reply: Json) -> bool:
            nonlocal early
            early = await self._is_early(asked.dataset, reply)
            return early

        try:
            reply = await self._workers.run(message, seconds, began=lambda: _begin(question), slot=slot, is_early=is_early)
            if slot is not None and not early and question.began is not None:
                await asyncio.sleep(max(0.0, question.began + slot - time.monotonic()))
            self._end(question, reply)
            if question.problem is not None and question.problem.kind == "refused":
                await self.log_refusal(caller, question.asked, question.problem, door)
            elif question.receipt is not None and question.answer is not None:
                with suppress(DitherError, Problem):  # it is in the ledger; the same question gives it again for nothing
                    await self._keep(question)
        except Exception:  # a bug of ours: whether it was charged is not known
            question.problem = failed(None)
        finally:
            if not question.ended.is_set():
                question.end("failed" if question.problem is not None or question.answer is None else "done")
            self._questions.ended(question)
            self._under_way.end(question.token_id)

    async def _is_early(self, dataset: str, reply: Json) -> bool:
        """Whether a reply leaves before its slot ends: no row was read for it.

        So it is with refusals, with free answers, and with one that was computed for somebody else whose slot is over: then
        it is kept here. Otherwise who asks the same twice would see when the first was ready.
        """
        done, problem = reply.get("done"), reply.get("problem")
        if done is None:
            return problem is not None and problem.get("kind") not in ("failed", "in-progress")
        if not done["replay"]:
            return done["receipt"] is None
        return await asyncio.to_thread(self._stored.find, dataset, done["receipt"]) is not None

    def _end(self, question: Question, reply: Json | None) -> None:
        done = None if reply is None else reply.get("done")
        if reply is None:
            question.problem = failed(None)
        elif done is None:
            question.problem = Problem.from_facts(reply.get("problem", {}))
            question.receipt = question.problem.receipt
        else:
            question.answer, question.receipt = done["answer"], done["receipt"]
            question.replay, question.price = done["replay"], done["price"]
        self.ends["done" if question.problem is None else question.problem.kind] += 1

    async def _keep(self, question: Question) -> None:
        if question.dataset not in self._keeps:
            self._keeps[question.dataset] = (await self._desk.ask("declared", question.dataset))["keeps_texts"]
        if self._keeps[question.dataset] and question.receipt is not None and question.answer is not None:
            sql = question.asked.sql if isinstance(question.asked.sql, str) else ";\n".join(question.asked.sql)
            kept = (question.dataset, question.receipt, question.analyst, question.price, sql, question.answer)
            await asyncio.to_thread(self._stored.keep, *kept)

    async def log_refusal(self, caller: Caller, asked: Asked, problem: Problem, door: str) -> None:
        """Into the access log of the dataset's ledger; a refusal is told whether it can be logged or not."""
        text = asked.sql if isinstance(asked.sql, str) else ";\n".join(asked.sql)
        with suppress(Problem):
            told = {"text": text, "why": problem.why, "analyst": caller.name, "door": door}
            await self._desk.ask("refusal", asked.dataset, **told)


def _ledger_key(name: str, key: str) -> str:
    """The key in a ledger: the caller's own, whatever others use, and as long as ledgers take them."""
    return hashlib.sha256(json.dumps([name, key]).encode()).hexdigest()


def _begin(question: Question) -> None:
    question.state, question.began = "running", time.monotonic()
