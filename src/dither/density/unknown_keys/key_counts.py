"""Keys of a partition that nobody listed beforehand: what may be one, how they are counted, in which order they are shown.

    kinds      text, bytes, whole numbers, floats, dates, and tuples of these; nothing else, so that keys that are equal also
               look the same: which of two writings is shown would tell who came first. So True is 1, and 2.0 is 2.
    missing    None and NaN are no keys, and neither is a tuple with one of them in it: nobody is counted there. Nor is
               anything of another kind (a list, a Decimal, a time, a day that only numpy can write), nor are tuples nested
               too deeply to compare: no person's key stops a release.
    people     anything hashable that equals itself; read like keys, so that one person under two writings stays one.
               Whatever else stands there names nobody, and is counted nowhere.
    pairs      a person and a key. Anything else is refused: that is the shape of the table, and whoever calls makes it.
    order      numbers, text, bytes, dates, tuples; rising within each. Never the order of the data.

Leaving a pair out costs nothing: whether it is left out depends on that pair alone, so two data sets that differ in one
person's pairs still do, and she holds no more keys than before. Leaving out keys of a mapping only forgets counts.

`bound_keys` keeps at most so many different keys of each person, every such choice equally likely. What it keeps of one
person depends on that person's rows alone, so two data sets that differ in a person still differ in that person's keys only,
once the draws for everybody else are the same; and a mixture over those draws, and over the person's own, keeps every
(epsilon, delta) promise: P(A) - e^epsilon Q(A) is linear in the pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

from dither.arguments import argument_errors
from dither.density.histograms.columns import SupportsArray
from dither.density.histograms.counts import LARGEST_COUNT, read_counts
from dither.errors import DataError
from dither.noise import uniform_integers as integers
from dither.numeric.number import integer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PlainKey: TypeAlias = "str | bytes | int | float | date | tuple[PlainKey, ...]"
PairsLike: TypeAlias = Iterable[tuple[Any, Any] | list[Any]] | SupportsArray  # of a person and a key
TotalsLike: TypeAlias = Mapping[Any, SupportsIndex]  # how many people hold each key
KINDS: dict[type, int] = {int: 0, float: 0, str: 1, bytes: 2, date: 3, tuple: 4}  # in the order in which they are shown
SAME = (str, int, bytes, date)  # shown as they are
UNKNOWN = ("NAType", "NaTType")  # what pandas writes for a missing value
DATES = ("Y", "M", "W", "D", "generic")  # units in which numpy counts whole dates; without one there is no date at all
DEEPEST = 32  # tuples within tuples
EXAMPLE = "[('ann', 'flu'), ('ann', 'asthma'), ('bob', 'flu')]"


def plain_key(value: Any, depth: int = 0) -> PlainKey | None:
    """The one way in which a key is written; None where it is missing, or no key."""
    kind = type(value)
    if kind in SAME or value is None:
        return value  # type: ignore[no-any-return]
    if kind is bool:
        return int(value)
    if kind is float:
        return None if value != value else int(value) if value.is_integer() else value
    if kind is tuple:
        parts = tuple(plain_key(part, depth + 1) for part in value) if depth < DEEPEST else (None,)
        return None if None in parts else parts  # type: ignore[return-value]
    if kind.__name__ in UNKNOWN:
        return None
    if kind.__module__ == "numpy" and not getattr(value, "ndim", 1):
        return _plain_scalar(value, depth)
    return None  # two of another kind that are equal may look different


def _plain_scalar(value: Any, depth: int) -> PlainKey | None:
    """A key from a numpy scalar. Dates are told by their unit: `item` makes whole numbers of those it cannot write."""
    import numpy as np

    kind, inner = value.dtype.kind, value.item()
    if kind == "V" and value.dtype.names:
        return plain_key(tuple(value[name] for name in value.dtype.names), depth)
    if kind == "M" and np.datetime_data(value.dtype)[0] in DATES:
        return inner if type(inner) is date else None
    if kind not in "MmV" and type(inner) is not type(value):
        return plain_key(inner, depth)
    return None


def order(key: PlainKey) -> tuple[Any, ...]:
    """Where a key stands among others."""
    return KINDS[type(key)], tuple(map(order, key)) if isinstance(key, tuple) else key


@argument_errors
def bound_keys(pairs: PairsLike, *, max_keys: SupportsIndex) -> list[tuple[PlainKey, ...]]:
    """At most `max_keys` different keys of each person, chosen at random, from pairs (person, key). Not to be published.

    Args:
        pairs: tuples, lists or rows of an array, each with a person and a key; missing ones are counted nowhere.
        max_keys: how many keys of a person are kept, 1 or more.

    Raises:
        DataError: no list of pairs, or something in it that is none.
        NumberError: a `max_keys` that is no whole number above 0.

    Example:
        >>> from dither.density import bound_keys
        >>> bound_keys([("ann", "flu"), ("ann", "asthma"), ("bob", "flu")], max_keys=2)
        [('asthma', 'flu'), ('flu',)]
    """
    most = integer(max_keys, name="max_keys", least=1)
    held: dict[Any, set[PlainKey]] = {}
    for person, key in _pairs(pairs):
        whose, found = plain_person(person), plain_key(key)
        if whose is not None and found is not None:
            held.setdefault(whose, set()).add(found)
    return [_keep(sorted(own, key=order), most) for own in held.values()]


def plain_person(value: Any, depth: int = 0) -> Any:
    """A person in the one way in which she is written; None where a value names nobody."""
    try:
        if isinstance(value, tuple):
            parts = tuple(plain_person(part, depth + 1) for part in value) if depth < DEEPEST else (None,)
            return None if any(part is None for part in parts) else parts
        if value is None or type(value).__name__ in UNKNOWN or (isinstance(value, Decimal) and value.is_nan()):
            return None
        plain = plain_key(value) if type(value).__module__ == "numpy" else value
        hash(plain)
        return plain if plain == plain else None
    except Exception:  # not hashable, no truth value, or whatever it raises: it names nobody
        return None


def _keep(listed: list[PlainKey], most: int) -> tuple[PlainKey, ...]:
    if len(listed) <= most:
        return tuple(listed)
    return tuple(listed[at] for at in sorted(integers.choose(len(listed), most).tolist()))


def _pairs(pairs: PairsLike) -> Iterable[tuple[Any, Any]]:
    import numpy as np

    if isinstance(pairs, (str, bytes, Mapping)) or not isinstance(pairs, Iterable) or getattr(pairs, "ndim", 1) == 0:
        raise DataError("type of pairs", type(pairs).__name__, "they are pairs of a person and a key", EXAMPLE)
    for pair in pairs:
        row = isinstance(pair, np.ndarray) and pair.ndim == 1
        if not (row or isinstance(pair, (tuple, list, np.void))) or len(pair) != 2:
            why = "a pair has a person and a key: a tuple, a list or a row of an array"
            raise DataError("type of a pair", type(pair).__name__, why, EXAMPLE)
        yield pair[0], pair[1]


def read_totals(value: TotalsLike, *, parts: int = 1) -> tuple[list[PlainKey], NDArray[np.int64]]:
    """Keys and what was counted of each, without those of which there is nothing; counts are refused by kind, never by size.

    Of a key that comes under two writings the larger count is taken: one person moves that by no more than either. Their sum
    would move by twice as much, and the last of them would depend on the order.
    """
    import numpy as np

    if not isinstance(value, Mapping):
        raise DataError("type of value", type(value).__name__, "it counts people for each key", "{'flu': 120, 'asthma': 31}")
    keys = [plain_key(key) for key in value]
    if not keys:
        return [], np.zeros(0, dtype=np.int64)
    totals = read_counts(list(value.values()), cells=len(keys), name="value", most=LARGEST_COUNT * parts)
    found: dict[PlainKey, int] = {}
    for key, total in zip(keys, totals.tolist(), strict=True):
        if key is not None and total > found.get(key, 0):
            found[key] = total
    return list(found), np.array(list(found.values()), dtype=np.int64)
