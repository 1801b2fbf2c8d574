"""What is stored of a release: whole numbers with noise, and nothing else that is private. Anybody may read it.

{"dither": 1, "released": [...], "chosen": ..., "limits": [...], "parts": [...]}   of one question
{..., "constants": [{"value": "23.4", "released": [...], ...}, ...]}   where scalar subqueries were released before it
{"dither": 1, "batch": [{"released": ..., "parts": [0, 2]}, ...], "parts": [...]}   of a batch: parts may serve several
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dither.errors import DataError
from dither.numeric.representation import short_repr

VERSION = 1


@dataclass(frozen=True)
class Released:
    """Of one question: its counters, the choice of its groups where there was one, and what was released beside them."""

    counters: list[list[list[int]]]  # for each set of counters, for each group in order, its counters
    chosen: Any = None  # what the choice of groups released
    parts: tuple[Any, ...] = ()  # what each other statistic released
    limits: list[list[int]] | None = None  # the histograms by which limits were found
    constants: tuple[tuple[str | None, Released], ...] = ()  # of scalar subqueries: the decimal that was taken, and of what
    __repr__ = short_repr

    @property
    def statistics(self) -> tuple[Any, ...]:
        """What each statistic of the offer released, in its order."""
        return *self.counters, *self.parts

    @property
    def values(self) -> tuple[Fraction | None, ...]:
        """What scalar subqueries gave."""
        return tuple(None if value is None else Fraction(value) for value, _ in self.constants)

    def to_json(self) -> str:
        """The released numbers as the JSON text that the ledger stores."""
        return _text(_whole(self))

    @classmethod
    def from_json(cls, text: str) -> Released:
        """The released numbers of a text that `to_json` wrote."""
        found = _read(text, "released")
        return _made(found, tuple(found.get("parts", ())))


def batch_to_json(several: Sequence[Released]) -> str:
    """What the ledger stores of a batch: each part once, and for each question the places of its parts."""
    parts: list[Any] = []
    own = []
    for one in several:
        parts += [part for part in one.parts if all(part is not known for known in parts)]
        places = [next(at for at, known in enumerate(parts) if known is part) for part in one.parts]
        own.append({**_facts(one), **({"parts": places} if places else {})})
    return _text({"batch": own, "parts": parts})


def batch_from_json(text: str) -> list[Released]:
    """What `batch_to_json` wrote, each question with its own parts."""
    found = _read(text, "batch")
    return [_made(one, tuple(found["parts"][at] for at in one.get("parts", ()))) for one in found["batch"]]


def _whole(released: Released) -> dict[str, Any]:
    return {**_facts(released), **({"parts": list(released.parts)} if released.parts else {})}


def _facts(released: Released) -> dict[str, Any]:
    chosen = {} if released.chosen is None else {"chosen": released.chosen}
    limits = {} if released.limits is None else {"limits": released.limits}
    first = [{"value": value, **_whole(one)} for value, one in released.constants]
    return {"released": released.counters, **chosen, **limits, **({"constants": first} if first else {})}


def _made(found: dict[str, Any], parts: tuple[Any, ...]) -> Released:
    first = ((one["value"], _made(one, tuple(one.get("parts", ())))) for one in found.get("constants", ()))
    return Released(found["released"], found.get("chosen"), parts, found.get("limits"), tuple(first))


def _text(found: dict[str, Any]) -> str:
    return json.dumps({"dither": VERSION, **found}, separators=(",", ":"))


def _read(stored: str, wanted: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(stored)
        if found["dither"] != VERSION or not isinstance(found[wanted], list):
            raise ValueError("another version")
        return found
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(
            "stored answer", stored, "this version of dither did not write it", "the version that did"
        ) from error
