"""A wizard's process that does what the name of a file says: it takes for ever, or all memory, or is killed.

`python -m tests.server.core.slow_wizard FD wizard`
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from dither.server.core.processes import process, wizard_tasks
from dither.server.core.processes.new_files import must_be_new_file


def _slow(name: str, folder: Path) -> None:
    must_be_new_file(name, folder)
    if name.startswith("slow"):
        time.sleep(3600)
    if name.startswith("large"):
        bytearray(2**40)
    if name.startswith("killed"):
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    wizard_tasks.must_be_new_file = _slow
    process.main(int(sys.argv[1]), sys.argv[2])
