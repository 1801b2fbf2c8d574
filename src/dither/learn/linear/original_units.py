"""Coefficients in the units of the columns, from those of vectors that were scaled to [-1, 1]. After the noise: floats."""

from __future__ import annotations

import numpy as np

from dither.learn.base.cells import Floats
from dither.learn.base.columns import CategoryColumn, Column
from dither.learn.base.rows import Rows, one_hot


def original_coefficients(weights: Floats, constants: Floats, columns: tuple[Column, ...]) -> tuple[Floats, Floats]:
    """Of u @ weights + constants the same as x @ coefficients + intercepts."""
    halves, middles = _halves(columns), _middles(columns)
    coefficients = weights / halves[:, None]
    return coefficients, constants - middles @ coefficients


def bounded_values(rows: Rows, columns: tuple[Column, ...]) -> Floats:
    """x within its bounds, as it was seen by the fit: a coordinate that is 0 or 1 for each category."""
    return one_hot(rows, columns) * _halves(columns) + _middles(columns)


def _halves(columns: tuple[Column, ...]) -> Floats:
    return np.concatenate([np.ones(c.width) if isinstance(c, CategoryColumn) else np.array([c.half]) for c in columns])


def _middles(columns: tuple[Column, ...]) -> Floats:
    return np.concatenate([np.zeros(c.width) if isinstance(c, CategoryColumn) else np.array([c.middle]) for c in columns])
