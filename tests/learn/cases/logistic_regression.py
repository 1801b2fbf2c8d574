"""LogisticRegression."""

from __future__ import annotations

from typing import Any

from dither.learn import LogisticRegression
from tests.learn.cases import CLASSES, Case


def make(**changed: Any) -> LogisticRegression:
    return LogisticRegression(**{"epsilon": 1, "delta": "1e-6", "bounds": (-1, 1), "classes": CLASSES} | changed)


LISTS = {"bounds": [(-1, 1), [0.1, 1.0, -1.0], [0.0, 1.0]]}
CASES = [
    Case("logistic", make, "classes"),
    Case("logistic public rows", lambda **changed: make(**{"rows": 20, "l2": 0.1} | changed), "classes"),
    Case("logistic categories", lambda **changed: make(**LISTS | changed), "classes"),
    Case("logistic replace", lambda **changed: make(**{"unit": "replace one person", "max_rows": 3} | changed), "classes"),
]
