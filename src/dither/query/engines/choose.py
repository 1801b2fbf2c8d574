"""Which engine reads the sources of a dataset."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dither.errors import DataError
from dither.query.engines.duckdb.run import DuckDBEngine
from dither.query.engines.engine import Engine
from dither.query.engines.mixed import MixedEngine
from dither.query.engines.postgres.run import PostgresEngine
from dither.query.engines.spark.run import SparkEngine
from dither.query.policy.engine_facts import EngineFacts
from dither.query.sources.source import Source
from dither.query.sources.spark_table import SparkSource


def choose_engine(sources: Mapping[str, Source], facts: EngineFacts | None = None, public: Collection[str] = ()) -> Engine:
    """The one engine that reads all sources, by the names of their tables; refused where there are several. Beside protected
    tables in PostgreSQL, the `public` ones may be elsewhere."""
    kinds = {source.engine for source in sources.values()}
    protected = {source.engine for name, source in sources.items() if name not in public}
    if len(kinds) > 1 and protected == {"postgresql"}:
        return MixedEngine(sources.values(), facts)
    if len(kinds) > 1:
        told = ", ".join(f"{name} ({source.kind})" for name, source in sorted(sources.items()))
        why = "their rows are read by different engines, and one question is read by one"
        instead = "all tables in one PostgreSQL database, or all in files and frames; or protected ones in PostgreSQL, and "
        instead = "all tables in Spark" if "spark" in kinds else f"{instead}small public ones anywhere"
        raise DataError("sources", told, why, instead)
    if kinds == {"spark"}:
        return SparkEngine(source for source in sources.values() if isinstance(source, SparkSource))
    return PostgresEngine(facts) if kinds == {"postgresql"} else DuckDBEngine(sources.values())
