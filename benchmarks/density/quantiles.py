"""Quantiles: rank errors beside opendp, one by one and a noisy tree at equal epsilon; private bounds; time and memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np

from benchmarks import report
from benchmarks.clock import best
from benchmarks.peer import ask
from dither import Number
from dither.density import Bins, ClippingRange, Quantile, Quantiles, log_bins
from dither.noise import DiscreteLaplace

CELLS = 4096
DECILES = [f"0.{k}" for k in range(1, 10)]
SETTINGS = [(1_000, "0.1"), (1_000, "1"), (10_000, "0.1"), (10_000, "1")]


def main(*, soak: bool = False) -> None:
    one(runs=200 if soak else 40)
    many(runs=100 if soak else 15)
    clipping(runs=300 if soak else 60)
    speed(largest=10**7)


def draw(people: int) -> np.ndarray:
    return np.random.default_rng(people).beta(2, 5, people)


def off(values: np.ndarray, bins: Bins, q: float, answer: float) -> float:
    """How far the wanted rank is from those of the answer's cell, as a part of all people."""
    cell = bins.place([answer])[0]
    low, high = (values < bins.edges[cell]).sum(), (values < bins.edges[cell + 1]).sum()
    return max(low - q * values.size, q * values.size - high, 0) / values.size


def one(runs: int) -> None:
    """The same candidates for both: the cells here, their middles there."""
    bins = Bins.even(0, 1, CELLS)
    middles = ((bins.edges[1:] + bins.edges[:-1]) / 2).tolist()
    rows = []
    for people, epsilon in SETTINGS:
        values = draw(people)
        counts = bins.count(values)
        for q in ("0.5", "0.95"):
            mechanism = Quantile(bins=bins, q=q, epsilon=epsilon)
            ours = np.mean([off(values, bins, float(q), mechanism.release(counts)) for _ in range(runs)])
            job = {"quantile": float(q), "epsilon": float(epsilon), "runs": runs, "values": values.tolist()}
            answer = ask("opendp", {**job, "candidates": middles})
            if "error" in answer:
                theirs = str(answer["error"])
            else:
                theirs = f"{np.mean([off(values, bins, float(q), x) for x in answer['answers']]):.5f}"
            rows.append([f"{people:,}", epsilon, q, f"{ours:.5f}", theirs, f"{mechanism.error('0.95') / people:.4f}"])
    columns = ["people", "ε", "q", "Quantile", "opendp", "error(0.95), before"]
    report.table(f"one quantile, {CELLS} cells: mean rank error / people, {runs} runs", columns, rows)


def tree(counts: np.ndarray, epsilon: float, fan: int = 16) -> np.ndarray:
    """Running sums from a tree with noise in each node and the total known, made consistent by least squares."""
    levels = [counts]
    while levels[0].size > fan:
        levels.insert(0, levels[0].reshape(-1, fan).sum(axis=1))
    law = DiscreteLaplace(Number(len(levels)) / Number(str(epsilon)).fraction())
    noisy = [level + law.sample(level.size) for level in levels]
    up = [noisy[-1].astype(float)]
    for height, level in enumerate(reversed(noisy[:-1]), start=2):
        below = up[0].reshape(-1, fan).sum(axis=1)
        own = (fan**height - fan ** (height - 1)) / (fan**height - 1)
        up.insert(0, own * level + (1 - own) * below)
    down = up[0] + (counts.sum() - up[0].sum()) / up[0].size
    for level in up[1:]:
        parts = level.reshape(-1, fan)
        down = (parts + ((down - parts.sum(axis=1)) / fan)[:, None]).reshape(-1)
    return np.maximum.accumulate(np.cumsum(down))


