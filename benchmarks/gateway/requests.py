"""Each kind of request, one after the other, in turns with the same work in this process: times, CPU, and the bars.

Wall time is what one client waits for, on whatever else the machine does; CPU is that of all processes of a server, or of
this one. What the gateway adds is the difference of the medians of two columns that were measured in turns.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from benchmarks.gateway.servers import bare, clinic, gateway
from benchmarks.report import console, table
from dither import Quote
from dither import open as open_policy
from dither.server.core.processes.quote_facts import quote_facts

RHO = "0.001"
SQL = "SELECT ward, COUNT(*) AS n FROM visits WHERE cost < {} GROUP BY ward"
BARS = {"quote": (5.0, 150.0), "quote, seen before": (5.0, 150.0), "stored answer": (8.0, 100.0), "new answer": (45.0, 0.0)}
MOST_ADDED = 2.0  # milliseconds


@dataclass
class Measured:
    """One kind of request: milliseconds of each, and CPU of all."""

    name: str
    call: Callable[[int], object]
    cpu: Callable[[], float] | None  # of a server, so far; None: of this process
    times: list[float] = field(default_factory=list)
    used: float = 0.0

    def once(self, number: int) -> None:
        """One more request."""
        cpu = time.process_time if self.cpu is None else self.cpu
        before, start = cpu(), time.perf_counter()
        self.call(number)
        self.times.append(1000 * (time.perf_counter() - start))
        self.used += cpu() - before

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def mean_cpu(self) -> float:
        """Milliseconds of CPU a request."""
        return 1000 * self.used / len(self.times)


def disk(folder: Path, times: int = 20) -> float:
    """Milliseconds until a small change is on the disk: the median."""
    found = []
    with (folder / "disk").open("wb", buffering=0) as file:
        for _ in range(times):
            start = time.perf_counter()
            file.write(b"x" * 500)
            os.fsync(file.fileno())
            found.append(1000 * (time.perf_counter() - start))
    return statistics.median(found)


def measure(times: int) -> None:
    """Measure all, and print the table."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dither-benchmark-")))
        before = os.environ.get("DITHER_HOME")
        os.environ["DITHER_HOME"] = str(folder / "home")
        stack.callback(_put_back, before)
        policy = clinic(folder)
        served, plain = stack.enter_context(gateway(folder)), stack.enter_context(bare())
        dataset = open_policy(policy)
        stack.callback(dataset.ledger.close)
        engine = duckdb.connect()
        stack.callback(engine.close)
        engine.execute(f"CREATE VIEW visits AS SELECT * FROM read_parquet('{folder / 'visits.parquet'}')")

        def body(number: int) -> dict[str, str]:
            return {"dataset": "clinic", "sql": SQL.format(number), "rho": RHO}

        def library(number: int) -> Quote:
            return dataset.quote(SQL.format(number), rho=RHO)

        calls = [
            Measured("bare FastAPI", lambda n: plain.post("/v1/quotes", body(n)), plain.cpu),
            Measured("plain DuckDB", lambda n: engine.execute(SQL.format(n)).fetchall(), None),
            Measured("quote", lambda n: served.post("/v1/quotes", body(10_000 + n)), served.cpu),
            Measured("quote, library", lambda n: quote_facts(library(20_000 + n), "bench"), None),
            Measured("quote, seen before", lambda _: served.post("/v1/quotes", body(1)), served.cpu),
            Measured("stored answer", lambda _: served.post("/v1/queries", body(1)), served.cpu),
            Measured("stored answer, library", lambda _: library(1).release(), None),
            Measured("new answer", lambda n: served.post("/v1/queries", body(30_000 + n)), served.cpu),
            Measured("new answer, library", lambda n: library(40_000 + n).release(), None),
        ]
        for number in range(-3, times):  # the first three of each are thrown away: processes warm up
            for one in calls:
                one.once(number + 1000)
                if number < 0:
                    one.times.clear()
                    one.used = 0.0
        _report(calls, disk(folder))


def _put_back(before: str | None) -> None:
    if before is None:
        del os.environ["DITHER_HOME"]
    else:
        os.environ["DITHER_HOME"] = before


def _report(calls: list[Measured], flush: float) -> None:
    by_name, rows = {one.name: one for one in calls}, []
    for one in calls:
        ordered = sorted(one.times)
        high = ordered[max(0, -(-99 * len(ordered) // 100) - 1)]
        cells = [
            one.name,
            f"{one.median:.2f}",
            f"{high:.2f}",
            f"{one.mean_cpu:.2f}",
            f"{1000 / max(one.mean_cpu, 1e-3):,.0f}",
        ]
        rows.append([*cells, _bars(one, flush)])
    columns = ["request", "p50 ms", "p99 ms", "CPU ms", "a CPU second", "bar"]
    table(f"one client, {len(calls[0].times)} requests each, in turns", columns, rows)
    added = []
    for name in ("quote", "stored answer", "new answer"):
        mine, other = by_name[name], by_name[f"{name}, library"]
        wall, cpu = mine.median - other.median, mine.mean_cpu - other.mean_cpu
        verdict = "reached" if wall <= MOST_ADDED else "MISSED"
        added.append([name, f"{wall:+.2f}", f"{cpu:+.2f}", f"{MOST_ADDED:g} ms {verdict}"])
    table("what the gateway adds to the library", ["request", "p50 ms", "CPU ms", "bar (p50)"], added)
    console.print(f"the disk takes {flush:.2f} ms for a small change; a new answer waits for it twice")


def _bars(one: Measured, flush: float) -> str:
    if one.name not in BARS:
        return ""
    most, least = BARS[one.name]
    most += 2 * flush * (one.name == "new answer")
    found = [f"p50 {most:.0f} ms {'reached' if one.median <= most else 'MISSED'}"]
    if least:
        found.append(f"{least:.0f}/s {'reached' if 1000 / max(one.mean_cpu, 1e-3) >= least else 'MISSED'}")
    return ", ".join(found)
