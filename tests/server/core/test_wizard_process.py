"""The wizard's process from outside: started when it is needed, limited, killed when over, gone when nobody needs it."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from dither.server.core.problems import Problem
from dither.server.core.processes.process_handle import PROGRAM
from dither.server.core.processes.wizard_process import AGAIN, MOST_WAITING, WizardProcess
from tests.server.core.wizard_replies import message, write_visits
from tests.server.gateways import run

SLOW = (sys.executable, "-m", "tests.server.core.slow_wizard")


@contextmanager
def wizard(folder, **how):
    """One with a file, and files whose names say what happens."""
    for name in ("visits.csv", "slow.csv", "large.csv", "killed.csv"):
        write_visits(folder, name=name)
    made = WizardProcess(folder, **{"memory_mb": 3000, "program": PROGRAM} | how)
    try:
        yield made
    finally:
        made.close()


def begin(made, source="visits.csv"):
    return run(made.ask(**message(None, source=source)))


def until(what):
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_it_starts_when_it_is_asked_has_limits_and_ends_by_itself(tmp_path):
    with wizard(tmp_path, idle=0.5) as made:
        assert made.handle is None
        assert begin(made)["view"]["step"]["key"] == "look"
        pid = made.handle.pid
        limits = Path(f"/proc/{pid}/limits").read_text() if Path(f"/proc/{pid}/limits").exists() else ""
        if limits:
            assert re.search(r"Max core file size +0 +0 ", limits)
            assert re.search(rf"Max address space +{3000 * 2**20} +{3000 * 2**20} ", limits)
        until(lambda: not made.handle.alive)
        assert begin(made)["view"]["step"]["key"] == "look"
        assert made.handle.pid != pid
    assert not made.handle.alive
    with pytest.raises(RuntimeError):
        begin(made)


def test_a_task_that_takes_too_long_or_kills_it_is_told_and_the_next_goes_on(tmp_path):
    with wizard(tmp_path, program=SLOW, seconds=30) as made:
        state = begin(made)
        for name in ("killed.csv", "large.csv", "slow.csv"):
            made._seconds = 0.2 if name == "slow.csv" else 30
            with pytest.raises(Problem) as found:
                begin(made, name)
            assert found.value.kind == "unavailable"
            assert (found.value.instead == AGAIN) == (
                name != "large.csv"
            )  # memory that is not there is refused, in its process
        made._seconds = 30
        assert run(made.ask(**message(state, "no")))["view"]["step"]["key"] == "file.header"


def test_several_at_a_time_wait_for_each_other_and_too_many_are_refused(tmp_path):
    async def many(made, count):
        return await asyncio.gather(*(made.ask("files") for _ in range(count)), return_exceptions=True)

    with wizard(tmp_path) as made:
        found = run(many(made, MOST_WAITING + 3))
        assert [one for one in found[:MOST_WAITING] if isinstance(one, Problem)] == []
        assert [one.kind for one in found[MOST_WAITING:]] == ["busy"] * 3


def test_a_folder_that_is_gone_is_told(tmp_path):
    folder = tmp_path / "incoming"
    made = WizardProcess(folder, memory_mb=0)
    try:
        with pytest.raises(Problem) as found:
            run(made.ask("files"))
        assert found.value.kind == "unavailable"
        assert str(tmp_path) not in str(found.value.to_json())
    finally:
        made.close()
