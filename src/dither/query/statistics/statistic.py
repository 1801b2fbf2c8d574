"""A statistic: what is released of the rows of a question. Each has its counts, its bound of a person, its mechanism.

Counters are counted in the groups of the question; any other statistic in one group more: the values of a key, or intervals
of a number (for running sums, in the question's own groups). The counting is that of all questions,
`engines/templates/totals.py`, so a person is bounded in the same proved ways; what becomes of the whole numbers is the
mechanism's. Noise and mechanism are fixed with the quote. `noisy` is where counts of private rows meet noise, and
`release.py` is where it is called.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from dither.density.quantiles.rank_scores import ENDS
from dither.numeric.number import Number
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.unit import Unit
from dither.query.counters.counter_sets import CounterSet, Request
from dither.query.counters.estimators import UNBOUNDED, Columns, Range
from dither.query.plan.aggregates import CountRows
from dither.query.plan.base import Expression
from dither.query.plan.counters import RowCounter
from dither.query.plan.question import Group, Question
from dither.query.policy.column import Key, Type
from dither.query.statistics.bounding import Bounding
from dither.query.statistics.statement import Statement, statement_of

Counts = Sequence[Sequence[int]]  # for each group of the question: its counters, or a count for each key within it
WITHIN = "within a group"  # the name of the statistic's own grouping


@dataclass(frozen=True)
class Price:
    """What a statistic may cost, and under which circumstances it is made."""

    amount: Number | Fraction  # epsilon where `pure`, otherwise rho
    pure: bool
    unit: Unit
    cells: int  # groups of the question; of unknown ones, the most that may be shown
    confidence: Fraction
    error_is_wished: bool = False  # whether it must be known beforehand how far a column may be off
    ends: Fraction = ENDS  # the share that the ends of an interval have, where they cost something
    lost: Fraction = Fraction(0)  # the delta of a choice of values that nobody declared; 0 where none may be made


@dataclass(frozen=True)
class Statistic(ABC):
    """A release: priced, and fixed before anything private is read."""

    code: ClassVar[str]  # how stored questions spell it
    within: ClassVar[bool] = True  # counted in one group more than the question has
    by_holders: ClassVar[bool] = False  # in the last group, values by how many people hold them, whatever numbers those are
    is_lower_bound: ClassVar[bool] = False  # for certain, and without an upper end
    of_choice: ClassVar[bool] = False  # read off what the choice of groups released, at no further price

    question: Question  # the question's groups, and last, where it is counted within them, the one by which rows are
    bounding: Bounding

    @property
    def packed(self) -> int | None:
        """The largest count of a key, where `noisy` takes a table of them as an array; None where it takes lists."""
        return None

    @property
    def counters(self) -> CounterSet:
        """What is counted in each group: rows, unless a statistic says otherwise."""
        return CounterSet((RowCounter(),))

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What it promises."""

    @abstractmethod
    def loss(self) -> Loss:
        """Its privacy loss."""

    @abstractmethod
    def spelled(self) -> dict[str, object]:
        """What decides the released numbers, beside rows and groups: for the ledger."""

    @abstractmethod
    def noisy(self, counts: Counts) -> Any:
        """What is stored and may be read by anybody; as JSON can hold it. `counts` are PRIVATE."""

    @abstractmethod
    def read(self, released: Any, place: int) -> Columns:
        """A column of the answer with its error bars, from what was stored."""

    @abstractmethod
    def error(self, place: int, confidence: Fraction) -> float | None:
        """How far a column may be off because of noise; None where that depends on the data."""

    @abstractmethod
    def told(self, place: int) -> str:
        """How far a column may be off, in words."""

    @property
    @abstractmethod
    def noise(self) -> str:
        """The mechanism, in a word or two."""

    @property
    def complete(self) -> bool:
        """Whether everybody is counted in full, by the owner's word."""
        return self.bounding.complete and not self.question.table.drops_people

    def statement(self, place: int) -> Statement:
        """What a column says: of all rows where nobody loses any by being bounded, otherwise of those that were counted."""
        return statement_of(complete=self.complete, clamped=self.question.table.clamps_values, sums=False)

    def unknown_error(self, place: int) -> tuple[str, str] | None:
        """Where `error` is None: why, and what would work for somebody who wishes for an error; None where a price helps."""
        return "how far it is off depends on the data, which is private", "epsilon=, and the error bars of the answer"

    def clamped(self, place: int) -> str | None:
        """What is done to values before they are counted, in words."""
        return None

    def type(self, place: int) -> Type:
        """What a column holds: whole numbers of 64 bits, unless a statistic says otherwise."""
        return Type.INTEGER

    def has_interval(self, place: int) -> bool:
        """Whether a column has the ends of an interval beside it."""
        return True

    def at(self, confidence: Fraction) -> Statistic | None:
        """The same with intervals of another confidence, off what was released; None where their ends were released."""
        return replace(self, confidence=confidence)  # type: ignore[call-arg]  # all that are shown have one

    def weights(self, place: int) -> tuple[Fraction, ...] | None:
        """Where a column is the sum of released counters of its group, each times a weight: the weights."""
        return None

    def value_range(self, place: int) -> Range:
        """The range of the number that a column estimates, whatever the data: what is beyond it is impossible, and cut.

        Of numbers that are released together so that they add up it is all numbers, and nothing is cut.
        """
        return UNBOUNDED

    def adds_up(self, place: int) -> bool:
        """Whether a column is such a sum to which no row adds less than nothing, so that it is not negative."""
        return False


class RequestedStatistic(Statistic):
    """A statistic for aggregates that do not follow from counters."""

    most_unknown: ClassVar[int | None] = None  # groups whose keys nobody declared; None for as many as can be shown

    @classmethod
    @abstractmethod
    def make(cls, request: Request, question: Question, price: Price) -> RequestedStatistic:
        """The statistic at its price."""


def counted_by(question: Question, by: Expression, keys: tuple[Key, ...]) -> Question:
    """The question that counts the rows of each group of a question in one group more."""
    return counted(question, (*question.groups, Group(WITHIN, by, keys)))


def counted(question: Question, groups: tuple[Group, ...]) -> Question:
    """The question that counts the rows of groups."""
    after: dict[str, Any] = {"having": (), "qualify": (), "order": (), "limit": None, "offset": 0}
    after |= {"derived": (), "sets": (), "grouping": ()}
    return replace(question, groups=groups, aggregates=(CountRows("n"),), shown=("n",), **after)
