"""Surveys whose clients may be written in any language: `client_table()` is all that such a client needs.

The table is JSON: its version, the kind of the survey, its record as a text (to be copied byte for byte before reports), the
size of one report in bytes, and for each kind the whole numbers and coins from which a report is drawn. A coin is a pair
of texts, n and d. `docs/wire-format.md` says what is drawn from them, in which order, and what the bytes of a report are;
`client_law.md` proves that such a client keeps the promise.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import numpy as np

TABLE_VERSION = 1


class PortableSurvey(ABC):
    """A survey that says how its reports are drawn, in whole numbers."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def record(self) -> dict[str, object]:
        """What says which survey this is, as plain JSON."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """Type of one report: fixed size, little-endian."""

    @abstractmethod
    def client_draws(self) -> dict[str, object]:
        """What a client draws from, as plain JSON with coins as fractions: the part of the table that each kind has."""

    def client_table(self) -> str:
        """The table for clients in other languages, as JSON: what they draw from, exactly. It is public, as the survey is.

        docs/wire-format.md says what each kind of table holds and how a report is drawn from it; clients/js is a client.
        """
        head = {"dither_client_table": TABLE_VERSION, "kind": self.kind, "size": self.dtype.itemsize}
        text = record_text(self.record)
        return json.dumps({**head, "record": text, **{name: _plain(value) for name, value in self.client_draws().items()}})


def record_text(record: dict[str, object]) -> str:
    """A record as JSON in ASCII, keys in order: the bytes that stand before reports."""
    return json.dumps(record, sort_keys=True)


def _plain(value: Any) -> Any:
    """Fractions as two texts, and weights as texts: their digits are too many for the numbers of some languages."""
    if isinstance(value, Fraction):
        return [str(value.numerator), str(value.denominator)]
    return [str(weight) for weight in value] if isinstance(value, list) else value
