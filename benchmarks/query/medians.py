"""The error of a median, beside the way of other libraries.

The other way, as OpenDP and SmartNoise have it: 101 equally spaced candidates between the bounds and the exponential
mechanism with the same epsilon for one median, without error bars. Ours has 4096 cells and spends two thirds on the bars.
"""

from __future__ import annotations

import numpy as np

from benchmarks.report import table
from dither.density import Bins, QuantileInterval
from dither.mechanisms.selection.exponential import Exponential

TALL = 2000  # the upper bound of what is spent


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


def main(*, soak: bool) -> None:
    error(1000 if soak else 200)
