"""What the first release at a new price takes, beside one at a price that was paid before.

Noise of a new scale needs a table of its law; the next question with noise of that scale finds it made. Few rows, so that
little but the noise, the ledger and the opening of the engine is measured: CPU time, the best of its turns.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow

import dither
from benchmarks.report import limit, table

ROWS, TURNS = 10_000, 9
WHERE = "FROM purchases WHERE amount <="
ASKED = {
    "a count": f"SELECT COUNT(*) AS n {WHERE}",
    "a sum": f"SELECT SUM(amount) AS s {WHERE}",
    "count and sum by 50 regions": f"SELECT region, COUNT(*) AS n, SUM(amount) AS s {WHERE} {{}} GROUP BY region",
}
BUDGETS = {"ε": dither.pure(1000), "ε and δ = 1e-6": dither.approx(1000, "1e-6")}
MOST = 2.0  # times a release at a known price


def protected(folder: Path, budget: Any) -> dither.Dataset:
    rng, regions = np.random.default_rng(ROWS), [f"region {number:02d}" for number in range(50)]
    columns = {
        "user_id": rng.integers(0, ROWS // 4, ROWS),
        "region": np.array(regions)[rng.integers(0, len(regions), ROWS)],
        "amount": rng.integers(0, 50_001, ROWS) / 100,
    }
    return dither.protect(
        pyarrow.table(columns),
        name="purchases",
        person="user_id",
        max_groups=5,
        max_rows_per_group=2,
        bounds={"amount": (0, 500)},
        steps={"amount": "0.01"},
        keys={"region": regions},
        ledger=dither.Ledger.create(folder / f"{time.time_ns()}.ledger", budget=budget),
    )


def seconds(data: dither.Dataset, sql: str, most: int, epsilon: str) -> float:
    """CPU of a quote and its release."""
    asked = sql.format(most) if "{}" in sql else f"{sql} {most}"
    start = time.process_time()
    data.quote(asked, epsilon=epsilon).release(threads=2)
    return time.process_time() - start


def first(folder: Path) -> None:
    """The same question with another bound each time, so that no answer is a stored one."""
    lines = []
    for budget, allowed in BUDGETS.items():
        data = protected(folder, allowed)
        for number, (name, sql) in enumerate(ASKED.items()):
            seconds(data, sql, 500, "1")  # imports, and whatever else is done once
            new, known = [], []
            for turn in range(TURNS):
                epsilon = f"0.{turn + 1}{number + 1}"  # asked for by no other question
                new.append(seconds(data, sql, 400 + turn, epsilon))
                known.append(seconds(data, sql, 300 + turn, epsilon))
            least, after = min(new), min(known)
            lines.append([f"{name}, {budget}", f"{1e3 * least:.1f}", f"{1e3 * after:.1f}", *limit(least / after, MOST)])
    columns = ["", "first at a new price, ms", "at a known price, ms", "first / known", "at most"]
    table(f"The first release at a new price, {ROWS:,} rows in memory, CPU", columns, lines)


def main(*, soak: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="dither-prices-") as name:
        first(Path(name))
