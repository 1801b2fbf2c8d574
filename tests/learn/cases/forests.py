"""ForestClassifier and ForestRegressor."""

from __future__ import annotations

from typing import Any

from dither.learn import ForestClassifier, ForestRegressor
from tests.learn.cases import CLASSES, ERRORS_FROM_CELLS, FEW_ROWS, Case


def classifier(**changed: Any) -> ForestClassifier:
    return ForestClassifier(**{"epsilon": 1, "bounds": (-1, 1), "classes": CLASSES} | changed)


def regressor(**changed: Any) -> ForestRegressor:
    return ForestRegressor(**{"epsilon": 1, "bounds": (-1, 1), "target_bounds": (-1, 1)} | changed)


MIXED = [(-1, 1), [0.0, 1.0, 0.5, -1.0], (-0.5, 0.5)]  # the second column as categories
GAUSSIAN = {"delta": "1e-6", "trees": 30, "depth": 1}
REPLACED = {"unit": "replace one person", "max_rows": 3, "trees": 3}
EXPECTED = {"check_estimators_empty_data_messages": FEW_ROWS, "check_supervised_y_no_nan": ERRORS_FROM_CELLS}

CASES = [
    Case("forest", classifier, "classes"),
    Case("forest gaussian", lambda **changed: classifier(**GAUSSIAN | changed), "classes"),
    Case("forest of categories", lambda **changed: classifier(**{"bounds": MIXED, "rows": 50} | changed), "classes"),
    Case("forest replace", lambda **changed: classifier(**REPLACED | changed), "classes"),
    Case("forest regressor", regressor, "target", EXPECTED),
    Case("forest regressor gaussian", lambda **changed: regressor(**GAUSSIAN | changed), "target"),
    Case("forest regressor of categories", lambda **changed: regressor(**{"bounds": MIXED} | changed), "target"),
    Case("forest regressor replace", lambda **changed: regressor(**REPLACED | changed), "target"),
]
