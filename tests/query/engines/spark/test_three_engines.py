"""The same whole numbers from DuckDB, PostgreSQL and Spark, of ten typical questions on hostile rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from dither.privacy.unit import Unit
from dither.query.conformance.counted_totals import counted, read_question
from dither.query.conformance.engine_reader import EngineReader
from dither.query.conformance.hostile_rows import TABLE, hostile_policy
from dither.query.conformance.node_examples import hostile_tables, tables_policy
from dither.query.counters.counter_sets import choose_counters
from dither.query.engines.duckdb.run import DuckDBEngine
from dither.query.engines.postgres.run import PostgresEngine
from dither.query.engines.spark.run import SparkEngine
from dither.query.sources.find_source import find_source
from dither.query.sql.parse import parse
from dither.query.statistics.bounding import EachRow
from tests.ledger.servers import postgres
from tests.query.engines.postgres.tables import load as load_postgres
from tests.seeds import examples

pytestmark = pytest.mark.filterwarnings("ignore")  # PySpark's own
TYPICAL = [
    "SELECT ward, COUNT(*) AS n, SUM(cost) AS s, AVG(cost) AS a FROM rows GROUP BY ward",
    "SELECT COUNT(DISTINCT person) AS n FROM rows WHERE name LIKE 'A%' AND age BETWEEN 0 AND 65",
    "SELECT EXTRACT(quarter FROM seen) AS k, SUM(weight) AS s FROM rows GROUP BY k",
    "SELECT MEDIAN(cost) AS m FROM rows",
    "SELECT COUNT(DISTINCT name) AS n FROM rows",
    "SELECT VAR_POP(weight) AS v FROM rows",
    "SELECT SUM(beds) AS s FROM rows JOIN wards ON rows.ward = wards.ward",
    "SELECT kind, SUM(price) AS s FROM parts GROUP BY kind",
    "SELECT SUM(v) AS s FROM (SELECT person, LAG(age - 1) OVER (PARTITION BY person ORDER BY seen) AS v FROM rows) AS q",
    "SELECT COUNT(*) AS n FROM rows WHERE person NOT IN (SELECT person FROM rows WHERE smokes)",
]


@pytest.fixture(scope="module")
def readers(session, load):
    """Three engines with the same hostile tables: of people, and of rows by themselves."""
    psycopg = pytest.importorskip("psycopg")
    tables = hostile_tables(7, 60)
    with postgres() as server:
        address = server.get_uri().replace("postgres:@", "postgres@")
        with psycopg.connect(address, autocommit=True, options="-c TimeZone=UTC -c client_min_messages=error") as link:
            for name, table in tables.items():
                load_postgres(link, name, table)
        places = [
            {name: find_source(table, Path(), name) for name, table in tables.items()},
            {name: find_source(f"{address}&table={name}", Path(), name) for name in tables},
            {name: load(name, table) for name, table in tables.items()},
        ]
        engines = [DuckDBEngine(places[0].values()), PostgresEngine(), SparkEngine(places[2].values())]

        def made(policy):
            return [EngineReader(engine, place, policy) for engine, place in zip(engines, places, strict=True)]

        yield made(tables_policy()), made(hostile_policy(person=False))


@pytest.mark.parametrize("sql", TYPICAL)
def test_typical_questions(readers, sql):
    question = read_question(sql, tables_policy())
    for reader in readers[0]:
        reader.engine.check(question)
    asked = counted(question)
    asked = asked if examples(0, 1) else asked[:1]
    first, *others = ([dict(one) for one in reader.totals(*asked)] for reader in readers[0])
    assert first[0]
    for found in others:
        assert found == first


def test_undeclared_texts_stay_in_all_engines(readers):
    """Where each row is a person."""
    question = parse(f"SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM {TABLE} GROUP BY ward", hostile_policy(person=False))
    asked = question, choose_counters(question, pure=True).sets, EachRow.of(Unit.ADD_REMOVE)
    first, *others = (sorted(*reader.run(reader.select(*asked)), key=repr) for reader in readers[1])
    assert others == [first, first]
    assert {key for key, *_ in first} <= set(question.groups[0].listed)
    assert first
