"""Private against plain on the same engine: DuckDB, a real PostgreSQL, and Spark where it is; ten typical questions.

The plain query and our SELECTs take turns, in one connection, and the least CPU of each counts: of the server's backend for
PostgreSQL, of the process for DuckDB, of the JVM for Spark. Our own noise is apart. All engines have the same rows, on which
their whole numbers under the portable hash are compared.

Beyond 10^7 rows PostgreSQL is left out, which would take hours to load them, and the first four questions are asked, in one
turn. `--growth` measures how the cost on Spark grows with rows, people and groups (`growth.py`).
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.ledger.servers import postgres

from benchmarks.engines import growth, purchases, sides
from benchmarks.engines.questions import QUESTIONS, Question
from benchmarks.engines.spark import SparkSide
from benchmarks.report import console, limit, table

ROWS, SOAK = 1_000_000, 10_000_000
FEWER, FIRST = 2, 4  # turns beyond 10^6 rows; questions where there are very many rows


def main(*, soak: bool, rows: int | None = None, grows: bool = False) -> None:
    rows = rows or (SOAK if soak else ROWS)
    with tempfile.TemporaryDirectory(prefix="dither-engines-") as name:
        folder = Path(name)
        os.environ["DITHER_HOME"] = str(folder / "home")
        if grows:
            growth.main(folder, rows)
        elif rows <= SOAK:
            with postgres() as server:
                path = purchases.make(folder, rows)
                address = server.get_uri().replace("postgres:@", "postgres@")
                told = purchases.load(address, path)
                every = [sides.DuckDBSide(folder, path), sides.PostgresSide(folder, address), *_spark(folder, path)]
                measure_all(every, rows, QUESTIONS, told)
        else:
            path = purchases.make(folder, rows)
            measure_all([sides.DuckDBSide(folder, path), *_spark(folder, path)], rows, QUESTIONS[:FIRST])


def _spark(folder: Path, path: Path) -> list[sides.Side]:
    """Spark, where it is."""
    there = importlib.util.find_spec("pyspark") is not None and shutil.which("java") is not None
    return [SparkSide(folder, path)] if there else []


def measure_all(several: Sequence[sides.Side], rows: int, questions: Sequence[Question], told: str = "") -> None:
    """A table an engine, and whether their whole numbers are the same."""
    for side in several:
        measure(side, rows, told, questions)
    compare(several, rows, questions)


def measure(side: sides.Side, rows: int, told: str, questions: Sequence[Question]) -> None:
    """A row a question."""
    lines, load = [], [os.getloadavg()[0]]
    runs = side.runs if rows <= ROWS else FEWER if rows <= SOAK else 1
    for question in questions:
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


def compare(several: Sequence[sides.Side], rows: int, questions: Sequence[Question]) -> None:
    """The whole numbers of all engines, which must be the same."""
    for question in questions:
        first, *others = (side.totals(question) for side in several)
        for side, found in zip(several[1:], others, strict=True):
            if first != found:
                raise ValueError(f"{question.name}: {side.name} differs in {len(set(first) ^ set(found))} rows")
    names = ", ".join(side.name for side in several)
    console.print(f"The whole numbers of all {len(questions)} questions are the same on {names}, {rows:,} rows.")
