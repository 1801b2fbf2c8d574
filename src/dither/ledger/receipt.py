"""A question as the ledger knows it, and the receipt for its charge."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache

from dither.errors import DataError, GuaranteeError
from dither.ledger.entry import Head, canonical, digest
from dither.ledger.store import Query, latest
from dither.privacy.guarantee import Guarantee
from dither.privacy.spending import Totals

VERSION = 1
LONGEST_QUESTION = 1_000_000
LONGEST_NAME = 200
DEEPEST = 50


@dataclass(frozen=True)
class Receipt:
    """What `reserve` gives: the charge is made. With an answer, nothing is left to do; without, it may be computed once."""

    ledger: str  # identity of the ledger
    number: int  # of the entry that charged
    attempt: int  # 1, and one more each time that the answer is computed again after a lost attempt
    fingerprint: str  # of question, price, policy and data version together
    guarantee: Guarantee
    head: Head  # of the ledger when this was written: whoever keeps the receipt can prove it
    answer: str | None = None

    @property
    def name(self) -> str:
        """Short and unique: the charge that it stands for."""
        return f"{self.ledger[:8]}-{self.number}"

    def to_json(self) -> str:
        """Text to keep; `Ledger.verify(receipts=...)` holds it against the ledger."""
        return canonical(
            {**asdict(self), "guarantee": self.guarantee.to_json(), "head": list(self.head), "receipt": VERSION}
        )

    @classmethod
    def from_json(cls, text: str) -> Receipt:
        """The receipt that `to_json` wrote."""
        try:
            stored = json.loads(text)
            if stored.pop("receipt") != VERSION:
                raise ValueError("another version")
            stored["guarantee"] = Guarantee.from_json(stored["guarantee"])
            count, hash_ = stored["head"]
            stored["head"] = Head(count, hash_)
            made = cls(**stored)
            whole = (made.number, made.attempt, made.head.entries)
            texts = (made.ledger, made.fingerprint, made.head.hash)
            if any(type(n) is not int or n < 1 for n in whole) or not all(isinstance(t, str) for t in texts):
                raise ValueError("numbers and texts")
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            if isinstance(error, GuaranteeError):
                raise
            raise DataError("receipt", text, "dither did not write this", "what Receipt.to_json gave") from error
        return made


class Asked:
    """A question with everything that decides whether a stored answer answers it."""

    def __init__(
        self,
        *,
        question: str,  # canonical JSON
        guarantee: Guarantee,
        price: Totals,
        policy: str,
        data_version: str,
        analyst: str,
        key: str | None,
    ) -> None:
        text = _text(guarantee)
        self.guarantee, self.price, self.analyst, self.key = guarantee, price, analyst, key
        self.fingerprint = fingerprint(question, text, policy, data_version)
        self.key_tag = None if key is None else digest(key)
        self.record: dict[str, object] = {
            **{"question": question, "guarantee": text, "policy": policy, "data_version": data_version},
            **{"analyst": analyst, "key": key, "fingerprint": self.fingerprint},
        }

    @property
    def queries(self) -> list[Query]:
        """What must be looked up to decide on it."""
        asked = [latest("fingerprint", self.fingerprint)]
        return asked if self.key is None else [*asked, latest("key", self.key_tag)]


@lru_cache(maxsize=1024)
def _text(guarantee: Guarantee) -> str:
    return guarantee.to_json()


def fingerprint(question: str, guarantee: str, policy: str, data_version: str) -> str:
    return digest(canonical([question, guarantee, policy, data_version]))


def read_question(question: object) -> str:
    """Canonical JSON of a text or of nested lists and mappings; floats are refused, since they have several spellings."""
    if not isinstance(question, (str, Mapping)) or not question:
        instead = "'SELECT COUNT(*) FROM visits', or {'sum': 'cost'}"
        raise DataError("question", question, "it is neither text nor a mapping", instead)
    text = canonical(_plain(question, 0))
    if len(text) > LONGEST_QUESTION:
        raise DataError("question", question, f"it is longer than {LONGEST_QUESTION} characters", "a shorter one")
    return text


def read_name(value: object, name: str, *, empty: bool = False) -> str:
    """A short text: of a domain, an analyst, a version, a key."""
    if not isinstance(value, str) or len(value) > LONGEST_NAME or not (value or empty) or not value.isprintable():
        why = f"it is not a text of 1 to {LONGEST_NAME} printable characters"
        raise DataError(name, value, why, "a name such as 'clinic'")
    return value


def _plain(value: object, depth: int) -> object:
    if depth > DEEPEST:
        raise DataError("question", value, "it is nested too deeply", f"at most {DEEPEST} levels")
    if isinstance(value, Mapping):
        if not all(type(name) is str for name in value):
            raise DataError("question", value, "names of its parts must be texts", "{'sum': 'cost'}")
        return {name: _plain(part, depth + 1) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part, depth + 1) for part in value]
    if value is None or type(value) in (str, int, bool):
        return value
    raise DataError(
        "question", value, "its parts are texts, whole numbers, truth values, lists and mappings", "'0.5' for 0.5"
    )
