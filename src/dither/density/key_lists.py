"""Keys that nobody listed beforehand: what may be one, how they are counted, and in which order they are shown.

    kinds      text, bytes, whole numbers, floats, dates, and tuples of these; nothing else, so that keys that are equal also
               look the same: which of two writings is shown would tell who came first. So True is 1, and 2.0 is 2.
    missing    None and NaN are no keys, and neither is a tuple with one of them in it: nobody is counted there.
    order      numbers, text, bytes, dates, tuples; rising within each. Never the order of the data.

`bound_keys` keeps at most so many different keys of each person, every such choice equally likely. What it keeps of one
person depends on that person's rows alone, so two data sets that differ in a person still differ in that person's keys only,
once the draws for everybody else are the same; and a mixture over those draws, and over the person's own, keeps every
(epsilon, delta) promise: P(A) - e^epsilon Q(A) is linear in the pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, TypeAlias

from dither.density.counts import read_counts
from dither.errors import DataError
from dither.noise import integers
from dither.numeric.number import integer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Key: TypeAlias = "str | bytes | int | float | date | tuple[Key, ...]"
KINDS: dict[type, int] = {int: 0, float: 0, str: 1, bytes: 2, date: 3, tuple: 4}  # in the order in which they are shown
SAME = (str, int, bytes, date)  # shown as they are
UNKNOWN = ("NAType", "NaTType")  # what pandas writes for a missing value
EXAMPLE = "[('ann', 'flu'), ('ann', 'asthma'), ('bob', 'flu')]"


def plain_key(value: Any) -> Key | None:
    """The one way in which a key is written; None where it is missing."""
    kind = type(value)
    if kind in SAME or value is None:
        return value  # type: ignore[no-any-return]
    if kind is bool:
        return int(value)
    if kind is float:
        return None if value != value else int(value) if value.is_integer() else value
    if kind is tuple:
        parts = tuple(plain_key(part) for part in value)
        return None if None in parts else parts  # type: ignore[return-value]
    if kind.__name__ in UNKNOWN:
        return None
    if kind.__module__ == "numpy" and hasattr(value, "item") and not getattr(value, "ndim", 1):
        inner = value.item()
        if type(inner) is not kind:
            return plain_key(inner)
    why = "two that are equal may look different, and which is shown would tell whose it was"
    raise DataError("type of a key", kind.__name__, why, "text, whole numbers, floats, dates or tuples; or str(key)")


def order(key: Key) -> tuple[Any, ...]:
    """Where a key stands among others."""
    return KINDS[type(key)], tuple(map(order, key)) if isinstance(key, tuple) else key


def bound_keys(pairs: object, *, max_keys: object) -> list[tuple[Key, ...]]:
    """At most `max_keys` different keys of each person, chosen at random, from pairs (person, key). Not to be published."""
    most = integer(max_keys, name="max_keys", least=1)
    held: dict[Any, set[Key]] = {}
    for person, key in _pairs(pairs):
        if person is None or type(person).__name__ in UNKNOWN or person != person:
            continue  # a row that is nobody's
        found = plain_key(key)
        if found is not None:
            try:
                held.setdefault(person, set()).add(found)
            except TypeError:
                why = "it is not hashable, so it names nobody"
                raise DataError("type of a person", type(person).__name__, why, "text or a number") from None
    return [_keep(sorted(own, key=order), most) for own in held.values()]


def _keep(listed: list[Key], most: int) -> tuple[Key, ...]:
    if len(listed) <= most:
        return tuple(listed)
    return tuple(listed[at] for at in sorted(integers.choose(len(listed), most).tolist()))


def _pairs(pairs: object) -> Iterable[tuple[Any, Any]]:
    if isinstance(pairs, (str, bytes, Mapping)) or not isinstance(pairs, Iterable):
        raise DataError("pairs", pairs, "they are pairs of a person and a key", EXAMPLE)
    for pair in pairs:
        if isinstance(pair, (str, bytes)) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise DataError("type of a pair", type(pair).__name__, "a pair has a person and a key", EXAMPLE)
        yield pair[0], pair[1]


def read_totals(value: object) -> tuple[list[Key], NDArray[np.int64]]:
    """Keys and what was counted of each, without those of which there is nothing; refused by kind, never by size."""
    import numpy as np

    if not isinstance(value, Mapping):
        raise DataError("type of value", type(value).__name__, "it counts people for each key", "{'flu': 120, 'asthma': 31}")
    keys = [plain_key(key) for key in value]
    if not keys:
        return [], np.zeros(0, dtype=np.int64)
    totals = read_counts(list(value.values()), cells=len(keys), name="value")
    present = [at for at in np.flatnonzero(totals).tolist() if keys[at] is not None]
    return [keys[at] for at in present], totals[present]  # type: ignore[misc]
