"""Time: the plain query, bounding by hand, and the whole way from question to answer, on the same flat Parquet file.

By the clock, the best of a few turns that alternate, two threads. Ours is at a price that was not asked before: quote,
ledger (durable), bounded SELECT, noise, error bars. By hand: the totals of each person, cut at her limit, then those of all,
in plain SQL. A plain COUNT(*) without WHERE reads no row: the file says how many there are.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb

import dither
from benchmarks.report import table
from benchmarks.tpch.example import GROUPED
from benchmarks.tpch.flat_tables import flat
from benchmarks.tpch.queries import LINES_OF_CUSTOMER, QUERIES, Owner, protected

TURNS, THREADS = 5, 2


def plain(folder: Path, owner: Owner, sql: str) -> object:
    """The answer without privacy."""
    with duckdb.connect(config={"threads": THREADS}) as engine:
        engine.execute(f"CREATE VIEW {owner.table} AS FROM '{flat(folder, owner.table)}'")
        return engine.execute(sql).fetchall()


def in_turns(calls: Sequence[Callable[[int], object]]) -> list[tuple[float, float]]:
    """The least seconds of each call, by the clock and of CPU."""
    found: list[list[tuple[float, float]]] = [[] for _ in calls]
    for turn in range(TURNS):
        for call, times in zip(calls, found, strict=True):
            wall, cpu = time.perf_counter(), time.process_time()
            call(turn)
            times.append((time.perf_counter() - wall, time.process_time() - cpu))
    return [(min(wall for wall, _ in times), min(cpu for _, cpu in times)) for times in found]


def by_hand(owner: Owner, sql: str) -> str:
    """The same question with each person cut at her limit, as a careful analyst would write it."""
    of, _, where = sql.removeprefix("SELECT ").partition(" AS n ")
    *keys, total = of.rsplit(", ", 1)
    column = total.partition("(")[2].rstrip(")")
    limit = owner.facts["max_rows"] if column == "*" else owner.facts["max_sum"][column]
    groups = ", ".join(key.strip() for key in keys)
    before, _, _ = where.partition(" GROUP BY ")
    inner = f"SELECT {', '.join([owner.person, *keys])}, {total} AS m {before} GROUP BY ALL"
    return f"SELECT {groups + ', ' if groups else ''}SUM(LEAST(m, {limit})) AS n FROM ({inner}) GROUP BY ALL"


def main(folder: Path, own: Path) -> None:
    """A row a question."""
    asked = [(query.name, query.owner, query.sql) for query in QUERIES]
    lines, load = [], [os.getloadavg()[0]]
    for name, owner, sql in [*asked, ("prices by flag and status", LINES_OF_CUSTOMER, GROUPED)]:
        data = protected(owner, folder, own, dither.pure(100))

        def ours(turn: int, data: dither.Dataset = data, sql: str = sql) -> object:
            return data.quote(sql, epsilon=f"1.{turn}").release(threads=THREADS)

        def theirs(_: int, owner: Owner = owner, sql: str = sql) -> object:
            return plain(folder, owner, sql)

        def hand(_: int, owner: Owner = owner, sql: str = sql) -> object:
            return plain(folder, owner, by_hand(owner, sql))

        (less, less_cpu), (middle, _), (more, more_cpu) = in_turns([theirs, hand, ours])
        seconds = [f"{less:.3f}", f"{middle:.3f}", f"{more:.3f}", f"{more / less:.1f}x", f"{more / middle:.1f}x"]
        lines.append([name, *seconds, f"{less_cpu:.3f}", f"{more_cpu:.3f}", f"{more_cpu / less_cpu:.1f}x"])
        load.append(os.getloadavg()[0])
    columns = ["query", "plain s", "by hand s", "ours s", "to plain", "to by hand", "plain CPU s", "ours CPU s", "to plain"]
    table(f"Time on the same Parquet file; load of the machine {min(load):.1f} to {max(load):.1f}", columns, lines)
