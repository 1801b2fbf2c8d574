"""The engine of a dataset: locked once, a cursor a release; what it remembers, and what it does not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import duckdb
import pyarrow
import pyarrow.parquet
import pytest

from dither.errors import DataError, QuestionError, ReleaseError
from dither.query.engines.duckdb import run as running
from dither.query.engines.duckdb.instance import Instance, lock
from dither.query.engines.duckdb.run import DuckDBEngine
from dither.query.engines.duckdb.table_source import table_source
from dither.query.policy.table import read_table
from dither.query.sources.frames import ArrowTable
from dither.query.sources.source import DuckDBFile, ParquetFiles
from tests.ledger.children import wait
from tests.query.clinics import clinic, visits

COUNT = "SELECT COUNT(*) AS n FROM visits"
WHO = read_table(
    "t", {"person": "who", "max_groups": 1, "max_rows_per_group": 1, "columns": {"who": {"type": "integer"}}}, "t"
)


def frame(*who: int):
    return table_source(WHO, ArrowTable(pyarrow.table({"who": who})))


def database(path: Path) -> str:
    with duckdb.connect(str(path)) as connection:
        connection.register("given", visits())
        connection.execute("CREATE TABLE visits AS FROM given")
    return str(path)


def test_instances_are_opened_once(tmp_path, monkeypatch):
    opened = []
    real = Instance.__init__
    monkeypatch.setattr(Instance, "__init__", lambda *given: opened.append(given[2]) or real(*given))
    data = clinic(tmp_path)
    for age in range(4):
        data.quote(f"{COUNT} WHERE age > {age}", epsilon=1).release()
    assert opened == [None]
    data.quote(COUNT, epsilon=2).release(threads=1)
    data.quote(COUNT, epsilon=3).release(threads=1)
    assert opened == [None, 1]


def test_a_quote_opens_none(tmp_path, monkeypatch):
    monkeypatch.setattr(Instance, "__init__", lambda *_: pytest.fail("an engine was opened"))
    clinic(tmp_path).quote(COUNT, epsilon=1).explain()


def test_cursors_do_not_see_each_other():
    with DuckDBEngine() as engine, engine.opened([frame(1)]) as first, engine.opened([frame(2, 3)]) as second:
        one, two = first.read(None, 5), second.read(None, 6)
        rows = "SELECT count(*), getvariable('salt') FROM \"protected frame t\""
        assert one(rows, lambda _: True) == [(1, 5)]
        assert two(rows, lambda _: True) == [(2, 6)]
        with engine.reading([]) as three, pytest.raises(RuntimeError):
            three(rows, lambda _: True)


def test_the_lock_holds_for_later_cursors(tmp_path):
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"who": [1]}), path)
    other = tmp_path / "other.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"who": [1]}), other)
    source = table_source(WHO, ParquetFiles((str(path),)))
    for statement in (
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SET enable_external_file_cache = true",
        f"SELECT * FROM '{other}'",
        f"ATTACH '{tmp_path / 'new.duckdb'}' AS n",
        f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'",
    ):
        with DuckDBEngine([source.source]) as engine:
            with engine.reading([source]) as run:
                assert run(f"SELECT count(*) FROM {source.relation}", lambda _: True) == [(1,)]
            assert len(engine._idle[None]) == 1
            with engine.reading([source]) as run:
                assert engine._idle[None] == []  # it is in use
                with pytest.raises(RuntimeError, match="the engine failed"):
                    run(statement, lambda _: True)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["other.parquet", "t.parquet"]


def test_a_file_is_held_only_while_it_is_read(tmp_path):
    """Its owner can write to it between two questions, and the next question sees what was written."""
    path = database(tmp_path / "clinic.duckdb")
    data = clinic(tmp_path, path)
    first = data.quote(COUNT, epsilon=10**6).release().scalar()
    with duckdb.connect(path) as connection:
        connection.execute("DELETE FROM visits")
    second = data.quote(COUNT, epsilon=10**6 + 1).release().scalar()
    assert first > 0 == second


def test_what_stands_in_the_log_beside_a_file_is_read(tmp_path):
    path = database(tmp_path / "clinic.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute("PRAGMA disable_checkpoint_on_shutdown; PRAGMA wal_autocheckpoint = '1TB'")
        connection.execute("DELETE FROM visits")
    assert Path(f"{path}.wal").exists()
    assert clinic(tmp_path, path).quote(COUNT, epsilon=10**6).release().scalar() == 0


def test_many_at_once_read_one_file(tmp_path):
    path = database(tmp_path / "clinic.duckdb")
    data = clinic(tmp_path, path)
    found: dict[int, object] = {}

    def ask(age: int) -> None:
        for _ in range(3):
            found[age] = data.quote(f"{COUNT} WHERE age >= {age}", epsilon=10**6 + _).release().scalar()

    threads = [threading.Thread(target=ask, args=(age,)) for age in range(0, 100, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with duckdb.connect(path) as connection:  # nobody holds it
        for age, count in found.items():
            assert data.quote(f"{COUNT} WHERE age >= {age}", epsilon=10**6).release().scalar() == count
        assert connection.execute("SELECT count(*) FROM visits").fetchone()[0] > 0


def test_rehearsals_are_remembered_by_their_text(tmp_path):
    data = clinic(tmp_path)
    data.quote(COUNT, epsilon=1).release()
    known = list(data.engine._rehearsed)
    data.quote(COUNT, epsilon=2).release()
    assert list(data.engine._rehearsed) == known
    data.quote(f"{COUNT} WHERE age > 3", epsilon=2).release()
    assert len(data.engine._rehearsed) == len(known) + 2  # totals, and people beyond the limits


def test_another_schema_is_rehearsed_anew(tmp_path):
    """A file that is replaced by one whose columns are stored otherwise: the text of the question is the same."""
    path, rows = tmp_path / "visits.parquet", visits()
    pyarrow.parquet.write_table(rows, path)
    data = clinic(tmp_path, str(path))
    sql = "SELECT SUM(age) AS s FROM visits"
    data.quote(sql, epsilon=1).release()
    known = set(data.engine._rehearsed)
    texts = rows.set_column(rows.column_names.index("age"), "age", rows["age"].cast("string"))
    pyarrow.parquet.write_table(texts, path)
    data.quote(sql, epsilon=2).release()
    assert known < set(data.engine._rehearsed)
    assert any('NULL::VARCHAR AS "age"' in key[0] for key in set(data.engine._rehearsed) - known)
    pyarrow.parquet.write_table(rows.drop_columns(["age"]), path)
    with pytest.raises(DataError):
        data.quote(sql, epsilon=3).release()


def test_what_cannot_work_is_refused_each_time(monkeypatch):
    with DuckDBEngine() as engine:
        for _ in range(2):
            with pytest.raises(QuestionError):
                engine.rehearse({"t": frame(1)}, ["SELECT nothing FROM nowhere"])
            engine.rehearse({"t": frame(1)}, ["SELECT 1"])
        assert len(engine._rehearsed) == 1
        monkeypatch.setattr(running, "MOST_REHEARSALS", 3)
        engine.rehearse({"t": frame(1)}, [f"SELECT {number}" for number in range(9)])
        assert len(engine._rehearsed) == 3


def test_a_file_that_changed_is_looked_at_again(tmp_path, monkeypatch):
    path = tmp_path / "visits.parquet"
    pyarrow.parquet.write_table(visits(), path)
    data = clinic(tmp_path, str(path))
    looked = []
    real = ParquetFiles.schema
    monkeypatch.setattr(ParquetFiles, "schema", lambda *given: looked.append(1) or real(*given))
    for age in range(3):
        data.quote(f"{COUNT} WHERE age > {age}", epsilon=1).release()
    assert len(looked) == 1
    pyarrow.parquet.write_table(visits().drop_columns(["age"]), path)
    spent = str(data.ledger.remaining())
    with pytest.raises(DataError, match="age"):
        data.quote(COUNT, epsilon=2).release()
    path.unlink()
    with pytest.raises(DataError):
        data.quote(COUNT, epsilon=2).release()
    assert str(data.ledger.remaining()) == spent


def test_files_that_cannot_be_told_apart_are_looked_at_again():
    assert ArrowTable(pyarrow.table({"a": [1]})).stamp() is None
    assert ParquetFiles(("/nowhere/a.parquet",)).stamp() is None
    assert DuckDBFile("/nowhere/a.duckdb").stamp() is None


def test_an_engine_that_failed_is_not_used_again(tmp_path, monkeypatch):
    data = clinic(tmp_path)
    data.quote(COUNT, epsilon=1).release()
    (instance,) = data.engine._idle[None]
    with monkeypatch.context() as broken:
        broken.setattr(running, "_rows", lambda *_: 1 / 0)
        with pytest.raises(ReleaseError):
            data.quote(COUNT, epsilon=2).release()
    assert data.engine._idle[None] == []
    data.quote(COUNT, epsilon=3).release()
    assert data.engine._idle[None] != [instance]


def test_what_is_spilled_is_for_nobody_else_and_gone_afterwards(tmp_path, monkeypatch):
    """The engine makes its folder with the rights that the process gives: the one around it protects it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with DuckDBEngine() as engine:
        with engine.reading([frame(1)]) as run:
            (folder,) = tmp_path.glob("dither-*")
            assert folder.stat().st_mode & 0o777 == 0o700
            (folder / "spill").mkdir()  # as the engine does where memory is short
            assert run("SELECT 1", lambda _: True) == [(1,)]
        assert not list(tmp_path.glob("dither-*"))
        assert engine._idle[None] == []  # its folder is gone: it is not used again
        with engine.reading([frame(1)]):
            pass
        (instance,) = engine._idle[None]
        instance._folder.mkdir(mode=0o755)  # somebody else was there first
        with pytest.raises(DataError, match="temporary folder"), engine.reading([frame(1)]):
            pass


