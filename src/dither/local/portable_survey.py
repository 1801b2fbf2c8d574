"""Surveys whose clients may be written in any language: `client_table()` is all that such a client needs.

The table is JSON: its version, the kind of the survey, its record as a text (to be copied byte for byte before reports), the
size of one report in bytes, and for each kind the whole numbers and coins from which a report is drawn. A coin is a pair
of texts, n and d.

The values of a survey stand in its record, as JSON. Where one of them is a whole number beyond 2^53 - 1 many parsers of JSON
would round it, and two values would become one without a word. Such a table is of version 2, which clients of version 1
refuse: it has the values a second time, as `domain`, with these numbers as {"integer": digits}. Records stay as they are.

`docs/wire-format.md` says what is drawn from them, in which order, and what the bytes of a report are;
`client_law.md` proves that such a client keeps the promise.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import numpy as np

TABLE_VERSION, TABLE_WITH_DOMAIN = 1, 2
LARGEST_EXACT = 2**53 - 1  # of whole numbers: doubles, which many parsers of JSON make of all numbers, tell these apart


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
        listed = self.record.get("domain")
        domain = spelled_label(listed)
        version = TABLE_VERSION if domain == listed else TABLE_WITH_DOMAIN
        head = {"dither_client_table": version, "kind": self.kind, "size": self.dtype.itemsize}
        text = record_text(self.record)
        table = {**head, "record": text, **{name: _plain(value) for name, value in self.client_draws().items()}}
        return json.dumps(table if version == TABLE_VERSION else {**table, "domain": domain})


def record_text(record: dict[str, object]) -> str:
    """A record as JSON in ASCII, keys in order: the bytes that stand before reports."""
    return json.dumps(record, sort_keys=True)


def spelled_label(value: Any) -> Any:
    """A value, or a list of them, with whole numbers that a double may not hold as {"integer": digits}."""
    if isinstance(value, list):
        return [spelled_label(each) for each in value]
    return {"integer": str(value)} if isinstance(value, int) and abs(value) > LARGEST_EXACT else value


def _plain(value: Any) -> Any:
    """Fractions as two texts, and weights as texts: their digits are too many for the numbers of some languages."""
    if isinstance(value, Fraction):
        return [str(value.numerator), str(value.denominator)]
    return [str(weight) for weight in value] if isinstance(value, list) else value
