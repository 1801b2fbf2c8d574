"""Long lists of declared keys, beside the SELECT rather than in it: the engine gets each once, and looks cells up in it.

*Theorem.* A SELECT with `x IN (SELECT ... FROM list)` gives the whole numbers of the one with `x IN (k1, ..., kn)`.

*Legend.* The list holds k1, ..., kn, no NULL, as the type of the constants. `x` is a cell as it was read, or NULL.

*Proof.* Both are TRUE if x equals a key, FALSE if it equals none, NULL for NULL, by the same equality: that of the type to
which x and the keys are cast. All that uses it, CASE WHEN and HAVING, takes what is not TRUE for a cell without a key. What
a person moves is bounded after that, from the same columns as before. Which of the two is written follows from the number
of keys in the policy or in what was released: rows decide nothing. Nothing can fail by a row: a look into a list is no cast.

What a list is called follows from its keys, so that equal SELECTs have equal lists: a SELECT that was rehearsed stays so.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from dither.query.policy.column import Key, Type

LONGEST_LIST = 1000  # keys that are written into a SELECT; a longer list is handed over beside it
KINDS: dict[type, Type] = {str: Type.TEXT, int: Type.INTEGER, datetime.date: Type.DATE}


@dataclass(frozen=True, eq=False)
class KeyList:
    """Keys of one type, by a name that follows from them."""

    name: str
    type: Type
    keys: tuple[Key, ...] = field(repr=False)


class KeyLists:
    """The lists of the SELECTs of one release."""

    def __init__(self) -> None:
        self.by_name: dict[str, KeyList] = {}
        self._known: dict[int, KeyList] = {}  # by object: each holds its keys, so that none is taken for another

    def add(self, keys: Sequence[Key]) -> KeyList | None:
        """A long list of keys; None for a short one, and for one that is not of texts, whole numbers or dates alone."""
        known = self._known.get(id(keys))
        if known is not None and known.keys is keys:
            return known
        kinds = {type(key) for key in keys} if len(keys) > LONGEST_LIST else set()
        kind = KINDS.get(kinds.pop()) if len(kinds) == 1 else None
        if kind is None:
            return None
        held = keys if isinstance(keys, tuple) else tuple(keys)
        spelled = "".join(f"{len(text)}:{text}" for text in map(str, held))
        name = f"{kind.value} {hashlib.sha256(spelled.encode(errors='surrogatepass')).hexdigest()[:32]}"
        made = self._known[id(held)] = self.by_name.setdefault(name, KeyList(name, kind, held))
        return made
