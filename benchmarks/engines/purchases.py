"""Purchases of made-up people for both engines: rows a person as a zipf law gives them, a few cells hostile."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import duckdb
import numpy as np
import psycopg
import pyarrow

REGIONS = [f"region {number:02d}" for number in range(50)]
COUNTRIES = [f"country {number}" for number in range(7)]
PRODUCTS, AT_ONCE = 2_000, 2_000_000
ODD = 997  # every so many rows a cell is missing, no number, infinite or far away, or a key is not declared
CELLS = ("NULL", "'NaN'::DOUBLE", "'inf'::DOUBLE", "'-inf'::DOUBLE", "1e120", "-3.0")
MADE = "user_id BIGINT, region VARCHAR, product VARCHAR, amount DOUBLE, day DATE"
STORED = "user_id bigint, region text, product text, amount double precision, day date"


def make(folder: Path, rows: int, people: int | None = None) -> Path:
    """A Parquet file of so many purchases by so many people, a tenth as many unless said, and a public one beside it."""
    start, persons = time.perf_counter(), people or rows // 10
    rng = np.random.default_rng(rows)
    shares = np.repeat(np.arange(persons), np.minimum(rng.zipf(1.7, persons), 190))
    weights = 1 / np.arange(1, PRODUCTS + 1)
    named = pyarrow.array([f"product {number:04d}" for number in range(PRODUCTS)])
    path = folder / "purchases.parquet"
    odd = " ".join(f"WHEN {at} THEN {cell}" for at, cell in enumerate(CELLS))
    with duckdb.connect(config={"threads": 2}) as engine:
        engine.execute(f"CREATE TABLE purchases ({MADE})")
        for first in range(0, rows, AT_ONCE):
            size = min(AT_ONCE, rows - first)
            columns = {
                "row": np.arange(first, first + size),
                "user_id": shares[rng.integers(0, len(shares), size)],
                "region": pyarrow.array(REGIONS).take(rng.integers(0, len(REGIONS), size)),
                "product": named.take(rng.choice(PRODUCTS, size, p=weights / weights.sum())),
                "amount": np.minimum(rng.lognormal(4, 1, size).round(2), 500),
                "day": rng.integers(0, 366, size),
            }
            engine.register("made", pyarrow.table(columns))
            engine.execute(
                f"INSERT INTO purchases SELECT user_id, CASE row % {ODD} WHEN 1 THEN 'elsewhere' ELSE region END, product, "
                f"CASE WHEN row % {ODD} = 2 THEN CASE row // {ODD} % {len(CELLS)} {odd} END ELSE amount END, "
                "DATE '2024-01-01' + day::INTEGER FROM made"
            )
            engine.unregister("made")
        engine.execute(f"COPY purchases TO '{path}'")
        countries = ", ".join(f"('{region}', '{COUNTRIES[at % len(COUNTRIES)]}')" for at, region in enumerate(REGIONS))
        engine.execute(f"COPY (FROM (VALUES {countries}) AS t (region, country)) TO '{folder / 'places.parquet'}'")
    print(f"made {rows:,} rows in {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    return path


def load(address: str, path: Path) -> str:
    """The same rows in a PostgreSQL database; gives what is to be said of the server."""
    start = time.perf_counter()
    with psycopg.connect(address, autocommit=True) as link, duckdb.connect(config={"threads": 2}) as engine:
        link.execute("ALTER SYSTEM SET fsync = off")
        link.execute("SELECT pg_reload_conf()")
        for table, columns in (("purchases", STORED), ("places", "region text, country text")):
            file = path.with_name(f"{table}.csv")
            engine.execute(f"COPY (FROM '{path.with_name(table)}.parquet') TO '{file}' (HEADER false)")
            link.execute(f"DROP TABLE IF EXISTS {table}; CREATE UNLOGGED TABLE {table} ({columns})")
            with link.cursor().copy(f"COPY {table} FROM STDIN (FORMAT csv)") as copy, file.open("rb") as lines:
                while part := lines.read(2**22):
                    copy.write(part)
            link.execute(f"VACUUM (ANALYZE, FREEZE) {table}")
            file.unlink()
        (version,), (buffers,) = (
            link.execute(f"SHOW {name}").fetchone() or ("",) for name in ("server_version", "shared_buffers")
        )
    print(f"loaded in {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    return f"PostgreSQL {version}, shared_buffers {buffers}, fsync off, no parallel workers (SELECTs run through a cursor)."
