"""What a quote needs of a dataset: the policy, the ledger, and where the rows of each table are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from dither.errors import DataError, PolicyError
from dither.ledger.ledger import Ledger
from dither.query.engines.duckdb.run import DuckDBEngine
from dither.query.engines.engine import Engine, TableSource
from dither.query.engines.postgres.run import PostgresEngine
from dither.query.policy.policy import Policy
from dither.query.policy.table import Table
from dither.query.sources.source import Source


@dataclass(frozen=True)
class Holdings:
    """Policy, ledger and sources of a dataset. Answers hold no reference to it: who has an answer cannot reach the rows."""

    policy: Policy
    ledger: Ledger
    sources: Mapping[str, Source] = field(repr=False)  # where the rows of each table are, found when it was opened

    @cached_property
    def engine(self) -> Engine:
        """What reads the rows; opened when somebody releases."""
        kinds = {source.engine for source in self.sources.values()}
        if len(kinds) > 1:
            came = ", ".join(sorted(self.sources))
            why = "their rows are read by different engines, and one question is read by one"
            raise DataError("sources", came, why, "all tables in one PostgreSQL database, or all in files and frames")
        return PostgresEngine() if kinds == {"postgresql"} else DuckDBEngine(self.sources.values())

    @cached_property
    def lost(self) -> set[int]:
        """Receipts whose answers were being computed here when something went wrong: nobody here waits for them."""
        return set()

    def table_source(self, table: Table) -> TableSource:
        """Where the rows of a table are, and how they are stored there."""
        return self.engine.table(table, self.source(table))

    def source(self, table: Table) -> Source:
        """Where the rows of a table are."""
        if table.name not in self.sources:
            why = "the policy does not say where its rows are"
            raise PolicyError(f"tables.{table.name}.source", None, why, '"visits.parquet"')
        return self.sources[table.name]
