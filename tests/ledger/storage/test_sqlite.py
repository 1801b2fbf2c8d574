"""The file: disks that fill up, power that goes, folders that are not what they seem."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import threading
import time
from fractions import Fraction
from pathlib import Path

import pytest

from dither import Ledger, ln, pure
from dither.errors import BudgetError, ConflictError, LedgerError
from dither.ledger.entries import transaction as page
from dither.ledger.entries import unused_receipts as seals
from dither.ledger.entries.entry import KINDS, State, read, write
from dither.ledger.storage.network_mounts import network_file_system
from tests.ledger.children import fork, wait

TENTH = pure("0.1")
MOUNTS = """22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 0:26 / /mnt/share rw - nfs4 server:/share rw
31 22 0:27 / /mnt/share/local rw - ext4 /dev/vdb rw
32 22 0:28 / /mnt/with\\040space rw shared:1 master:2 - cifs //server/x rw
33 22 0:29 / /home/ana/remote rw - fuse.sshfs ana@host: rw
not a line
34 22 0:30 / /mnt/over rw - ext4 /dev/vdc rw
35 22 0:31 / /mnt/over rw - nfs server:/over rw
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/", None),
        ("/home/ana", None),
        ("/mnt/share", "nfs4"),
        ("/mnt/share/a/b", "nfs4"),
        ("/mnt/share/local/a", None),
        ("/mnt/shared", None),
        ("/mnt/with space/x", "cifs"),
        ("/home/ana/remote", "fuse.sshfs"),
        ("/mnt/over", "nfs"),
    ],
)
def test_network_file_systems_are_recognised(folder, kind):
    assert network_file_system(Path(folder), MOUNTS) == kind


def test_network_file_systems_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("dither.ledger.storage.sqlite.network_file_system", lambda folder: "nfs4")
    with pytest.raises(LedgerError, match="network file system"):
        Ledger.create(tmp_path / "a.ledger", budget=pure(1), domain="clinic")


def test_the_settings_that_make_a_commit_durable(tmp_path):
    names = ("journal_mode", "synchronous", "fullfsync", "checkpoint_fullfsync")
    with (
        Ledger.create(tmp_path / "a.ledger", budget=pure(1), domain="clinic") as ledger,
        ledger.handle.database.pool.use() as connection,
    ):
        found = {name: connection.link.execute(f"PRAGMA {name}").fetchone()[0] for name in names}
    assert found == {"journal_mode": "wal", "synchronous": 2, "fullfsync": 1, "checkpoint_fullfsync": 1}


def test_places_where_no_ledger_can_be(tmp_path):
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE t (x)")
    other.close()
    (tmp_path / "text").write_text("hello, this is not a database" * 100)
    for place, match in (
        ("", "folder"),
        ("missing/a.ledger", "folder does not exist"),
        ("other.db", "something else"),
        ("text", "not a database"),
    ):
        before = sorted(path.name for path in tmp_path.iterdir())
        with pytest.raises((LedgerError, ConflictError), match=match):
            Ledger.create(tmp_path / place, budget=pure(1), domain="clinic")
        assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_power_loss_at_any_byte_leaves_a_beginning(tmp_path):
    """The log cut off anywhere, as if the power had gone in the middle of a write: what is left is a whole beginning."""
    place = tmp_path / "clinic"
    place.mkdir()
    with Ledger.create(place / "a.ledger", budget=pure(10), domain="clinic") as ledger:
        with ledger.handle.database.pool.use() as connection:
            connection.link.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for number in range(6):
            ledger.commit(ledger.reserve(TENTH, f"question {number}"), str(number))
        shutil.copytree(place, tmp_path / "running")
        total = ledger.verify().entries
    log = (tmp_path / "running" / "a.ledger-wal").read_bytes()
    assert len(log) > 30_000
    lengths = set()
    for cut in [*range(0, len(log), 1501), len(log)]:
        shutil.rmtree(place)
        shutil.copytree(tmp_path / "running", place)
        (place / "a.ledger-wal").write_bytes(log[:cut])
        (place / "a.ledger-shm").unlink()
        with Ledger(place / "a.ledger") as left:
            result = left.verify()
            assert result.ok, str(result)
            lengths.add(result.entries)
            left.reserve(TENTH, "goes on")
    assert max(lengths) == total
    assert len(lengths) >= 12


def test_a_full_disk_grants_nothing_and_breaks_nothing(tmp_path):
    path = tmp_path / "a.ledger"
    Ledger.create(path, budget=pure(100), domain="clinic").close()

    def work() -> None:
        with Ledger(path) as own:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
            granted = 0
            try:
                for number in range(10_000):
                    own.reserve(TENTH, f"question {number}")
                    granted += 1
            except LedgerError as error:
                (tmp_path / "granted").touch()
                os._exit(7 if granted > 5 and ("full" in str(error) or "I/O" in str(error)) else 8)
            except BudgetError:
                os._exit(9)

    assert wait([fork(work)]) == [7]
    with Ledger(path) as ledger:
        assert ledger.verify().ok
        before = ledger.remaining().totals()[0]
        ledger.reserve(TENTH, "after")
        assert ledger.remaining().totals()[0] == before + TENTH.charge().epsilon


def test_a_process_can_be_copied_while_a_ledger_is_open(tmp_path):
    path = tmp_path / "a.ledger"
    with Ledger.create(path, budget=pure(1), domain="clinic") as ledger:
        ledger.reserve(TENTH, "parent")

        def work() -> None:
            ledger.reserve(TENTH, f"child {os.getpid()}")
            ledger.close()

        assert wait([fork(work) for _ in range(4)]) == [0] * 4
        ledger.reserve(TENTH, "parent again")
        assert ledger.remaining().like(TENTH) == 4
        assert ledger.verify().ok


