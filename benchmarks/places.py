"""Maps from reports of places: how far shares of cells are off by each method, on twelve maps and some others.

Total variation to the shares of the people who answered, means of 20 collections (4 unless `--soak`).

    one cluster     90% of the people around (.4, .4) of the sides, normal with a deviation of a tenth; the others anywhere
    two clusters    55% around (.2, .2) and 35% around (.7, .6), likewise: "clusters" of `choose`
    flat            all cells alike

`usual` is what `estimate` does unasked, `best stop` the update stopped by somebody who knows the truth. Settings were
chosen on these maps; the others were looked at when nothing was changed any more.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks import report
from dither import ln
from dither.local import GridResponse, Tally, bayes
from dither.local.choice import clusters, flat, hill, point
from dither.local.surveys.grid_response import SCORES

Shares = NDArray[np.float64]
SIZES = [(10, ln(3), 10_000), (10, 2, 20_000), (20, 2, 20_000), (20, 4, 20_000)]
METHODS = (None, "simplex", "likelihood")


def gradient(side: int) -> Shares:
    """As many people in a column as its number says, from 1."""
    return np.asarray(np.repeat(np.arange(1.0, side + 1), side) / (side * side * (side + 1) / 2))


def streets(side: int) -> Shares:
    """80% in one column and one row."""
    found = np.zeros((side, side))
    found[side // 3] += 1
    found[:, side // 2] += 1
    return np.asarray(0.8 * found.reshape(-1) / found.sum() + 0.2 * flat(side, side))


def checkers(side: int) -> Shares:
    """Every second cell is empty."""
    found = np.add.outer(np.arange(side), np.arange(side)) % 2
    return np.asarray(found.reshape(-1) / found.sum())


MAPS: dict[str, Callable[[int], Shares]] = {
    "one cluster": lambda side: 0.9 * hill(side, side, 0.4, 0.4) + 0.1 * flat(side, side),
    "two clusters": lambda side: clusters(side, side),
    "flat": lambda side: flat(side, side),
}
OTHERS: dict[str, Callable[[int], Shares]] = {
    "one point": lambda side: point(side, side),
    "gradient": gradient,
    "two streets": streets,
    "checkers": checkers,
}


def main(*, soak: bool = False) -> None:
    runs = 20 if soak else 4
    for title, maps in (("Maps that settings were chosen on", MAPS), ("Other maps", OTHERS)):
        rows: list[list[str]] = []
        ratios: dict[str, list[tuple[float, float]]] = {scores: [] for scores in SCORES}
        for name, shares in maps.items():
            for side, epsilon, people in SIZES:
                for scores in SCORES:
                    survey = GridResponse(width=side, height=side, epsilon=epsilon, scores=scores)
                    far, seconds = measure(survey, shares(side), people, runs)
                    to_others, to_best = far[0] / min(far[1:3]), far[0] / far[3]
                    ratios[scores].append((to_others, to_best))
                    what = f"{side}² {float(epsilon):.2g} {people}"
                    figures = [*(f"{one:.3f}" for one in far), f"{to_others:.2f}", f"{to_best:.2f}", f"{seconds:.2f}"]
                    rows.append([name, what, scores, *figures])
        found_by = ["usual", "simplex", "likelihood", "best stop", "to others", "to best", "s"]
        columns = ["map", "cells ε people", "scores", *found_by]
        report.table(f"{title}: total variation, means of {runs}", columns, rows)
        for scores, found in ratios.items():
            (others, best), (worst, worst_best) = np.mean(found, axis=0), np.max(found, axis=0)
            print(f"{scores}: usual to the better of the others {others:.3f} on average, {worst:.2f} at most; ", end="")
            print(f"to the best stop {best:.3f}, {worst_best:.2f}")


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
