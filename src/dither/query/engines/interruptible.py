"""Work of an engine that Ctrl-C stops: it runs in a thread of its own, while this one waits, looks, and hears."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

POLL = 0.1  # seconds between two looks
AGAIN = 1.0  # seconds between two stops
Found = TypeVar("Found")


def interruptible(work: Callable[[], Found], stop: Callable[[], None], look: Callable[[], None] | None = None) -> Found:
    """What `work` gives; `look` is called while it goes on, and `stop` when somebody presses Ctrl-C.

    Raises:
        RuntimeError: It failed. The cause is not told, since it may tell of rows.
    """
    outcome: list[Found] = []
    ended = threading.Event()

    def done() -> None:
        try:
            outcome.append(work())
        except BaseException:  # noqa: S110 - what it says may tell of rows; that it failed is all that goes on
            pass
        finally:
            ended.set()

    threading.Thread(target=done, name="dither-engine", daemon=True).start()
    try:
        while not ended.wait(POLL):
            if look is not None:
                look()
    except BaseException:  # stop the engine, then say so; a second Ctrl-C changes nothing
        while not ended.is_set():  # again and again: a stop that comes between two SELECTs stops none, or cannot be sent
            with suppress(BaseException):
                stop()
            with suppress(BaseException):
                ended.wait(AGAIN)
        raise
    if not outcome:
        raise RuntimeError("the engine failed")
    return outcome[0]
