"""Reads the rows of a dataset by SELECTs on Spark: rehearsed on made-up rows, then run in a session of its own.

Each release has a new session (`sources/spark_session.py`), in which its tables are views under names of ours: what stands
there was looked up and checked before the charge. Its jobs are a group, and are stopped together. What Spark says is never
passed on, and what it would log in this process of a release that failed is dropped; the logs of drivers and executors are
their owner's.

What is remembered between questions is public: SELECTs that worked on a made-up row.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from dither.errors import DataError, QuestionError
from dither.query.engines.engine import Keep, Progress, Run
from dither.query.engines.interruptible import interruptible
from dither.query.engines.key_lists import KeyLists
from dither.query.engines.spark.jobs import jobs_of
from dither.query.engines.spark.key_views import KeyViews
from dither.query.engines.spark.quiet_log import quiet
from dither.query.engines.spark.read_table import is_long, read_column, read_sql
from dither.query.engines.spark.support import check_support
from dither.query.engines.spark.words import SPARK
from dither.query.engines.templates.relations import with_tables
from dither.query.plan.question import Question
from dither.query.policy.column import Column
from dither.query.policy.table import Table
from dither.query.sources.schema import Schema
from dither.query.sources.source import Source
from dither.query.sources.spark_session import session_beside
from dither.query.sources.spark_table import SparkSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_REHEARSALS = 1000  # that are remembered


@dataclass(frozen=True, eq=False)
class SparkTableSource:
    """Where the rows of a table are, and how the columns of the policy are stored there."""

    table: Table
    source: SparkSource
    schema: Schema

    @property
    def texts(self) -> frozenset[str]:
        """None: a column that is stored as text is text in the policy."""
        return frozenset()

    @property
    def view(self) -> str:
        """The view that its rows are, in the session that reads."""
        return f"dither_rows_{hashlib.sha256(self.table.name.encode()).hexdigest()[:16]}"

    @property
    def relation(self) -> str:
        """What stands after FROM."""
        return self.read(self.stored)

    @property
    def stored(self) -> str:
        """Where the rows are as they are stored."""
        return SPARK.name(self.view)

    def read_column(self, column: Column) -> str:
        """A column as everything else gets it."""
        return read_column(column, self.schema[column.name], self.table)

    def is_long(self, column: Column) -> str:
        """Whether a cell is a text that is cut or let go."""
        return is_long(column, self.schema[column.name], self.table)

    def read(self, where: str) -> str:
        """What stands after FROM if rows stored in the same way are there."""
        return read_sql(self.table, self.schema, where)


class SparkEngine:
    """Spark for the sources of one dataset."""

    words = SPARK

    def __init__(self, sources: Iterable[SparkSource]) -> None:
        self._session = next(source.session for source in sources)
        self._rehearsed: OrderedDict[str, None] = OrderedDict()  # SELECTs that worked

    def close(self) -> None:
        """Nothing is kept open."""

    def check(self, question: Question) -> None:
        """Refuse a question with a node that was not shown to compute the same here."""
        check_support(question)

    def table(self, table: Table, source: Source) -> SparkTableSource:
        """A source as a table, looked up."""
        with session_beside(self._session) as session:
            return self._table(table, source, session)

    def tables(self, given: Mapping[Table, Source]) -> dict[str, Any]:
        """Several sources as tables, by name."""
        with session_beside(self._session) as session:
            return {table.name: self._table(table, source, session) for table, source in given.items()}

    def _table(self, table: Table, source: Source, session: SparkSession) -> SparkTableSource:
        assert isinstance(source, SparkSource)
        return SparkTableSource(table, source, source.fitting(table, source.looked_up(session)))

    def rehearse(
        self,
        sources: Mapping[str, SparkTableSource],
        selects: Sequence[str],
        *,
        threads: int | None = None,
        lists: KeyLists | None = None,
    ) -> None:
        """Run SELECTs on a made-up row of NULLs, so that what can never work is refused before it is charged."""
        heads = {}
        for table, source in sources.items():
            cells = [f"CAST(NULL AS {held.stored}) AS {SPARK.name(column)}" for column, held in source.schema.items()]
            heads[table] = source.read(f"(SELECT {', '.join(cells)})")
        new = [sql for one in selects if (sql := with_tables(SPARK, heads, one)) not in self._rehearsed]
        if not new:
            return
        try:
            with session_beside(self._session) as session, quiet():
                KeyViews(session, lists).hand_over()
                for sql in new:
                    session.sql(sql, args={"salt": 0}).toArrow()
        except DataError:
            raise
        except Exception as error:
            why = f"the engine cannot compute it, whatever the data is ({type(error).__name__})"
            raise QuestionError("question", "as it was asked", why, "smaller numbers, or a simpler question") from None
        self._rehearsed.update(dict.fromkeys(new))
        while len(self._rehearsed) > MOST_REHEARSALS:
            self._rehearsed.popitem(last=False)

    @contextmanager
    def opened(self, sources: Sequence[SparkTableSource], threads: int | None = None) -> Iterator[SparkOpened]:
        """A session in which the tables are what they were when they were checked. No row is read."""
        with session_beside(self._session) as session:
            for source in sources:
                found = source.source.looked_up(session, source.view)
                if any(found.get(column) != held for column, held in source.schema.items()):
                    raise DataError("source", source.source.called, "it was changed just now", "asking again")
            try:
                yield SparkOpened(session)
            finally:
                for source in sources:
                    with quiet(), suppress(Exception):  # a session that is lost has none; what it says is not passed on
                        session.catalog.dropTempView(source.view)

    @contextmanager
    def reading(self, sources: Sequence[SparkTableSource], *, threads: int | None = None) -> Iterator[Run]:
        """SELECTs on the rows of sources. What they raise may tell of rows: not to be passed on."""
        with self.opened(sources, threads) as opened:
            yield opened.read()


class SparkOpened:
    """A session by which the rows of sources can be read."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session

    def read(self, progress: Progress | None = None, salt: int = 0, lists: KeyLists | None = None) -> Run:
        """SELECTs can run. What they raise may tell of rows: not to be passed on."""
        session, views, jobs = self._session, KeyViews(self._session, lists), jobs_of(self._session)
        signed = salt - 2**64 if salt >= 2**63 else salt

        def work(sql: str, keep: Keep) -> list[tuple[Any, ...]]:
            with quiet():
                jobs.begin()
                views.hand_over()
                return _rows(session, sql, signed, keep)

        def look() -> None:
            if progress is not None:
                progress(jobs.progress())

        return lambda sql, keep: interruptible(lambda: work(sql, keep), jobs.stop, look)


def _rows(session: SparkSession, sql: str, salt: int, keep: Keep) -> list[tuple[Any, ...]]:
    """There may be groups that nobody asks for: they are let go, part by part."""
    found = []
    for batch in session.sql(sql, args={"salt": salt}).toArrow().to_batches():
        columns = [[_plain(value) for value in column.to_pylist()] for column in batch.columns]
        found += [row for row in zip(*columns, strict=True) if keep(row)]
    return found


def _plain(value: Any) -> Any:
    """Whole numbers come as decimals."""
    if isinstance(value, Decimal):
        whole = int(value)
        if whole != value:
            raise RuntimeError("the engine gave a fraction")
        return whole
    return value
