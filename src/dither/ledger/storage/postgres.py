"""A ledger in PostgreSQL: for several machines, or several gateways, on one budget.

Writers take turns by an advisory lock, so check and charge cannot be torn apart. The commit itself does not wait for the
disk, which lets the next writer begin; then a second, empty transaction waits until everything written so far is on the disk
(and on synchronous standbys), many writers sharing one flush. Nothing is returned before that. If the server dies in
between, the entry may be gone, but so is every entry that was built on it, and nobody has seen any of them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from dither.errors import DitherError, LedgerError
from dither.extras import needs
from dither.ledger.storage.connection_pool import Pool
from dither.ledger.storage.database import Statement

if TYPE_CHECKING:
    import psycopg
    from psycopg.pq.abc import PGresult

WAIT = "60s"  # for another writer to finish
CLOCK = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
WRITING: Statement = ("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", ())
READING: Statement = ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", ())
IDENTITY = """SELECT (SELECT system_identifier FROM pg_control_system()), oid, current_setting('fsync'),
    current_setting('full_page_writes') FROM pg_database WHERE datname = current_database()"""
# A transaction that changes nothing has nothing to wait for; a message in the log is the smallest change.
FLUSH = "SELECT set_config('synchronous_commit', 'on', true), pg_logical_emit_message(true, 'dither', '')"
SESSION = """SET search_path TO {}; SET lock_timeout TO '{}'; SET client_encoding TO utf8; SET synchronous_commit TO off"""


def without_password(url: str) -> str:
    """An address that can be written down and shown."""
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    options = "&".join(
        option for option in parts.query.split("&") if not option.lower().startswith(("password", "sslpassword"))
    )
    return urlunsplit(parts._replace(netloc=user.partition(":")[0] + at + host, query=options))


class PostgresConnection:
    """A connection, and the statements that the server has planned for it."""

    def __init__(self, url: str, schema: str) -> None:
        with needs("dither[postgres]"):
            import psycopg
            from psycopg import generators
            from psycopg.adapt import Transformer
            from psycopg.pq import Escaping, ExecStatus
        self.link: psycopg.Connection[Any] = psycopg.connect(url, autocommit=True, application_name="dither ledger")
        self.link.execute(SESSION.format(schema, WAIT))
        self._escaping = Escaping(self.link.pgconn)
        self._reading = Transformer(self.link)
        self._planned: dict[str, list[bytes]] = {}  # the text around the values of each
        self._execute = generators.execute
        self._fine = (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK)
        self._error_of = psycopg.errors.error_from_result

    def run(self, queries: Sequence[Statement]) -> list[list[tuple[Any, ...]]]:
        """Several statements in one trip; the rows of each."""
        self._plan(queries)
        server = self.link.pgconn
        server.send_query(b"; ".join([self._spelled(query, values) for query, values in queries]))
        results = self.link.wait(self._execute(server))  # lets other threads run meanwhile
        for result in results:
            if result.status not in self._fine:
                raise self._error_of(result)
        return [self._rows(result) for result in results]

    def _rows(self, result: PGresult) -> list[tuple[Any, ...]]:
        if not result.ntuples:  # most: a commit, or a question that nobody has asked
            return []
        self._reading.set_pgresult(result)
        return self._reading.load_rows(0, result.ntuples, tuple)

    def _spelled(self, query: str, values: Sequence[Any]) -> bytes:
        """A statement with its values in it, quoted by the client library for this connection."""
        pieces = self._planned.get(query) or query.encode().split(b"?")
        if not values and len(pieces) == 1:
            return pieces[0]
        quoted = [self._quoted(value) for value in values]
        return b"".join([piece + value for piece, value in zip(pieces, [*quoted, b""], strict=True)])

    def _quoted(self, value: str | int | None) -> bytes:
        if value is None:
            return b"NULL"
        return b"%d" % value if isinstance(value, int) else self._escaping.escape_literal(value.encode())

    def _plan(self, queries: Sequence[Statement]) -> None:
        """Let the server plan once what will be asked again and again."""
        for query, values in queries:
            if query not in self._planned and query.startswith(("SELECT", "INSERT")):
                name = f"dither_{len(self._planned)}"
                numbered = query
                for place in range(len(values)):
                    numbered = numbered.replace("?", f"${place + 1}", 1)
                self.link.execute(f"PREPARE {name} AS {numbered}".encode())
                places = f"({', '.join('?' * len(values))})" if values else ""
                self._planned[query] = f"EXECUTE {name}{places}".encode().split(b"?")


class PostgresTransaction:
    """Statements on one connection; changes wait until the end, and go together with the commit."""

    def __init__(self, connection: PostgresConnection, begin: Sequence[Statement], queries: Sequence[Statement]) -> None:
        self._connection = connection
        self.waiting: list[Statement] = []
        _, clock, *self.opened = connection.run([*begin, *queries])
        self.now = int(clock[0][-1])

    def ask(self, query: Statement) -> list[tuple[Any, ...]]:
        return self._connection.run([query])[-1]

    def do(self, query: Statement) -> None:
        self.waiting.append(query)

    def end(self, *, durable: bool) -> None:
        # Also where nothing was written: what was read may be another's, and not on the disk yet.
        self._connection.run([*self.waiting, ("COMMIT", ()), *([(FLUSH, ())] if durable else [])])


class PostgresDatabase:
    """postgresql://user@host/database#schema: one ledger a schema."""

    def __init__(self, url: str) -> None:
        with needs("dither[postgres]"):
            import psycopg
        self._refused = psycopg.Error
        parts = urlsplit(url)
        self.schema = parts.fragment or "dither"
        if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", self.schema):
            why = "the part after # names a schema: small letters, digits and _"
            raise LedgerError("location", self.schema, why, "postgresql://host/database#clinic")
        self.url = urlunsplit(parts._replace(fragment=""))
        self.shown = without_password(url) + ("" if parts.fragment else f"#{self.schema}")
        self.distrust: str | None = None
        self.pool = Pool(lambda: PostgresConnection(self.url, self.schema), lambda held: held.link.close(), file=False)
        lock = int.from_bytes(hashlib.sha256(f"dither {self.schema}".encode()).digest()[:8], "big", signed=True)
        # The lock is a statement of its own: each statement sees what was committed before it began.
        self._begin = (WRITING, (f"SELECT pg_advisory_xact_lock({lock}), {CLOCK}", ()))
        with self.read((IDENTITY, ())) as transaction:
            system, database, fsync, whole_pages = transaction.opened[0][0]
        self.place = f"postgresql:{system}/{database}/{self.schema}"
        if fsync != "on" or whole_pages != "on":
            self.distrust = f"this server runs with fsync = {fsync} and full_page_writes = {whole_pages}"

    def exists(self, table: str) -> bool:
        query = "SELECT 1 FROM pg_tables WHERE schemaname = ? AND tablename = ?"
        with self.read((query, (self.schema, table))) as transaction:
            return bool(transaction.opened[0])

    def prepare(self, tables: Sequence[str], append_only: Sequence[str]) -> None:
        with self.write() as transaction:
            transaction.do((f"CREATE SCHEMA IF NOT EXISTS {self.schema}", ()))
            for statement in tables:
                transaction.do((statement, ()))
            for table in append_only:
                refuse = f"BEGIN RAISE EXCEPTION '{table} are never changed'; END"
                transaction.do(
                    (f"CREATE OR REPLACE FUNCTION {table}_stay() RETURNS trigger LANGUAGE plpgsql AS $${refuse}$$", ())
                )
                for verb in ("UPDATE", "DELETE", "TRUNCATE"):
                    trigger = f"CREATE OR REPLACE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table}"
                    transaction.do((f"{trigger} FOR EACH STATEMENT EXECUTE FUNCTION {table}_stay()", ()))

    def write(self, *queries: Statement) -> AbstractContextManager[PostgresTransaction]:
        return self._transaction(self._begin, queries)

    def read(self, *queries: Statement, durable: bool = True) -> AbstractContextManager[PostgresTransaction]:
        return self._transaction((READING, (f"SELECT {CLOCK}", ())), queries, durable=durable)

    @contextmanager
    def _transaction(
        self, begin: Sequence[Statement], queries: Sequence[Statement], *, durable: bool = True
    ) -> Iterator[PostgresTransaction]:
        what = "nothing was written"
        refusal: DitherError | None = None
        try:
            with self.pool.use() as connection:
                try:
                    transaction = PostgresTransaction(connection, begin, queries)
                    yield transaction
                    what = "it is not certain whether it was written"
                    transaction.end(durable=durable)
                except DitherError as error:  # a refusal: nothing is wrong with the connection
                    connection.run([("ROLLBACK", ())])
                    refusal = error
            if refusal is not None:
                raise refusal
        except self._refused as error:
            words = str(error).strip().splitlines() or [type(error).__name__]
            why = f"the database says: {self._without_secrets(words[0])}; {what}"
            instead = "the same question with the same idempotency key, once that is mended"
            raise LedgerError("ledger", self.shown, why, instead) from None  # its own text may hold the password

    def close(self) -> None:
        self.pool.close()

    def _without_secrets(self, text: str) -> str:
        parts = urlsplit(self.url)
        user = parts.netloc.rpartition("@")[0]
        options = [value for name, value in parse_qsl(parts.query) if "password" in name.lower()]
        for secret in {user.partition(":")[2], unquote(user.partition(":")[2]), *options} - {""}:
            text = text.replace(secret, "***")
        return text
