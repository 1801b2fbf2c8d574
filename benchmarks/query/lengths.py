"""Whether the time of a question tells that one row has a long id, or a long text: 20,000 rows, with it and without it.

Only the SELECTs and the noise run, on one thread, in turns; the ratio is of the best times. What a source does before the
engine sees a text is not in it for an Arrow table, which hands over where the text is; Parquet and DuckDB files are read.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pyarrow
import pyarrow.parquet

import dither
from benchmarks.report import console, table
from dither.query import counts, release
from dither.query.engines.duckdb.run import DuckDBEngine
from dither.query.engines.duckdb.table_source import table_source
from dither.query.engines.duckdb.words import DUCKDB
from dither.query.quote import Quote
from dither.query.sources.find_source import find_source
from dither.query.sources.frames import Frame
from dither.query.sources.source import Source

ROWS, BYTES, RUNS = 20_000, 10_000_000, 7
ASKED = {
    "count": "SELECT COUNT(*) AS n FROM t",
    "count where UPPER": "SELECT COUNT(*) AS n FROM t WHERE UPPER(s) = 'A'",
    "count where RIGHT": "SELECT COUNT(*) AS n FROM t WHERE RIGHT(s, 2) = 'bc'",
    "count where LIKE": "SELECT COUNT(*) AS n FROM t WHERE s LIKE '%b%'",
    "two groups": "SELECT x > 5 AS g, COUNT(*) AS n FROM t GROUP BY g",
    "keys that nobody declared": "SELECT s, COUNT(*) AS n FROM t GROUP BY s",
    "own COUNT(DISTINCT s)": "SELECT SUM(LEAST(GREATEST(k, 0), 5)) AS n "
    "FROM (SELECT p, COUNT(DISTINCT s) AS k FROM t GROUP BY p) o",
    "sum of texts as numbers": "SELECT SUM(n) AS n FROM t",
}


def rows(who: str = "u77", text: str = "abc", number: str = "5") -> pyarrow.Table:
    """Rows of 2,000 people, one of them as stated."""
    columns: dict[str, list[str]] = {"p": [f"u{at % 2000}" for at in range(ROWS)], "s": ["abc"] * ROWS, "n": ["5"] * ROWS}
    columns["p"][77], columns["s"][77], columns["n"][77] = who, text, number
    texts = {name: pyarrow.array(column, pyarrow.large_string()) for name, column in columns.items()}
    return pyarrow.table({**texts, "x": [at % 10 for at in range(ROWS)]})


def times(quote: Quote, sources: Sequence[Source]) -> list[float]:
    """The least seconds for each source, in turns."""
    best = [float("inf")] * len(sources)
    for _ in range(RUNS):
        for at, source in enumerate(sources):
            place = table_source(quote.holdings.policy.tables[0], source)
            with DuckDBEngine([source]) as engine, engine.reading([place], threads=1) as run:
                start = time.perf_counter()
                release.released_numbers(
                    quote.offer, run, counts.TablePlaces(DUCKDB, {"t": place.relation}, {"t": place.texts}, 5), []
                )
                best[at] = min(best[at], time.perf_counter() - start)
    return best


def stored(kind: str, held: pyarrow.Table, folder: Path, name: str) -> Source:
    """The rows in memory, or in a file."""
    if kind == "Arrow":
        return Frame(held, "arrow")
    path = folder / f"{name}.{kind.lower()}"
    if kind == "Parquet":
        pyarrow.parquet.write_table(held, path)
    else:
        with duckdb.connect(str(path)) as engine:
            engine.register("held", held)
            engine.execute("CREATE TABLE t AS SELECT * FROM held")
    return find_source(str(path), folder, "source")


def main(*, soak: bool) -> None:
    del soak  # the same either way
    made = {
        "plain": rows(),
        "one id": rows(who="q" * BYTES),
        "one text": rows(text="q" * BYTES),
        "one text, two bytes a character": rows(text="ä" * (BYTES // 2)),
        "one number": rows(number="7" * BYTES),
    }
    with tempfile.TemporaryDirectory(prefix="dither-lengths-") as name:
        folder = Path(name)
        data = dither.protect(
            made["plain"],
            name="t",
            person="p",
            max_groups=2,
            max_rows_per_group=2,
            bounds={"x": (0, 10), "n": (0, 9)},
            types={"n": "integer"},
            ledger=dither.Ledger.create(folder / "lengths.ledger", budget=dither.approx(100, "1e-6")),
        )
        for kind in ("Arrow", "Parquet", "DuckDB"):
            sources = [stored(kind, held, folder, str(at)) for at, held in enumerate(made.values())]
            lines = []
            for asked, sql in ASKED.items():
                plain, *others = times(data.quote(sql, epsilon="1"), sources)
                lines.append([asked, f"{1000 * plain:.1f}", *(f"{other / plain:.2f}x" for other in others)])
            columns = ["", "plain ms", *list(made)[1:]]
            table(f"{BYTES:,} bytes in one of {ROWS:,} rows, {kind}: time with it, to the time without", columns, lines)
    console.print(
        "A page of a Parquet file and a block of a DuckDB file are read as a whole, whatever is looked at of them."
    )
