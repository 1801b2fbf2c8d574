"""NearestCentroid, pure and with Gaussian noise, with categories and short rows."""

from __future__ import annotations

from typing import Any

from dither.learn import NearestCentroid
from tests.learn.cases import CLASSES, Case

LISTS = {"bounds": [(-1, 1), [0.0, 1.0, -1.0], (-1, 1)]}


def make(**changed: Any) -> NearestCentroid:
    return NearestCentroid(**{"epsilon": 1, "bounds": (-1, 1), "classes": CLASSES} | changed)


CASES = [
    Case("centroid", make, "classes"),
    Case("centroid gaussian", lambda **changed: make(**{"delta": "1e-6", "norm": 0.5} | changed), "classes"),
    Case("centroid replace", lambda **changed: make(**{"unit": "replace one person", "max_rows": 3} | changed), "classes"),
    Case("centroid lists", lambda **changed: make(**LISTS | changed), "classes"),
    Case("centroid lists gaussian", lambda **changed: make(**LISTS | {"delta": "1e-6"} | changed), "classes"),
    Case("centroid lists short", lambda **changed: make(**LISTS | {"delta": "1e-6", "norm": 0.5} | changed), "classes"),
]
