"""Work that Ctrl-C stops, whatever becomes of the stop."""

from __future__ import annotations

import threading

import pytest

from dither.query.engines import interruptible as interrupting
from dither.query.engines.interruptible import interruptible


@pytest.mark.parametrize("fails", [True, False])
def test_stops_until_the_work_ends(fails, monkeypatch):
    """A stop that fails, or that nobody heard, is tried again; work that ended is not waited for."""
    monkeypatch.setattr(interrupting, "AGAIN", 0.01)
    heard, stops, found = threading.Event(), [], []

    def stop() -> None:
        stops.append(1)
        if len(stops) >= 3:  # the first ones are lost
            heard.set()
        if fails:
            raise OSError("nobody is there")

    def look() -> None:
        raise KeyboardInterrupt

    def pressed() -> None:
        try:
            interruptible(lambda: heard.wait(60), stop, look)
        except KeyboardInterrupt as error:
            found.append(error)

    thread = threading.Thread(target=pressed, daemon=True)
    thread.start()
    thread.join(60)
    assert found
    assert len(stops) >= 3
    assert found[0].__context__ is None
