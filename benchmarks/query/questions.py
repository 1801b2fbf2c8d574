"""The full question: products whose keys nobody declared, medians, a join, a hundred ranges at once.

A million purchases, rows a person as a zipf law gives them, products as words are used. Time is the best of three, from the
Parquet file to the answer, beside the plain query of DuckDB on the same file and beside other libraries, at epsilon 1 and
delta 1e-6. Error is beside the price of asking one by one.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow
import pyarrow.parquet

import dither
from benchmarks.peer import ask
from benchmarks.report import console, table

ROWS, PRODUCTS, RUNS = 1_000_000, 2_000, 3
REGIONS = [f"region {number:02d}" for number in range(50)]
LIMITS = {"max_groups": 5, "max_rows_per_group": 2}
ASKED = {
    "people by 2,000 products, keys unknown": "SELECT product, COUNT(DISTINCT user_id) AS n FROM purchases GROUP BY product",
    "rows and average by product": "SELECT product, COUNT(*) AS n, AVG(amount) AS a FROM purchases GROUP BY product",
    "median by 50 regions": "SELECT region, MEDIAN(amount) AS m FROM purchases GROUP BY region",
    "count and average by country, a join": "SELECT c.country, COUNT(*) AS n, AVG(p.amount) AS a "
    "FROM purchases p JOIN places c ON p.region = c.region GROUP BY c.country",
}
PEERS = {"people by 2,000 products, keys unknown": "keys", "median by 50 regions": "median"}


def make(folder: Path, rows: int) -> Path:
    """Purchases, and which region lies in which country."""
    rng = np.random.default_rng(rows)
    people = np.repeat(np.arange(rows // 10), np.minimum(rng.zipf(1.7, rows // 10), 190))
    weights = 1 / np.arange(1, PRODUCTS + 1)
    names = [f"product {at:04d}" for at in range(PRODUCTS)]
    columns = {
        "user_id": people[rng.integers(0, len(people), rows)],
        "region": np.array(REGIONS)[rng.integers(0, len(REGIONS), rows)],
        "product": np.array(names)[rng.choice(PRODUCTS, rows, p=weights / weights.sum())],
        "amount": np.minimum(rng.lognormal(4, 1, rows).round(2), 500),
    }
    path = folder / "purchases.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return path


def places() -> pyarrow.Table:
    """A public table."""
    return pyarrow.table({"region": REGIONS, "country": [f"country {at % 7}" for at in range(len(REGIONS))]})


def protected(folder: Path, path: Path, budget: Any, **facts: Any) -> dither.Dataset:
    return dither.protect(
        path,
        name="purchases",
        person="user_id",
        **LIMITS,
        bounds={"amount": (0, 500)},
        steps={"amount": "0.01"},
        keys={"region": REGIONS, "places.country": [f"country {at}" for at in range(7)]},
        public={"places": places()},
        ledger=dither.Ledger.create(folder / f"{time.time_ns()}.ledger", budget=budget),
        **facts,
    )


def best(work: Callable[[int], Any]) -> tuple[float, Any]:
    """The least seconds of a few runs, and what the last of them gave."""
    times, found = [], None
    for turn in range(RUNS):
        start = time.perf_counter()
        found = work(turn)
        times.append(time.perf_counter() - start)
    return min(times), found


def speed(folder: Path, path: Path, rows: int) -> None:
    """Time beside plain DuckDB and other libraries."""
    data, lines = protected(folder, path, dither.approx(100, "1e-6")), []
    for name, sql in ASKED.items():
        plain = sql.replace("purchases", f"'{path}'", 1)

        def ask_plain(_: int, plain: str = plain) -> Any:
            with duckdb.connect(config={"threads": 2}) as engine:
                engine.register("places", places())
                return engine.execute(plain).fetchall()

        def ask_ours(turn: int, sql: str = sql) -> Any:
            return data.quote(sql, epsilon=f"1.{turn}").release(threads=2)

        theirs, whole = best(ask_plain)
        mine, answer = best(ask_ours)
        told = [f"{theirs:.3f}", f"{mine:.3f}", f"{mine / theirs:.1f}x", f"{len(answer):,} of {len(whole):,}"]
        for peer, title in (("pipelinedp", "PipelineDP local"), ("opendp_polars", "OpenDP (Polars), row-level")):
            told.append(_peer(peer, title, PEERS.get(name), path, rows, mine))
        lines.append([name, *told])
    columns = ["", "plain s", "ours s", "to plain", "rows shown", "PipelineDP", "OpenDP"]
    table(f"The full question, {rows:,} rows, from Parquet to the answer, people with up to 190 rows", columns, lines)


def _peer(peer: str, title: str, asked: str | None, path: Path, rows: int, mine: float) -> str:
    if asked is None:
        return ""
    person = None if peer == "opendp_polars" else "user_id"
    job = {"path": str(path), "asked": asked, "keys": REGIONS, "person": person, "size": rows, "runs": 1}
    job |= {"groups": LIMITS["max_groups"], "rows": LIMITS["max_rows_per_group"], "low": 0, "high": 500}
    answer = ask(peer, job)
    if "error" in answer:
        return str(answer["error"])[:60]
    seconds = answer["times"]["peer"][0]  # type: ignore[index]
    return f"{title} {answer['version']}: {seconds:.1f} s, {seconds / mine:.1f}x ours"


def batches(folder: Path, path: Path) -> None:
    """A hundred ranges of what was spent: together, and one by one at equal price."""
    rng, lines = random.Random(1), []
    pairs = [sorted(rng.sample(range(0, 501), 2)) for _ in range(100)]
    asked = [f"SELECT COUNT(*) AS n FROM purchases WHERE amount BETWEEN {low} AND {high}" for low, high in pairs]
    plain, _ = best(lambda _: [_plain(path, sql) for sql in asked])
    for name, budget in (("epsilon 1", dither.pure(100)), ("epsilon 1, delta 1e-6", dither.approx(100, "1e-6"))):
        data = protected(folder, path, budget)
        quoted, batch = best(lambda _, data=data: data.quote(asked, epsilon=1))
        start = time.perf_counter()
        batch.release(threads=2)
        released = time.perf_counter() - start
        (gain,) = batch.gains
        times = [f"{plain:.2f}", f"{quoted:.2f}", f"{released:.2f}", f"{released / plain:.2f}x"]
        lines.append([name, f"{gain.apart:,.0f}", f"{gain.together:,.0f}", f"{gain.apart / gain.together:.1f}x", *times])
    columns = ["", "one by one", "together", "smaller by", "plain s", "quote s", "release s", "to plain"]
    table("A batch of 100 ranges: error bars (root mean square), and time", columns, lines)


def _plain(path: Path, sql: str) -> Any:
    with duckdb.connect(config={"threads": 2}) as engine:
        return engine.execute(sql.replace("purchases", f"'{path}'")).fetchall()


def main(*, soak: bool) -> None:
    rows = ROWS * (10 if soak else 1)
    with tempfile.TemporaryDirectory(prefix="dither-questions-") as name:
        folder = Path(name)
        path = make(folder, rows)
        speed(folder, path, rows)
        batches(folder, path)
    console.print("Peers run once; PipelineDP has its list of rows ready, OpenDP reads the file.")
