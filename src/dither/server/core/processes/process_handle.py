"""A process of the gateway, as the web process holds it: started, asked, killed when it takes too long, started again."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from dither import errors
from dither.errors import DitherError, LedgerError
from dither.server.core.processes.frames import pair, receive, send

PROGRAM = (sys.executable, "-m", "dither.server.core.processes.process")
SECRETS = ("DITHER_TOKEN",)  # of the environment, which no child needs
START = 60.0  # seconds in which a process must be ready
ENDED = 5.0  # seconds that a process has to end by itself
Json = dict[str, Any]
Kind = Literal["desk", "worker", "wizard"]


class Ended(Exception):  # noqa: N818 - it is what happened
    """The process is gone: it crashed, or it was killed because its time was over."""


class ProcessHandle:
    """One child process. `ask` may be called from several threads; a worker answers one after the other."""

    def __init__(
        self,
        kind: Kind,
        policies: Mapping[str, Path],
        *,
        memory_mb: int = 0,
        program: Sequence[str] = PROGRAM,
        strict: bool = True,  # else a dataset that cannot be opened stops none of the others
        folder: Path | None = None,  # of files without a policy: of the wizard alone
        idle: float = 0.0,  # seconds without a message after which it ends by itself; 0: never
    ) -> None:
        ours, theirs = pair()
        environment = {name: value for name, value in os.environ.items() if name not in SECRETS}
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [*program, str(theirs), kind], pass_fds=(theirs,), stdin=subprocess.DEVNULL, env=environment
            )
        finally:
            os.close(theirs)
        self.pid, self._connection = self._process.pid, ours
        self._lock, self._waiting, self._count, self._gone = threading.Lock(), dict[int, Future[Json]](), 0, False
        told = {name: str(path) for name, path in policies.items()}
        facts = {"policies": told, "memory_mb": memory_mb, "strict": strict}
        send(ours, facts | {"folder": None if folder is None else str(folder), "idle": idle})
        self._must_be_ready()
        threading.Thread(target=self._read, name=f"dither-{kind}", daemon=True).start()

    def _must_be_ready(self) -> None:
        """What the process could not open is raised here, in words: whoever starts the gateway is its owner."""
        until = time.monotonic() + START
        try:
            if not self._connection.poll(until - time.monotonic()):
                raise EOFError
            facts = receive(self._connection)
        except (EOFError, OSError):
            self.kill()
            why = "a process of the gateway did not start"
            raise LedgerError("gateway", self.pid, why, "more memory, or looking at the policies") from None
        if not facts["ready"]:
            self.kill()
            kind = getattr(errors, str(facts["error"]), LedgerError)
            kind = kind if isinstance(kind, type) and issubclass(kind, DitherError) else LedgerError
            raise kind.from_text(*facts["texts"])

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return not self._gone and self._process.poll() is None

    def ask(self, message: Json, seconds: float) -> Json:
        """The reply to a message; `Ended` where there is none within so many seconds, and then the process is killed."""
        future: Future[Json] = Future()
        with self._lock:
            if self._gone:
                raise Ended
            self._count += 1
            number = self._count
            self._waiting[number] = future
            try:
                send(self._connection, {**message, "id": number, "seconds": seconds})
            except OSError:
                self._waiting.pop(number, None)
                raise Ended from None
        try:
            return future.result(seconds)
        except TimeoutError:
            self.kill()
            raise Ended from None

    def _read(self) -> None:
        try:
            while True:
                reply = receive(self._connection)
                with self._lock:
                    future = self._waiting.pop(int(reply.pop("id")), None)
                if future is not None:
                    future.set_result(reply)
        except (EOFError, OSError, ValueError, KeyError, TypeError):
            self._over()

    def _over(self) -> None:
        with self._lock:
            self._gone = True
            lost, self._waiting = self._waiting, {}
        for future in lost.values():
            future.set_exception(Ended())
        self._process.kill()
        self._process.wait()

    def kill(self) -> None:
        """End it now, whatever it does: what it had charged stays charged."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Let it end: a worker completes what it is doing, within a few seconds."""
        with self._lock:
            self._gone = True
        if self._waiting:  # it may complete what it does, which is charged
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(ENDED)
        self._process.kill()
        self._process.wait()
        self._connection.close()
