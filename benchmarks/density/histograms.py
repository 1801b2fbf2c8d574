"""Histograms and trees: errors of running sums at equal epsilon, and what many cells cost in time and memory."""

from __future__ import annotations

import math
import time
import tracemalloc

import numpy as np

from benchmarks import report
from dither.density import Bins, Histogram, Tree, cdf, isotonic, simplex, tie_down

REPLACE = "replace one person"
TABLE = [
    *((100, "0.3", 32), (100, "1", 32), (300, "0.3", 32), (300, "1", 32), (1000, "1", 64), (1000, "0.1", 256)),
    *((1000, "1", 256), (10**4, "0.1", 256), (10**4, "1", 256), (10**5, "0.1", 256), (10**5, "1", 256)),
]


def main(*, soak: bool = False) -> None:
    expected()
    distances(runs=400 if soak else 80)
    sizes(most=7)


def expected() -> None:
    """Root mean square error of a prefix and of a range, epsilon = 1, add/remove: in closed form."""
    rows = []
    for cells in (16, 64, 256, 1024, 10**4, 10**6):
        flat, best = Histogram(cells=cells, epsilon=1), Tree(cells=cells, epsilon=1)
        plain = Tree(cells=cells, branching=min(16, cells), root="noisy", epsilon=1)
        rows.append(
            [
                f"{cells:,}",
                f"{math.sqrt(flat.variance * (cells + 1) / 2):.2f}",
                _error(plain, plain.shape.mean_prefix()),
                f"{_error(best, best.shape.mean_prefix())} (tree of {best.branching}, {best.root} root)",
                f"{math.sqrt(flat.variance * (cells + 2) / 3):.2f}",
                _error(best, best.shape.mean_range()),
                f"{flat.prefix_error('0.95')}",
                f"{best.prefix_error('0.95'):.0f}",
            ]
        )
    columns = [
        "cells",
        "prefix: flat",
        "tree of 16, root",
        "tree taken",
        "range: flat",
        "tree taken",
        "95%: flat",
        "tree",
    ]
    report.table("expected error of a prefix and of a range, epsilon = 1, add/remove", columns, rows)


def _error(tree: Tree, squared: float) -> str:
    return f"{math.sqrt(tree.variance * squared):.2f}"


def distances(runs: int) -> None:
    """Largest distance between the released and the true share below an edge: mean over runs; replace-one, n public."""
    rows = []
    draw = np.random.default_rng(1)
    for people, epsilon, cells in TABLE:
        bins = Bins.even(0, 1, cells)
        flat, plan = (
            Histogram(cells=cells, epsilon=epsilon, unit=REPLACE),
            cdf(bins, epsilon=epsilon, rows=people, unit=REPLACE),
        )
        tree = Tree(cells=cells, branching=16, epsilon=epsilon, rows=people, unit=REPLACE)
        found: dict[str, list[float]] = {}
        for _ in range(runs):
            counts = bins.count(np.concatenate([draw.beta(2, 8, people // 2), draw.beta(6, 3, people - people // 2)]))
            truth = np.cumsum(counts) / people
            raw = flat.release(counts).astype(float)
            estimates = {
                "raw": np.cumsum(raw),
                "simplex": np.cumsum(simplex(raw, people)),
                "isotonic": isotonic(tie_down(np.cumsum(raw), people), low=0, high=people),
                "tree": isotonic(np.cumsum(tree.release(counts)), low=0, high=people),
                "chosen": plan.release(counts).prefixes().estimate,
            }
            for name, sums in estimates.items():
                found.setdefault(name, []).append(float(np.abs(sums / people - truth).max()))
        means = [f"{np.mean(values):.2g}" for values in found.values()]
        rows.append([f"{people:,}", epsilon, str(cells), *means, next(iter(plan.compared)).split(",")[0]])
    columns = ["n", "ε", "cells", "flat", "+ simplex", "+ tied, isotonic", "tree of 16", "chosen", "which"]
    report.table(f"KS distance to the data, replace-one, n public, mean of {runs} runs", columns, rows)


def sizes(most: int) -> None:
    """Seconds and memory of one release, after one to build the tables."""
    rows = []
    for power in range(4, most + 1):
        cells = 10**power
        counts = np.random.default_rng(2).poisson(5, cells)
        row = [f"10^{power}"]
        for mechanism in (Histogram(cells=cells, epsilon=1), Tree(cells=cells, epsilon=1)):
            mechanism.release(counts)
            start = time.process_time()
            mechanism.release(counts)
            seconds = time.process_time() - start
            tracemalloc.start()
            mechanism.release(counts)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            row += [f"{seconds:.3f} s", f"{peak / 2**20:.0f} MiB"]
        rows.append(row)
    report.table("one release, CPU seconds and peak memory", ["cells", "Histogram", "memory", "Tree", "memory"], rows)
