"""Kills in the middle of a release, after the charge: of the server's process, of the whole server, of ours; a time-out and
Ctrl-C. One text, or none; the ledger verifies; the next question works; the same question costs nothing more.

In the middle: the SELECT waits for an advisory lock that the test holds, which `pg_stat_activity` shows. Nothing waits for
a time. Rows have texts and numbers that nothing else has: they are in no message, log, file or frame of ours.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
from contextlib import contextmanager

import psycopg
import pyarrow
import pytest

import dither
from dither.errors import DataError, InProgressError, ReleaseError
from dither.query import release as releasing
from dither.query.engines.postgres import run as running
from dither.query.sources import postgres_table
from tests.ledger.servers import postgres
from tests.policies import opened
from tests.query.engines.postgres.tables import load

CANARY, NUMBER = "canary-9d2c", 7318264905172
CANARIES = [CANARY, str(NUMBER)]
COUNT, OTHER = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "SELECT COUNT(*) AS n FROM visits WHERE ward = 'A'"
KEY = 4711
WAITS = "SELECT pid FROM pg_stat_activity WHERE application_name = 'dither' AND wait_event_type = 'Lock'"


@pytest.fixture(scope="module")
def server():
    """A server of this file's own: it is killed."""
    with postgres() as found:
        with psycopg.connect(uri(found), autocommit=True) as link:
            rows = {"patient": [NUMBER, 2, 3, None], "ward": ["A", "B", CANARY, "A"], "cost": [NUMBER, 1, 2, 3]}
            load(link, "visits", pyarrow.table(rows))
        yield found


def uri(server) -> str:
    return server.get_uri().replace("postgres:@", "postgres@")


def until(found, why: str, seconds: float = 60.0):
    """What `found` gives, once it gives something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := found():
            return value
        time.sleep(0.01)
    return pytest.fail(why)


def dataset(server, tmp_path) -> dither.Dataset:
    (tmp_path / "policy.toml").write_text(f"""
version = 1
domain = "clinic"
ledger = {{ location = "l.ledger", budget = {{ epsilon = "1000000" }} }}
[tables.visits]
source = "{uri(server)}&table=visits"
person = "patient"
max_groups = 2
max_rows_per_group = 3
[tables.visits.columns]
patient = {{ type = "integer" }}
ward = {{ type = "text", keys = ["A", "B"] }}
cost = {{ type = "integer", bounds = [0, 100] }}
""")
    return opened(tmp_path / "policy.toml")


def slow(monkeypatch) -> None:
    """Every SELECT on rows first waits for the lock."""
    rows = running._rows

    def waiting(link, sql, keep):
        link.execute("SELECT set_config('lock_timeout', '0', true)")
        link.execute("SELECT pg_advisory_lock_shared(%s)", (KEY,))
        return rows(link, sql, keep)

    monkeypatch.setattr(running, "_rows", waiting)


@contextmanager
def held(server):
    """The lock, held by somebody else."""
    link = psycopg.connect(uri(server), autocommit=True)
    try:
        link.execute("SELECT pg_advisory_lock(%s)", (KEY,))
        yield link
    finally:
        link.close()


def waiting(link) -> int | None:
    found = link.execute(WAITS).fetchone()
    return None if found is None else found[0]


class Release(threading.Thread):
    """A release in a thread of its own, and how it ended."""

    def __init__(self, quote) -> None:
        super().__init__(daemon=True)
        self.quote, self.error = quote, None

    def run(self) -> None:
        try:
            self.quote.release()
        except BaseException as error:  # the test looks at it
            self.error = error

    def ended(self) -> BaseException:
        self.join(60)
        assert not self.is_alive()
        assert self.error is not None
        return self.error


class Heard(logging.Handler):
    """All that is logged, as text. (What pytest captures is gone when a fixture ends.)"""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(self.format(record))


@pytest.fixture
def quiet(tmp_path, monkeypatch, capfd):
    """Nothing that is said, logged, warned of or written has a canary; also temporary files are looked through."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    heard, errors, root = Heard(), list[BaseException](), logging.getLogger()
    loggers = [root, *(logging.getLogger(name) for name in ("psycopg", "dither", "duckdb"))]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
    root.addHandler(heard)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        yield errors
        gc.collect()
    root.removeHandler(heard)
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
    assert heard.texts  # psycopg tells of connections: somebody listens
    said = [*capfd.readouterr(), *heard.texts, *(str(one.message) for one in warned)]
    said += [text for error in errors for text in told(error)]
    for canary in CANARIES:
        assert not [text for text in said if canary in text]
    for path in tmp_path.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        assert not [canary for canary in CANARIES if canary.encode() in content], path


