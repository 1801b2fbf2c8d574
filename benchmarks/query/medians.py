"""The error of a median, beside the way of other libraries; its time, beside a bounded count and a plain query.

The other way, as OpenDP and SmartNoise have it: 101 equally spaced candidates between the bounds and the exponential
mechanism with the same epsilon for one median, without error bars. Ours has 4096 cells and spends two thirds on the bars.
"""

from __future__ import annotations

import os
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow

import dither
from benchmarks.clock import in_turns
from benchmarks.report import console, limit, table
from dither.density import Bins, QuantileInterval
from dither.mechanisms.selection.exponential import Exponential
from dither.query.statistics.choose_quantiles import QuantileFacts, choose_quantiles, chosen_cells
from dither.query.statistics.statistic import Price

TALL = 2000  # the upper bound of what is spent
PEOPLE, MOST = 20_000, 200  # and the most rows of one
KEYS = [f"region {number:02d}" for number in range(50)]
BY_COUNT, BY_PLAIN = (
    1.3,
    5.0,
)  # a median takes at most so many times a bounded count; a plain one, where each row is a person


def error(runs: int = 200) -> None:
    """How far the median of lognormal values (it is 54.6) is off, each row being a person."""
    bins, candidates = Bins.even(0, TALL, 4096), np.linspace(0, TALL, 101)
    lines = []
    for people in (300, 1000, 10_000, 100_000):
        values = np.minimum(np.random.default_rng(people).lognormal(4, 1, people), TALL)
        truth, counts = float(np.median(values)), bins.count(values)
        for epsilon in ("0.1", "1"):
            mechanism = QuantileInterval(bins=bins, q="0.5", epsilon=epsilon)
            ours = np.array([mechanism.release(counts) for _ in range(runs)])
            scores = -np.abs(2 * (values[:, None] < candidates).sum(axis=0) - people)
            choice = Exponential(epsilon=epsilon, sensitivity=1, candidates=101, integers=True)
            theirs = np.array([candidates[choice.release(scores)] for _ in range(runs)])
            held = np.mean((ours[:, 1] <= truth) & (truth <= ours[:, 2]))
            facts = [np.mean(np.abs(ours[:, 0] - truth)), np.mean(np.abs(theirs - truth)), np.mean(ours[:, 2] - ours[:, 1])]
            lines.append([f"{people:,}", epsilon, *(f"{fact:.3g}" for fact in facts), f"{held:.3f}"])
    columns = ["people", "ε", "ours", "101 candidates", "width of the interval", "held (0.95 or more)"]
    table(f"One median: mean distance from the true one, {runs} runs", columns, lines)


def many(runs: int = 40) -> None:
    """Several quantiles of one column: how far values are off in rank, and half the width of intervals, and apart."""
    bins, people, lines = Bins.even(0, TALL, 4096), 40_000, []
    rng = np.random.default_rng(27)
    lognormal = np.minimum(rng.lognormal(4, 1, people), TALL)
    kinds = {
        "even": rng.uniform(0, TALL, people),
        "lognormal": lognormal,
        "40% equal": np.where(rng.random(people) < 0.4, 30.0, lognormal),
    }
    unit, confidence = dither.Unit.ADD_REMOVE, Fraction(19, 20)
    for name, values in kinds.items():
        counts = bins.count(values)
        ranks = np.concatenate([[0], np.cumsum(counts)])
        for pure in (True, False):
            for k in (2, 3, 5, 9, 19):
                shares = [Fraction(at, k + 1) for at in range(1, k + 1)]
                price = Price(Fraction(1, 5) if pure else Fraction(28, 10_000), pure, unit, 1, confidence)
                facts = QuantileFacts(bins, 1, price)
                given = facts.given(Fraction(1, k))
                apart = [QuantileInterval(q=q, **given) for q in shares]
                chosen = choose_quantiles(shares, facts)
                figures = [_off(ways, counts, ranks, runs) for ways in (apart, chosen)]
                (first, _), (second, now) = figures
                way = "apart" if len(chosen) > 1 else "read off" if chosen[0].ends == 1 else "searched"
                facts_of = [f"{first[0]:.0f}", f"{second[0]:.0f}", f"{first[1]:.0f}", f"{second[1]:.0f}", f"{now:.3f}"]
                lines.append([name, "ε = 0.2" if pure else "ρ = 0.0028", str(k), way, *facts_of])
    columns = ["data", "price", "shares", "way", "value, apart", "value", "half-width, apart", "half-width", "held"]
    table(f"Several quantiles of {people:,} people at one price: people in rank, means of {runs} runs", columns, lines)


