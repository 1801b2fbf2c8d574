"""A charge request: a question as the ledger knows it, with all that decides whether a stored answer answers it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import SupportsIndex, TypeAlias

from dither.errors import DataError, DitherError, NumberError
from dither.ledger.entries.budget import read_price
from dither.ledger.entries.entry import Json, canonical, digest
from dither.ledger.entries.texts import LONGEST_QUESTION, plain_text, read_name, read_text
from dither.ledger.storage.database import Statement, latest
from dither.numeric.number import integer
from dither.privacy.budget.filter import Filter
from dither.privacy.budget.filter_state import Totals
from dither.privacy.guarantee.guarantee import Guarantee

LARGEST_BITS = 4096  # of a whole number in a question
DEEPEST = 50
LONGEST_LEASE = 31 * 24 * 3600  # seconds
# A text, or nested mappings and lists of texts, whole numbers and truth values.
QuestionLike: TypeAlias = str | Mapping[str, object]


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
        unprotected: str = "",  # what its guarantee does not cover
    ) -> None:
        promised = _text(guarantee)
        self.guarantee, self.price, self.policy, self.analyst, self.key = guarantee, price, policy, analyst, key
        self.fingerprint = fingerprint(question, promised, policy, data_version)
        self.key_tag = None if key is None else digest(key)
        self.record: dict[str, object] = {
            **{"question": question, "guarantee": promised, "policy": policy, "data_version": data_version},
            **{"analyst": analyst, "key": key, "fingerprint": self.fingerprint, "text": text, "door": door},
            **({"unprotected": unprotected} if unprotected else {}),
        }
        self.unprotected = unprotected

    @property
    def queries(self) -> list[Statement]:
        """What must be looked up to decide on it."""
        asked = [latest("fingerprint", self.fingerprint)]
        return asked if self.key is None else [*asked, latest("key", self.key_tag)]


def read_lease(lease: SupportsIndex) -> int:
    """Seconds in which nobody else computes the same answer."""
    seconds = integer(lease, name="lease", least=1)
    if seconds > LONGEST_LEASE:
        raise NumberError("lease", seconds, f"it is longer than {LONGEST_LEASE} seconds", "300")
    return seconds


def read_request(
    budget: Filter,
    guarantee: Guarantee,
    question: QuestionLike,
    *,
    in_force: str,
    policy_hash: str | None,
    data_version: str,
    analyst: str,
    key: str | None,
    text: str = "",
    door: str = "",
    unprotected: str = "",
) -> ChargeRequest:
    """The request of a caller, checked, with its price; the policy in force, unless the caller names one."""
    asked, price = read_question(question), read_price(budget, guarantee)
    return ChargeRequest(
        question=asked,
        guarantee=budget.counted(guarantee),
        price=price,
        policy=in_force if policy_hash is None else read_name(policy_hash, "policy_hash"),
        data_version=read_name(data_version, "data_version", empty=True),
        analyst=read_name(analyst, "analyst", empty=True),
        key=None if key is None else read_name(key, "idempotency_key"),
        text=read_text(text, "text"),
        door=read_name(door, "door", empty=True),
        unprotected=read_text(unprotected, "unprotected"),
    )


@lru_cache(maxsize=1024)
def _text(guarantee: Guarantee) -> str:
    return guarantee.to_json()


def fingerprint(question: str, guarantee: str, policy: str, data_version: str) -> str:
    """The hash of all that a stored answer is about: equal for requests that it answers."""
    return digest(canonical([question, guarantee, policy, data_version]))


def read_question(question: QuestionLike) -> str:
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


def _plain(value: object, depth: int) -> Json:
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
