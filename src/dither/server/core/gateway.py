"""The gateway: one way in for every door. It knows who asks and what is under way; money is in the ledgers alone.

The web process has this object, and neither a row nor a signing key: quotes, budgets and history come from the desk, answers
from workers, both in processes of their own (`processes/`). A door (HTTP, page, MCP) calls these methods and adds nothing.

Theorem. Whatever a caller gets is a function of the policies, the ledgers' entries, the released answers, other callers'
requests, the clock, and for owners the names of files; but for one bit a question: whether it failed after its charge (and,
without time slots, when). Owners of all datasets also get what `WizardTasks` tells of files that are no dataset yet.
Proof. A reply is made of `declared_facts` (policy), `quote_facts` (policy, ledger), `history_lines` (ledger), an answer
(stored in the ledger before it leaves the worker) or a `Problem` (see there); owners also get `owner_facts` (policy, ledger,
and whether files of those names are there). Which worker is free, and when, depends on
how long questions took: with time slots a worker is kept until its slot is over, so that is the requests' doing alone. ∎
"""

from __future__ import annotations

import asyncio
import base64
import json
import math
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from dither.errors import DitherError
from dither.server.core.callers import Caller
from dither.server.core.config import GatewayConfig, GatewayDataset
from dither.server.core.owner_requests import OwnerRequests
from dither.server.core.problems import Problem, absent, problem_of
from dither.server.core.processes.desk import Desk
from dither.server.core.processes.process_handle import PROGRAM
from dither.server.core.processes.wizard_process import WizardProcess
from dither.server.core.processes.worker_pool import WorkerPool
from dither.server.core.questions import Asked, Question, Questions
from dither.server.core.rate_limits import Kind as RateKind
from dither.server.core.rate_limits import RateLimits
from dither.server.core.recent_quotes import RecentQuotes
from dither.server.core.releases import Releases
from dither.server.core.stored_answers import StoredAnswers
from dither.server.core.time_slots import choose_slot
from dither.server.core.tokens import TokenStore

Json = dict[str, Any]
WAIT = 10.0  # seconds after which a question that is not done is answered with its id
LONGEST_WAIT = 30.0
TICK = 1.0  # seconds between two events of a question that runs
PAGE = "page"  # the door where each key that is pressed is a quote: half a question that is refused is not logged


