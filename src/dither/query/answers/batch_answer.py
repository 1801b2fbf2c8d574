"""The answers to a batch, in the order of its questions. A plain value, as each of them is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dither.arguments import argument_errors
from dither.ledger.entries.receipt import Receipt
from dither.numeric.number import integer
from dither.privacy.guarantee.guarantee import Guarantee
from dither.query.answers.answer import Answer
from dither.query.answers.table import page


@argument_errors
@dataclass(frozen=True, eq=False)
class BatchAnswer:
    """An answer to each question of a batch; all were charged at once.

    Args:
        answers: in the order of the questions.
        guarantee: what was charged for all of them.
        explained: the batch in words.
        receipt: of the charge.

    Raises:
        IndexError: there is no answer at that place.

    Example:
        >>> import tempfile, pyarrow, dither
        >>> folder = tempfile.TemporaryDirectory()
        >>> ledger = dither.Ledger.create(folder.name + "/people.ledger", budget=dither.pure(3))
        >>> rows = pyarrow.table({"age": [31, 44, 62]})
        >>> people = dither.protect(rows, name="people", person="each row", ledger=ledger, bounds={"age": (0, 100)})
        >>> questions = ["SELECT COUNT(*) AS n FROM people", "SELECT SUM(age) AS age FROM people"]
        >>> answers = people.quote(questions, epsilon=1).release()
        >>> [answer.aggregates for answer in answers], str(answers.guarantee)
        ([('n',), ('age',)], 'ε = 1 (add/remove one person)')
        >>> folder.cleanup()
    """

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
        return self.answers[place if isinstance(place, slice) else integer(place, name="place of an answer")]

    def explain(self) -> str:
        """What was released for all questions, at which price, and what the numbers mean."""
        paid = "stored before, nothing was charged now" if self.is_replay else f"charged {self.guarantee}"
        return f"{self.explained}\nReceipt    {self.receipt.name}: {paid}"

    def __str__(self) -> str:
        told = [f"{' '.join(answer.sql.split())}\n{answer}" for answer in self.answers]
        return "\n\n".join(told)

    def _repr_html_(self) -> str:
        return "".join(answer._repr_html_() for answer in self.answers)

    def to_html(self) -> str:
        """An HTML page that stands by itself: each table with its error bars, and what the numbers mean."""
        return page(self._repr_html_(), self.explain())
