"""The answer to a question that no row was needed for: it cost nothing, and there is no receipt."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from dither.errors import DataError
from dither.ledger.entries.receipt import Receipt
from dither.privacy.guarantee.guarantee import Guarantee
from dither.query.answers.answer import Answer
from dither.query.answers.record import Column, Kind, check_record, plain_columns, read_columns, read_version, refused
from dither.query.answers.released import Released
from dither.terminal import Explanation

VERSION = 1
FREE = "free: nothing private is read"


class FreeAnswer(Answer):
    """A table of what is public: columns with their types, or keys of the policy. Like an `Answer`, without a receipt.

    Args:
        sql: the question, as it was put.
        columns: the table, column by column.
        kinds: what each column holds.
        keys: the columns that list keys.
        guarantee: an epsilon of 0.
        says: what the rows are.
        explained: the quote in words.
        frame_kind: the kind of table that was protected.
        unprotected: which keys the owner took from the data; '' where there are none.

    Raises:
        DataError: `receipt` was asked for, and nothing was charged; else as `Answer`.

    Example:
        >>> import tempfile, pyarrow, dither
        >>> folder = tempfile.TemporaryDirectory()
        >>> ledger = dither.Ledger.create(folder.name + "/people.ledger", budget=dither.pure(3))
        >>> rows = pyarrow.table({"age": [31, 44, 62]})
        >>> people = dither.protect(rows, name="people", person="each row", ledger=ledger)
        >>> answer = people.quote("SELECT * FROM people LIMIT 0").release()
        >>> answer.columns, answer.kinds, answer.price
        ({'age': []}, {'age': 'whole'}, 'free: nothing private is read')
        >>> folder.cleanup()
    """

    def __init__(
        self,
        *,
        sql: str,
        columns: dict[str, Column],
        kinds: dict[str, Kind],
        keys: tuple[str, ...],
        guarantee: Guarantee,
        says: str,
        explained: str,
        frame_kind: str,
        unprotected: str = "",
    ) -> None:
        facts: dict[str, Any] = {"sql": sql, "columns": columns, "kinds": kinds, "keys": keys, "guarantee": guarantee}
        facts |= {"says": says, "explained": explained, "frame_kind": frame_kind, "unprotected": unprotected}
        facts |= {"aggregates": (), "confidence": Fraction(1), "price": FREE, "statements": {}, "beyond": None, "note": ""}
        for name, value in (facts | {"released": Released([]), "uninformative": {}, "open_keys": {}}).items():
            object.__setattr__(self, name, value)

    @property
    def receipt(self) -> Receipt:
        """There is none: nothing was charged."""
        raise DataError("receipt", self.sql, "the question was free, and nothing was charged", "answer.price")

    @property
    def is_replay(self) -> bool:
        """Nothing was stored."""
        return False

    @property
    def caption(self) -> str:
        """What it cost."""
        return FREE

    def explain(self) -> Explanation:
        """What the rows are."""
        return Explanation(self.explained)

    def _repr_html_(self) -> str:
        return self._html(f"{self.says}\n{FREE}")

    def _record(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "free_answer": VERSION,
            "free": True,
            "sql": self.sql,
            "keys": list(self.keys),
            "kinds": self.kinds,
        }
        told |= {"columns": plain_columns(self.columns), "guarantee": self.guarantee.to_json(), "explained": self.explained}
        told |= {"frame_kind": self.frame_kind} | ({"unprotected": self.unprotected} if self.unprotected else {})
        return {**told, "says": self.says, "price": FREE}

    @classmethod
    def from_json(cls, text: str) -> FreeAnswer:
        """The answer of a text that `to_json` wrote."""
        with refused(text, "FreeAnswer.to_json"):
            return cls._from_record(json.loads(text))

    @classmethod
    def _from_record(cls, record: dict[str, Any]) -> FreeAnswer:
        found = dict(record)
        read_version(found.pop("free_answer"), VERSION)
        if (found.pop("free"), found.pop("price")) != (True, FREE):
            raise ValueError("an answer that is not free")
        check_record(found)
        found |= {"columns": read_columns(found), "keys": tuple(found["keys"])}
        return cls(**(found | {"guarantee": Guarantee.from_json(found["guarantee"])}))
