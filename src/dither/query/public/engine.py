"""What answers questions about public tables: DuckDB. Rows that are in a database are fetched into it.

So a question means the same wherever the rows are, and no word of it gets to a database.

Theorem. What is fetched is 0-differentially private, for both units. Proof. It is a function of the question and of the
tables that it names, all of them public (`public/parse.py`), in a SELECT of one table each: the same in neighbouring
databases. `public_rows` refuses every other table once more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dither.query.engines.duckdb.run import DuckDBEngine
from dither.query.engines.engine import Engine, TableSource
from dither.query.engines.postgres.public_rows import public_rows
from dither.query.engines.postgres.run import PostgresEngine, PostgresTableSource
from dither.query.holdings import Holdings
from dither.query.policy.table import Table
from dither.query.sources.frames import ArrowTable
from dither.query.sources.postgres_table import PostgresTable
from dither.query.sources.source import Source

PublicSources = Mapping[str, TableSource]


def public_engine(tables: Sequence[Table], holdings: Holdings, *, fetch: bool) -> tuple[Engine, PublicSources]:
    """DuckDB, and where public tables are for it; without the rows of databases, where none are to be read.

    Raises:
        DataError: the rows of a table cannot be fetched, or are too many.
    """
    sources = {table.name: holdings.source(table) for table in tables}
    if all(source.engine == "duckdb" for source in holdings.sources.values()):
        return holdings.engine, {table.name: holdings.table_source(table) for table in tables}
    by_database: dict[str, list[tuple[Table, PostgresTable]]] = {}
    for table in tables:
        source = sources[table.name]
        if isinstance(source, PostgresTable):
            by_database.setdefault(source.url, []).append((table, source))
    here: dict[str, Source] = dict(sources)
    server = PostgresEngine(holdings.policy.engine)
    for several in by_database.values():
        places = [PostgresTableSource(table, source, source.check(table)) for table, source in several]
        fetched = public_rows(server, places, fetch=fetch)
        here |= {name: ArrowTable(rows) for name, rows in fetched.items()}
    engine = DuckDBEngine(here.values())
    return engine, {table.name: engine.table(table, here[table.name]) for table in tables}
