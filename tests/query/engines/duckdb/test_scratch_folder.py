"""Folders of reads: gone when the read is over, and by the next process where this one was ended from outside."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from dither.query.engines.duckdb import scratch_folder
from dither.query.engines.duckdb.scratch_folder import LOCK, PREFIX, make_folder, remove_folder, remove_left

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
CHILD = """
import sys
from pathlib import Path
from dither.query.engines.duckdb.scratch_folder import make_folder
folder = Path(sys.argv[1])
make_folder(folder)
(folder / "decoded").mkdir()
(folder / "decoded" / "rows.csv").write_text("person\\n1\\n")
print("made", flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(scratch_folder, "_cleaned", set())


def again() -> None:
    """As the first read of another process."""
    scratch_folder._cleaned.clear()
    remove_left()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_what_an_ended_process_left_is_removed_by_the_next(tmp_path, how):
    folder = tmp_path / f"{PREFIX}0123"
    arguments = [sys.executable, "-c", CHILD, str(folder)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "made\n"
            again()
            assert (folder / "decoded" / "rows.csv").exists()  # it is in use
        finally:
            child.send_signal(how)
    assert child.returncode == -how
    assert folder.exists()  # nobody had the time to remove it
    remove_left()
    assert folder.exists()  # once a process
    again()
    assert not folder.exists()


def test_nothing_else_is_removed(tmp_path, monkeypatch):
    plain, file, link = tmp_path / f"{PREFIX}pg", tmp_path / f"{PREFIX}file", tmp_path / f"{PREFIX}link"
    elsewhere = tmp_path / "elsewhere"
    for folder in (plain, elsewhere):
        folder.mkdir()
        (folder / "rows").touch()
    (elsewhere / LOCK).touch()
    file.touch()
    link.symlink_to(elsewhere)
    mine = tmp_path / f"{PREFIX}mine"
    lock = make_folder(mine)
    again()
    assert all(path.exists() for path in (plain / "rows", elsewhere / "rows", file, link, mine))
    remove_folder(mine, lock)
    assert not mine.exists()
    left = tmp_path / f"{PREFIX}others"
    left.mkdir()
    (left / LOCK).touch()
    other = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: other)
    again()
    assert left.exists()  # of another user
    monkeypatch.undo()


def test_a_folder_that_is_removed_while_it_is_made_is_made_again(tmp_path, monkeypatch):
    """Somebody removes it between the file and its lock: the lock is then on a file that is no more."""
    folder, taken = tmp_path / f"{PREFIX}0123", []
    flock = scratch_folder.fcntl.flock

    def late(lock: int, how: int) -> None:
        if not taken and not how & scratch_folder.fcntl.LOCK_NB:
            taken.append(True)
            again()
            assert not folder.exists()
        flock(lock, how)

    monkeypatch.setattr(scratch_folder.fcntl, "flock", late)
    lock = make_folder(folder)
    assert (taken, (folder / LOCK).exists()) == ([True], True)
    again()
    assert folder.exists()
    remove_folder(folder, lock)


def test_a_folder_that_is_there_is_refused(tmp_path):
    (tmp_path / f"{PREFIX}0123").mkdir()
    with pytest.raises(FileExistsError):
        make_folder(Path(tmp_path / f"{PREFIX}0123"))


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    folder, real = tmp_path / f"{PREFIX}0123", scratch_folder.fcntl.flock

    def missing(*_told):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(scratch_folder.fcntl, "flock", missing)
    assert make_folder(folder) is None
    monkeypatch.setattr(scratch_folder.fcntl, "flock", real)
    again()
    assert list(folder.iterdir()) == []  # it may be in use: nobody can tell
    remove_folder(folder, None)
    assert not folder.exists()
