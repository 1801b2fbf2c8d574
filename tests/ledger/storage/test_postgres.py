"""PostgreSQL: connections that break, servers that do not keep their word, users that are not the owner."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from dither import Ledger, pure
from dither.errors import ConflictError, InProgressError, LedgerError, MissingExtraError
from dither.ledger.storage.postgres import without_password

TENTH = pure("0.1")


class Cable:
    """A loopback port that leads to the server, and that can be cut just before the server's reply to a commit."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.cut_after: bytes | None = None
        self._open = True
        self._ends: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while self._open:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            far.connect(f"{self._folder}/.s.PGSQL.5432")
            self._ends += [near, far]
            cut = threading.Event()
            threading.Thread(target=self._carry, args=(near, far, cut, True), daemon=True).start()
            threading.Thread(target=self._carry, args=(far, near, cut, False), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket, cut: threading.Event, out: bool) -> None:
        try:
            while data := source.recv(65536):
                if out and self.cut_after and self.cut_after in data:
                    cut.set()
                if not out and cut.is_set():
                    break
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._open = False
        for end in (self._listener, *self._ends):
            end.close()


@pytest.mark.parametrize("setting", ["fsync", "full_page_writes"])
def test_a_server_that_may_forget_is_refused(server, setting):
    with psycopg.connect(server, autocommit=True) as owner:
        owner.execute(f"ALTER SYSTEM SET {setting} = off")
        owner.execute("SELECT pg_reload_conf()")
    try:
        await_setting(server, setting, "off")
        with pytest.raises(LedgerError, match=f"{setting} = off"):
            Ledger.create(f"{server}#forgetful", budget=pure(1), domain="clinic")
    finally:
        with psycopg.connect(server, autocommit=True) as owner:
            owner.execute(f"ALTER SYSTEM RESET {setting}")
            owner.execute("SELECT pg_reload_conf()")
        await_setting(server, setting, "on")


def await_setting(server: str, setting: str, value: str) -> None:
    """The server reads its settings a moment later."""
    for _ in range(200):
        with psycopg.connect(server) as look:
            if look.execute(f"SHOW {setting}").fetchone() == (value,):
                return
        time.sleep(0.02)
    pytest.fail(f"{setting} did not become {value}")


@pytest.fixture
def cable(server):
    folder = parse_qs(urlsplit(server).query)["host"][0]
    made = Cable(folder)
    yield made
    made.close()


def test_the_network_is_cut_between_commit_and_reply(server, cable):
    direct = f"{server}#cut"
    with Ledger.create(direct, budget=pure(1), domain="clinic") as ledger:
        through = Ledger(f"postgresql://postgres@127.0.0.1:{cable.port}/postgres#cut")
        assert through.identity == ledger.identity
        assert through.commit(through.reserve(TENTH, "before", idempotency_key="a"), "1") == "1"
        cable.cut_after = b"; COMMIT;"
        with pytest.raises(LedgerError, match="not certain whether it was written"):
            through.reserve(TENTH, "question", idempotency_key="k", lease=60)
        cable.cut_after = None
        # It was charged, once; a retry hears so, and an answer can be stored under the one charge.
        with pytest.raises(InProgressError):
            through.reserve(TENTH, "question", idempotency_key="k")
        assert ledger.remaining().like(TENTH) == 8
        second = through.reserve(TENTH, "another")
        cable.cut_after = b"; COMMIT;"
        with pytest.raises(LedgerError):
            through.commit(second, "first")
        cable.cut_after = None
        assert through.commit(second, "second") == "first"
        assert ledger.reserve(TENTH, "another").answer == "first"
        assert ledger.verify().ok
        through.close()