class Gateway(OwnerRequests):
    """Datasets by name, callers, quotes, questions under way and stored answers."""

    def __init__(self, config: GatewayConfig, *, program: Sequence[str] = PROGRAM) -> None:
        self.config = config
        self.known: dict[str, GatewayDataset] = {dataset.name: dataset for dataset in config.datasets}
        self.foreign_caller: Callable[[str], Caller | None] | None = None  # whose token is not ours, where one is believed
        self.tokens = TokenStore(config.database)
        self.stored = StoredAnswers(self.tokens.database)
        self.quotes, self.questions, self.rates = RecentQuotes(), Questions(), RateLimits(config.limits)
        policies: dict[str, Path] = {dataset.name: dataset.policy for dataset in config.datasets}
        self.desk = Desk(policies, program=program)
        try:
            self.workers = WorkerPool(policies, config.workers, memory_mb=config.limits.memory_mb, program=program)
        except BaseException:
            self.desk.close()
            self.tokens.close()
            raise
        folder, memory = config.new_data, config.limits.memory_mb
        self.new_data = None if folder is None else WizardProcess(folder.path, memory_mb=memory, program=program)
        seconds = config.limits.seconds
        self.releases = Releases(self.questions, self.workers, self.desk, self.stored, self.rates.under_way, seconds)

    def close(self) -> None:
        """End the processes; answers that are ready are in the ledgers."""
        self.releases.close()
        self.workers.close()
        if self.new_data is not None:
            self.new_data.close()
        self.desk.close()
        self.tokens.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- who asks ----------------------------------------------------------------------------------------------------

    def caller(self, secret: str | None, address: str) -> Caller:
        """Who has this token; a problem where it is none, or not any more: the same for all reasons.

        Wrong tokens of one address are few a minute; a right one passes whatever its neighbours try.
        """
        token = None if not secret else self.tokens.find(secret)
        if token is not None:
            return Caller.of(token)
        found = self.foreign_caller(secret) if secret and self.foreign_caller is not None else None
        if found is not None:
            return found
        wait = self.rates.locked_out(address)
        if wait:
            raise _too_many("too many wrong tokens came from this address", wait)
        self.rates.wrong_token(address)
        instead = "Authorization: Bearer dth_..., with a token that the owner made"
        raise Problem("unauthorized", why="there is no valid token", instead=instead)

    def _take(self, caller: Caller, kind: RateKind) -> None:
        wait = self.rates.take(caller.token_id, kind)
        if wait:
            raise _too_many(f"this token has asked for too many {kind}", wait)

    def _seen(self, caller: Caller) -> list[str]:
        return [name for name in self.known if caller.sees(name)]

    # -- what there is -----------------------------------------------------------------------------------------------

    def dataset_names(self, caller: Caller) -> list[str]:
        """The names of the datasets that the caller may use; no process is asked."""
        return self._seen(caller)

    async def datasets(self, caller: Caller) -> list[Json]:
        """The declared facts of each dataset that the caller may use."""
        return [await self.dataset(caller, name) for name in self._seen(caller)]

    async def dataset(self, caller: Caller, name: str) -> Json:
        """The declared facts of a dataset: tables, columns, types, bounds, keys."""
        caller.must("look", self._dataset(caller, name).name)
        return {"name": name, **await self.desk.ask("declared", name), "slots": list(self.known[name].slots)}

    async def sample(self, caller: Caller, dataset: str, rows: int = 100) -> dict[str, bytes]:
        """Made-up rows of what the policy declares, as Arrow streams by table: for trying a question for nothing."""
        caller.must("look", self._dataset(caller, dataset).name)
        found = await self.desk.ask("sample", dataset, rows=rows)
        return {name: base64.b64decode(stream) for name, stream in found.items()}

    async def first_questions(self, caller: Caller, dataset: str) -> Json:
        """Questions to begin with, and a price for them."""
        caller.must("look", self._dataset(caller, dataset).name)
        return await self.desk.ask("first_questions", dataset)

    async def quote(self, caller: Caller, asked: Asked, *, door: str = "http") -> Json:
        """Price, error and what is left, for nothing; with an id by which it can be asked for ten minutes."""
        dataset = self._dataset(caller, asked.dataset)
        caller.must("look", dataset.name)
        self._must_be_short(asked)
        self._take(caller, "quotes")
        try:
            slot = choose_slot(dataset.slots, asked.slot)
            who = {"analyst": caller.name, "daily": caller.daily}
            found = await self.desk.ask("quote", dataset.name, **_terms(asked), **who)
        except (Problem, DitherError) as error:
            problem = error if isinstance(error, Problem) else problem_of(error, "quote")
            if door != PAGE:
                await self.releases.log_refusal(caller, asked, problem, door)
            raise problem from None
        id_, until = self.quotes.add(caller, asked)
        return {"id": id_, "dataset": dataset.name, "sql": asked.sql, **found, "slot": slot, "expires": until}

    async def budget(self, caller: Caller, dataset: str | None = None, **more: bool | str | None) -> list[Json]:
        """What is left of each budget, and of the caller's share; `more` is told to the desk (`budget_facts`)."""
        names = self._seen(caller) if dataset is None else [self._dataset(caller, dataset).name]
        asked = {"analyst": caller.name, "daily": caller.daily, **more}
        return [{"dataset": name, **await self.desk.ask("budget", name, **asked)} for name in names]

    # -- questions ---------------------------------------------------------------------------------------------------

    async def ask(
        self, caller: Caller, asked: Asked | str, *, key: str | None = None, wait: float = WAIT, door: str = "http"
    ) -> Question:
        """Put a question, by itself or by the id of a quote; waits for its answer for so many seconds.

        The same key of the same caller is the same question, which is never charged twice.
        """
        caller.must("ask")
        asked = self.quotes.find(caller, asked) if isinstance(asked, str) else asked
        dataset = self._dataset(caller, asked.dataset)
        self._must_be_short(asked)
        try:
            slot = choose_slot(dataset.slots, asked.slot)
        except DitherError as error:
            raise problem_of(error, "quote") from None
        question = self.questions.same(caller, asked, key)
        if question is None:
            self._take(caller, "queries")
            began = self.rates.under_way.begin(caller.token_id)
            if began == "too many of one":
                why = f"this token has {self.config.limits.under_way} questions under way"
                raise Problem("too-many", why=why, instead="waiting for one of them", retry_after=1)
            if began == "too many of all":
                raise Problem("busy", why="too many questions are waiting", instead="asking again later", retry_after=5)
            question = self.questions.add(caller, asked, key)
            self.releases.start(question, caller, slot, door)
        return await self._waited(question, wait)

    async def question(self, caller: Caller, id: str, *, wait: float = 0.0) -> Question:  # noqa: A002
        """A question of the caller's own; waits for its end for so many seconds."""
        return await self._waited(self.questions.find(caller, id), wait)

    async def watch(self, caller: Caller, id: str) -> AsyncIterator[Json]:  # noqa: A002
        """What becomes of a question, until it ends: states, and whole seconds; no fraction, which the rows decide."""
        question = self.questions.find(caller, id)
        told: Json | None = None
        while True:
            state = {"state": question.state, "seconds": question.elapsed()}
            if state != told:
                yield state
                told = state
            if question.ended.is_set():
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(question.ended.wait(), TICK)

    async def _waited(self, question: Question, wait: float) -> Question:
        with suppress(TimeoutError):
            await asyncio.wait_for(question.ended.wait(), min(wait, LONGEST_WAIT) if wait > 0 else 0.0)
        return question

    def _must_be_short(self, asked: Asked) -> None:
        texts = [asked.sql] if isinstance(asked.sql, str) else list(asked.sql)
        try:
            text = json.dumps([texts, asked.terms, asked.slot], ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError):  # NaN, for one: no process is told what JSON cannot say
            why, instead = "it is no JSON", "texts, and numbers that are finite"
            raise Problem("refused", where="terms", why=why, instead=instead, error="DataError") from None
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > self.config.limits.sql_bytes:
            why = f"the question has {size:,} bytes"
            raise Problem("too-large", why=why, instead=f"at most {self.config.limits.sql_bytes:,}")

    # -- stored answers ----------------------------------------------------------------------------------------------

    async def answers(
        self,
        caller: Caller,
        *,
        dataset: str | None = None,
        words: str = "",
        before: int | None = None,
        count: int = 50,
        own: bool = False,
    ) -> list[Json]:
        """The latest stored answers that the caller may look at, or paid for if `own`; reusing one is free."""
        names = self._seen(caller) if dataset is None else [self._dataset(caller, dataset).name]
        found = []
        for name in names:
            alone = own or (self.known[name].answers == "own" and caller.role == "analyst")
            how = {"words": words, "analyst": caller.name if alone else None, "before": before, "count": count}
            found += await asyncio.to_thread(self.stored.some, name, **how)  # type: ignore[arg-type]
        found.sort(key=lambda one: (-one.time, one.receipt))
        return [one.facts() for one in found[:count]]

    async def answer(self, caller: Caller, id: str) -> Question:  # noqa: A002
        """A stored answer, by the name of its receipt."""
        for name in self._seen(caller):
            found = await asyncio.to_thread(self.stored.find, name, id)
            if found is None:
                continue
            if self.known[name].answers == "own" and caller.role == "analyst" and found.analyst != caller.name:
                break
            question = Question(found.receipt, Asked(name, found.sql), found.analyst, "", None)
            question.answer, question.receipt, question.replay, question.price = found.answer, id, True, found.price
            question.end("done")
            return question
        raise absent()

    async def health(self) -> Json:
        """Whether questions can be asked; for anybody."""
        alive, wanted = self.workers.alive, self.config.workers
        ok = alive == wanted and self.desk.alive
        return {"status": "ok" if ok else "degraded", "workers": alive, "waiting": self.questions.under_way()}


def _terms(asked: Asked) -> Json:
    return {"sql": asked.sql, "terms": asked.terms}


def _too_many(why: str, wait: float) -> Problem:
    seconds = math.ceil(wait)
    return Problem("too-many", why=why, instead=f"asking again in {seconds} s", retry_after=seconds)
