"""Every estimator, tried on small data: a file each, with a list `CASES`. The common tests run through all of them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import field, frozen


@frozen
class Case:
    """An estimator of a kind, how it is made, and the checks of scikit-learn that it fails for a reason."""

    name: str
    make: Callable[..., Any]  # with keywords that replace parameters
    kind: str  # "classes", "target" or "none"
    expected_failures: dict[str, str] = field(factory=dict)  # the checks of scikit-learn beyond REFUSALS, with the reason
    unit: str = "add/remove one person"


COLUMNS = 3
CLASSES = ["a", "b", "c"]


def hostile_rows() -> list[tuple[list[Any], Any, Any]]:
    """Cells, label and target of rows that somebody might bring; bounds are (-1, 1) for all columns."""
    bad = [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 0.0, -0.0, 1.0, -1.0, np.nextafter(1.0, 2.0), 0.1]
    rows = [([value] * COLUMNS, label, value) for value in bad for label in ("a", "c")]
    rows += [([0.5, -0.5, 0.25], "unknown", 0.5), ([0.3, 0.3, 0.3], None, np.nan), ([1.0, 1.0, 1.0], "b", -1.0)]
    rows += [([1.0, np.nan, -1.0], "b", 0.0), ([0.999999, -0.999999, 1e-9], "b", 1.0)]
    return rows


def plain_rows(count: int = 12, seed: int = 5) -> list[tuple[list[Any], Any, Any]]:
    """Rows as they are meant to be."""
    rng = np.random.default_rng(seed)
    cells = rng.uniform(-1, 1, (count, COLUMNS))
    return [(list(row), CLASSES[place % 3], float(row[0])) for place, row in enumerate(cells)]


def as_data(rows: list[tuple[list[Any], Any, Any]], kind: str) -> tuple[Any, Any]:
    """X, and y of that kind."""
    X = np.array([row[0] for row in rows], dtype=float).reshape(len(rows), COLUMNS)
    if kind == "classes":
        return X, np.array([row[1] for row in rows], dtype=object)
    return X, np.array([row[2] for row in rows], dtype=float) if kind == "target" else None


def all_cases() -> list[Case]:
    """Those of all files here."""
    found = []
    for module in pkgutil.iter_modules(__path__):
        found += importlib.import_module(f"{__name__}.{module.name}").CASES
    return found


ERRORS_FROM_CELLS = "an error that depends on a cell is a bit about a person that nobody pays for"
FEW_ROWS = "how many rows there are is private: no number of them is refused"
NO_WEIGHTS = "weights of samples would change what one person adds"
SCORES = "a score of private rows is refused"
REFUSALS = {
    "check_dtype_object": ERRORS_FROM_CELLS,
    "check_fit_score_takes_y": SCORES,
    "check_n_features_in_after_fitting": SCORES,
    "check_classifiers_regression_target": ERRORS_FROM_CELLS,
}
