"""Private against plain on the same engine: DuckDB, a real PostgreSQL, and Spark where it is; ten typical questions.

The plain query and our SELECTs take turns, in one connection, and the least CPU of each counts: of the server's backend for
PostgreSQL, of the process for DuckDB, of the JVM for Spark. Our own noise is apart. All engines have the same rows, on which
their whole numbers under the portable hash are compared.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import tempfile
from pathlib import Path

from tests.ledger.servers import postgres

from benchmarks.engines import purchases, sides
from benchmarks.engines.questions import QUESTIONS
from benchmarks.engines.spark import SparkSide
from benchmarks.report import console, limit, table

ROWS, SOAK = 1_000_000, 10_000_000
RUNS = 3


def main(*, soak: bool, rows: int | None = None) -> None:
    rows = rows or (SOAK if soak else ROWS)
    with tempfile.TemporaryDirectory(prefix="dither-engines-") as name, postgres() as server:
        folder = Path(name)
        os.environ["DITHER_HOME"] = str(folder / "home")
        path = purchases.make(folder, rows)
        address = server.get_uri().replace("postgres:@", "postgres@")
        told = purchases.load(address, path)
        several: list[sides.Side] = [sides.DuckDBSide(folder, path), sides.PostgresSide(folder, address)]
        if importlib.util.find_spec("pyspark") is not None and shutil.which("java") is not None:
            several.append(SparkSide(folder, path))
        for side in several:
            measure(side, rows, told)
        compare(several, rows)


def measure(side: sides.Side, rows: int, told: str) -> None:
    """A row a question."""
    lines, load, runs = [], [os.getloadavg()[0]], side.runs or (RUNS if rows <= ROWS else 1)
    for question in QUESTIONS:
        plain, ours, noise, way = side.times(question, runs)
        ratio = ours / plain if plain else float("inf")  # a server's clock has hundredths
        most = question.most and side.limits.get(way, question.most)
        judged = limit(ratio, most) if most else [f"{ratio:.2f}x", ""]
        lines.append([f"{question.name} ({way})", f"{plain:.2f}", f"{ours:.2f}", *judged, f"{noise:.2f}"])
        load.append(os.getloadavg()[0])
        print(side.name, *lines[-1], sep=" | ", file=sys.stderr, flush=True)
    columns = ["question (way)", "plain CPU s", "ours CPU s", "to plain", "at most", "noise CPU s"]
    busy = f"load of the machine {min(load):.1f} to {max(load):.1f}"
    table(f"{side.name}, {rows:,} rows, engine alone, best of {runs} turns; {busy}", columns, lines)
    if isinstance(side, sides.PostgresSide):
        console.print(told)


def compare(several: list[sides.Side], rows: int) -> None:
    """The whole numbers of all engines, which must be the same."""
    for question in QUESTIONS:
        first, *others = (side.totals(question) for side in several)
        for side, found in zip(several[1:], others, strict=True):
            if first != found:
                raise ValueError(f"{question.name}: {side.name} differs in {len(set(first) ^ set(found))} rows")
    console.print(f"The whole numbers of all {len(QUESTIONS)} questions are the same on all engines, {rows:,} rows.")
