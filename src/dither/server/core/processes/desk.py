"""The desk of a gateway: the process that holds policies and ledgers and no rows, as the web process asks it.

A task that takes too long is the end of the desk, and of the tasks beside it: it is started again, and they are told that
it cannot be asked now. Nothing that the desk does is charged.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from dither.errors import DitherError
from dither.server.core.problems import Problem, unavailable
from dither.server.core.processes.process_handle import PROGRAM, Ended, Json, ProcessHandle

SECONDS = 10.0  # of a task
LONG = {"verify": 600.0, "ledger": 60.0}  # of tasks that read a whole ledger
THREADS = 32  # tasks that are waited for at a time


class Desk:
    """One desk process."""

    def __init__(self, policies: Mapping[str, Path], *, program: Sequence[str] = PROGRAM) -> None:
        self._policies, self._program = policies, program
        self._handle, self._lock = self._start(strict=True), threading.Lock()
        self._threads = ThreadPoolExecutor(THREADS, "dither-desk")

    def _start(self, *, strict: bool = False) -> ProcessHandle:
        return ProcessHandle("desk", self._policies, program=self._program, strict=strict)

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._handle.alive

    async def ask(self, task: str, dataset: str, **told: Any) -> Json:
        """What a task gave; a `Problem` where it is refused."""
        message = {"task": task, "dataset": dataset, **told}
        seconds = LONG.get(task, SECONDS)
        reply = await asyncio.get_running_loop().run_in_executor(self._threads, self._asked, message, seconds)
        if "done" not in reply:
            raise Problem.from_facts(reply.get("problem", {}))
        done: Json = reply["done"]
        return done

    def _asked(self, message: Json, seconds: float) -> Json:
        try:
            with self._lock:
                if not self._handle.alive:
                    self._handle.close()
                    self._handle = self._start()
                handle = self._handle
            return handle.ask(message, seconds)
        except (Ended, DitherError, OSError):
            return {"problem": unavailable().facts()}

    def close(self) -> None:
        """End it."""
        self._handle.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
