"""Maps from reports of places: how far shares of cells are off by each method, on twelve maps and some others.

Total variation to the shares of the people who answered, means of 20 collections (4 unless `--soak`).

    one cluster     90% of the people around (.4, .4) of the sides, normal with a deviation of a tenth; the others anywhere
    two clusters    55% around (.2, .2) and 35% around (.7, .6), likewise
    flat            all cells alike

Settings were chosen on these. The others were looked at when nothing was changed any more.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks import report
from dither import ln
from dither.local import GridResponse, Tally, bayes

Shares = NDArray[np.float64]
SIZES = [(10, ln(3), 10_000), (10, 2, 20_000), (20, 2, 20_000), (20, 4, 20_000)]
METHODS = (None, "simplex", "likelihood")


def hill(side: int, x: float, y: float, spread: float = 0.1) -> Shares:
    """Normal around (x, y), in sides."""
    places = np.arange(side) / side
    weights = np.exp(-((places[:, None] - x) ** 2 + (places - y) ** 2) / (2 * spread**2)).reshape(-1)
    return np.asarray(weights / weights.sum())


def flat(side: int) -> Shares:
    return np.full(side * side, 1 / side**2)


def point(side: int, share: float = 0.9) -> Shares:
    found = (1 - share) * flat(side)
    found[side * side * 2 // 5 + side * 2 // 5] += share
    return found


def gradient(side: int) -> Shares:
    """Twice, three times, ... as many people from column to column."""
    return np.asarray(np.repeat(np.arange(1.0, side + 1), side) / (side * side * (side + 1) / 2))


def streets(side: int) -> Shares:
    """80% in one column and one row."""
    found = np.zeros((side, side))
    found[side // 3] += 1
    found[:, side // 2] += 1
    return np.asarray(0.8 * found.reshape(-1) / found.sum() + 0.2 * flat(side))


def checkers(side: int) -> Shares:
    """Every second cell is empty."""
    found = np.add.outer(np.arange(side), np.arange(side)) % 2
    return np.asarray(found.reshape(-1) / found.sum())


MAPS: dict[str, Callable[[int], Shares]] = {
    "one cluster": lambda side: 0.9 * hill(side, 0.4, 0.4) + 0.1 * flat(side),
    "two clusters": lambda side: 0.55 * hill(side, 0.2, 0.2) + 0.35 * hill(side, 0.7, 0.6) + 0.1 * flat(side),
    "flat": flat,
}
OTHERS: dict[str, Callable[[int], Shares]] = {
    "one point": point,
    "gradient": gradient,
    "two streets": streets,
    "checkers": checkers,
}


def main(*, soak: bool = False) -> None:
    runs = 20 if soak else 4
    for title, maps in (("Maps that settings were chosen on", MAPS), ("Other maps", OTHERS)):
        rows, ratios = [], {"distance": [0.0][:0], "uniform": [0.0][:0]}
        for name, shares in maps.items():
            for side, epsilon, people in SIZES:
                for scores in ("distance", "uniform"):
                    survey = GridResponse(width=side, height=side, epsilon=epsilon, scores=scores)  # type: ignore[arg-type]
                    far, seconds = measure(survey, shares(side), people, runs)
                    usual, best = far[0], min(far[:3])
                    ratios[scores].append(usual / best)
                    what = f"{side}², {float(epsilon):.3g}, {people:,}"
                    rows.append(
                        [name, what, scores, *(f"{one:.3f}" for one in far), f"{usual / best:.2f}", f"{seconds:.2f}"]
                    )
        columns = ["map", "cells, ε, people", "scores", "usual", "simplex", "likelihood", "best stop", "usual : best", "s"]
        report.table(f"{title}: total variation, means of {runs}", columns, rows)
        for scores, found in ratios.items():
            print(f"{scores}: usual : best of the three {np.mean(found):.3f} on average, {max(found):.2f} at most")


def measure(survey: GridResponse, shares: Shares, people: int, runs: int) -> tuple[list[float], float]:
    """Total variation by each method, and by the best stop on the way; seconds of the usual one."""
    rng, matrix = np.random.default_rng(12), survey.kernel.push(np.eye(shares.size))
    far, seconds = np.zeros(len(METHODS) + 1), 0.0
    for _ in range(runs):
        sizes = rng.multinomial(people, shares)
        truth = sizes / people
        tally = Tally(survey.record, rng.multinomial(sizes, matrix).sum(axis=0), people)
        start = time.process_time()
        frequencies = [survey.estimate(tally).frequency]
        seconds += (time.process_time() - start) / runs
        frequencies += [survey.estimate(tally, method=method).frequency for method in METHODS[1:]]
        far[:-1] += [np.abs(one - truth).sum() / 2 / runs for one in frequencies]
        far[-1] += best_stop(survey, tally, truth) / runs
    return far.tolist(), seconds


def best_stop(survey: GridResponse, tally: Tally, truth: Shares) -> float:
    """The least total variation after 0, 1, 2, 4, ... steps: of those who know the truth."""
    found, least = np.full(truth.size, 1 / truth.size), float(np.abs(truth - 1 / truth.size).sum() / 2)
    for most in (1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048):
        found = bayes(survey.kernel, tally.counts, until="convergence", start=found, most=most).frequency
        least = min(least, float(np.abs(found - truth).sum() / 2))
    return least
