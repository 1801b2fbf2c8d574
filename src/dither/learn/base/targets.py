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
from dither.learn.base.cells import TEXT_KINDS, Floats, Integers, as_array, as_floats, places
from dither.learn.base.columns import Category, NumberColumn, read_categories, read_pair

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
    array = as_array(y, 1, "y")
    if array.ndim == 2 and array.shape[1] == 1:
        words = "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,)."
        warnings.warn(words, DataConversionWarning, stacklevel=3)
        array = array.ravel()
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
        seen = {one for one in y.tolist() if isinstance(one, (str, int, float)) and one == one}
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


def check_labels(y: Any, labels: NDArray[Any], classes: tuple[Category, ...]) -> None:
    """Refuse numbers as labels where all classes are texts, or the reverse; of a target, which has no classes, texts.

    Of a list no kind is taken: cells decide it.
    """
    if isinstance(y, (list, tuple)):
        return
    texts = [isinstance(one, str) for one in classes]
    if not classes and labels.dtype.kind in TEXT_KINDS:
        why = "a target is a number, and these are texts"
        raise DataError("y", str(labels.dtype), why, "numbers, such as y.astype(float) has them")
    if classes and ((all(texts) and labels.dtype.kind in "biuf") or (not any(texts) and labels.dtype.kind in TEXT_KINDS)):
        why = "classes are of another kind (numbers, texts), so each row would be left out"
        raise DataError("y", str(labels.dtype), why, "classes as they stand in y")


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
