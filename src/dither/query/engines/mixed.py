"""PostgreSQL for protected tables, beside small public ones in files and frames, which DuckDB scans: they are sent along."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dither.errors import DataError
from dither.query.engines.duckdb.run import DuckDBEngine
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.postgres.public_values import MOST_ROWS, PublicValues, public_values
from dither.query.engines.postgres.run import PostgresEngine, PostgresTableSource
from dither.query.engines.templates.relations import rows_of, scan_sql, with_tables
from dither.query.policy.engine_facts import EngineFacts
from dither.query.policy.table import Table
from dither.query.sources.postgres_table import PostgresTable
from dither.query.sources.source import Source


class MixedEngine(PostgresEngine):
    """PostgreSQL, and public tables elsewhere."""

    def __init__(self, sources: Iterable[Source], facts: EngineFacts | None = None) -> None:
        several = list(sources)
        super().__init__(facts, [source.url for source in several if isinstance(source, PostgresTable)])
        self._files = DuckDBEngine([source for source in several if not isinstance(source, PostgresTable)])

    def close(self) -> None:
        """Close what nobody uses; whoever comes next opens it anew."""
        self._files.close()

    def tables(self, given: Mapping[Table, Source]) -> dict[str, Any]:
        """Several sources as tables, by name."""
        stored = super().tables({table: source for table, source in given.items() if isinstance(source, PostgresTable)})
        return {table.name: stored.get(table.name) or self.table(table, source) for table, source in given.items()}

    def table(self, table: Table, source: Source) -> PostgresTableSource | PublicValues:
        """A source as a table, looked up in the catalogue; of one that is no table of the database, with its rows."""
        if isinstance(source, PostgresTable):
            return super().table(table, source)
        if not table.public:
            why = "its rows are not in the database of the other protected tables, and are sent nowhere"
            raise DataError(f"source of {table.name}", source.kind, why, "all protected tables in one database, or in files")
        place = self._files.table(table, source)
        scan = scan_sql(DUCKDB, table, rows_of(DUCKDB, table.name), place.texts)
        scan = f"SELECT * FROM ({scan}) AS q LIMIT {MOST_ROWS + 1}"
        try:
            with self._files.reading([place], threads=1) as run:
                rows = run(with_tables(DUCKDB, {table.name: place.relation}, scan), lambda _: True)
        except RuntimeError:
            why = "its rows cannot be read"
            raise DataError(f"source of {table.name}", source.kind, why, "the table that the policy names") from None
        return public_values(table, source, rows)
