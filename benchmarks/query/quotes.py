"""What a quote and a release take on the clinic of `dither demo`, in one process with an open dataset.

CPU time, the median of its turns, beside the plain query of DuckDB, count and average by ward on an open connection, in
turns: a quote of a text or a price that is new, one that was made before, with what is left and its words; a stored answer;
a new answer, the text or the price of which is new; and the opening of the dataset.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
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
PLAIN = "count and average by ward"
MOST = {  # times the plain query
    **{"quote, new text": 2.5, "quote, new price": 2.5, "quote, made before": 0.5, "the same, what is left, words": 1.5},
    **{"stored answer": 3.0, "new answer, new text": 22.0, "new answer, new price": 22.0, "dataset opened": 4.5},
}


def beside(call: Callable[[int], object], plain: Callable[[], object], turns: int) -> list[float]:
    """Milliseconds of CPU of a call, and of the plain query: in turns, so that a noisy moment hits both."""
    times: list[list[float]] = [[], []]
    for turn in range(-2, turns):
        for place, work in enumerate((lambda turn=turn: call(turn), plain)):
            start = time.process_time()
            work()
            times[place].append(time.process_time() - start)
    return [1e3 * statistics.median(found[2:]) for found in times]


def new(sql: str, number: int) -> str:
    """The same question about other rows."""
    asked, *rest = sql.split(" GROUP BY ")
    return " GROUP BY ".join([f"{asked} WHERE cost <= {1000 + number}", *rest])


def measure(folder: Path, turns: int) -> None:
    demo.save(folder)
    policy = folder / "policy.toml"
    data, numbers, lines = dither.open(policy), count(), []
    with duckdb.connect() as engine:
        text = ASKED[PLAIN].replace("visits", f"'{folder / 'visits.parquet'}'")
        for name, sql in ASKED.items():
            for what, call in calls(data, sql, numbers, turns).items():
                spent, base = beside(call, lambda: engine.execute(text).fetchall(), turns)
                lines.append([name, what, f"{spent:.2f}", f"{base:.2f}", *limit(spent / base, MOST[what])])
        spent, base = beside(lambda _: dither.open(policy), lambda: engine.execute(text).fetchall(), turns)
    lines.append(["", "dataset opened", f"{spent:.2f}", f"{base:.2f}", *limit(spent / base, MOST["dataset opened"])])
    columns = ["question", "", "CPU ms", "plain, by ward", "to plain", "at most"]
    table("Quotes and releases on the demo's clinic, 30,000 visits, median CPU", columns, lines)


def calls(data: dither.Dataset, sql: str, numbers: Iterator[int], turns: int) -> dict[str, Callable[[int], object]]:
    """What is measured of one question, by the number of the turn."""
    known = data.quote(sql, epsilon="0.005")
    known.release()
    texts = [data.quote(new(sql, next(numbers)), epsilon="0.005") for _ in range(turns + 2)]
    prices = [data.quote(sql, rho=Fraction(1, 10**6 + next(numbers))) for _ in range(turns + 2)]

    def words(_: int) -> object:
        quote = data.quote(sql, epsilon="0.005")
        return quote.errors, quote.affordable, quote.explain()

    return {
        "quote, new text": lambda _: data.quote(new(sql, next(numbers)), epsilon="0.5"),
        "quote, new price": lambda _: data.quote(sql, epsilon=f"0.5{next(numbers)}"),
        "quote, made before": lambda _: data.quote(sql, epsilon="0.005"),
        "the same, what is left, words": words,
        "stored answer": lambda _: known.release(),
        "new answer, new text": lambda turn: texts[turn].release(),
        "new answer, new price": lambda turn: prices[turn].release(),
    }


def main(*, soak: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="dither-quotes-") as name:
        measure(Path(name), TURNS * (5 if soak else 1))
