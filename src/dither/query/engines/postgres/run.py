"""Reads the rows of a dataset by SELECTs on PostgreSQL: rehearsed on made-up rows, then run in one read-only transaction.

Each release has a connection of its own. Its transaction sees one state of the database (repeatable read), writes nothing,
and finds operators and functions in `pg_catalog` alone, so that nobody's own are called. Tables are locked against changes
of their shape, and looked up in the catalogue again, before the charge. What the server says is never passed on.

What is remembered between questions is public: SELECTs that worked on a made-up row. Catalogues are looked at each time.
"""

from __future__ import annotations

import os
import socket
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from itertools import count
from typing import TYPE_CHECKING, Any

from dither.errors import DataError, QuestionError
from dither.extras import needs
from dither.query.engines.engine import Keep, Progress, Run
from dither.query.engines.interruptible import interruptible
from dither.query.engines.key_lists import KeyLists
from dither.query.engines.postgres.key_settings import KeySettings
from dither.query.engines.postgres.public_values import PublicValues
from dither.query.engines.postgres.read_table import is_long, read_column, read_sql
from dither.query.engines.postgres.support import check_support
from dither.query.engines.postgres.words import POSTGRES
from dither.query.engines.templates.relations import with_tables
from dither.query.plan.question import Question
from dither.query.policy.column import Column
from dither.query.policy.engine_facts import EngineFacts
from dither.query.policy.table import Table
from dither.query.sources.postgres_table import PostgresTable, catalogue, connection, lost, read_catalogue
from dither.query.sources.schema import Schema
from dither.query.sources.source import Source

if TYPE_CHECKING:
    import psycopg

AT_ONCE = 10_000  # rows handed over at once
CANCEL = 10.0  # seconds in which the server hears that it should cancel
STOPS = 10  # attempts to cancel on the server before the line to it is cut
MOST_REHEARSALS = 1000  # that are remembered


@dataclass(frozen=True, eq=False)
class PostgresTableSource:
    """Where the rows of a table are, and how the columns of the policy are stored there."""

    table: Table
    source: PostgresTable
    schema: Schema

    @property
    def texts(self) -> frozenset[str]:
        """None: a column that is stored as text is text in the policy."""
        return frozenset()

    @property
    def relation(self) -> str:
        """What stands after FROM."""
        return self.read(self.source.relation)

    @property
    def stored(self) -> str:
        """Where the rows are as they are stored."""
        return self.source.relation

    def read_column(self, column: Column) -> str:
        """A column as everything else gets it."""
        return read_column(column, self.schema[column.name], self.table)

    def is_long(self, column: Column) -> str:
        """Whether a cell is a text that is cut or let go."""
        return is_long(column, self.schema[column.name], self.table)

    def read(self, where: str) -> str:
        """What stands after FROM if rows stored in the same way are there."""
        return read_sql(self.table, self.schema, where)


PostgresPlace = PostgresTableSource | PublicValues


class PostgresEngine:
    """PostgreSQL for the sources of one dataset."""

    words = POSTGRES

    def __init__(self, facts: EngineFacts | None = None, urls: Sequence[str] = ()) -> None:
        self._facts, self._urls = facts or EngineFacts(), urls  # of databases, for questions whose tables are all sent along
        self._rehearsed: OrderedDict[tuple[str, str], None] = OrderedDict()  # SELECTs that worked, and where

    def close(self) -> None:
        """Nothing is kept open."""

    def check(self, question: Question) -> None:
        """Refuse a question with a node that was not shown to compute the same here, or that could overflow."""
        check_support(question)

    def table(self, table: Table, source: Source) -> PostgresTableSource | PublicValues:
        """A source as a table, looked up in the catalogue."""
        assert isinstance(source, PostgresTable)
        return PostgresTableSource(table, source, source.check(table))

    def tables(self, given: Mapping[Table, Source]) -> dict[str, Any]:
        """Several sources as tables, by name: looked up by one connection a database."""
        places: dict[str, list[tuple[Table, PostgresTable]]] = {}
        for table, source in given.items():
            assert isinstance(source, PostgresTable)
            places.setdefault(source.url, []).append((table, source))
        found: dict[str, PostgresTableSource] = {}
        for url, several in places.items():
            with catalogue(url) as link:
                for table, source in several:
                    held = source.fitting(table, read_catalogue(link, source))
                    found[table.name] = PostgresTableSource(table, source, held)
        return {table.name: found[table.name] for table in given}

    def rehearse(
        self,
        sources: Mapping[str, PostgresPlace],
        selects: Sequence[str],
        *,
        threads: int | None = None,
        lists: KeyLists | None = None,
    ) -> None:
        """Run SELECTs on a made-up row of NULLs, so that what can never work is refused before it is charged.

        One that worked is not run again on the same database: it holds the types of all columns, and lists of keys by
        names that follow from them. One that failed is not remembered.
        """
        with needs("dither[postgres]"):
            import psycopg

        heads = {}
        for table, source in sources.items():
            cells = [f"CAST(NULL AS {held.stored}) AS {POSTGRES.name(column)}" for column, held in source.schema.items()]
            heads[table] = source.read(f"(SELECT {', '.join(cells)})")
        url = _one_url(list(sources.values()), self._urls)
        known = [(url, with_tables(POSTGRES, heads, sql)) for sql in selects]
        new = [key for key in known if key not in self._rehearsed]
        if not new:
            return
        with connection(url) as link:
            try:
                _salt(link, 0)
                KeySettings(link, lists).hand_over()
                for _, sql in new:
                    link.execute(sql).fetchall()
            except psycopg.Error as error:
                if link.closed:
                    raise lost(url) from None
                why = f"the engine cannot compute it, whatever the data is ({type(error).__name__})"
                raise QuestionError("question", "as it was asked", why, "smaller numbers, or a simpler question") from None
        self._rehearsed.update(dict.fromkeys(new))
        while len(self._rehearsed) > MOST_REHEARSALS:
            self._rehearsed.popitem(last=False)

    @contextmanager
    def opened(self, sources: Sequence[PostgresPlace], threads: int | None = None) -> Iterator[PostgresOpened]:
        """A transaction in which the tables are what they were when they were checked. No row is read."""
        with needs("dither[postgres]"):
            import psycopg

        stored = [source for source in sources if isinstance(source, PostgresTableSource)]
        with connection(_one_url(sources, self._urls)) as link:
            try:
                for source in stored:
                    link.execute(f"LOCK TABLE {source.source.relation} IN ACCESS SHARE mode")
                # the first SELECT fixes the state that all later ones see, of the catalogue too: all locks come before it
                for source in stored:
                    found = read_catalogue(link, source.source)
                    if any(found.get(column) != held for column, held in source.schema.items()):
                        raise DataError("source", source.source.relation, "it was changed just now", "asking again")
            except psycopg.Error:
                came = ", ".join(source.source.relation for source in stored)
                why = "it cannot be read now: it is gone, or somebody changes it"
                raise DataError("source", came, why, "asking again") from None
            yield PostgresOpened(link, self._facts, [one for one in sources if isinstance(one, PublicValues)])

    @contextmanager
    def reading(self, sources: Sequence[PostgresPlace], *, threads: int | None = None) -> Iterator[Run]:
        """SELECTs on the rows of sources. What they raise may tell of rows: not to be passed on."""
        with self.opened(sources, threads) as opened:
            yield opened.read()


