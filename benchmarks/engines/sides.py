"""The engines that are compared: how each runs a plain query and our SELECTs, and what CPU it took."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import dither
from benchmarks.engines.questions import Question
from dither.query.counts import TablePlaces
from dither.query.engines.duckdb.run import DuckDBEngine
from dither.query.engines.engine import Engine, Run
from dither.query.engines.postgres.run import PostgresEngine
from dither.query.engines.templates.relations import rows_of, with_tables
from dither.query.engines.words import Words
from dither.query.policy.engine_facts import EngineFacts
from dither.query.quote import Quote
from dither.query.release import Release, released_numbers

THREADS, WORK_MEM, SALT = 2, "512MB", 12345
Rows = list[tuple[Any, ...]]


class Side(ABC):
    """An engine with the purchases."""

    name = ""
    median = True  # whether it has MEDIAN
    limits: ClassVar[Mapping[str, float]] = {}  # how many times the plain query a way may take, on this engine
    runs = 3  # turns, up to 10^6 rows

    def __init__(self, folder: Path) -> None:
        self._folder, self._ledgers = folder, 0

    @abstractmethod
    def source(self, table: str) -> Any:
        """Where a table is."""

    @abstractmethod
    def place(self, table: str) -> str:
        """What stands after FROM in a plain query."""

    @abstractmethod
    def engine(self, data: dither.Dataset) -> Engine:
        """What runs SELECTs."""

    @abstractmethod
    def cpu(self, run: Run) -> Callable[[], float]:
        """Seconds of CPU that the engine took so far."""

    def quote(self, question: Question) -> Quote:
        """The question under a ledger of its own."""
        self._ledgers += 1
        ledger = dither.Ledger.create(self._folder / f"{self.name}-{self._ledgers}.ledger", budget=question.budget)
        public = {"places": self.source("places")} if "places" in question.sql else None
        facts = {**question.facts, "keys": {k: v for k, v in question.facts["keys"].items() if public or "." not in k}}
        data = dither.protect(self.source("purchases"), name="purchases", ledger=ledger, public=public, **facts)
        found = data.quote(question.sql, **question.price)
        assert isinstance(found, Quote)
        return found

    @contextmanager
    def reading(self, quote: Quote, words: Words | None = None) -> Iterator[tuple[Run, TablePlaces, list[str]]]:
        """What runs SELECTs of a question, where its tables are, and the SELECTs; `words`: others than the engine's."""
        data = quote.holdings
        engine = self.engine(data)  # type: ignore[arg-type]
        words = words or engine.words
        tables = {one.name: engine.table(one, data.sources[one.name]) for one in data.policy.tables}
        place = TablePlaces(words, {name: rows_of(words, name) for name in tables}, {n: t.texts for n, t in tables.items()})
        heads = {name: one.relation for name, one in tables.items()}
        selects = Release(data, (quote.offer,), quote.guarantee, {})._selects(place)
        with engine.reading(list(tables.values()), threads=THREADS) as run:
            yield lambda sql, keep: run(with_tables(words, heads, sql), keep), place, selects

    def times(self, question: Question, runs: int) -> tuple[float, float, float, str]:
        """The least CPU of the plain query, of our SELECTs, and of our own work beside them; and how people are bounded."""
        quote = self.quote(question)
        plain = question.plain({name: self.place(name) for name in ("purchases", "places")}, median=self.median)
        found: dict[str, Rows] = {}
        best = [float("inf")] * 3
        with self.reading(quote) as (run, place, selects):
            seconds = self.cpu(run)
            for _ in range(runs):
                start = seconds()
                run(f"SELECT * FROM ({plain}) AS plain", lambda _: True)
                middle = seconds()
                for sql in selects:
                    found[sql] = run(sql, lambda _: True)
                best[:2] = min(best[0], middle - start), min(best[1], seconds() - middle)
            for _ in range(runs):  # as the release would, on rows that are there
                own = time.process_time()
                released_numbers(quote.offer, lambda sql, keep: [row for row in found.get(sql, []) if keep(row)], place, [])
                best[2] = min(best[2], time.process_time() - own)
        return *best, quote.offer.bounding.way  # type: ignore[return-value]

    def totals(self, question: Question) -> list[str]:
        """All whole numbers, people's groups being chosen by the portable hash."""
        quote = self.quote(question)
        engine = self.engine(quote.holdings)  # type: ignore[arg-type]
        portable = type("Portable", (type(engine.words),), {"order": Words.order, "salt": str(SALT)})()
        with self.reading(quote, portable) as (run, _, selects):
            rows = [row for sql in selects for row in run(sql, lambda _: True)]
        return sorted(repr([sorted(cell) if isinstance(cell, list) else cell for cell in row]) for row in rows)


class DuckDBSide(Side):
    """DuckDB on a Parquet file, two threads."""

    name = "DuckDB"

    def __init__(self, folder: Path, path: Path) -> None:
        super().__init__(folder)
        self._path = path

    def source(self, table: str) -> Any:
        return self._path.with_name(f"{table}.parquet")

    def place(self, table: str) -> str:
        return f"read_parquet('{self.source(table)}')"

    def engine(self, data: dither.Dataset) -> Engine:
        return DuckDBEngine(data.sources.values())

    def cpu(self, run: Run) -> Callable[[], float]:
        return time.process_time


class PostgresSide(Side):
    """PostgreSQL on a socket."""

    name = f"PostgreSQL, work_mem {WORK_MEM}"
    median = False

    def __init__(self, folder: Path, address: str) -> None:
        super().__init__(folder)
        self._address = address

    def source(self, table: str) -> Any:
        return f"{self._address}&table={table}"

    def place(self, table: str) -> str:
        return f"public.{table}"

    def engine(self, data: dither.Dataset) -> Engine:
        return PostgresEngine(EngineFacts(work_mem=WORK_MEM))

    def cpu(self, run: Run) -> Callable[[], float]:
        ((pid,),) = run("SELECT pg_backend_pid() AS pid", lambda _: True)
        ticks = os.sysconf("SC_CLK_TCK")

        def seconds() -> float:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
            return (int(fields[11]) + int(fields[12])) / ticks  # in the user's mode, and in the kernel's

        return seconds