def test_what_a_copied_process_was_granted_is_kept_when_its_parent_closes(tmp_path):
    """SQLite remembers locks per process; a copy that believed in them would write into a log that its parent deletes."""
    path, heads = tmp_path / "clinic" / "a.ledger", tmp_path / "apart" / "heads"
    path.parent.mkdir()
    heads.parent.mkdir()
    Ledger.create(path, budget=pure(10), domain="clinic", witness=heads).close()
    for fresh in (False, True):
        with Ledger(path) as ledger:
            ledger.reserve(TENTH, f"parent {fresh}")
            ready, go = os.pipe(), os.pipe()

            def work(ledger: Ledger = ledger, fresh: bool = fresh, ready=ready, go=go) -> None:
                own = Ledger(path) if fresh else ledger
                own.reserve(TENTH, f"child first {fresh}")
                os.write(ready[1], b"x")
                os.read(go[0], 1)
                for number in range(5):
                    own.commit(own.reserve(TENTH, f"child {number} {fresh}"), "42")

            child = fork(work)
            os.read(ready[0], 1)
        os.write(go[1], b"x")  # the parent has closed everything
        assert wait([child]) == [0]
        for end in (*ready, *go):
            os.close(end)
    with Ledger(path) as ledger:
        assert ledger.remaining().totals()[0] == Fraction(14, 10)
        assert ledger.verify().witnessed


def test_a_process_copied_in_the_middle_of_a_transaction_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("dither.ledger.storage.connection_pool.PATIENCE", 0.2)
    with Ledger.create(tmp_path / "a.ledger", budget=pure(1), domain="clinic") as ledger:

        def work() -> None:
            for call in (lambda: ledger.reserve(TENTH, "child"), lambda: Ledger(tmp_path / "a.ledger")):
                with pytest.raises(LedgerError, match="started afresh"):
                    call()

        with ledger.handle.database.read() as _:
            child = fork(work)
        assert wait([child]) == [0]
        ledger.reserve(TENTH, "parent")
        assert ledger.verify().ok


def test_copies_made_while_other_threads_charge_can_charge_too(tmp_path):
    with Ledger.create(tmp_path / "a.ledger", budget=pure(100), domain="clinic") as ledger:
        stop = threading.Event()

        def busy(name: str) -> None:
            number = 0
            while not stop.is_set():
                number += 1
                ledger.reserve(pure("0.001"), f"{name} {number}")

        threads = [threading.Thread(target=busy, args=(f"thread {n}",)) for n in range(3)]
        for thread in threads:
            thread.start()
        ends = wait([fork(lambda: ledger.reserve(TENTH, f"child {os.getpid()}")) for _ in range(8)])
        stop.set()
        for thread in threads:
            thread.join()
        assert ends == [0] * 8
        assert ledger.verify().ok


def test_an_interrupt_while_waiting_for_another_writer_locks_nobody_out(tmp_path):
    path = tmp_path / "a.ledger"
    with Ledger.create(path, budget=pure(1), domain="clinic") as ledger:
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")

        def press(*_: object) -> None:
            raise KeyboardInterrupt

        # Ctrl-C during the wait is heard when the wait ends: with the writer's place just taken.
        before = signal.signal(signal.SIGALRM, press)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            threading.Timer(0.4, lambda: other.execute("COMMIT")).start()
            with pytest.raises(KeyboardInterrupt):
                ledger.reserve(TENTH, "question")
        finally:
            signal.signal(signal.SIGALRM, before)
        other.execute("BEGIN IMMEDIATE")
        other.execute("COMMIT")
        other.close()
        ledger.reserve(TENTH, "question 2")
        assert ledger.verify().ok


def test_what_a_writer_goes_on_with_is_what_a_reader_finds(tmp_path, monkeypatch):
    """Entries of every kind, with logarithms in the sums, read back by hash, MAC, parts and tags as they were written."""
    kinds = set()

    def checked(key, *parts, **named):
        row, entry = write(key, *parts, **named)
        assert read(row, key) == entry
        kinds.add(entry.kind)
        return row, entry

    monkeypatch.setattr(page, "write", checked)
    with Ledger.create(tmp_path / "a.ledger", budget=pure(9), domain="clinic", shares={"ana": pure(5)}) as ledger:
        ledger.amend("policy", loosens=False, note="a note with é and \U0001f600")
        ledger.refund(ledger.reserve(pure(ln(3)), "given back", analyst="ana"))
        lost = ledger.reserve(pure(ln(3)), {"rows": [1, True, None]}, analyst="ana", lease=1)
        seals.forget()  # as if another process had made it
        ledger.touch(lost)
        ledger.touch(lost, lease=1)
        time.sleep(1.1)
        again = ledger.reserve(pure(ln(3)), {"rows": [1, True, None]}, analyst="ana")
        assert ledger.commit(again, "é \U0001f600") == "é \U0001f600"
        ledger.reserve(pure(ln(3)), {"rows": [1, True, None]}, analyst="ana", idempotency_key="k")
    (tmp_path / "a.ledger").rename(tmp_path / "b.ledger")
    with Ledger(tmp_path / "b.ledger", moved=True) as ledger:
        ledger.rotate_key()
        assert ledger.verify().ok
    assert kinds == set(KINDS) - {"refused", "exported"}, "these are in the access log now"
    with pytest.raises(LedgerError, match="as it was meant"):
        write(b"key", None, "bound", time=1, body={"pair": (1, 2)}, state=State((), 1))
