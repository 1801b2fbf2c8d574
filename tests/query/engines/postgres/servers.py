"""PostgreSQL of Debian, which has the extensions that the wheel lacks, on a socket in a folder of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.ledger.servers import plain_locale


def found() -> Path | None:
    """The newest one that the machine has; None if it has none, or nobody who may run it."""
    several = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if not several or (os.geteuid() == 0 and "postgres" not in {user.pw_name for user in pwd.getpwall()}):
        return None
    return several[-1].parent


@contextmanager
def debian(tools: Path) -> Iterator[str]:
    """Its address; stopped and gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="dither-pg-"))
    user = "postgres" if os.geteuid() == 0 else None
    if user is not None:
        shutil.chown(folder, user)

    def run(*words: str) -> None:
        with (folder.parent / f"{folder.name}.log").open("ab") as log:
            subprocess.run(words, check=True, user=user, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/")

    rows, sockets = str(folder / "rows"), f"-k {folder} -c listen_addresses='' -c fsync=off"
    try:
        with plain_locale():
            run(str(tools / "initdb"), "-D", rows, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        run(str(tools / "pg_ctl"), "-D", rows, "-w", "-o", sockets, "-l", str(folder / "log"), "start")
        try:
            yield f"postgresql://postgres@/postgres?host={folder}"
        finally:
            run(str(tools / "pg_ctl"), "-D", rows, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        (folder.parent / f"{folder.name}.log").unlink(missing_ok=True)
