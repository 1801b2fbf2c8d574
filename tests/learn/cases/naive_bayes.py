"""GaussianNB, pure and with Gaussian noise, with categories."""

from __future__ import annotations

from typing import Any

from dither.learn import GaussianNB
from tests.learn.cases import CLASSES, Case

LISTS = {"bounds": [(-1, 1), [0.0, 1.0, -1.0], (-1, 1)]}


def make(**changed: Any) -> GaussianNB:
    return GaussianNB(**{"epsilon": 1, "bounds": (-1, 1), "classes": CLASSES} | changed)


CASES = [
    Case("naive bayes", make, "classes"),
    Case("naive bayes gaussian", lambda **changed: make(**{"delta": "1e-6"} | changed), "classes"),
    Case(
        "naive bayes replace", lambda **changed: make(**{"unit": "replace one person", "max_rows": 3} | changed), "classes"
    ),
    Case("naive bayes lists", lambda **changed: make(**LISTS | changed), "classes"),
    Case("naive bayes lists gaussian", lambda **changed: make(**LISTS | {"delta": "1e-6"} | changed), "classes"),
]
