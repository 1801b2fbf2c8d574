"""The median by region: time beside the plain exact median, and error beside the way of other libraries.

The other way, as OpenDP and SmartNoise have it: 101 equally spaced candidates between the bounds and the exponential
mechanism with the same epsilon for one median, without error bars. Ours has 4096 cells and spends two thirds on the bars.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow
import pyarrow.parquet

import dither
from benchmarks.report import limit, table
from dither.density import Bins, QuantileInterval
from dither.mechanisms.exponential import Exponential

ROWS = 1_000_000
REGIONS = [f"region {number:02d}" for number in range(10)]
RUNS = 5
LIMIT = 12.0  # times the plain median, from Parquet to the answer
TALL = 2000  # the upper bound of what is spent
SQL = "SELECT region, MEDIAN(amount) AS m FROM purchases GROUP BY region"


def make(path: Path, rows: int) -> None:
    """Purchases of a fifth as many people."""
    rng = np.random.default_rng(rows)
    columns = {
        "user_id": rng.integers(0, rows // 5, rows),
        "region": pyarrow.DictionaryArray.from_arrays(rng.integers(0, len(REGIONS), rows, dtype=np.int8), REGIONS),
        "amount": np.minimum(rng.lognormal(4, 1, rows).round(2), TALL),
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


def best(work: Any) -> tuple[float, float]:
    """Seconds by the clock and of CPU, each the least of several runs."""
    walls, cpus = [], []
    for turn in range(RUNS):
        start, spent = time.perf_counter(), time.process_time()
        work(turn)
        walls.append(time.perf_counter() - start)
        cpus.append(time.process_time() - spent)
    return min(walls), min(cpus)


def speed(folder: Path, rows: int = ROWS) -> None:
    """Time beside plain DuckDB."""
    path = folder / "purchases.parquet"
    make(path, rows)
    plain = best(
        lambda _: duckdb.connect(config={"threads": 2}).execute(
            f"SELECT region, median(amount) FROM '{path}' GROUP BY region"
        ).fetchall()
    )  # fmt: skip
    lines = [["plain, exact", *(f"{seconds:.3f}" for seconds in plain), "", "", ""]]
    for person in ("each row", "user_id"):
        limits = {} if person == "each row" else {"max_groups": 5, "max_rows_per_group": 2}
        data = dither.protect(
            path, name="purchases", person=person, **limits, keys={"region": REGIONS}, bounds={"amount": (0, TALL)},
            steps={"amount": "0.01"}, ledger=dither.Ledger(folder / f"{person}.ledger", budget=dither.pure(100)),
        )  # fmt: skip
        mine = best(lambda turn, data=data: data.quote(SQL, epsilon=f"1.{turn}").release(threads=2))
        ratios = (*limit(mine[0] / plain[0], LIMIT), f"{mine[1] / plain[1]:.2f}x")
        lines.append([f"ours, {person}", *(f"{seconds:.3f}" for seconds in mine), *ratios])
    columns = ["", "seconds", "of CPU", "to plain", "at most", "CPU to plain"]
    table(f"Median by {len(REGIONS)} regions, {rows:,} rows, from Parquet to the answer", columns, lines)


def error(runs: int = 200) -> None:
    """How far the median of lognormal values (it is 54.6) is off, each row being a person."""
    bins, candidates = Bins.even(0, TALL, 4096), np.linspace(0, TALL, 101)
    lines = []
    for people in (300, 1000, 10_000, 100_000):
        values = np.minimum(np.random.default_rng(people).lognormal(4, 1, people), TALL)
        truth, counts = float(np.median(values)), bins.count(values)
        for epsilon in ("0.1", "1"):
            mechanism = QuantileInterval(bins=bins, q="0.5", epsilon=epsilon)
            ours = np.array([mechanism.release(counts) for _ in range(runs)])
            scores = -np.abs(2 * (values[:, None] < candidates).sum(axis=0) - people)
            choice = Exponential(epsilon=epsilon, sensitivity=1, candidates=101, integers=True)
            theirs = np.array([candidates[choice.release(scores)] for _ in range(runs)])
            held = np.mean((ours[:, 1] <= truth) & (truth <= ours[:, 2]))
            facts = [np.mean(np.abs(ours[:, 0] - truth)), np.mean(np.abs(theirs - truth)), np.mean(ours[:, 2] - ours[:, 1])]
            lines.append([f"{people:,}", epsilon, *(f"{fact:.3g}" for fact in facts), f"{held:.3f}"])
    columns = ["people", "ε", "ours", "101 candidates", "width of the interval", "held (0.95 or more)"]
    table(f"One median: mean distance from the true one, {runs} runs", columns, lines)


def main(*, soak: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="dither-quantiles-") as name:
        speed(Path(name), ROWS * 10 if soak else ROWS)
    error(1000 if soak else 200)
