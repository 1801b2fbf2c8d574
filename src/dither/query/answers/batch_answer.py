"""The answers to a batch, in the order of its questions. A plain value, as each of them is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dither.ledger.entries.receipt import Receipt
from dither.privacy.guarantee.guarantee import Guarantee
from dither.query.answers.answer import Answer
from dither.query.answers.table import page


@dataclass(frozen=True, eq=False)
class BatchAnswer:
    """An answer to each question; all were paid for at once."""

    answers: tuple[Answer, ...]
    guarantee: Guarantee = field(repr=False)  # what was charged for all of them
    explained: str = field(repr=False)
    receipt: Receipt = field(repr=False)

    @property
    def is_replay(self) -> bool:
        """Whether they were stored before, so that nothing was charged now."""
        return self.receipt.answer is not None

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    def __getitem__(self, place: int) -> Answer:
        return self.answers[place]

    def explain(self) -> str:
        """What was released, and what the numbers mean."""
        paid = "stored before, nothing was charged now" if self.is_replay else f"charged {self.guarantee}"
        return f"{self.explained}\nReceipt    {self.receipt.name}: {paid}"

    def __str__(self) -> str:
        told = [f"{' '.join(answer.sql.split())}\n{answer}" for answer in self.answers]
        return "\n\n".join(told)

    def _repr_html_(self) -> str:
        return "".join(answer._repr_html_() for answer in self.answers)

    def to_html(self) -> str:
        """A page that stands by itself."""
        return page(self._repr_html_(), self.explain())
