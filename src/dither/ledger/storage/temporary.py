"""Where a temporary ledger is kept: two new folders, of its file and of its key, removed with it."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path

from dither.errors import LedgerError


class TemporaryPlaces:
    """A place for a ledger and one for its key, until whoever has them is gone."""

    def __init__(self) -> None:
        try:
            folders = [Path(tempfile.mkdtemp(prefix="dither-")) for _ in range(2)]
        except OSError as error:
            why = f"no folder can be made there: {error.strerror}"
            raise LedgerError("temporary", tempfile.gettempdir(), why, "a folder that this user can write to") from None
        self.ledger, self.key = folders[0] / "temporary.ledger", folders[1] / "temporary.key"
        self.remove = weakref.finalize(self, _remove, os.getpid(), folders)  # also when the program ends


def _remove(process: int, folders: list[Path]) -> None:
    """A copy of the process (fork) does not take away what its parent goes on to use."""
    if os.getpid() == process:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
