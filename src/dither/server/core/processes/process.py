"""A process of the gateway that holds ledgers, and rows if it is a worker: `python -m ...process FD KIND`.

A worker does one task at a time, within limits of memory and time that the kernel keeps: should the gateway be gone, the
process ends by itself. The desk does several at a time. The wizard, which has no ledger, works as a worker does. Nothing is
written to standard output or error, and no core is dumped, since either could hold a row.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

from dither.errors import DitherError, show
from dither.query.engines.duckdb.scratch_folder import remove_left
from dither.server.core.processes.dataset_tasks import DatasetTasks
from dither.server.core.processes.frames import receive, send
from dither.server.core.processes.wizard_tasks import WizardTasks

DESK_THREADS = 4
GRACE = 5  # seconds that a worker has beyond its time, before the kernel ends it


class Tasks(Protocol):
    """What a process does."""

    def done(self, message: dict[str, Any]) -> dict[str, Any]:
        """The reply to a message."""

    def close(self) -> None:
        """Close what is open."""


def main(number: int, kind: str) -> None:
    """Read what to open, say that it is open, then do what comes until nobody listens."""
    connection = Connection(number)
    _quiet()
    facts = receive(connection)
    if kind != "desk" and facts["memory_mb"]:
        size = int(facts["memory_mb"]) * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
    if kind == "worker":
        remove_left()  # copies of rows that a worker left behind which was killed
    try:
        tasks = _tasks(kind, facts)
    except DitherError as error:
        texts = (error.where, show(error.came), error.why, error.instead)
        send(connection, {"ready": False, "error": type(error).__name__, "texts": texts})
        return
    if kind == "worker":
        _load()
    send(connection, {"ready": True})
    try:
        if kind == "desk":
            _several(connection, tasks)
        else:
            _one_at_a_time(connection, tasks, facts["idle"] or None)
    except (EOFError, OSError):
        pass
    finally:
        tasks.close()


def _tasks(kind: str, facts: dict[str, Any]) -> Tasks:
    if kind == "wizard":
        return WizardTasks(Path(facts["folder"]))
    policies = {name: Path(path) for name, path in facts["policies"].items()}
    return DatasetTasks(policies, rows=kind == "worker", strict=facts["strict"])


def _quiet() -> None:
    """No output, no core, no reaction to Ctrl-C at the terminal: the gateway says when it is over."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _load() -> None:
    """Load what is slow to load now: the first question would fail in a short slot, and its worker be killed, and so on."""
    import duckdb
    import pyarrow  # noqa: F401

    duckdb.connect(":memory:").close()


def _one_at_a_time(connection: Connection, tasks: Tasks, idle: float | None) -> None:
    while connection.poll(idle):
        message = receive(connection)
        signal.setitimer(signal.ITIMER_REAL, float(message["seconds"]) + GRACE)  # SIGALRM ends the process
        reply = tasks.done(message)
        signal.setitimer(signal.ITIMER_REAL, 0)
        send(connection, {"id": message["id"], **reply})


def _several(connection: Connection, tasks: Tasks) -> None:
    lock = Lock()

    def work(message: dict[str, Any]) -> None:
        reply = tasks.done(message)
        with lock:
            send(connection, {"id": message["id"], **reply})

    with ThreadPoolExecutor(DESK_THREADS) as threads:
        while True:
            threads.submit(work, receive(connection))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
