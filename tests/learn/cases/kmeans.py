"""KMeans: pure, by directions, with too few rows for clusters, with categories."""

from __future__ import annotations

from typing import Any

from dither.learn import KMeans
from tests.learn.cases import FEW_ROWS, Case

LISTS = {"bounds": [(-1, 1), [0.0, 1.0, -1.0], (-1, 1)]}


def make(**changed: Any) -> KMeans:
    return KMeans(**{"n_clusters": 2, "epsilon": 1, "delta": "1e-6", "bounds": (-1, 1), "rows": 1000} | changed)


CASES = [
    Case("k-means", make, "none", {"check_estimators_empty_data_messages": FEW_ROWS}),
    Case("k-means pure", lambda **changed: make(**{"delta": None, "rows": None, "n_clusters": 1} | changed), "none"),
    Case("k-means few rows", lambda **changed: make(**{"rows": 3} | changed), "none"),
    Case(
        "k-means pure replace",
        lambda **changed: make(**{"delta": None, "unit": "replace one person", "max_rows": 3, "norm": 0.5} | changed),
        "none",
    ),
    Case("k-means lists", lambda **changed: make(**LISTS | {"norm": 1.0} | changed), "none"),
]