def test_each_reader_has_an_instance(tmp_path):
    with DuckDBEngine() as engine:
        with engine.reading([frame(1)]), engine.reading([frame(2)]), engine.reading([frame(3)]):
            assert engine._idle[None] == []
        assert len(engine._idle[None]) == 3
        stack = [engine.reading([frame(1)]) for _ in range(running.MOST_IDLE + 2)]
        for one in stack:
            one.__enter__()
        for one in stack:
            one.__exit__(None, None, None)
        assert len(engine._idle[None]) == running.MOST_IDLE


def test_a_file_that_somebody_writes_to_is_refused_before_the_charge(tmp_path):
    path = database(tmp_path / "clinic.duckdb")
    data = clinic(tmp_path, path)
    data.quote(COUNT, epsilon=1).release()
    entries = data.ledger.head.entries
    script = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    writer = subprocess.Popen([sys.executable, "-c", script, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert writer.stdout.readline() == "open\n"
        with pytest.raises(DataError, match="somebody writes to it"):
            data.quote(COUNT, epsilon=2).release()
    finally:
        writer.communicate("")
    assert data.ledger.head.entries == entries
    data.quote(COUNT, epsilon=2).release()


def test_a_file_rewritten_in_place_is_looked_at_again(tmp_path):
    """Its size, and the time of its content, may be set to what they were; when it was changed cannot."""
    path = tmp_path / "visits.parquet"
    pyarrow.parquet.write_table(visits(), path)
    data = clinic(tmp_path, str(path))
    data.quote(COUNT, epsilon=1).release()
    before, entries = path.stat(), data.ledger.head.entries
    path.write_bytes(path.read_bytes()[:-4] + b"none")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(DataError, match="does not end as a Parquet file does"):
        data.quote(COUNT, epsilon=2).release()
    assert data.ledger.head.entries == entries


def test_an_instance_of_another_process_is_never_used():
    with DuckDBEngine() as engine:
        with engine.reading([frame(1)]):
            pass
        (instance,) = engine._idle[None]
        instance.process += 1
        with engine.reading([frame(1)]) as run:
            assert run("SELECT 1", lambda _: True) == [(1,)]
        assert instance in running._abandoned
        running._abandoned.remove(instance)


def test_the_lock_names_every_file():
    files = [ParquetFiles(("/a/one.parquet", "/a/t'wo.parquet")), DuckDBFile("/a/three.duckdb"), ArrowTable(None)]
    (allowed,) = [statement for statement in lock(files, "/spill", 2) if "allowed_paths" in statement]
    assert allowed == (
        "SET allowed_paths = ['/a/one.parquet', '/a/t''wo.parquet', '/a/three.duckdb', '/a/three.duckdb.wal']"
    )
    assert lock(files, "/spill", None)[-1] == "SET lock_configuration = true"


def test_a_copy_of_the_process_ends_well_and_can_ask(tmp_path):
    data = clinic(tmp_path)
    data.quote(COUNT, epsilon=1).release()
    child = os.fork()
    if not child:
        code = 1
        try:
            data.quote(COUNT, epsilon=2).release()
            code = 0
        finally:
            sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123
            os._exit(code)
    assert wait([child]) == [0]
    assert data.quote(COUNT, epsilon=3).release().scalar() is not None


def test_a_copy_that_ends_as_programs_do(tmp_path):
    """Not by _exit: an engine that came along would bring the process down when it is closed."""
    script = tmp_path / "ask.py"
    script.write_text(
        "import os, sys, dither, pyarrow\n"
        "book = dither.Ledger.create(sys.argv[1], budget=dither.pure(9), domain='t')\n"
        "t = pyarrow.table({'who': range(100)})\n"
        "data = dither.protect(t, name='t', person='who', max_groups=1, max_rows_per_group=1, ledger=book)\n"
        "data.quote('SELECT COUNT(*) AS n FROM t', epsilon=1).release()\n"
        "child = os.fork()\n"
        "if child:\n"
        "    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0)\n"
    )
    code = os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-W", "ignore", str(script), str(tmp_path / "a.ledger")])
    assert code == 0


def test_ctrl_c_twice_is_ctrl_c():
    """The second comes while the engine is being stopped: what was pressed is still what is heard."""
    stopped, heard = threading.Event(), threading.Event()

    def again(*_: object) -> None:
        heard.set()
        raise KeyboardInterrupt("the second")

    class Busy:
        def execute(self, _: str) -> None:
            stopped.wait()
            raise RuntimeError("interrupted")

        def query_progress(self) -> float:
            return 0.0

        def interrupt(self) -> None:
            if not heard.is_set():
                threading.Thread(target=press).start()

    def press() -> None:
        os.kill(os.getpid(), signal.SIGUSR1)
        heard.wait()
        stopped.set()

    def impatient(_: float) -> None:
        raise KeyboardInterrupt("the first")

    before = signal.signal(signal.SIGUSR1, again)
    try:
        with pytest.raises(KeyboardInterrupt, match="the first"):
            running._fetch(Busy(), "SELECT", lambda _: True, impatient)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert heard.is_set()