def told(error: BaseException, depth: int = 0) -> list[str]:
    """All that an error holds: texts, notes, causes, and what stands in our frames."""
    found = [str(error), repr(error), *getattr(error, "__notes__", []), *traceback.format_exception(error)]
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if f"{os.sep}src{os.sep}dither{os.sep}" in frame.f_code.co_filename:
            found += [repr(value) for value in frame.f_locals.values()]
    for other in (error.__cause__, error.__context__):
        if other is not None and depth < 9:
            found += told(other, depth + 1)
    return found


def afterwards(data, quote, *, attempt: int = 2) -> None:
    """The ledger verifies; another question works; the same one is answered under the charge that was made."""
    data.ledger.verify()
    used = data.ledger.remaining().used
    until(lambda: _again(quote), "the lease never ended", 60)
    assert quote.release().receipt.attempt == attempt
    assert data.ledger.remaining().used == used
    assert round(data.quote(OTHER, epsilon=10**4).release()["n"][0]) == 1
    data.ledger.verify()


def _again(quote) -> bool:
    try:
        return quote.release(wait=0) is not None
    except InProgressError:
        return False


def test_kill_of_the_servers_process(server, tmp_path, monkeypatch, quiet):
    """Its postmaster then ends all others and recovers."""
    monkeypatch.setattr(releasing, "LEASE", 1)
    data = dataset(server, tmp_path)
    quote = data.quote(COUNT, epsilon=10**4)
    with monkeypatch.context() as patch, held(server) as link:
        slow(patch)
        work = Release(quote)
        work.start()
        os.kill(until(lambda: waiting(link), "no SELECT began"), signal.SIGKILL)
        error = work.ended()
        until(lambda: _ended(link), "the server did not end the others")
    quiet.append(error)
    assert type(error) is ReleaseError
    assert error.why == releasing.FAILED
    until(lambda: _up(server), "the server did not come back")
    afterwards(data, quote)


def _ended(link) -> bool:
    try:
        link.execute("SELECT 1")
    except psycopg.OperationalError:
        return True
    return False


def _up(server) -> bool:
    try:
        psycopg.connect(uri(server)).close()
    except psycopg.OperationalError:
        return False
    return True


def test_kill_of_the_server(server, tmp_path, monkeypatch, quiet):
    monkeypatch.setattr(releasing, "LEASE", 1)
    data = dataset(server, tmp_path)
    quote = data.quote(COUNT, epsilon=10**4)
    with monkeypatch.context() as patch, held(server) as link:
        slow(patch)
        work = Release(quote)
        work.start()
        until(lambda: waiting(link), "no SELECT began")
        os.kill(server.get_pid(), signal.SIGKILL)
        error = work.ended()
    quiet.append(error)
    assert error.why == releasing.FAILED
    used = data.ledger.remaining().used
    with pytest.raises(DataError, match="no connection") as refused:  # before the charge
        data.quote(OTHER, epsilon=10**4).release()
    quiet.append(refused.value)
    assert data.ledger.remaining().used == used
    until(lambda: _started(server), "the server does not start")
    afterwards(data, quote)


def _started(server) -> bool:
    try:
        server.ensure_postgres_running()
    except subprocess.SubprocessError:  # processes of the killed one are still there
        return False
    return _up(server)


def test_kill_between_two_fetches(server, tmp_path, monkeypatch, quiet):
    """Some rows are here, others are not: none is used."""
    monkeypatch.setattr(releasing, "LEASE", 1)
    data = dataset(server, tmp_path)
    quote = data.quote(COUNT, epsilon=10**4)
    with monkeypatch.context() as patch, psycopg.connect(uri(server), autocommit=True) as link:
        patch.setattr(running, "AT_ONCE", 1)
        plain, seen = running._plain, []

        def cut(value):
            if not seen:
                pids = link.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'dither'").fetchall()
                seen.extend(pid for (pid,) in pids)
                link.execute("SELECT pg_terminate_backend(pid, 60000) FROM unnest(%s::int[]) AS pid", (seen,))
            return plain(value)

        patch.setattr(running, "_plain", cut)
        with pytest.raises(ReleaseError) as error:
            quote.release()
    assert len(seen) == 1
    quiet.append(error.value)
    afterwards(data, quote)


