"""LinearRegression and Ridge."""

from __future__ import annotations

from typing import Any

from dither.learn import LinearRegression, Ridge
from tests.learn.cases import ERRORS_FROM_CELLS, FEW_ROWS, Case

FAILURES = {"check_estimators_empty_data_messages": FEW_ROWS, "check_supervised_y_no_nan": ERRORS_FROM_CELLS}
PRICE: dict[str, Any] = {"epsilon": 1, "delta": "1e-6"}


def make(**changed: Any) -> LinearRegression:
    return LinearRegression(**PRICE | {"bounds": (-1, 1), "target_bounds": (-1, 1)} | changed)


def ridge(**changed: Any) -> Ridge:
    return Ridge(**PRICE | {"bounds": (-1, 1), "target_bounds": (-1, 1), "alpha": 3.0} | changed)


LISTS = {"bounds": [(-1, 1), [0.1, 1.0, -1.0], [0.0, 1.0]]}  # most rows have another value: they are left out

CASES = [
    Case("linear", make, "target", FAILURES),
    Case("linear short rows", lambda **changed: make(**{"norm": 0.5} | changed), "target"),
    Case("linear replace", lambda **changed: make(**{"unit": "replace one person", "max_rows": 3} | changed), "target"),
    Case("linear gradient", lambda **changed: make(**{"solver": "gradient", "norm": 1.0} | changed), "target"),
    Case("linear categories", lambda **changed: make(**LISTS | changed), "target"),
    Case("linear categories gradient", lambda **changed: make(**LISTS | {"solver": "gradient"} | changed), "target"),
    Case("ridge", ridge, "target", FAILURES),
    Case("ridge gradient", lambda **changed: ridge(**{"solver": "gradient"} | changed), "target"),
]
