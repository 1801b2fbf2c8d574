"""Keys that nobody declared: a million rows by two thousand products, beside plain DuckDB on the same rows."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow

import dither

ROWS, PEOPLE, PRODUCTS = 1_000_000, 200_000, 2_000
ASKED = {
    "people": "SELECT product, COUNT(DISTINCT person) AS n FROM sales GROUP BY product",
    "rows": "SELECT product, COUNT(*) AS n FROM sales GROUP BY product",
    "rows and average": "SELECT product, COUNT(*) AS n, AVG(cost) AS c FROM sales GROUP BY product",
}


def made() -> pyarrow.Table:
    """Products are bought as words are used: the first most, the last hardly ever."""
    rng = np.random.default_rng(1)
    weights = 1 / np.arange(1, PRODUCTS + 1)
    products = rng.choice(PRODUCTS, ROWS, p=weights / weights.sum())
    names = np.array([f"product {at:04d}" for at in range(PRODUCTS)])
    return pyarrow.table(
        {"person": rng.integers(0, PEOPLE, ROWS), "product": names[products], "cost": rng.integers(0, 100, ROWS)}
    )


def query_keys(repeat: int = 3) -> list[dict[str, Any]]:
    """A row for each question: seconds of plain DuckDB, of a release with a fresh ledger, and how many keys are shown."""
    data, found = made(), []
    for name, sql in ASKED.items():
        plain, private, shown = [], [], 0
        for _ in range(repeat):
            with duckdb.connect() as engine, tempfile.TemporaryDirectory() as folder:
                engine.register("sales", data)
                start = time.perf_counter()
                engine.execute(sql).fetchall()
                plain.append(time.perf_counter() - start)
                ledger = dither.Ledger(Path(folder) / "shop.ledger", budget=dither.approx(3, "1e-6"))
                sales = dither.protect(
                    data, name="sales", person="person", max_groups=5, max_rows_per_group=2, bounds={"cost": (0, 100)},
                    ledger=ledger,
                )  # fmt: skip
                quote = sales.quote(sql, epsilon=1)
                start = time.perf_counter()
                shown = len(quote.release())
                private.append(time.perf_counter() - start)
                ledger.close()
        needed = quote.choice.rule.holders("0.5") if quote.choice is not None else 0  # type: ignore[attr-defined]
        row = {"question": name, "plain s": min(plain), "private s": min(private), "times": min(private) / min(plain)}
        found.append({**row, "shown": shown, "of": PRODUCTS, "half shown at": needed})
    return found


if __name__ == "__main__":
    for row in query_keys():
        cells = (f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}" for name, value in row.items())
        print("  ".join(cells))
