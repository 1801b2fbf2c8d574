"""How the cost on Spark grows: with rows, with people among as many rows, and with groups of the same rows.

PipelineDP counts and adds up the same rows on Spark beside it, in an environment of its own.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from benchmarks.engines import purchases
from benchmarks.engines.questions import BY_REGION, QUESTIONS, Question
from benchmarks.engines.spark import SparkSide
from benchmarks.peer import ask
from benchmarks.report import console, table

WAYS = QUESTIONS[:4]  # the same question, in each way of bounding a person
RUNS = 3


def main(folder: Path, rows: int) -> None:
    """A row a point: CPU seconds of each way."""
    load, lines = [os.getloadavg()[0]], []
    points = [(rows, rows // 10, 50), (rows, rows // 1000, 50), (rows, rows // 2, 50)]
    points += [(rows, rows // 10, groups) for groups in (5, 2000)]
    points += [(rows // 10, rows // 100, 50)]
    for place, (count, people, groups) in enumerate(points):
        where = folder / str(place)
        where.mkdir()
        side = SparkSide(where, purchases.make(where, count, people))
        for _ in range(1 if place else 2):  # the first of all is measured again, when the JVM has compiled what it runs
            ours = [side.times(_grouped(way, groups), RUNS)[1] for way in WAYS]
        lines.append([f"{count:,}", f"{people:,}", f"{groups:,}", *(f"{seconds:.2f}" for seconds in ours)])
        load.append(os.getloadavg()[0])
        print(*lines[-1], sep=" | ", file=sys.stderr, flush=True)
    columns = ["rows", "people", "groups", "each row", "weights", "clip", "groups"]
    busy = f"load of the machine {min(load):.1f} to {max(load):.1f}"
    table(f"{SparkSide.name}, CPU seconds of count, sum, average by group, best of {RUNS} turns; {busy}", columns, lines)
    job = {"path": str(folder / "0" / "purchases.parquet"), "groups": 5, "rows": 10, "low": 0, "high": 500, "runs": 2}
    console.print(
        f"PipelineDP on Spark, count and sum, {rows:,} rows: {ask('pipelinedp_spark', {**job, 'keys': purchases.REGIONS})}"
    )
    console.print("Of each run: CPU seconds of the JVM and its Python workers, seconds, groups.")


def _grouped(way: Question, groups: int) -> Question:
    """The question by regions, by the first few of them, or by products."""
    keys = dict(way.facts["keys"])
    if groups <= len(purchases.REGIONS):
        keys["region"] = purchases.REGIONS[:groups]
        return replace(way, facts={**way.facts, "keys": keys})
    keys["product"] = [f"product {number:04d}" for number in range(groups)]
    return replace(way, sql=BY_REGION.replace("region", "product"), facts={**way.facts, "keys": keys})
