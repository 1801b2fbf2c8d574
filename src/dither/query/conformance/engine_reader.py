"""An engine with hostile tables of its own: SELECTs of totals and of values, under the portable hash."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from dither.errors import BrokenPromise, DitherError
from dither.query.conformance.counted_totals import Counted, Totals
from dither.query.conformance.hostile_rows import TABLE
from dither.query.counters.counter_sets import CounterSet
from dither.query.counts import TablePlaces
from dither.query.engines.engine import Engine
from dither.query.engines.templates.expressions import render
from dither.query.engines.templates.relations import rows_of, with_tables
from dither.query.engines.words import Words
from dither.query.plan.base import Expression
from dither.query.plan.question import Question
from dither.query.policy.policy import Policy
from dither.query.sources.source import Source
from dither.query.statistics.bounding import Bounding

SALT = 12345


class EngineReader:
    """An engine with rows of its own, and the portable hash."""

    def __init__(self, engine: Engine, sources: Mapping[str, Source], policy: Policy) -> None:
        portable = type("Portable", (type(engine.words),), {"order": Words.order, "salt": str(SALT)})
        self.engine, self.words = engine, portable()
        self._tables = {table.name: engine.table(table, sources[table.name]) for table in policy.tables}

    @contextmanager
    def reading(self) -> Iterator[Callable[[str], list[tuple[Any, ...]]]]:
        heads = {name: table.relation for name, table in self._tables.items()}
        with self.engine.reading([*self._tables.values()]) as run:
            yield lambda sql: run(with_tables(self.words, heads, sql), lambda _: True)

    def select(self, question: Question, sets: tuple[CounterSet, ...], bounding: Bounding) -> str:
        texts = {name: table.texts for name, table in self._tables.items()}
        places = {name: rows_of(self.words, name) for name in self._tables}
        return TablePlaces(self.words, places, texts).select(question, sets, bounding)

    def totals(self, *asked: Counted) -> list[Totals]:
        """By group: of each that is counted."""
        found = self.run(*(self.select(*one) for one in asked))
        widths = [len(question.groups) for question, _, _ in asked]
        return [{row[:width]: row[width:] for row in rows} for width, rows in zip(widths, found, strict=True)]

    def values(self, node: Expression) -> dict[int, Any]:
        """The value of an expression in every row."""
        select = (
            f"SELECT {self.words.name('row')}, {render(self.words, node)} AS v FROM {rows_of(self.words, TABLE)} AS source"  # noqa: S608
        )
        return dict(*self.run(select))

    def run(self, *selects: str) -> list[list[tuple[Any, ...]]]:
        try:
            with self.reading() as run:
                return [run(sql) for sql in selects]
        except (RuntimeError, DitherError) as error:
            told = " ".join(selects)[:300]
            raise BrokenPromise("engine", type(self.engine).__name__, f"it failed: {error}", told) from error
