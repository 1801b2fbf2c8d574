"""Whether probabilities are what they say: the part of class 1 among rows that were told about the same probability.

The expected calibration error is the mean over rows of |mean probability - part of class 1| of the row's bin, 15 bins of
even width. It is not 0 even for true probabilities: a bin of m rows is off by about .4 / sqrt(m) by chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks import report
from benchmarks.learn.scores import Summary, number
from benchmarks.learn.sides import Side, Trial
from benchmarks.learn.tasks import EPSILONS

BINS = 15
MOST, AT = 0.03, "1"  # the bar of our boosting, and its epsilon
WIDTH = 30  # characters of the chart


@dataclass(frozen=True)
class Bin:
    """Rows that were told about the same probability."""

    rows: int
    told: float  # mean probability
    found: float  # part of class 1


def reliability(probability: np.ndarray, truth: np.ndarray, bins: int = BINS) -> list[Bin]:
    """The bins from 0 to 1; an empty one has NaN. Exactly 1 belongs to the last."""
    place = np.minimum((probability * bins).astype(np.int64), bins - 1)
    rows = np.bincount(place, minlength=bins)
    with np.errstate(invalid="ignore"):
        told = np.bincount(place, weights=probability, minlength=bins) / rows
        found = np.bincount(place, weights=truth, minlength=bins) / rows
    return [Bin(int(count), float(p), float(q)) for count, p, q in zip(rows, told, found, strict=True)]


def calibration_error(probability: np.ndarray, truth: np.ndarray, bins: int = BINS) -> float:
    """The expected calibration error."""
    listed = reliability(probability, truth, bins)
    return sum(one.rows * abs(one.told - one.found) for one in listed if one.rows) / len(truth)


def chart(listed: list[Bin]) -> list[list[str]]:
    """A line for each bin: rows, told, found, and a bar of what was found with a mark at what was told."""
    rows = []
    for one in listed:
        if not one.rows:
            continue
        bar = list("█" * round(one.found * WIDTH) + "·" * (WIDTH - round(one.found * WIDTH)))
        bar[min(round(one.told * WIDTH), WIDTH - 1)] = "│"
        rows.append([f"{one.rows:,}", number(one.told), number(one.found), "".join(bar)])
    return rows


def main(trial: Trial, sides: list[Side]) -> None:
    """Errors of every side with probabilities, and the chart of our first one at epsilon 1, all tests put together."""
    truths = [trial.data.y[test] for test in trial.arrays["test"]]
    rows = []
    for side in sides:
        for epsilon, found in side.probability.items():
            errors = np.array(
                [
                    calibration_error(one, truth) if np.isfinite(one).all() else np.nan
                    for one, truth in zip(found, truths, strict=True)
                ]
            )
            summary = Summary.of(errors, median=False)
            bar = side is sides[0] and epsilon == AT
            said = f"<= {number(MOST)} {'reached' if summary.middle <= MOST else 'MISSED'}" if bar else ""
            rows.append([side.name, epsilon if epsilon in EPSILONS else "", str(summary), said])
    title = f"Expected calibration error, {BINS} bins, mean (sd) of {len(trial.seeds)} seeds, {trial.data.name}"
    report.table(title, ["", "eps", "error", "bar"], rows)
    if AT in sides[0].probability:
        told, truth = sides[0].probability[AT].ravel(), np.concatenate(truths)
        listed = reliability(told[np.isfinite(told)], truth[np.isfinite(told)])
        report.table(f"Reliability, eps {AT}: │ is what was told", ["rows", "told", "found", ""], chart(listed))
