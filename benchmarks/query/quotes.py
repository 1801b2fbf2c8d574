"""What a quote and a release take on the clinic of `dither demo`, in one process with an open dataset.

CPU time, the median of its turns, beside the plain query of DuckDB on the same file in the same run: a quote of a text and a
price that are new, one that was made before, with what is left and its words; a stored answer; a new answer, the text or the
price of which is new; and the opening of the dataset.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import count
from pathlib import Path

import duckdb

import dither
from benchmarks.report import limit, table
from dither import demo

TURNS = 40
ASKED = {
    "count": "SELECT COUNT(*) AS n FROM visits",
    "count and average by ward": "SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY ward",
    "patients": "SELECT COUNT(DISTINCT patient_id) AS n FROM visits",
    "median": "SELECT MEDIAN(cost) AS m FROM visits",
}
MOST = {  # milliseconds
    **{"quote, new text": 3.0, "quote, new price": 3.0, "quote, made before": 0.6},
    **{"quote made before, what is left, words": 2.0, "stored answer": 4.0, "new answer, new text": 30.0},
    **{"new answer, new price": 30.0, "dataset opened": 6.0},
}


def median(call: Callable[[int], object], turns: int) -> float:
    """Milliseconds of CPU of one call."""
    times = []
    for turn in range(-2, turns):
        start = time.process_time()
        call(turn)
        times.append(time.process_time() - start)
    return 1e3 * statistics.median(times[2:])


def new(sql: str, number: int) -> str:
    """The same question about other rows."""
    asked, *rest = sql.split(" GROUP BY ")
    return " GROUP BY ".join([f"{asked} WHERE cost <= {1000 + number}", *rest])


def measure(folder: Path, turns: int) -> None:
    demo.save(folder)
    policy = folder / "policy.toml"
    data, numbers, lines = dither.open(policy), count(), []
    with duckdb.connect() as engine:
        for name, sql in ASKED.items():
            plain = sql.replace("visits", f"'{folder / 'visits.parquet'}'")
            base = median(lambda _, plain=plain: engine.execute(plain).fetchall(), turns)
            known = data.quote(sql, epsilon="0.005")
            known.release()

            def words(sql: str = sql) -> object:
                quote = data.quote(sql, epsilon="0.005")
                return quote.errors, quote.affordable, quote.explain()

            texts = [data.quote(new(sql, next(numbers)), epsilon="0.005") for _ in range(turns + 2)]
            prices = [data.quote(sql, rho=Fraction(1, 10**6 + next(numbers))) for _ in range(turns + 2)]
            found = {
                "quote, new text": median(lambda _, sql=sql: data.quote(new(sql, next(numbers)), epsilon="0.5"), turns),
                "quote, new price": median(lambda _, sql=sql: data.quote(sql, epsilon=f"0.5{next(numbers)}"), turns),
                "quote, made before": median(lambda _, sql=sql: data.quote(sql, epsilon="0.005"), turns),
                "quote made before, what is left, words": median(lambda _, words=words: words(), turns),
                "stored answer": median(lambda _, known=known: known.release(), turns),
                "new answer, new text": median(lambda turn, texts=texts: texts[turn].release(), turns),
                "new answer, new price": median(lambda turn, prices=prices: prices[turn].release(), turns),
            }
            for what, spent in found.items():
                lines.append([name, what, f"{spent:.2f}", f"{spent / base:.1f}x", *_within(spent, what)])
            lines.append([name, "plain query", f"{base:.2f}", "1x", "", ""])
    spent = median(lambda _: dither.open(policy), turns)
    lines.append(["", "dataset opened", f"{spent:.2f}", "", *_within(spent, "dataset opened")])
    columns = ["question", "", "CPU ms", "to plain", "of the limit", "limit"]
    table("Quotes and releases on the demo's clinic, 30,000 visits, median CPU", columns, lines)


def _within(spent: float, what: str) -> list[str]:
    ratio, verdict = limit(spent / MOST[what], 1)
    return [ratio, f"{MOST[what]:g} ms {verdict.removeprefix('1x ')}"]


def main(*, soak: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="dither-quotes-") as name:
        measure(Path(name), TURNS * (5 if soak else 1))
