"""The wizard's process, as the web process asks it: started when somebody needs it, and gone when nobody did for a while.

It is the one process that opens files which are no dataset yet. It has the limits of a worker, does one task at a time, and
a task that takes too long is its end: replies are in the page, so the next task goes on where the last one stood.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from dither.errors import DitherError
from dither.server.core.problems import Problem
from dither.server.core.processes.process_handle import PROGRAM, Ended, Json, ProcessHandle

SECONDS = 30.0  # of a task
IDLE = 300.0  # seconds without a task, after which it ends by itself
MOST_WAITING = 16  # tasks
ENDED = "the wizard took too long or too much memory, or its folder is gone"
AGAIN = "trying again: your replies are in this page"


class WizardProcess:
    """One process about the files of a folder; none until it is asked."""

    def __init__(
        self,
        folder: Path,
        *,
        memory_mb: int,
        program: Sequence[str] = PROGRAM,
        seconds: float = SECONDS,
        idle: float = IDLE,
    ) -> None:
        self._folder, self._memory, self._program, self._seconds, self._idle = folder, memory_mb, program, seconds, idle
        self.handle: ProcessHandle | None = None
        self._threads = ThreadPoolExecutor(1, "dither-wizard")
        self._waiting, self._closed, self._lock = 0, False, threading.Lock()

    async def ask(self, task: str, **told: Any) -> Json:
        """What a task gave; a `Problem` where it is refused, or where the process ended meanwhile."""
        if self._waiting >= MOST_WAITING:
            raise Problem("busy", why="too many people use the wizard now", instead="trying again later", retry_after=5)
        self._waiting += 1
        try:
            reply = await asyncio.get_running_loop().run_in_executor(self._threads, self._asked, {"task": task, **told})
        finally:
            self._waiting -= 1
        if "done" not in reply:
            raise Problem.from_facts(reply.get("problem", {}))
        done: Json = reply["done"]
        return done

    def _asked(self, message: Json) -> Json:
        try:
            return self._started().ask(message, self._seconds)
        except (Ended, DitherError, OSError):
            return {"problem": Problem("unavailable", why=ENDED, instead=AGAIN, retry_after=1).facts()}

    def _started(self) -> ProcessHandle:
        with self._lock:
            if self._closed:
                raise Ended
            if self.handle is not None and self.handle.alive:
                return self.handle
            if self.handle is not None:
                self.handle.close()
            how: Json = {"memory_mb": self._memory, "program": self._program, "folder": self._folder, "idle": self._idle}
            self.handle = ProcessHandle("wizard", {}, **how)
            return self.handle

    def close(self) -> None:
        """End it, if it was started."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._closed = True
            if self.handle is not None:
                self.handle.kill()
                self.handle.close()