def test_what_the_server_says_of_a_cell(server, tmp_path, monkeypatch, quiet):
    """A SELECT that fails at a cell, and says so: the text of the server goes nowhere."""
    data = dataset(server, tmp_path)
    rows, heard = running._rows, []

    def fails(link, sql, keep):
        try:
            link.execute("SELECT CAST(ward AS integer), patient FROM public.visits WHERE ward LIKE 'canary%'").fetchall()
        except psycopg.Error as error:
            heard.append(CANARY in str(error))
            raise
        return rows(link, sql, keep)

    monkeypatch.setattr(running, "_rows", fails)
    with pytest.raises(ReleaseError) as error:
        data.quote(COUNT, epsilon=10**4).release()
    assert heard == [True]
    quiet.append(error.value)
    data.ledger.verify()


def test_the_time_limit_of_the_policy(server, tmp_path, monkeypatch, quiet):
    monkeypatch.setattr(releasing, "LEASE", 1)
    dataset(server, tmp_path)
    path = tmp_path / "policy.toml"
    path.write_text(path.read_text() + '[engine]\ntime_limit = "1s"\n')
    data = dither.open(path)
    quote = data.quote(COUNT, epsilon=10**4)
    with monkeypatch.context() as patch, held(server):
        slow(patch)
        with pytest.raises(ReleaseError) as error:
            quote.release()
    quiet.append(error.value)
    afterwards(data, quote)


@pytest.mark.parametrize("where", ["schema", "rehearsal", "lock"])
def test_a_server_that_is_lost_before_the_charge(where, server, tmp_path, monkeypatch, quiet):
    data = dataset(server, tmp_path)
    quote = data.quote(COUNT, epsilon=10**4)
    cut = "SELECT pg_terminate_backend(pg_backend_pid())"
    if where == "schema":
        monkeypatch.setattr(postgres_table, "check_server", lambda link, _: link.execute(cut))
    elif where == "rehearsal":
        monkeypatch.setattr(running, "_salt", lambda link, _: link.execute(cut))
    else:
        monkeypatch.setattr(running, "read_catalogue", lambda link, _: link.execute(cut))
    with pytest.raises(DataError) as error:
        quote.release()
    quiet.append(error.value)
    assert error.value.__context__ is None or error.value.__suppress_context__
    monkeypatch.undo()
    assert data.ledger.remaining().used == 0
    assert quote.release().receipt.attempt == 1


@pytest.mark.usefixtures("interrupts")
def test_ctrl_c_while_the_server_hears_nothing(server, tmp_path, monkeypatch, quiet):
    """A postmaster that was stopped takes no cancellation: the line is cut, and the process goes on."""
    data = dataset(server, tmp_path)
    slow(monkeypatch)
    monkeypatch.setattr(running, "CANCEL", 0.5)
    with held(server) as link:

        def press() -> None:
            until(lambda: waiting(link), "no SELECT began")
            os.kill(server.get_pid(), signal.SIGSTOP)
            os.kill(os.getpid(), signal.SIGINT)

        pressed = threading.Thread(target=press, daemon=True)
        pressed.start()
        try:
            with pytest.raises(KeyboardInterrupt) as error:
                data.quote(COUNT, epsilon=10**4).release()
        finally:
            pressed.join(60)
            os.kill(server.get_pid(), signal.SIGCONT)
    quiet.append(error.value)
    data.ledger.verify()


CHILD = """
import signal, sys, dither
signal.signal(signal.SIGINT, signal.default_int_handler)
from dither.query.engines.postgres import run as running
rows = running._rows
def waiting(link, sql, keep):
    link.execute("SELECT set_config('lock_timeout', '0', true)")
    link.execute("SELECT pg_advisory_lock_shared({key})")
    return rows(link, sql, keep)
running._rows = waiting
from dither.query import release
release.LEASE = 2
dither.open(sys.argv[1]).quote(sys.argv[2], epsilon=10**4).release()
"""


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_kill_of_our_own_process(sign, server, tmp_path, monkeypatch, quiet):
    """Another process takes the answer over, under the same charge; the server's process ends with ours."""
    data = dataset(server, tmp_path)
    words = [sys.executable, "-c", CHILD.format(key=KEY), str(tmp_path / "policy.toml"), COUNT]
    with held(server) as link:
        with (tmp_path / "said").open("wb") as said:
            child = subprocess.Popen(words, stdout=said, stderr=said)
        until(lambda: waiting(link) or child.poll() is not None, "no SELECT began")
        assert child.poll() is None, (tmp_path / "said").read_text()
        used = data.ledger.remaining().used
        assert used > 0
        child.send_signal(sign)
        assert child.wait(60) != 0
    if sign == signal.SIGINT:
        assert "KeyboardInterrupt" in (tmp_path / "said").read_text()
    with psycopg.connect(uri(server), autocommit=True) as link:
        until(lambda: not link.execute(WAITS).fetchone(), "the server went on")
    afterwards(data, data.quote(COUNT, epsilon=10**4))
