"""How good a fit is: accuracy, area under the curve, R2, inertia, captured variance; and a summary of them over seeds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


def accuracy(told: np.ndarray, truth: np.ndarray) -> float:
    """The part of rows that were told rightly."""
    return float(np.mean(told == truth))


def area(probability: np.ndarray, truth: np.ndarray) -> float:
    """The area under the ROC curve: how often a row of class 1 has more than one of class 0, equal ones by half."""
    _, place, count = np.unique(probability, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - (count - 1) / 2)[place]  # the mean rank of equal ones, from 1 on
    ones = int(truth.sum())
    zeros = len(truth) - ones
    return float((ranks[truth == 1].sum() - ones * (ones + 1) / 2) / (ones * zeros))


def r2(told: np.ndarray, truth: np.ndarray) -> float:
    """The part of the variance that is told; below 0 where the mean of the rows would tell more."""
    return float(1 - np.sum((truth - told) ** 2) / np.sum((truth - truth.mean()) ** 2))


def inertia(centres: np.ndarray, x: np.ndarray) -> float:
    """The sum of squared distances to the nearest centre."""
    nearest = np.full(len(x), np.inf)
    for centre in centres:
        nearest = np.minimum(nearest, np.sum((x - centre) ** 2, axis=1))
    return float(nearest.sum())


def captured(components: np.ndarray, x: np.ndarray) -> float:
    """The part of the variance of the rows that lies in the space of the components."""
    base, _ = np.linalg.qr(components.T)
    centred = x - x.mean(axis=0)
    return float(np.sum((centred @ base) ** 2) / np.sum(centred**2))


@dataclass(frozen=True)
class Summary:
    """Scores over seeds: their middle and deviation, and how many there are; failed fits are not among them."""

    middle: float
    deviation: float
    runs: int

    @classmethod
    def of(cls, scores: np.ndarray, *, median: bool) -> Summary:
        """Mean and standard deviation; or median and the interquartile range over 1.349, which is that of a normal law."""
        kept = scores[np.isfinite(scores)]
        if not len(kept):
            return cls(np.nan, np.nan, 0)
        if median:
            low, middle, high = np.percentile(kept, [25, 50, 75])
            return cls(float(middle), float(high - low) / 1.349, len(kept))
        return cls(float(kept.mean()), float(kept.std(ddof=1)) if len(kept) > 1 else np.nan, len(kept))

    def __str__(self) -> str:
        if not self.runs:
            return "failed"
        return f"{number(self.middle)} ({number(self.deviation)})"


def number(value: float) -> str:
    """Three digits after the point, without a leading zero; large ones in powers of ten."""
    if abs(value) >= 100:
        return f"{value:.0e}".replace("e+0", "e").replace("e+", "e")
    if abs(value) >= 1:
        return f"{value:.2f}"
    text = f"{round(value, 3) + 0.0:.3f}"  # no minus before a zero
    return text if text.lstrip("-").startswith("1") else text.replace("0.", ".", 1)


def lead(ours: np.ndarray, theirs: np.ndarray, *, median: bool, higher: bool) -> str:
    """By how much ours is better on the same splits, and the standard error of that; by medians without one."""
    both = np.isfinite(ours) & np.isfinite(theirs)
    if not both.any():
        return "-"
    sign = 1 if higher else -1
    if median:
        return number(sign * float(np.median(ours[both]) - np.median(theirs[both])))
    apart = sign * (ours[both] - theirs[both])
    error = apart.std(ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else np.nan
    return f"{number(float(apart.mean()))} (se {number(float(error))})"
