"""Processes for the tests: copies of this one that run a function and end, or are ended."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable


def fork(work: Callable[[], object]) -> int:
    """Run in a copy of this process; its number. The copy never returns."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    try:
        work()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def wait(children: list[int]) -> list[int]:
    """How each of them ended: 0, or what went wrong; -9 where it was killed."""
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def note(path: str, line: str) -> None:
    """One line at the end of a file, whole, whoever else writes there."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, f"{line}\n".encode())
    os.close(handle)
