"""The folder of a read: what does not fit into memory, and copies of files; removed when the read is over.

A process that is ended from outside (SIGTERM, SIGKILL, no power) removes nothing. So the maker of a folder holds a lock on a
file in it (flock), which the operating system takes away with the process, and the first read of a later process of this
user removes folders whose lock nobody holds. Handlers of signals are left to whoever runs dither.

Why no folder in use is removed. Who removes one holds its lock. A maker that has the lock looks whether its file is still
the one in the folder, and begins again if it is not; from then on nobody else gets the lock before the maker gives it back.
A folder without that file has nothing in it yet, or was made by somebody else: it is left alone.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    fcntl: Any
else:
    try:
        import fcntl
    except ImportError:  # there are no such locks on Windows: folders of processes that were ended stay there
        fcntl = None

PREFIX = "dither-"
LOCK = "in-use"
_cleaned: set[tuple[int, str]] = set()  # by process and place: once for each


def make_folder(folder: Path) -> int | None:
    """Make a folder that only this user can enter; the lock that says that it is in use. OSError where there is one."""
    remove_left()
    while True:
        folder.mkdir(mode=0o700)
        try:
            lock = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        except FileNotFoundError:  # removed in between
            continue
        try:
            if fcntl is None or _is_ours(lock, folder):
                return lock
            os.close(lock)
        except OSError:  # a file system without such locks, as some of clusters: this folder is left alone by others
            os.close(lock)
            (folder / LOCK).unlink(missing_ok=True)
            return None


def remove_folder(folder: Path, lock: int | None) -> None:
    """Remove a folder of this process with all that is in it."""
    shutil.rmtree(folder, ignore_errors=True)
    if lock is not None:
        os.close(lock)
    shutil.rmtree(folder, ignore_errors=True)  # where an open file cannot be removed


def remove_left(*, again: bool = False) -> None:
    """Remove folders of processes of this user that are no more; once a process, unless told to do it again."""
    place = tempfile.gettempdir()
    if fcntl is None or ((os.getpid(), place) in _cleaned and not again):
        return
    _cleaned.add((os.getpid(), place))
    with suppress(OSError):
        for folder in sorted(Path(place).glob(f"{PREFIX}*")):
            with suppress(OSError):  # somebody else removes it, or it is none of ours
                _remove_if_left(folder)


def _remove_if_left(folder: Path) -> None:
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        return
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # BlockingIOError: it is in use
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)


def _is_ours(lock: int, folder: Path) -> bool:
    """Take the lock; whether the file that it is on is still in the folder."""
    fcntl.flock(lock, fcntl.LOCK_EX)
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(lock), (folder / LOCK).stat())
    return False
