"""A process of the gateway whose noise is replayed, and which can be made to dawdle, to fail and to die.

`python -m tests.server.replayed_process FACTS FD KIND`, with FACTS as JSON:

    seed     the noise of the k-th release about a dataset, and its salt, follow from this number and k
    lease    seconds in which nobody else computes the same answer
    home     of keys
    once     a folder, in which it is noted that an event happened: none happens twice, in whichever process
    rows     files of datasets, by name: what "raise" says has the size of that file
    events   a list of [text, stage, what]: in a release whose SQL has the text, when the stage is reached:
             "sleep N", "kill" (SIGKILL of this process), "raise" (an error that says a cell), "eat" (memory without end),
             "write" (a file without end), "wait FILE" (until it is there)

Stages, in their order: "task" (before anything), "reserve", "touch", "read" (rows are open), "noise" (all is computed),
"commit" (the answer is stored), "reply" (it is about to leave).
"""

from __future__ import annotations

import json
import os
import resource
import secrets
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from hashlib import sha512
from pathlib import Path
from typing import Any

from dither.ledger.ledger import Ledger
from dither.noise.entropy import Keystream, swapped
from dither.query import release
from dither.server.core.processes import process
from dither.server.core.processes.dataset_tasks import DatasetTasks

CANARY = "CANARY-7f3a"


class ReplayedStream(Keystream):
    """Bits that follow from a text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text, self._keys = text, 0

    def key_material(self) -> bytes:
        self._keys += 1
        return sha512(f"{self._text} {self._keys}".encode()).digest()[:48]


class Harness:
    """What is done at the stages of a release."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self.seed, self.events = facts.get("seed"), facts.get("events", [])
        self.once = facts.get("once")
        self.counts: Counter[str] = Counter()
        self.rows, self.sql, self.dataset = facts.get("rows", {}), "", ""
        os.environ["DITHER_HOME"] = facts.get("home", os.environ.get("DITHER_HOME", ""))
        if "lease" in facts:
            release.LEASE = facts["lease"]

    def at(self, stage: str) -> None:
        """Do what the facts say of this stage."""
        for place, (text, when, what) in enumerate(self.events):
            if when == stage and text in self.sql and self._is_first(place):
                self._do(what)

    def _is_first(self, place: int) -> bool:
        if self.once is None:
            return True
        try:
            os.close(os.open(f"{self.once}/{place}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True

    def _do(self, what: str) -> None:
        if what == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif what == "raise":
            size = Path(self.rows[self.dataset]).stat().st_size if self.dataset in self.rows else 0
            raise ValueError(f"cannot cast {CANARY} to DOUBLE, nor 987654321.125, at byte {size}")
        elif what.startswith("wait "):
            while not Path(what.removeprefix("wait ")).exists():
                time.sleep(0.01)
        elif what == "eat":
            eaten = []
            while True:
                eaten.append(bytearray(2**26))
        elif what == "write":
            before = resource.getrlimit(resource.RLIMIT_FSIZE)
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (2**16, before[1]))
            try:
                with tempfile.TemporaryFile() as file:
                    while True:
                        file.write(2**16 * CANARY.encode())
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, before)
        else:
            time.sleep(float(what.removeprefix("sleep ")))

    def install(self) -> None:
        """Put the stages into the code of a release."""
        before, after = self._before, self._after
        before(Ledger, "reserve", "reserve")
        before(Ledger, "touch", "touch")
        after(Ledger, "commit", "commit")
        computed = release.Release._computed
        released = release.Release.released

        def reading(work: Any, *told: Any) -> Any:
            with release.untold():
                self.at("read")
                return computed(work, *told)
            return None

        def with_noise(work: Any, *told: Any) -> Any:
            found = released(work, *told)
            self.at("noise")
            return found

        release.Release._computed = reading  # type: ignore[method-assign]
        release.Release.released = with_noise  # type: ignore[method-assign]
        done = DatasetTasks.done

        def replayed(tasks: DatasetTasks, message: dict[str, Any]) -> dict[str, Any]:
            if message.get("task") != "release":
                return done(tasks, message)
            self.sql, self.dataset = json.dumps(message["sql"]), message["dataset"]
            self.counts[message["dataset"]] += 1
            self.at("task")
            if self.seed is None:
                reply = done(tasks, message)
            else:
                number = f"{self.seed} {self.counts[message['dataset']]}"
                stream = ReplayedStream(number)
                secrets.randbits = lambda bits: int.from_bytes(sha512(number.encode()).digest()) % 2**bits
                with swapped(stream):
                    reply = done(tasks, message)
            self.at("reply")
            return reply

        DatasetTasks.done = replayed  # type: ignore[method-assign]

    def _before(self, owner: type, name: str, stage: str) -> None:
        original: Callable[..., Any] = getattr(owner, name)

        def staged(*told: Any, **more: Any) -> Any:
            self.at(stage)
            return original(*told, **more)

        setattr(owner, name, staged)

    def _after(self, owner: type, name: str, stage: str) -> None:
        original: Callable[..., Any] = getattr(owner, name)

        def staged(*told: Any, **more: Any) -> Any:
            found = original(*told, **more)
            self.at(stage)
            return found

        setattr(owner, name, staged)


if __name__ == "__main__":
    Harness(json.loads(sys.argv[1])).install()
    process.main(int(sys.argv[2]), sys.argv[3])
