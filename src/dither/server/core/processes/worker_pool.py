"""The workers of a gateway: a question goes to one that is free; one that is gone is started again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dither.errors import DitherError
from dither.query.engines.duckdb.scratch_folder import remove_left
from dither.server.core.processes.process_handle import PROGRAM, Ended, Json, ProcessHandle

PAUSES = 0.1, 10.0  # seconds between two tries to start a worker: the first, and the longest


async def _never(_: Json) -> bool:
    return False


class WorkerPool:
    """So many worker processes; each does one question at a time."""

    def __init__(
        self, policies: Mapping[str, Path], count: int, *, memory_mb: int, program: Sequence[str] = PROGRAM
    ) -> None:
        self._policies, self._memory, self._program = policies, memory_mb, program
        self._threads = ThreadPoolExecutor(count + 1, "dither-worker")
        starts = [self._threads.submit(self._start, True) for _ in range(count)]
        self.handles: list[ProcessHandle] = []
        error: BaseException | None = None
        for start in starts:
            try:
                self.handles.append(start.result())
            except DitherError as found:
                error = found
        if error is not None:
            self.close()
            raise error
        self._free: asyncio.Queue[ProcessHandle] = asyncio.Queue()
        for handle in self.handles:
            self._free.put_nowait(handle)
        self._mending: set[asyncio.Task[None]] = set()

    def _start(self, strict: bool = False) -> ProcessHandle:
        return ProcessHandle("worker", self._policies, memory_mb=self._memory, program=self._program, strict=strict)

    @property
    def alive(self) -> int:
        """How many can work."""
        return sum(handle.alive for handle in self.handles)

    async def run(
        self,
        message: Json,
        seconds: float,
        *,
        began: Callable[[], None] = lambda: None,
        slot: float | None = None,
        is_early: Callable[[Json], Awaitable[bool]] = _never,
    ) -> Json | None:
        """The reply of a worker, None where it crashed or took too long; `began` is called when a worker has it.

        With a `slot` the worker is kept until the slot is over, so that nobody's waiting depends on how long it took; not
        where `is_early` says of the reply that no row was read for it.
        """
        handle = await self._free.get()
        while not handle.alive:  # it ended while nobody asked it: no question is lost by that
            self._return(handle, 0)
            handle = await self._free.get()
        began()
        start, kept = time.monotonic(), slot or 0.0
        try:
            reply = await asyncio.get_running_loop().run_in_executor(self._threads, handle.ask, message, seconds)
            kept = 0.0 if slot is None or await is_early(reply) else kept
            return reply
        except Ended:
            return None
        finally:
            self._return(handle, start + kept - time.monotonic())

    def _return(self, handle: ProcessHandle, pause: float) -> None:
        task = asyncio.create_task(self._back(handle, pause))
        self._mending.add(task)
        task.add_done_callback(self._mending.discard)

    async def _back(self, handle: ProcessHandle, pause: float) -> None:
        """Put a worker back, or another in its place."""
        await asyncio.sleep(max(0.0, pause))
        if handle.alive:
            self._free.put_nowait(handle)
            return
        self.handles.remove(handle)
        await asyncio.get_running_loop().run_in_executor(self._threads, _clean)
        pause, longest = PAUSES
        while True:
            try:
                fresh = await asyncio.get_running_loop().run_in_executor(self._threads, self._start)
                break
            except (DitherError, OSError):  # the ledger's server is down, or there is no memory: later, then
                await asyncio.sleep(pause)
                pause = min(2 * pause, longest)
        self.handles.append(fresh)
        self._free.put_nowait(fresh)

    def close(self) -> None:
        """End all workers; what they are doing they may complete within a few seconds."""
        for task in getattr(self, "_mending", ()):
            task.cancel()
        for handle in self.handles:
            handle.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
        _clean()


def _clean() -> None:
    """Remove what workers left that were killed while they read: copies of rows, and what did not fit into memory."""
    remove_left(again=True)
