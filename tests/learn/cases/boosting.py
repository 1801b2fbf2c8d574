"""BoostingClassifier and BoostingRegressor."""

from __future__ import annotations

from typing import Any

from dither.learn import BoostingClassifier, BoostingRegressor
from tests.learn.cases import CLASSES, ERRORS_FROM_CELLS, FEW_ROWS, Case
from tests.learn.cases.forests import MIXED

PRICE = {"epsilon": 1, "delta": "1e-6", "bounds": (-1, 1), "rounds": 2}


def classifier(**changed: Any) -> BoostingClassifier:
    return BoostingClassifier(**PRICE | {"classes": CLASSES} | changed)


def regressor(**changed: Any) -> BoostingRegressor:
    return BoostingRegressor(**PRICE | {"target_bounds": (-1, 1)} | changed)


REPLACED = {"unit": "replace one person", "max_rows": 3}
EXPECTED = {"check_estimators_empty_data_messages": FEW_ROWS, "check_supervised_y_no_nan": ERRORS_FROM_CELLS}

CASES = [
    Case("boosting", classifier, "classes"),
    Case("boosting of two classes", lambda **changed: classifier(**{"classes": ["a", "c"]} | changed), "classes"),
    Case("boosting of categories", lambda **changed: classifier(**{"bounds": MIXED, "rows": 50} | changed), "classes"),
    Case("boosting replace", lambda **changed: classifier(**REPLACED | changed), "classes"),
    Case("boosting regressor", regressor, "target", EXPECTED),
    Case("boosting regressor of categories", lambda **changed: regressor(**{"bounds": MIXED} | changed), "target"),
    Case("boosting regressor replace", lambda **changed: regressor(**REPLACED | changed), "target"),
]
