"""Tables whose shape is not what the first look says: keys that hold for some rows, changes in between."""

from __future__ import annotations

import threading
import time

import psycopg
import pytest

from dither.errors import DataError
from dither.query.engines.postgres.run import PostgresEngine
from dither.query.policy.policy import read_policy
from dither.query.sources.postgres_table import postgres_table

COLUMNS = {"patient": {"type": "integer"}, "age": {"type": "integer", "bounds": [0, 99]}}
TABLES = {name: {"person": "patient", "max_rows": 3, "columns": COLUMNS} for name in ("first", "second")}


@pytest.fixture
def tables(address, link):
    """Two tables, as the engine holds them."""
    link.execute("DROP TABLE IF EXISTS first, second CASCADE; DROP VIEW IF EXISTS second CASCADE")
    for name in TABLES:
        link.execute(f"CREATE TABLE {name} (patient bigint, age bigint)")
    engine, rules = PostgresEngine(), read_policy({"version": 1, "domain": "d", "tables": TABLES})
    yield engine, [engine.table(one, postgres_table(f"{address}&table={one.name}", "source")) for one in rules.tables]
    link.execute("DROP TABLE IF EXISTS first CASCADE")


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE second ALTER COLUMN age TYPE text",
        "ALTER TABLE second RENAME TO third; CREATE VIEW second AS SELECT patient, 1 / age AS age FROM third",
    ],
)
def test_a_table_that_is_changed_while_others_are_locked(address, tables, change, link):
    """The look into the catalogue must be later than all locks: it sees the state of the database of its first SELECT."""
    engine, sources = tables
    found: list[object] = []

    def look() -> None:
        try:
            with engine.opened(sources):
                found.append("opened")
        except DataError as error:
            found.append(error)

    with psycopg.connect(address, autocommit=True) as other:
        other.execute("BEGIN; LOCK TABLE second IN ACCESS EXCLUSIVE MODE")
        thread = threading.Thread(target=look)
        thread.start()
        waits = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        for _ in range(100):
            if link.execute(waits).fetchone() != (0,):
                break
            time.sleep(0.05)
        other.execute(change)
        other.execute("COMMIT")
        thread.join()
    link.execute("DROP VIEW IF EXISTS second CASCADE") if "VIEW" in change else None
    link.execute("DROP TABLE IF EXISTS second, third CASCADE")
    assert len(found) == 1
    assert isinstance(found[0], DataError), found


def test_a_key_of_a_parent_does_not_hold_for_its_children(address, link):
    link.execute("DROP TABLE IF EXISTS parent CASCADE; CREATE TABLE parent (k bigint PRIMARY KEY)")
    source = postgres_table(f"{address}&table=parent", "source")
    try:
        assert source.enforces_key(["k"])
        link.execute("CREATE TABLE child () INHERITS (parent); INSERT INTO parent VALUES (1); INSERT INTO child VALUES (1)")
        assert not source.enforces_key(["k"])
        link.execute("DROP TABLE parent CASCADE; CREATE TABLE parent (k bigint PRIMARY KEY) PARTITION BY RANGE (k)")
        link.execute("CREATE TABLE child PARTITION OF parent FOR VALUES FROM (0) TO (9)")
        assert source.enforces_key(["k"])
    finally:
        link.execute("DROP TABLE parent CASCADE")
