"""Count, sum and average by 50 regions, with and without privacy: the ways to bound people, other libraries, and growth.

Purchases of made-up people, rows a person as a zipf law gives them (median 2, 99th percentile about 190, at most about 250),
in no order. Each case runs in a fresh process, in turns with the plain query, on 2 threads: time is the best of its turns,
the ratio is to plain in that process, and memory is the most that was resident.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow

from benchmarks.peer import ask
from benchmarks.report import console, limit, table, target

ROWS = 10_000_000
FEWER = 10  # peers get so many times fewer rows
AT_ONCE = 10_000_000  # rows made at once
MOST = 190  # what a person weighs at most when purchases are dealt out; the least is 1
KEYS = [f"region {number:02d}" for number in range(50)]
LIMITS = {"groups": 5, "rows": 10, "low": 0, "high": 500}
# how many times the plain query a way to bound people may take, in time and memory
WAYS = {"each row": (1.8, 1.5), "weights": (8.0, 3.5), "clip": (20.0, 3.5), "groups": (25.0, 3.5)}
PEERS = [  # whose a row is, how often it runs, and what of ours it is compared with
    ("opendp_polars", "OpenDP (Polars), row-level", None, 3, ["each row"]),
    ("opendp_polars", "OpenDP (Polars), user-level", "user_id", 3, ["weights", "groups"]),
    ("smartnoise", "SmartNoise SQL, user-level", "user_id", 1, ["weights", "groups"]),
    ("pipelinedp", "PipelineDP local, user-level", "user_id", 1, ["weights", "groups"]),
]
ROW_LEVEL = 3.0  # times the plain query, from a DuckDB file, at a new price
STORED = 5  # milliseconds
WANTED = 10  # times faster than every peer
NOTES = [
    "Engine alone: the table is in the memory of DuckDB, uncompressed, and nothing but the SELECT of totals runs. "
    "The limits were set there.",
    "From question to answer at a price that was not asked before: quote, ledger (durable), SELECT, noise, error bars. "
    "The engine of the dataset is opened and locked in the first run; a plain query opens its own each time. "
    "A DuckDB file keeps texts in dictionaries, so that the plain query is faster there, and all ratios are higher.",
    "'first' is the first run of a process: it also imports and opens the engine.",
    "By hand: totals of each person and region, then of regions, in plain SQL. Stored: the release of a quote asked before.",
    "Memory is of the whole process, with the table in it and all libraries (plain imports DuckDB alone).",
]
PEER_NOTES = [
    "OpenDP reads the Parquet file in its time, as we do; SmartNoise has a pandas frame ready, PipelineDP a list. "
    "OpenDP and ours run 3 times and the best counts; SmartNoise and PipelineDP run once.",
    "OpenDP and SmartNoise keep at most 50 rows of a person, PipelineDP 10 in each of 5 groups. "
    "SmartNoise takes its keys from the data, all others from a public list.",
]


@dataclass(frozen=True)
class Cost:
    """What a case took; plain is what the plain query took in the same process."""

    wall: float
    cpu: float
    first: float  # the first run by the clock: imports, and a table for noise of this scale, are made in it
    plain_wall: float
    plain_cpu: float
    peak: float
    by_hand: float | None  # the SELECT by person and region, by the clock
    stored: float | None  # an answer that is there already, by the clock


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} load {os.getloadavg()[0]:.1f}: {text}", file=sys.stderr, flush=True)


def make(folder: Path, rows: int, *, database: bool = False) -> Path:
    """A Parquet file of so many purchases by a tenth as many people; with `database` a DuckDB file of the same beside it."""
    say(f"making {rows:,} rows ...")
    rng = np.random.default_rng(rows)
    people = np.repeat(np.arange(rows // 10), np.minimum(rng.zipf(1.7, rows // 10), MOST))
    path = folder / f"purchases-{rows}.parquet"
    with duckdb.connect(path.with_suffix(".duckdb")) as connection:
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("CREATE TABLE purchases (user_id BIGINT, region VARCHAR, amount DOUBLE)")
        for start in range(0, rows, AT_ONCE):
            size = min(AT_ONCE, rows - start)
            columns = {
                "user_id": people[rng.integers(0, len(people), size)],
                "region": pyarrow.DictionaryArray.from_arrays(rng.integers(0, len(KEYS), size, dtype=np.int8), KEYS),
                "amount": rng.integers(0, 100 * LIMITS["high"] + 1, size) / 100,
            }
            connection.register("made", pyarrow.table(columns))
            connection.execute("INSERT INTO purchases SELECT user_id, region::VARCHAR, amount FROM made")
            connection.unregister("made")
        connection.execute(f"COPY purchases TO '{path}'")
    if not database:
        path.with_suffix(".duckdb").unlink()
    return path


def ours(path: Path, way: str, *, engine: bool, runs: int = 3) -> Cost | str:
    """A case in a process of its own; an error is given as its text."""
    say(f"{path.name}: {way}{', engine alone' if engine else ''} ...")
    job = {**LIMITS, "path": str(path), "way": way, "engine": engine, "keys": KEYS, "threads": 2, "runs": runs}
    answer = ask("dither", job)
    return str(answer["error"]) if "error" in answer else _cost(answer)


def _cost(answer: dict[str, object]) -> Cost:
    times = answer["times"]
    assert isinstance(times, dict)
    plain = times.get("plain", (0, 0, 0))
    mine = next((times[name] for name in ("ours", "peer") if name in times), plain)
    beside = [times[name][0] if name in times else None for name in ("by hand", "stored")]
    return Cost(*mine, *plain[:2], float(str(answer["peak"])), *beside)


def compare(title: str, path: Path, *, engine: bool, row_level: float | None = None) -> dict[str, Cost | str]:
    """Plain, and each way, with their ratios."""
    found = {way: ours(path, way, engine=engine) for way in ("plain", *WAYS)}
    plain = found["plain"]
    rows = [_row("plain", plain)]
    for way, (slower, larger) in WAYS.items():
        mine = found[way]
        slower = row_level if row_level is not None and way == "each row" else slower
        row = _row(way, mine)
        if not isinstance(mine, str) and not isinstance(plain, str):
            memory = limit(mine.peak / plain.peak, larger)
            row[4:] = [*limit(mine.wall / mine.plain_wall, slower), f"{mine.cpu / mine.plain_cpu:.2f}x", row[7], *memory]
        rows.append(row)
    columns = ["", "wall s", "first", "CPU s", "to plain", "at most", "CPU", "MB", "to plain", "at most"]
    table(title, columns, rows)
    return found


def _row(name: str, found: Cost | str) -> list[str]:
    if isinstance(found, str):
        return [f"{name}: {found}", *[""] * 9]
    return [name, f"{found.wall:.3f}", f"{found.first:.2f}", f"{found.cpu:.3f}", "", "", "", f"{found.peak:.0f}", "", ""]


def beside(title: str, found: dict[str, Cost | str]) -> None:
    """Each way beside the SELECT that groups by person and region, and what an answer takes that is stored already."""
    rows = []
    for way in WAYS:
        cost = found[way]
        if isinstance(cost, str) or cost.stored is None:
            continue
        hand = ["", "", ""]
        if cost.by_hand is not None:
            hand = [f"{cost.by_hand:.3f}", *limit(cost.wall / cost.by_hand, 1.0)]
        rows.append([way, f"{cost.wall:.3f}", *hand, f"{1000 * cost.stored:.1f}", f"{STORED:.0f}"])
    table(title, ["", "wall s", "by hand s", "to it", "at most", "stored ms", "at most"], rows)


def peers(path: Path, rows: int, mine: dict[str, Cost | str]) -> None:
    """The same question by other libraries, each beside ours of its kind."""
    lines = []
    for peer, title, person, runs, ways in PEERS:
        say(f"{title} ...")
        answer = ask(peer, {**LIMITS, "path": str(path), "keys": KEYS, "person": person, "size": rows, "runs": runs})
        if "error" in answer:
            lines.append([f"{title}: {answer['error']}", *[""] * 8])
            continue
        theirs = _cost(answer)
        facts = [f"{title} {answer['version']}", f"{theirs.wall:.2f}", f"{theirs.cpu:.2f}", f"{theirs.peak:.0f}"]
        for way in ways:
            own = mine[way]
            told = [own, "", "", ""]
            if not isinstance(own, str):
                told = [f"{own.wall:.3f}", *target("", theirs.wall / own.wall, WANTED)[1:]]
            lines.append([*facts, way, *told])
            facts = [""] * 4
    columns = ["peer", "seconds", "of CPU", "MB", "ours", "seconds", "faster by", "wanted", ""]
    table(f"Other libraries, {rows:,} rows, from Parquet to the answer", columns, lines)


def growth(found: dict[int, dict[str, Cost | str]]) -> None:
    """How time and memory grow with the rows."""
    lines = []
    for way in ("plain", "each row", "weights"):
        first = 0.0
        for rows, costs in found.items():
            cost = costs[way]
            if isinstance(cost, str):
                lines.append([f"{way}: {cost}", f"{rows:,}", *[""] * 5])
                continue
            each = 1e9 * cost.wall / rows
            first = first or each
            facts = [f"{cost.wall:.3f}", f"{each:.1f}", f"{each / first:.2f}x", f"{cost.wall / cost.plain_wall:.2f}x"]
            lines.append([way, f"{rows:,}", *facts, f"{cost.peak:.0f}"])
    columns = ["", "rows", "seconds", "ns a row", "against the fewest", "to plain", "MB"]
    table("Growth, from Parquet to the answer", columns, lines)


def main(*, soak: bool, rows: int = ROWS) -> None:
    with tempfile.TemporaryDirectory(prefix="dither-query-") as name:
        folder = Path(name)
        os.environ["DITHER_HOME"] = str(folder / "home")
        path = make(folder, rows, database=True)
        compare(f"Engine alone, {rows:,} rows in memory", path, engine=True)
        title = f"From question to answer, {rows:,} rows in a DuckDB file"
        beside(title, compare(title, path.with_suffix(".duckdb"), engine=False, row_level=ROW_LEVEL))
        grown = {rows: compare(f"From question to answer, {rows:,} rows in Parquet", path, engine=False)}
        console.print(*NOTES, sep="\n")
        few = rows // FEWER
        smaller = make(folder, few)
        grown = {few: {way: ours(smaller, way, engine=False) for way in ("plain", "each row", "weights", "groups")}, **grown}
        if soak:
            larger = make(folder, 10 * rows)
            grown[10 * rows] = {way: ours(larger, way, engine=False) for way in ("plain", "each row", "weights")}
        growth(grown)
        peers(smaller, few, grown[few])
        console.print(*PEER_NOTES, sep="\n")
    say("done")
