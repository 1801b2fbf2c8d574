"""A question as the ledger knows it, and the receipt for its charge."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache

from dither.errors import DataError, DitherError, InputError
from dither.ledger.entries.entry import Head, canonical, digest
from dither.ledger.storage.database import Statement, latest
from dither.privacy.budget.filter_state import Totals
from dither.privacy.guarantee.guarantee import Guarantee

VERSION = 1
LONGEST_QUESTION = 1_000_000
LONGEST_NAME = 200
LARGEST_BITS = 4096  # of a whole number in a question
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

    def __post_init__(self) -> None:
        head = self.head if isinstance(self.head, tuple) and len(self.head) == 2 else (0, None)
        whole = all(type(number) is int and 0 < number < 2**31 for number in (self.number, self.attempt, head[0]))
        texts = (self.ledger, self.fingerprint, head[1], "" if self.answer is None else self.answer)
        if not whole or not all(type(text) is str for text in texts) or not isinstance(self.guarantee, Guarantee):
            raise DataError("receipt", "with these parts", "dither did not make this", "what ledger.reserve gave")

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
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise DataError("receipt", text, "dither did not write this", "what Receipt.to_json gave") from error
        return made


class ChargeRequest:
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
        text: str = "",  # of the question, as it was asked
        door: str = "",  # through which it came
    ) -> None:
        promised = _text(guarantee)
        self.guarantee, self.price, self.policy, self.analyst, self.key = guarantee, price, policy, analyst, key
        self.fingerprint = fingerprint(question, promised, policy, data_version)
        self.key_tag = None if key is None else digest(key)
        self.record: dict[str, object] = {
            **{"question": question, "guarantee": promised, "policy": policy, "data_version": data_version},
            **{"analyst": analyst, "key": key, "fingerprint": self.fingerprint, "text": text, "door": door},
        }

    @property
    def queries(self) -> list[Statement]:
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
    try:
        text = canonical(_plain(question, 0))
    except DitherError:
        raise
    except Exception as error:  # a mapping of somebody's own may do anything
        raise DataError("question", type(question).__name__, f"it cannot be read: {error}", "a plain dict") from error
    if len(text) > LONGEST_QUESTION:
        raise DataError("question", question, f"it is longer than {LONGEST_QUESTION} characters", "a shorter one")
    return text


def read_name(value: object, name: str, *, empty: bool = False) -> str:
    """A short text: of a domain, an analyst, a version, a key."""
    if type(value) is not str or len(value) > LONGEST_NAME or not (value or empty) or not value.isprintable():
        why = f"it is not a text of 1 to {LONGEST_NAME} printable characters"
        raise DataError(name, value, why, "a name such as 'clinic'")
    return value


def read_text(value: object, name: str) -> str:
    """A text of several lines: a question as it was asked."""
    text = plain_text(value, name)
    if len(text) > LONGEST_QUESTION:
        raise DataError(name, text, f"it is longer than {LONGEST_QUESTION} characters", "a shorter one")
    return text


def _plain(value: object, depth: int) -> object:
    if depth > DEEPEST:
        raise DataError("question", value, "it is nested too deeply", f"at most {DEEPEST} levels")
    if isinstance(value, str):
        return plain_text(value, "question")
    if value is None or type(value) is bool or (type(value) is int and value.bit_length() <= LARGEST_BITS):
        return value
    if isinstance(value, Mapping):
        if not all(type(name) is str for name in value):
            raise DataError("question", value, "names of its parts must be texts", "{'sum': 'cost'}")
        return {plain_text(name, "question"): _plain(part, depth + 1) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part, depth + 1) for part in value]
    raise DataError("question", value, "its parts are texts, whole numbers, truth values, lists, mappings", "'0.5' for 0.5")


def plain_text(value: object, name: str) -> str:
    """Text that has one spelling in bytes: no lone halves of characters."""
    if type(value) is not str:
        raise DataError(name, value, "it is not a text", "a plain str")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise DataError(name, value, "it holds half a character (a lone surrogate)", "text that can be encoded") from error
    return value
