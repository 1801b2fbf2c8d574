"""How fast releases come closer to the *population*: noise on a histogram beside private samples, at one epsilon."""

from __future__ import annotations

import math

import numpy as np

from benchmarks import report
from dither import density

ROWS = (100, 1_000, 10_000, 100_000)
PARTS = [(0.6, 2, 8), (0.4, 9, 3)]  # the population: a mixture of two beta distributions
MOST_BITS = 2_000  # points times log2(cells), for sequences


def main(*, soak: bool = False) -> None:
    """Mean largest distance to the true distribution function; as many cells as sqrt n, samples of n^(2/3) points."""
    rng = np.random.default_rng(7)
    lines = []
    for n in ROWS:
        found = np.mean([distances(n, rng) for _ in range(40 if soak else 4)], axis=0)
        shown = ["" if math.isnan(x) else f"{x:.4f}" for x in found]
        lines.append([f"{n:,}", *shown, f"{n ** (-1 / 3):.4f}"])
    columns = ["rows", "no noise", "noise in cells", "cdf", "multisets", "sequences", "n^(-1/3)"]
    report.table("Distance to the population, epsilon = 1, replace one person", columns, lines)


def distances(n: int, rng: np.random.Generator) -> list[float]:
    """One data set: the histogram itself, four releases of it."""
    chosen = rng.choice(len(PARTS), size=n, p=[share for share, _, _ in PARTS])
    people = np.choose(chosen, [rng.beta(a, b, n) for _, a, b in PARTS])
    cells, k = math.isqrt(n), round(n ** (2 / 3))
    same = {"epsilon": 1, "rows": n, "unit": "replace one person"}
    bins = density.Bins.even(0, 1, cells)
    counts = bins.count(people)
    found = [far(bins, counts)]
    found += [far(bins, plan(bins, **same).release(counts).counts) for plan in (density.histogram, density.cdf)]
    found.append(far(bins, density.KolmogorovSmirnov(bins=bins, points=k, **same).release(counts)))
    few = density.Bins.even(0, 1, max(2, min(cells, int(2 ** (MOST_BITS / k)))))  # as many as sequences of k points may have
    if few.size < 16 and few.size < cells:
        return [*found, math.nan]
    sequences = density.KolmogorovSmirnov(bins=few, points=k, base="sequences", **same)
    return [*found, far(few, sequences.release(few.count(people)))]


def far(bins: density.Bins, counts: np.ndarray) -> float:
    """The largest distance to the population, the released function being straight inside a cell."""
    places = np.linspace(0, 1, 2001)
    truth = sum(
        share * sum(math.comb(a + b - 1, j) * places**j * (1 - places) ** (a + b - 1 - j) for j in range(a, a + b))
        for share, a, b in PARTS
    )
    below = np.concatenate([[0], np.cumsum(counts)]) / np.sum(counts)
    return float(np.max(np.abs(np.interp(places, bins.edges, below) - truth)))
