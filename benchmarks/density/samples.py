"""Private samples: how long one takes, and how close it is, beside the distribution function that `density.cdf` releases."""

from __future__ import annotations

import time
import tracemalloc

import numpy as np

from benchmarks import report
from dither import density

SIZES = [
    # rows, points, cells, epsilon, base
    (1_000, 64, 64, "1", "multisets"),
    (10_000, 1_000, 256, "0.1", "multisets"),
    (100_000, 1_000, 256, "1", "multisets"),
    (100_000, 4_096, 1_024, "1", "multisets"),
    (1_000_000, 16_384, 256, "1", "multisets"),
    (1_000, 64, 64, "1", "sequences"),
    (10_000, 256, 256, "1", "sequences"),
    (100_000, 256, 256, "1", "sequences"),
]
SHAPES = [(100, "0.3", 32), (100, "1", 32), (300, "0.1", 256), (1_000, "0.1", 256), (1_000, "1", 256), (10_000, "1", 256)]


def main(*, soak: bool = False) -> None:
    speed(runs=3 if soak else 1)
    errors(runs=40 if soak else 4)


def histogram(rows: int, cells: int) -> tuple[density.Bins, np.ndarray]:
    bins = density.Bins.even(0, 1, cells)
    return bins, bins.count(np.random.default_rng(1).beta(2, 5, rows))


def speed(runs: int) -> None:
    """One release, from the histogram to the sample; memory in a run of its own."""
    rows = []
    for n, k, m, epsilon, base in SIZES:
        bins, counts = histogram(n, m)
        mechanism = density.KolmogorovSmirnov(bins=bins, rows=n, points=k, epsilon=epsilon, base=base)
        times = []
        for _ in range(runs):
            start = time.perf_counter()
            released = mechanism.release(counts)
            times.append(time.perf_counter() - start)
        tracemalloc.start()
        blocks = len(mechanism.sampler(counts).blocks)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        off = float(mechanism.shortfall(counts, released)) / n
        rows.append(
            [
                f"{n:,}",
                f"{k:,}",
                f"{m:,}",
                epsilon,
                base,
                f"{min(times):.2f} s",
                f"{peak / 2**20:.0f} MiB",
                str(blocks),
                f"{off:.4f}",
            ]
        )
    columns = ["rows", "points", "cells", "ε", "base", "one release", "memory", "bands", "KS"]
    report.table("private samples: time and memory", columns, rows)


def errors(runs: int) -> None:
    """Mean Kolmogorov-Smirnov distance to the data at equal ε, the number of rows being public."""
    rows = []
    for n, epsilon, m in SHAPES:
        bins, counts = histogram(n, m)
        truth = np.cumsum(counts) / n
        cells = [f"{n:,}", epsilon, str(m)]
        plan = density.cdf(bins, epsilon=epsilon, rows=n, unit="replace one person")
        found = [np.abs(plan.release(counts).cdf().estimate - truth).max() for _ in range(runs)]
        cells.append(f"{np.mean(found):.4f}")
        for base in ("multisets", "sequences"):
            sizes = {}
            for k in (16, 64, 256):
                mechanism = density.KolmogorovSmirnov(
                    bins=bins, rows=n, points=k, epsilon=epsilon, base=base, unit="replace one person"
                )
                sizes[k] = np.mean([float(mechanism.shortfall(counts, mechanism.release(counts))) / n for _ in range(runs)])
            best = min(sizes, key=lambda k: sizes[k])
            cells.append(f"{sizes[best]:.4f} (k = {best})")
        rows.append(cells)
    columns = ["rows", "ε", "cells", "density.cdf", "multisets, best of 3 sizes", "sequences, best of 3 sizes"]
    report.table("mean KS distance, replace one person", columns, rows)