def many(runs: int) -> None:
    bins = Bins.even(0, 1, CELLS)
    rows = []
    for kind in ("smooth", "40% equal"):
        for people, epsilon in SETTINGS:
            values = draw(people)
            if kind != "smooth":
                values[: int(0.4 * people)] = 0.3
            counts = bins.count(values)
            middles = (bins.edges[1:] + bins.edges[:-1]) / 2
            singles = [Quantile(bins=bins, q=q, epsilon=Number(epsilon) / 9) for q in DECILES]
            plain = Quantiles(bins=bins, qs=DECILES, epsilon=epsilon, parts=1)
            together = Quantiles(bins=bins, qs=DECILES, epsilon=epsilon)

            def by_tree(counts=counts, epsilon=epsilon, people=people, middles=middles) -> list[float]:
                sums = tree(counts, epsilon)
                return [middles[min(np.searchsorted(sums, float(q) * people), CELLS - 1)] for q in DECILES]

            ways: list[Callable[[], list[float]]] = [
                lambda singles=singles, counts=counts: [single.release(counts) for single in singles],
                lambda together=together, counts=counts: together.release(counts),
                lambda plain=plain, counts=counts: plain.release(counts),
                by_tree,
            ]
            found = [
                float(np.mean([off(values, bins, float(q), x)
                               for _ in range(runs) for q, x in zip(DECILES, way(), strict=True)]))
                for way in ways
            ]  # fmt: skip
            goal = report.limit(found[1] / found[0], 0.5)
            rows.append([kind, f"{people:,}", epsilon, *(f"{x:.5f}" for x in found), *goal])
    columns = ["data", "people", "ε", "one by one", "Quantiles", "parts=1", "tree", "to one by one", "at most"]
    report.table(f"nine deciles, {CELLS} cells: mean rank error / people, {runs} runs", columns, rows)


def clipping(runs: int) -> None:
    """A sum of lognormal values with noise by the bound: relative error, with and without a private bound."""
    values = np.random.default_rng(3).lognormal(10, 1, 10_000)
    total, rng = values.sum(), np.random.default_rng(4)
    rows = []
    for bound in (10**6, 10**7, 10**8, 10**9):
        cells = log_bins(100, bound)
        counts = cells.count(values)
        plain = [(np.minimum(values, bound).sum() + bound * rng.laplace()) / total - 1 for _ in range(runs)]
        row = [f"{bound:,}", f"{_rms(plain):.4f}"]
        for part in ("0.1", "0.3"):
            mechanism = ClippingRange(bins=cells, epsilon=part)
            errors = []
            for _ in range(runs):
                high = mechanism.release(counts)[1]
                noise = high / (1 - float(part)) * rng.laplace()
                errors.append((np.minimum(values, high).sum() + noise) / total - 1)
            row.append(f"{_rms(errors):.4f} (rank {mechanism.rank})")
        rows.append(row)
    columns = ["bound that is known", "clipped there", "private bound, 0.1 ε", "private bound, 0.3 ε"]
    report.table(f"a sum of 10,000 lognormal(10, 1), ε = 1: relative error, {runs} runs", columns, rows)


def _rms(errors: list[float]) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))


def speed(largest: int) -> None:
    rows = []
    for cells in (10**4, 10**5, 10**6, 10**7):
        if cells > largest:
            continue
        bins = Bins.even(0, 1, cells)
        counts = bins.count(draw(100_000))
        for name, mechanism in (
            ("Quantile, ε", Quantile(bins=bins, q="0.5", epsilon=1)),
            ("Quantile, ρ", Quantile(bins=bins, q="0.5", rho="0.1")),
            ("Quantiles, ε, nine", Quantiles(bins=bins, qs=DECILES, epsilon=1)),
        ):
            mechanism.release(counts)  # tables are made once
            seconds = best(lambda mechanism=mechanism, counts=counts: mechanism.release(counts), runs=2)
            tracemalloc.start()
            mechanism.release(counts)
            peak = tracemalloc.get_traced_memory()[1] / 2**20
            tracemalloc.stop()
            rows.append([name, f"{cells:,}", f"{seconds:.3f}", f"{peak:,.0f}"])
    report.table("one release", ["what", "cells", "seconds of CPU", "MiB at most"], rows)
