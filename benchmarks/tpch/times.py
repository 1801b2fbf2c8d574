"""Time: the plain query, bounding by hand, and the whole way from question to answer, on the same Parquet files.

By the clock, the best of a few turns that alternate, two threads. Ours is at a price that was not asked before: quote,
ledger (durable), bounded SELECT, noise, error bars. By hand: the totals of each person, cut at her limit, then those of all,
in plain SQL. All three join the tables from which rows have their owners.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import dither
from benchmarks.report import table
from benchmarks.tpch.example import GROUPED, PLAIN
from benchmarks.tpch.queries import LINES_OF_CUSTOMER, QUERIES, Owner, protected
from benchmarks.tpch.tables import views

TURNS, THREADS = 5, 2


def plain(folder: Path, sql: str) -> object:
    """The answer without privacy."""
    with views(folder) as engine:
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
    asked = [(query.name, query.owner, query.sql, query.plain) for query in QUERIES]
    lines, load = [], [os.getloadavg()[0]]
    for name, owner, sql, bare in [*asked, ("prices by flag and status", LINES_OF_CUSTOMER, GROUPED, PLAIN)]:
        data = protected(owner, folder, own, dither.pure(100))

        def ours(turn: int, data: dither.Dataset = data, sql: str = sql) -> object:
            return data.quote(sql, epsilon=f"1.{turn}").release(threads=THREADS)

        def theirs(_: int, bare: str = bare) -> object:
            return plain(folder, bare)

        def hand(_: int, owner: Owner = owner, bare: str = bare) -> object:
            return plain(folder, by_hand(owner, bare))

        (less, less_cpu), (middle, _), (more, more_cpu) = in_turns([theirs, hand, ours])
        seconds = [f"{less:.3f}", f"{middle:.3f}", f"{more:.3f}", f"{more / less:.1f}x", f"{more / middle:.1f}x"]
        lines.append([name, *seconds, f"{less_cpu:.3f}", f"{more_cpu:.3f}", f"{more_cpu / less_cpu:.1f}x"])
        load.append(os.getloadavg()[0])
    columns = ["query", "plain s", "by hand s", "ours s", "to plain", "to by hand", "plain CPU s", "ours CPU s", "to plain"]
    table(f"Time on the same Parquet files; load of the machine {min(load):.1f} to {max(load):.1f}", columns, lines)
