"""Labels of inputs and outputs: hashable values, each once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from dither.errors import DataError

EXAMPLE = "range(11), or ['a', 'b']"


def read_labels(labels: Iterable[Hashable], name: str) -> tuple[Hashable, ...]:
    """A tuple of different labels; numpy's numbers become Python's, so that arithmetic on them does not overflow."""
    alone = getattr(labels, "ndim", 1) == 0  # an array of one number, which numpy calls iterable
    if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable) or alone:
        raise DataError(name, labels, "it is no list of labels", EXAMPLE)
    listed = tuple(plain(label) for label in labels)
    if not listed:
        raise DataError(name, listed, "there is none", EXAMPLE)
    for label in listed:
        check_hashable(label, name)
        if label != label:
            raise DataError(name, label, "NaN is not even equal to itself", EXAMPLE)
    if len(set(listed)) != len(listed):
        raise DataError(name, listed[:4], "a label is there twice", "each label once")
    return listed


def plain(label: Any) -> Any:
    """A number of numpy as one of Python."""
    numpy_scalar = type(label).__module__ == "numpy" and hasattr(label, "item") and not hasattr(label, "__len__")
    return label.item() if numpy_scalar else label


def check_hashable(label: object, name: str) -> None:
    """Refuse what is not hashable and so cannot be a label."""
    try:
        hash(label)
    except TypeError:
        raise DataError(name, label, "it is not hashable, so it is no label", "text, numbers or tuples") from None


def check_callable(function: object, name: str) -> None:
    """Refuse what is no function."""
    if not callable(function):
        raise DataError(name, function, "it cannot be called", "a function, such as sum")
