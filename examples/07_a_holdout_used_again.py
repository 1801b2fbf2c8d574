"""Labels that nothing predicts: what a plain holdout confirms, and what a reusable one says. Draws a picture of it."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

import dither

ROWS = 1000
Row = Sequence[int] | NDArray[np.int64]


def vote(training: NDArray[np.int64], agreement: Callable[[int], float], features: int) -> Callable[[Row], bool]:
    """Keep the features that agree with the label, or disagree with it, in both sets; let them vote on a row."""
    kept, signs = [], []
    for j in range(features):
        here, there = np.mean(training[:, j] == training[:, -1]) - 0.5, agreement(j) - 0.5
        if here * there > 0 and min(abs(here), abs(there)) > 0.02:
            kept.append(j)
            signs.append(np.sign(here))
    return lambda row: bool((signs @ (2.0 * np.asarray(row)[kept] - 1) > 0) == (row[-1] > 0))


def experiment(features: int, rng: np.random.Generator) -> list[float]:
    training, holdout, fresh = (rng.integers(0, 2, size=(ROWS, features + 1)) for _ in range(3))
    plain = vote(training, lambda j: float(np.mean(holdout[:, j] == holdout[:, -1])), features)
    careful = dither.ReusableHoldout(training.tolist(), holdout.tolist(), threshold="0.08", epsilon=20, budget=10)
    guarded = vote(training, lambda j: careful.ask(lambda row: row[j] == row[-1]).value, features)
    fair = np.mean([guarded(row) for row in fresh])
    return [float(np.mean([plain(row) for row in holdout])), careful.ask(guarded).value, float(fair)]


NAMES = ("a plain holdout", "the reusable holdout", "fresh data: the truth")
rng = np.random.default_rng(3)
curves: dict[str, list[tuple[float, float]]] = {name: [] for name in NAMES}
for features in (200, 500, 1000, 2000):
    results = np.mean([experiment(features, rng) for _ in range(2)], axis=0)
    for name, accuracy in zip(NAMES, results, strict=True):
        curves[name].append((features, float(accuracy)))
    print(f"{features:5} features   plain {results[0]:.3f}   reusable {results[1]:.3f}   truth {results[2]:.3f}")

try:
    title = "Labels that nothing predicts: the accuracy that is reported"
    chart = dither.plot.lines(curves, x="features tried", y="accuracy reported", title=title)
    chart.save("holdout.svg")
except dither.errors.MissingExtraError:
    print("install dither[plot] for the picture")