class PostgresOpened:
    """A transaction by which the rows of sources can be read."""

    def __init__(self, link: psycopg.Connection[Any], facts: EngineFacts, values: Sequence[PublicValues] = ()) -> None:
        self._link, self._facts, self._values = link, facts, values

    def read(self, progress: Progress | None = None, salt: int = 0, lists: KeyLists | None = None) -> Run:
        """SELECTs can run. What they raise may tell of rows: not to be passed on."""
        _salt(self._link, salt)
        for setting, amount in (("work_mem", self._facts.work_mem), ("statement_timeout", self._facts.time_limit)):
            if amount is not None:
                self._link.execute("SELECT set_config(%s, %s, true)", (setting, amount))
        for setting, array in (pair for source in self._values for pair in source.settings()):
            self._link.execute("SELECT set_config(%s, %s, true)", (setting, array))
        link, settings, stops = self._link, KeySettings(self._link, lists), count(1)

        def look() -> None:
            if progress is not None:  # the server does not tell how far it is
                progress(0.0)

        def run(sql: str, keep: Keep) -> list[tuple[Any, ...]]:
            settings.hand_over()
            return interruptible(lambda: _rows(link, sql, keep), lambda: _stop(link, next(stops)), look)

        return run


def _one_url(sources: Sequence[PostgresPlace], known: Sequence[str]) -> str:
    """The one database in which all tables are that are not sent along; the first that is known, if all are."""
    stored = [source.source for source in sources if isinstance(source, PostgresTableSource)]
    urls = list(dict.fromkeys(source.url for source in stored)) or list(known[:1])
    if len(urls) != 1:
        why = "the tables of one question are in one database"
        raise DataError("source", ", ".join(source.relation for source in stored), why, "tables of one database")
    return urls[0]


def _salt(link: psycopg.Connection[Any], salt: int) -> None:
    signed = salt - 2**64 if salt >= 2**63 else salt
    link.execute("SELECT set_config('dither.salt', %s, true)", (str(signed),))


def _stop(link: psycopg.Connection[Any], attempt: int) -> None:
    """Cancel on the server; where it does not hear, end what waits for it here."""
    try:
        link.cancel_safe(timeout=CANCEL)
        unheard = attempt >= STOPS
    except BaseException:  # nobody to tell
        unheard = True
    if unheard:
        with socket.socket(fileno=os.dup(link.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)


def _rows(link: psycopg.Connection[Any], sql: str, keep: Keep) -> list[tuple[Any, ...]]:
    """There may be many groups that nobody asks for: they are let go as they come."""
    found = []
    with link.cursor(name="dither") as cursor:
        cursor.itersize = AT_ONCE
        cursor.execute(sql)
        while rows := cursor.fetchmany(AT_ONCE):
            found += [kept for row in rows if keep(kept := tuple(_plain(value) for value in row))]
    return found


def _plain(value: Any) -> Any:
    """Whole numbers come as decimals."""
    if isinstance(value, Decimal):
        whole = int(value)
        if whole != value:
            raise RuntimeError("the engine gave a fraction")
        return whole
    return [_plain(one) for one in value] if isinstance(value, list) else value
