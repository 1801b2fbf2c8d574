"""What reads the rows of a dataset: one protocol for all engines.

An engine spells SELECTs in its words, runs them on made-up rows before the charge (`rehearse`), opens the sources before the
charge too (`opened`), and gives whole numbers. What it raises once rows are read may tell of them: it is not passed on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from dither.query.engines.key_lists import KeyLists
from dither.query.engines.words import Words
from dither.query.plan.question import Question
from dither.query.policy.column import Column
from dither.query.policy.table import Table
from dither.query.sources.schema import Schema
from dither.query.sources.source import Source

Progress = Callable[[float], None]
Keep = Callable[[tuple[Any, ...]], bool]
Run = Callable[[str, Keep], list[tuple[Any, ...]]]  # a SELECT, and which of its rows are kept


class TableSource(Protocol):
    """Where the rows of a table are, and how the columns of the policy are stored there."""

    @property
    def table(self) -> Table:
        """The table of the policy."""

    @property
    def source(self) -> Source:
        """Where its rows are."""

    @property
    def schema(self) -> Schema:
        """How its columns are stored."""

    @property
    def texts(self) -> frozenset[str]:
        """The columns that are stored as text."""

    @property
    def relation(self) -> str:
        """What stands after FROM."""

    @property
    def stored(self) -> str:
        """Where the rows are as they are stored: what stands after FROM, before the name `stored`."""

    def read(self, where: str) -> str:
        """What stands after FROM if rows stored in the same way are there."""

    def read_column(self, column: Column) -> str:
        """A column of what is stored as everything else gets it."""

    def is_long(self, column: Column) -> str:
        """Whether a cell is a text that is cut or let go. For its owner: it takes longer on longer texts."""


class Opened(Protocol):
    """Sources that can be read."""

    def read(self, progress: Progress | None = None, salt: int = 0, lists: KeyLists | None = None) -> Run:
        """Hand over what is in memory; then SELECTs can run, each with the lists that there are when it does. What they
        raise may tell of rows: not to be passed on."""


class Engine(Protocol):
    """What reads the rows of one dataset."""

    @property
    def words(self) -> Words:
        """How it spells SELECTs."""

    def close(self) -> None:
        """Close what nobody uses; whoever comes next opens it anew."""

    def table(self, table: Table, source: Source) -> TableSource:
        """A source as a table; refused where it cannot be that."""

    def tables(self, given: Mapping[Table, Source]) -> dict[str, TableSource]:
        """Several sources as tables, by name."""

    def check(self, question: Question) -> None:
        """Refuse a question that it was not shown to answer; looks at no data."""

    def rehearse(
        self,
        sources: Mapping[str, Any],
        selects: Sequence[str],
        *,
        threads: int | None = None,
        lists: KeyLists | None = None,
    ) -> None:
        """Run SELECTs on made-up rows, so that what can never work is refused before it is charged."""

    def opened(self, sources: Sequence[Any], threads: int | None = None) -> AbstractContextManager[Opened]:
        """The sources, ready to be read: before the charge. No row is read."""

    def reading(self, sources: Sequence[Any], *, threads: int | None = None) -> AbstractContextManager[Run]:
        """SELECTs on the rows of sources. What they raise may tell of rows: not to be passed on."""
