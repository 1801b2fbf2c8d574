"""StandardScaler and PCA."""

from __future__ import annotations

from typing import Any

from dither.learn import PCA, StandardScaler
from tests.learn.cases import FEW_ROWS, Case


def scaler(**changed: Any) -> StandardScaler:
    return StandardScaler(**{"epsilon": 1, "bounds": (-1, 1)} | changed)


def pca(**changed: Any) -> PCA:
    return PCA(**{"n_components": 1, "epsilon": 1, "delta": "1e-6", "bounds": (-1, 1)} | changed)


FAILURES = {"check_estimators_empty_data_messages": FEW_ROWS}
NAMESAKE = "the check sets with_mean, which scikit-learn's own class of this name has; sparse data is refused in words"
SPARSE = {"check_estimator_sparse_array": NAMESAKE, "check_estimator_sparse_matrix": NAMESAKE}
REPLACED: dict[str, Any] = {"unit": "replace one person", "max_rows": 3}
LISTS = {"bounds": [(-1, 1), [0.1, 1.0, -1.0], [0.0, 1.0]]}
CASES = [
    Case("scaler", scaler, "none", FAILURES | SPARSE),
    Case("scaler replace", lambda **changed: scaler(**REPLACED | changed), "none"),
    Case("scaler Gaussian", lambda **changed: scaler(**{"delta": "1e-6"} | changed), "none"),
    Case("scaler Gaussian replace", lambda **changed: scaler(**{"delta": "1e-6"} | REPLACED | changed), "none"),
    Case("pca", pca, "none", FAILURES),
    Case("pca short rows", lambda **changed: pca(**{"n_components": None, "norm": 0.5} | changed), "none"),
    Case("pca lists", lambda **changed: pca(**LISTS | {"n_components": 1} | changed), "none"),
    Case("pca lists short", lambda **changed: pca(**LISTS | {"n_components": 1, "norm": 0.5} | changed), "none"),
    Case("pca replace", lambda **changed: pca(**REPLACED | changed), "none"),
]
