"""The answers to a batch, in the order of its questions. A plain value, as each of them is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dither.arguments import argument_errors
from dither.ledger.entries.receipt import Receipt
from dither.numeric.number import integer
from dither.privacy.guarantee.guarantee import Guarantee
from dither.query.answers.answer import Answer
from dither.query.answers.free_answer import FreeAnswer
from dither.query.answers.record import check_record, read_version, refused
from dither.query.answers.table import page
from dither.terminal import Explanation, wrapped

VERSION = 1


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
        DataError: `from_json` got a text that `to_json` did not write.

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

    @property
    def price(self) -> str:
        """What was charged for all of them, as people know it: as it stands in what explains them."""
        told = (line.removeprefix("Price ") for line in self.explained.splitlines() if line.startswith("Price "))
        return next(told, str(self.guarantee)).strip()

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    def __getitem__(self, place: int) -> Answer:
        return self.answers[place if isinstance(place, slice) else integer(place, name="place of an answer")]

    def explain(self) -> Explanation:
        """What was released for all questions, at which price, and what the numbers mean."""
        paid = "stored before, nothing was charged now" if self.is_replay else f"charged {self.price}"
        return Explanation(f"{self.explained}\nReceipt    {self.receipt.name}: {paid}")

    def __str__(self) -> str:
        told = [f"{wrapped(' '.join(answer.sql.split()))}\n{answer}" for answer in self.answers]
        paid = "stored before, nothing charged now" if self.is_replay else f"charged {self.price} for all of them"
        return "\n\n".join([*told, wrapped(paid)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return "".join(answer._repr_html_() for answer in self.answers)

    def to_html(self) -> str:
        """An HTML page that stands by itself: each table with its error bars and a chart, and what the numbers mean."""
        return page("".join(answer._with_chart() for answer in self.answers), self.explain())

    def to_json(self) -> str:
        """All answers as one text; `from_json` gives them back. The receipt stands in it once."""
        receipt, several = self.receipt.to_json(), []
        for answer in self.answers:
            record = answer._record()
            several.append({name: part for name, part in record.items() if name != "receipt" or part != receipt})
        told = {"guarantee": self.guarantee.to_json(), "explained": self.explained, "receipt": receipt}
        return json.dumps({"batch_answer": VERSION, "batch": several, **told}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> BatchAnswer:
        """The answers of a text that `to_json` wrote."""
        with refused(text, "BatchAnswer.to_json"):
            return cls._from_record(json.loads(text))

    @classmethod
    def _from_record(cls, record: dict[str, Any]) -> BatchAnswer:
        found = dict(record)
        read_version(found.pop("batch_answer"), VERSION)
        if not isinstance(several := found.pop("batch"), list):
            raise ValueError("a batch is a list")
        check_record(found)
        own = {"receipt": found["receipt"]}
        answers = tuple(_answer(one if "free_answer" in one else own | one) for one in several)
        found |= {"guarantee": Guarantee.from_json(found["guarantee"]), "receipt": Receipt.from_json(found["receipt"])}
        return cls(answers, **found)


def any_from_record(record: dict[str, Any]) -> Answer | BatchAnswer:
    """An answer of whichever kind, from the object that its text is: to one question, to a batch, or a free one."""
    with refused("a record", "to_json of an answer"):
        return BatchAnswer._from_record(record) if "batch_answer" in record else _answer(record)


def _answer(record: dict[str, Any]) -> Answer:
    kind = FreeAnswer if "free_answer" in record else Answer
    return kind._from_record(record)