def _off(ways: Any, counts: Any, ranks: Any, runs: int) -> tuple[tuple[float, float], float]:
    """The mean distance of values, the mean half-width, and how often intervals hold."""
    off, wide, held = [], [], []
    for _ in range(runs):
        for way in ways:
            for q, ((value, low, high),) in chosen_cells(way, [counts]).items():
                wanted = float(q) * ranks[-1]
                off.append(max(ranks[value] - wanted, wanted - ranks[value + 1], 0))
                wide.append((ranks[high + 1] - ranks[low]) / 2)
                held.append(ranks[low] <= wanted <= ranks[high + 1])
    return (float(np.mean(off)), float(np.mean(wide))), float(np.mean(held))


def purchases() -> pyarrow.Table:
    """Rows of people as a zipf law gives them, about seven each, in any of 50 regions."""
    rng = np.random.default_rng(26)
    ranks = np.arange(1, MOST + 1)
    law = ranks**-1.67
    person = np.repeat(np.arange(PEOPLE), rng.choice(ranks, PEOPLE, p=law / law.sum()))
    spent = np.minimum(rng.lognormal(4, 1, person.size), TALL).round(2)
    return pyarrow.table({"p": person, "region": np.array(KEYS)[rng.integers(0, len(KEYS), person.size)], "v": spent})


def time(runs: int = 9) -> None:
    """CPU from question to answer, each at a price that was not asked before; plain: DuckDB's own median, opened before."""
    rows, lines = purchases(), []
    median, count = (f"SELECT region, {what} AS a FROM t GROUP BY region" for what in ("MEDIAN(v)", "COUNT(v)"))
    plain = duckdb.connect(config={"threads": 2})
    plain.register("t", rows)
    with tempfile.TemporaryDirectory() as folder:
        for person, limits in (("p", {"max_groups": 3, "max_rows_per_group": 2}), ("each row", {})):
            for kind, budget in (("approx", dither.approx(10**6, "1e-6")), ("pure", dither.pure(10**6))):
                ledger = dither.Ledger.create(str(Path(folder, f"{person}-{kind}.ledger")), budget=budget)
                stated = {"keys": {"region": KEYS}, "bounds": {"v": (0, TALL)}, "ledger": ledger, **limits}
                whose, price = dither.protect(rows, name="t", person=person, **stated), iter(range(10**6))

                def asked(sql: str, whose: dither.Dataset = whose, price: object = price, **how: object) -> object:
                    return whose.quote(sql, epsilon=f"1.{next(price):06d}", **how).release(threads=2)

                found = in_turns({
                    "plain": lambda: plain.execute(median).fetchall(),
                    "count": lambda: asked(count),
                    "median": lambda: asked(median),
                    "value": lambda: asked(median, intervals=False),
                }, runs=runs)  # fmt: skip
                by_plain, by_count = found["median"] / found["plain"], found["median"] / found["count"]
                lines.append([
                    person, kind, *(f"{1000 * seconds:,.0f}" for seconds in found.values()),
                    *(limit(by_count, BY_COUNT) if person == "p" else [f"{by_count:.2f}x", ""]),
                    *(limit(by_plain, BY_PLAIN) if person != "p" else [f"{by_plain:.2f}x", ""]),
                ])  # fmt: skip
    columns = [
        "a person is",
        "budget",
        "plain",
        "COUNT",
        "MEDIAN",
        "no interval",
        "to COUNT",
        "at most",
        "to plain",
        "at most",
    ]
    table(f"MEDIAN by 50 regions, {rows.num_rows:,} rows of {PEOPLE:,} people: ms of CPU, best of {runs}", columns, lines)
    console.print(f"Load of the machine: {os.getloadavg()[0]:.1f}; the ratios are of one run, in turns.")


def main(*, soak: bool) -> None:
    time(25 if soak else 9)
    error(1000 if soak else 200)
    many(200 if soak else 40)
