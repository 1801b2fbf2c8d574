"""Coefficients in the units of the columns, from those of vectors that were scaled to [-1, 1]. After the noise: floats."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import evolve

from dither.errors import DataError
from dither.extras import needs
from dither.learn.base.cells import Floats
from dither.learn.base.columns import CategoryColumn, Column
from dither.learn.base.facts import Facts
from dither.learn.base.rows import Rows, one_hot, simplex

with needs("dither[learn]"):
    from sklearn.utils.validation import check_is_fitted


class NamesCoefficients:
    """A linear model whose coefficients have names: a column of numbers, or `column=level` of a category."""

    facts_: Facts

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the name of each coefficient, in the order of `coef_`: `age`, `job=nurse`.

        Args:
            input_features: the names of the columns; left out, those of the fit, or x0, x1, ... where it had none.

        Raises:
            DataError: these are not the names of the fit, or not one for each column.
        """
        check_is_fitted(self, "guarantee_")
        facts, named = self.facts_, hasattr(self, "feature_names_in_")
        given = facts.names if input_features is None else tuple(map(str, input_features))
        if len(given) != len(facts.names) or (named and given != facts.names):
            why = f"input_features is not equal to feature_names_in_, the {len(facts.names)} columns of the fit"
            raise DataError("input_features", list(given), why, f"{list(facts.names[:5])}, or none")
        return np.array(evolve(facts, names=given).coordinates, dtype=object)


def original_coefficients(weights: Floats, constants: Floats, columns: tuple[Column, ...]) -> tuple[Floats, Floats]:
    """Of u @ weights + constants the same as x @ coefficients + intercepts; treatment coded, x is 0 or 1 for each level."""
    halves, middles = _halves(columns), _middles(columns)
    coefficients = weights / halves[:, None]
    constants, place = constants - middles @ coefficients, 0
    for column in columns:
        if isinstance(column, CategoryColumn) and column.has_reference:
            effects = simplex(len(column.values))[:-1] @ weights[place : place + column.width]
            coefficients[place : place + column.width] = effects[1:] - effects[0]
            constants = constants + effects[0]
        place += column.width
    return coefficients, constants


def bounded_values(rows: Rows, columns: tuple[Column, ...]) -> Floats:
    """x within its bounds, as it was seen by the fit: a coordinate that is 0 or 1 for each category."""
    return one_hot(rows, columns) * _halves(columns) + _middles(columns)


def _halves(columns: tuple[Column, ...]) -> Floats:
    return np.concatenate([np.ones(c.width) if isinstance(c, CategoryColumn) else np.array([c.half]) for c in columns])


def _middles(columns: tuple[Column, ...]) -> Floats:
    return np.concatenate([np.zeros(c.width) if isinstance(c, CategoryColumn) else np.array([c.middle]) for c in columns])
