"""The receipt for a charge: what `reserve` gives, and what an analyst keeps as proof."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from dither.arguments import argument_errors
from dither.errors import DataError, InputError
from dither.ledger.entries.entry import Head, canonical
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.records import refuse_newer

VERSION = 1


@argument_errors
@dataclass(frozen=True)
class Receipt:
    """A charge to a privacy budget, and the right to compute one answer under it. Made by `Ledger.reserve`.

    Args:
        ledger: identity of the ledger.
        number: of the entry that charged.
        attempt: 1, and one more each time that the answer is computed again after a lost attempt.
        fingerprint: of question, price, policy and data version together.
        guarantee: what was charged.
        head: of the ledger when this was written: whoever keeps the receipt can prove that the ledger got so far.
        answer: the stored answer, where there was one before; None otherwise.
        unprotected: what the guarantee does not cover, as it was said at the charge; '' where there is nothing.

    Raises:
        DataError: the parts are not those of a receipt, or `from_json` got a text that `to_json` did not write.

    Example:
        >>> import tempfile, dither
        >>> folder = tempfile.TemporaryDirectory()
        >>> ledger = dither.Ledger.create(folder.name + "/clinic.ledger", budget=dither.pure(1), domain="clinic")
        >>> receipt = ledger.reserve(dither.pure("0.1"), "how many visits?")
        >>> receipt.number, receipt.attempt, receipt.answer
        (3, 1, None)
        >>> dither.Receipt.from_json(receipt.to_json()) == receipt
        True
        >>> folder.cleanup()
    """

    ledger: str
    number: int
    attempt: int
    fingerprint: str
    guarantee: Guarantee
    head: Head
    answer: str | None = None
    unprotected: str = ""

    def __post_init__(self) -> None:
        head = self.head if isinstance(self.head, tuple) and len(self.head) == 2 else (0, None)
        whole = all(type(number) is int and 0 < number < 2**31 for number in (self.number, self.attempt, head[0]))
        texts = (self.ledger, self.fingerprint, head[1], self.unprotected, "" if self.answer is None else self.answer)
        if not whole or not all(type(text) is str for text in texts) or not isinstance(self.guarantee, Guarantee):
            raise DataError("receipt", "with these parts", "dither did not make this", "what ledger.reserve gave")

    @property
    def name(self) -> str:
        """Short and unique: the charge that it stands for."""
        kind, dash, rest = self.ledger.rpartition("-")  # "temporary-" before the identity of a throw-away
        return f"{kind}{dash}{rest[:8]}-{self.number}"

    def __repr__(self) -> str:
        stored = "" if self.answer is None else ", with the stored answer"
        return f"Receipt({self.name!r}, charged {self.guarantee}{stored})"

    def to_json(self) -> str:
        """Text to keep; `Ledger.verify(receipts=...)` holds it against the ledger."""
        stored = {**asdict(self), "guarantee": self.guarantee.to_json(), "head": list(self.head), "receipt": VERSION}
        return canonical({name: part for name, part in stored.items() if name != "unprotected" or part})

    @classmethod
    def from_json(cls, text: str) -> Receipt:
        """The receipt of a text that `to_json` wrote."""
        try:
            stored = json.loads(text)
            refuse_newer("version of the receipt", stored["receipt"], VERSION)
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
