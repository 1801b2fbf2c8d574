"""Which engine reads the sources of a dataset."""

from __future__ import annotations

from collections.abc import Mapping

from dither.errors import DataError
from dither.query.engines.duckdb.run import DuckDBEngine
from dither.query.engines.engine import Engine
from dither.query.engines.postgres.run import PostgresEngine
from dither.query.policy.engine_facts import EngineFacts
from dither.query.sources.source import Source


def choose_engine(sources: Mapping[str, Source], facts: EngineFacts | None = None) -> Engine:
    """The one engine that reads all sources, by the names of their tables; refused where there are several."""
    kinds = {source.engine for source in sources.values()}
    if len(kinds) > 1:
        why = "their rows are read by different engines, and one question is read by one"
        instead = "all tables in one PostgreSQL database, or all in files and frames"
        raise DataError("sources", ", ".join(sorted(sources)), why, instead)
    return PostgresEngine(facts) if kinds == {"postgresql"} else DuckDBEngine(sources.values())
