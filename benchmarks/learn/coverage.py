"""How often the 95% region of a regression holds the slopes of ordinary least squares on the clipped rows.

The region is about the noise alone, so one data set is fitted again and again. Slopes are those of columns in -1..1 and the
intercept comes last. `model.region().holds(slopes)` is asked; where there is no such region the table says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.learn import estimators
from benchmarks.learn.data import LOADERS, Data
from benchmarks.learn.sides import noise
from benchmarks.learn.tasks import EPSILONS

FITS = 1000
LEAST, MOST = 0.93, 0.97


def least_squares(data: Data) -> np.ndarray:
    """Slopes and intercept of all rows; they lie within their bounds already."""
    design = np.column_stack([data.x, np.ones(len(data.x))])
    found: np.ndarray = np.linalg.lstsq(design, data.y, rcond=None)[0]
    return found


def coverage(data: Data, epsilon: str, fits: int) -> float | None:
    """The part of the fits whose region holds the slopes; None where there is no region to ask."""
    slopes, held = least_squares(data), 0
    for seed in range(fits):
        model: Any = estimators.build("LinearRegression", data, epsilon, kind="regress")
        if model is None or not hasattr(model, "region"):
            return None
        with noise(data.name, epsilon, seed):
            model.fit(data.x, data.y)
        held += bool(model.region().holds(slopes))
    return held / fits


def main(fits: int = FITS) -> None:
    """Diabetes and the made rows, at each epsilon; the standard error of 1,000 fits is .007."""
    rows = []
    for name in ("diabetes", "synthetic"):
        data = LOADERS[name]()
        assert data is not None
        for epsilon in EPSILONS:
            part = coverage(data, epsilon, fits)
            said = "" if part is None else "reached" if LEAST <= part <= MOST else "MISSED"
            shown = "not there" if part is None else f"{part:.3f}"
            rows.append([f"{name}, {epsilon}", shown, f"{LEAST}..{MOST}", said])
    title = f"Coverage of the 95% region of LinearRegression, seeds 0..{fits - 1} of noise"
    report.table(title, ["data, eps", "held", "bar", ""], rows)
