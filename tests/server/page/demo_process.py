"""`dither serve --demo` as a process, and the links that it prints."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

PROGRAM = (sys.executable, "-m", "dither")
LINK = re.compile(r"(http://\S+?)(/login#token=\S+)")


@contextmanager
def demo_process(folder: Path | None = None, program: Sequence[str] = PROGRAM) -> Iterator[tuple[str, list[str]]]:
    """Start it; where it listens, and the links for the analyst and for the owner."""
    command = [*program, "serve", "--demo", "--port", "0", *([] if folder is None else ["--save", str(folder)])]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        found: list[tuple[str, str]] = []
        while len(found) < 2:
            line = process.stdout.readline()
            assert line, "the demo did not start"
            found += LINK.findall(line)
        yield found[0][0], [path for _, path in found]
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()