def test_a_connection_that_was_ended_is_made_anew(server):
    url = f"{server}#ended"
    with Ledger.create(url, budget=pure(1), domain="clinic") as ledger:
        with psycopg.connect(server, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dither ledger'")
        with pytest.raises(LedgerError):
            ledger.reserve(TENTH, "question")
        ledger.reserve(TENTH, "question")
        assert ledger.verify().ok


def test_a_server_that_is_not_there():
    with pytest.raises(LedgerError, match="database says"):
        Ledger.create("postgresql://127.0.0.1:1/none", budget=pure(1), domain="clinic")


def test_a_ledger_of_a_user_without_privileges(server):
    with psycopg.connect(server, autocommit=True) as owner:
        owner.execute("CREATE ROLE keeper LOGIN")
        owner.execute("CREATE DATABASE kept OWNER keeper")
    url = server.replace("postgres:@", "keeper@").replace("/postgres?", "/kept?") + "#mine"
    with Ledger.create(url, budget=pure(1), domain="clinic") as ledger:
        ledger.commit(ledger.reserve(TENTH, "question"), "42")
        assert ledger.verify().ok


def test_a_server_whose_default_is_another_isolation(server):
    with psycopg.connect(server, autocommit=True) as owner:
        owner.execute("CREATE DATABASE strict")
        owner.execute("ALTER DATABASE strict SET default_transaction_isolation = 'repeatable read'")
        owner.execute("ALTER DATABASE strict SET default_transaction_read_only = on")
    url = server.replace("/postgres?", "/strict?") + "#strict"
    with Ledger.create(url, budget=pure(1), domain="clinic") as ledger:

        def work() -> None:
            with Ledger(url) as own:
                for number in range(5):
                    own.reserve(pure("0.01"), f"question {number} {threading.get_native_id()}")

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ledger.remaining().like(pure("0.01")) == 70


def test_passwords_are_not_shown(server):
    hidden = without_password("postgresql://ana:secret@host/db?password=secret&sslmode=require&sslpassword=secret")
    assert hidden == "postgresql://ana@host/db?sslmode=require"
    with pytest.raises(LedgerError) as refused:
        Ledger.create("postgresql://ana:secret@127.0.0.1:1/none", budget=pure(1), domain="clinic")
    assert "secret" not in str(refused.value)
    with pytest.raises(LedgerError) as refused:
        Ledger.create("postgresql://ana:sec%ret@127.0.0.1:1/none", budget=pure(1), domain="clinic")
    assert "sec%ret" not in str(refused.value)


def test_without_psycopg_the_error_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"dither\[postgres\]"):
        Ledger.create("postgresql://host/db", budget=pure(1), domain="clinic")


def test_what_a_database_that_was_put_back_shows(server):
    """One that was made anew is refused. An old state in the same database is not noticed: a known limit."""
    url = server.replace("/postgres?", "/before?") + "#mine"
    with psycopg.connect(server, autocommit=True) as owner:
        owner.execute("CREATE DATABASE before")
        with Ledger.create(url, budget=pure(1), domain="clinic") as ledger:
            ledger.commit(ledger.reserve(TENTH, "question"), "42")
        owner.execute("CREATE DATABASE saved TEMPLATE before")
        with psycopg.connect(url.partition("#")[0], autocommit=True) as inside:
            names = [name for (name,) in inside.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'mine'")]
            inside.execute("CREATE SCHEMA old")
            for name in names:
                inside.execute(f"CREATE TABLE old.{name} (LIKE mine.{name} INCLUDING ALL)")
                inside.execute(f"INSERT INTO old.{name} SELECT * FROM mine.{name}")
        with Ledger(url) as ledger:
            ledger.commit(ledger.reserve(TENTH, "another"), "43")
            spent = len(list(ledger.history()))
        with psycopg.connect(url.partition("#")[0], autocommit=True) as inside:
            inside.execute("DROP SCHEMA mine CASCADE")
            inside.execute("ALTER SCHEMA old RENAME TO mine")
        with Ledger(url) as ledger:
            assert len(list(ledger.history())) < spent
        owner.execute("DROP DATABASE before")
        owner.execute("ALTER DATABASE saved RENAME TO before")
        with pytest.raises((ConflictError, LedgerError)):
            Ledger(url)
