"""A fit to rows of a dataset: bounds, categories and classes from the policy, rows of a person bounded as it says."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import frozen

from dither.errors import DataError, UnitError
from dither.learn.base.cells import Cells
from dither.privacy.unit import Unit, read_unit
from dither.query.features import Features
from dither.query.policy.column import Column, Type

OURS = ("bounds", "classes", "target_bounds", "max_rows", "ledger", "unit")  # what the policy says in place of the analyst
PRICE = ("epsilon", "delta", "guarantee", "analyst")  # the ledger tells fits of other prices apart


@frozen
class FeatureFacts:
    """What a handle says of a fit."""

    names: tuple[str, ...]
    parameters: dict[str, Any]  # of the estimator, as the policy has them
    asked: dict[str, str]  # the other parameters: what tells this fit from others of the same rows
    supervised: bool

    def cells(self, rows: list[tuple[Any, ...]]) -> tuple[Cells, Any]:
        """Rows as an engine gives them, in columns; and the labels or targets."""
        columns = [np.empty(len(rows), dtype=object) for _ in range(len(self.names) + self.supervised)]
        for place, column in enumerate(columns):
            column[:] = [row[place] for row in rows]
        labels = columns.pop() if self.supervised else None
        return Cells(tuple(columns), self.names, len(rows)), labels


def read_features(estimator: Any, features: Features, y: Any, person: Any) -> FeatureFacts:
    """The facts of a handle; refused where the estimator or the call says something else."""
    supervision = estimator._supervision
    if y is not None or person is not None:
        came = "y" if y is not None else "person"
        raise DataError(came, "given", "the features say it: the target is a column of theirs", "fit(features)")
    if (supervision is None) != (features.target is None):
        why = "nothing is predicted" if supervision is None else "it predicts a column"
        raise DataError(
            "target", features.target and features.target.name, why, "features(sql, target='readmitted'), or none"
        )
    parameters = estimator.get_params(deep=False)
    ledger = features.holdings.ledger
    for name in ("bounds", "target_bounds"):
        if parameters.get(name) is not None:
            raise DataError(name, parameters[name], "the policy says it", f"no {name}")
    if parameters.get("ledger") not in (None, ledger):
        raise DataError("ledger", parameters["ledger"], "the features have another", "no ledger")
    unit = features.holdings.policy.unit
    if read_unit(parameters["unit"]) is not Unit.ADD_REMOVE and read_unit(unit) is Unit.ADD_REMOVE:
        raise UnitError("unit", parameters["unit"], "the policy promises another", f"unit={str(read_unit(unit))!r}, or none")
    said: dict[str, Any] = {
        "bounds": {column.name: _bounds(column) for column in features.columns},
        "unit": unit,
        "ledger": None,  # the dataset's is charged
    }
    if supervision == "target":
        assert features.target is not None
        said["target_bounds"] = _range(features.target)
    if supervision == "classes" and parameters["classes"] is None:
        assert features.target is not None
        said["classes"] = _classes(features.target)
    asked = {
        name: estimator._spelled(name, value) for name, value in sorted(parameters.items()) if name not in (*OURS, *PRICE)
    }
    asked["max_rows"] = str(features.max_rows)
    names = tuple(column.name for column in features.columns)
    return FeatureFacts(names, said, asked, supervision is not None)


def _bounds(column: Column) -> Any:
    """The range of numbers, or the list of categories."""
    if column.type is Type.BOOLEAN:
        return [False, True]
    if column.is_bounded:
        return _range(column)
    return list(column.keys or ())


def _range(column: Column) -> tuple[float, float]:
    if column.lower is None or column.upper is None:
        raise DataError("target", column.name, "the policy states no bounds of it", "a column with bounds")
    return float(column.lower), float(column.upper)


def _classes(column: Column) -> list[Any]:
    if column.type is Type.BOOLEAN:
        return [False, True]
    if column.keys is not None:
        return list(column.keys)
    raise DataError("target", column.name, "the policy states no keys of it", "classes=[0, 1], or a column with keys")
