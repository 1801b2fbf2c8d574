"""How good each of several given models is on private rows: whole numbers, one score a model.

    S     what one row is worth: 1 for answers that are right or wrong, 2^10 for numbers between 0 and 1

Theorem. One row adds to every score a whole number between 0 and S, and no other row's part changes. So a person with at
most k rows moves every score by at most k S, all in one direction where she comes or goes, and by at most k S in either
where she is replaced.

Proof. A row is asked about alone, and what fails, or is no number, is worth 0; a number is moved into [0, 1] and cut to
steps of 2^-10. Cells of a map are comparisons, each of one row's own numbers. A model must be a function of the row: what it
remembers of rows that it saw is not looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dither.errors import DataError, SizeError
from dither.learn.base.cells import Cells, Integers
from dither.learn.base.columns import read_pair
from dither.learn.base.private_score import as_number, is_right, single_answers
from dither.numeric.columns import as_floats

Model: TypeAlias = "Callable[[Any], Any] | list[tuple[float, float]] | Any"
STEPS = 2**10
WAYS = "fitted models, functions of a row, or cells of a map such as [(0, 10), (5, 15)]"


def read_models(models: Any, labelled: bool, columns: int | None = None) -> tuple[Model, ...]:
    """The list of models, each of a kind that can be scored on rows of so many columns."""
    if not isinstance(models, (list, tuple)) or not models:
        raise DataError("models", type(models).__name__, "it is a list of models, fitted before or public", WAYS)
    for place, model in enumerate(models):
        if is_cell(model):
            [read_pair(pair, f"models[{place}]", WAYS) for pair in model]
            if columns is not None and len(model) != columns:
                raise SizeError(f"models[{place}]", len(model), f"there are {columns} columns", "a pair for each column")
        elif hasattr(model, "predict") and not labelled:
            raise DataError("y", None, "models that predict are scored by their right answers", "fit(X, y)")
        elif not callable(getattr(model, "predict", model)):
            raise DataError(f"models[{place}]", type(model).__name__, "it does not predict", WAYS)
        elif hasattr(model, "_learn") and not hasattr(model, "guarantee_"):
            raise DataError(f"models[{place}]", type(model).__name__, "it was not fitted", "settings= to search among fits")
    return tuple(models)


def width_of(models: Any) -> int | None:
    """Return how many columns the cells of a map or fitted models say there are; None if none of them does."""
    listed = models if isinstance(models, (list, tuple)) else ()
    widths = (len(model) if is_cell(model) else getattr(model, "n_features_in_", None) for model in listed)
    return next((width for width in widths if width is not None), None)


def is_cell(model: Model) -> bool:
    """Whether it is a cell of a map: bounds of each column."""
    return isinstance(model, list)


def row_worth(models: Sequence[Model], labelled: bool) -> int:
    """S."""
    return 1 if labelled or all(map(is_cell, models)) else STEPS


def model_scores(models: Sequence[Model], cells: Cells, labels: Any, kept: Any, frame: Any = None) -> Integers:
    """The score of each model on the rows that are kept; `frame` makes a table of one row, where columns have names."""
    worth = row_worth(models, labels is not None)
    numbers = [as_floats(column) for column in cells.columns] if any(map(is_cell, models)) else []
    found = [
        _inside(model, numbers, kept) * worth if is_cell(model) else _answered(model, cells, labels, kept, worth, frame)
        for model in models
    ]
    return np.array(found, dtype=np.int64)


def _inside(cell: Any, numbers: list[Any], kept: Any) -> int:
    """How many rows lie in a cell: from the lower bound on, below the upper one."""
    inside = np.array(kept, dtype=bool)
    for (low, high), column in zip(cell, numbers, strict=True):
        inside &= (column >= low) & (column < high)
    return int(inside.sum())


def _answered(model: Any, cells: Cells, labels: Any, kept: Any, worth: int, frame: Any) -> int:
    ask = getattr(model, "predict", None)
    answers = single_answers(_on_tables(ask, frame) if ask is not None else _on_rows(model), cells, kept)
    if labels is not None:
        return worth * sum(is_right(answer, labels[row]) for row, answer in answers.items())
    return sum(_steps(as_number(answer), worth) for answer in answers.values())


def _on_rows(function: Callable[[Any], Any]) -> Callable[[Cells], Any]:
    return lambda one: function(tuple(column[0] for column in one.columns))


def _on_tables(predict: Callable[[Any], Any], frame: Any) -> Callable[[Cells], Any]:
    """A model asked with a table of one row: a frame where the columns had names, an array otherwise."""
    if hasattr(getattr(predict, "__self__", None), "_predicted"):
        return predict  # it is one of ours, and reads columns as they are
    if frame is None:
        return lambda one: predict(_as_numbers(np.stack(one.columns, axis=1)))
    return lambda one: predict(frame(dict(zip(one.names or (), map(_as_numbers, one.columns), strict=True))))


def _as_numbers(cells: NDArray[Any]) -> NDArray[Any]:
    """Cells of one row as numbers where all of them are: arithmetic of models from elsewhere fails on objects."""
    if cells.dtype.kind != "O":
        return cells
    try:
        found = np.array(cells.tolist())
    except Exception:  # a cell that is no number may raise anything
        return cells
    return found if found.dtype.kind in "biuf" and found.shape == cells.shape else cells


def _steps(number: float, worth: int) -> int:
    return int(min(max(number, 0.0), 1.0) * worth) if number == number else 0
