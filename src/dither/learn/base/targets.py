"""Labels and targets: the list of classes is public, and so are the bounds of a target.

A row whose label is in no list of classes, or whose target is no number, is left out. That looks at the row alone, so what
one person adds to a sum is no more than before, and no error tells that such a row was there.
"""

from __future__ import annotations

import warnings
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dither.errors import DataError, SizeError
from dither.extras import needs
from dither.learn.base.cells import Floats, Integers, is_other_kind, places, read_entries
from dither.learn.base.columns import Category, NumberColumn, read_categories, read_pair
from dither.numeric.columns import as_floats, declared_kind, plain

with needs("dither[learn]"):
    from sklearn.exceptions import DataConversionWarning

ClassesLike: TypeAlias = "list[Category] | tuple[Category, ...] | NDArray[Any] | str | None"
PUBLIC = "public"
WAYS = "classes=['no', 'yes']; or classes='public' if it is no secret which labels occur, which is then recorded"


def read_labels(y: Any, count: int) -> NDArray[Any]:
    """y as one array of labels, one for each of `count` rows."""
    if y is None:
        why = "This estimator requires y to be passed, but the target y is None"
        raise DataError("y", None, why, "fit(X, y)")
    if hasattr(y, "toarray") and hasattr(y, "nnz"):
        raise DataError("y", type(y).__name__, "sparse data is not supported", "one label for each row")
    column = _label_column(y)
    array = read_entries(column)
    if column is not y or (array.ndim == 2 and array.shape[1] == 1):
        words = "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,)."
        warnings.warn(words, DataConversionWarning, stacklevel=3)
        array = array.reshape(-1)
    if array.ndim != 1:
        raise SizeError("y", array.shape, "y should be a 1d array, one value for each row", "one value for each row")
    if array.dtype.kind == "c":
        raise DataError("y", str(array.dtype), "Complex data not supported", "labels, or real numbers")
    if len(array) != count:
        raise SizeError("y", "another length than X", "inconsistent numbers of samples", "one value for each row of X")
    return array


def read_classes(classes: ClassesLike, y: NDArray[Any]) -> tuple[Category, ...]:
    """The list of classes, at least two, in the order of scikit-learn's `classes_`."""
    if isinstance(classes, str) and classes == PUBLIC:
        seen = {one for one in map(plain, y.tolist()) if isinstance(one, (str, int, float)) and one == one}
        classes = sorted(seen, key=lambda one: (isinstance(one, str), one))
    elif classes is None or isinstance(classes, str):
        raise DataError("classes", classes, "which labels there are is public, and is never read off the data", WAYS)
    found = read_categories(classes, "classes")
    if len(found) < 2:
        raise DataError("classes", found, "a classifier needs 2 classes at least; more than one class", WAYS)
    try:
        return tuple(sorted(found))  # texts beside numbers have no order, and keep theirs
    except TypeError:
        return found


def _label_column(y: Any) -> Any:
    """Return the only column of a frame, as it declares its kind; anything else as it is."""
    if not (hasattr(y, "columns") and hasattr(y, "__getitem__")):
        return y
    names = list(getattr(y, "column_names", y.columns))  # in pyarrow, `columns` are the columns themselves
    if len(names) != 1:
        raise SizeError("y", f"{len(names)} columns", "y should be a 1d array, one value for each row", "one column")
    return y[names[0]]


def check_labels(y: Any, classes: tuple[Category, ...]) -> None:
    """Refuse labels of a declared kind that no class has; of a target, which has no classes, what is no number.

    A list declares no kind: only its cells have one.
    """
    kind = declared_kind(_label_column(y))
    if not classes and kind not in ("", "numbers"):
        raise DataError(
            "y", kind, f"a target is a number, and these are {kind}", "numbers, such as y.astype(float) has them"
        )
    if classes and is_other_kind(kind, classes):
        why = f"these are {kind}, and classes are of another kind, so each row would be left out"
        raise DataError("y", kind, why, "classes as they stand in y")


def encode_labels(y: NDArray[Any], classes: tuple[Category, ...]) -> Integers:
    """The place of each label in the list; -1 where it is in none: that row is left out."""
    return places(y, classes)


def read_target_bounds(bounds: Any) -> NumberColumn:
    """The public bounds of a target."""
    if bounds is None:
        why = "the range of the target is public, and is never read off the data"
        raise DataError("target_bounds", None, why, "target_bounds=(0, 5000)")
    return read_pair(bounds, "target_bounds", "target_bounds=(0, 5000)")


def encode_target(y: NDArray[Any], bounds: NumberColumn) -> Floats:
    """u between -1 and 1, NaN where the target is no number: that row is left out."""
    values = as_floats(y)
    return np.clip((np.clip(values, bounds.low, bounds.high) - bounds.middle) / bounds.half, -1.0, 1.0)
