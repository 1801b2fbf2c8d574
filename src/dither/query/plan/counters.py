"""Counters: whole numbers, one a row, between bounds that follow from the policy. Their sums are what is released.

Each class says what a row adds. With G steps between the bounds of an expression, and q the steps of its value above the
lower one:

    RowCounter       1 for every row
    ValueCounter     1 where an expression has a value
    PersonCounter    1 for every person who has a row in the group, however many rows; or a row that meets a condition
    DistinctCounter  1 for every different value in the group, however many rows have it
    StepCounter      the value of an expression in whole steps, clamped to its bounds; 0 where it has none
    AboveCounter     q, clamped to 0..G; 0 where it has no value
    BelowCounter     G - q; 0 where it has no value
    MissingCounter   G where it has no value; 0 where it has one

AboveCounter, BelowCounter and MissingCounter add up to G for every row, so the three together move by G a row, as one count
of G would: mean, sum and counts follow from them at the price of one (barycentric counters). For variances:

    AboveSquare      q^2
    CrossProduct     2 q (G - q)
    BelowSquare      (G - q)^2; these three are 0 where it has no value
    MissingSquare    G^2 where it has no value; 0 where it has one

They add up to G^2 for every row, so that mean, variance, sum and counts follow from them at the price of one.
`plan/mathematics/pair_counters.py` has the counters of two expressions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import ClassVar

from dither.query.plan.base import Expression
from dither.query.plan.expressions import Case, Constant


@dataclass(frozen=True)
class Counter(ABC):
    """A whole number for every row."""

    code: ClassVar[str] = "counter"
    spelled_attributes: ClassVar[tuple[str, ...]] = ("kind", "of", "step")
    kind: ClassVar[str]  # what it is called in stored questions
    counts_persons: ClassVar[bool] = False  # whether it is one for a person, whatever rows she has
    is_pair: ClassVar[bool] = False  # whether it is of two expressions, and of rows that have both

    of: Expression | None = None  # None for rows and persons
    step: Fraction = Fraction(1)

    @property
    def low(self) -> int:
        """The least that a row with a value can add."""
        return 0

    @property
    @abstractmethod
    def high(self) -> int:
        """The most that a row can add."""

    @property
    def reach(self) -> int:
        """How far a row can move the sum, by coming or going."""
        return max(abs(self.low), abs(self.high))

    @property
    def steps(self) -> int:
        """G: how many steps lie between the bounds."""
        lower, upper = self.bounds
        return ceil((upper - lower) / self.step)

    @property
    def origin(self) -> Fraction:
        """The value from which steps are counted."""
        return Fraction(0)

    @property
    def base(self) -> Counter | None:
        """What is read of each row: this one follows from its count, its sum and its sum of squares. None if nothing is."""
        return AboveCounter(self.of, self.step)

    def follows_from(self, base: Counter) -> bool:
        """Whether it can be computed where this is read of each row."""
        return base == self.base

    @property
    def values(self) -> Expression:
        """The expression that it is of."""
        assert self.of is not None
        return self.of

    @property
    def axes(self) -> tuple[Counter, ...]:
        """The counters of single expressions that it is made of: itself."""
        return (self,)

    @property
    def bounds(self) -> tuple[Fraction, Fraction]:
        """Those of the expression."""
        facts = self.values.facts
        assert facts.lower is not None
        assert facts.upper is not None
        return facts.lower, facts.upper


@dataclass(frozen=True)
class RowCounter(Counter):
    """1 for every row."""

    kind: ClassVar[str] = "one"
    base = None
    high = 1


@dataclass(frozen=True)
class PersonCounter(Counter):
    """1 for every person who has a row in the group: any, or one that meets the condition `of`."""

    kind: ClassVar[str] = "person"
    counts_persons: ClassVar[bool] = True
    high = 1

    @property
    def base(self) -> Counter | None:
        """A value where the condition is met; nothing is read where there is none."""
        return None if self.of is None else ValueCounter(Case(((self.of, Constant(Fraction(1))),), None))


@dataclass(frozen=True)
class DistinctCounter(Counter):
    """1 for every different value. It is no sum over rows: `statistics/distinct_values.py` says how a person is bounded."""

    kind: ClassVar[str] = "distinct"
    high = 1

    @property
    def base(self) -> Counter:
        """Itself."""
        return self


@dataclass(frozen=True)
class ValueCounter(Counter):
    """1 where there is a value."""

    kind: ClassVar[str] = "present"
    high = 1

    @property
    def base(self) -> Counter:
        """Itself."""
        return self

    def follows_from(self, base: Counter) -> bool:
        """Whatever is read of the expression is NULL where it has no value; but for pairs, where another may have none."""
        return base.of == self.of and not base.is_pair


@dataclass(frozen=True)
class StepCounter(Counter):
    """The value in steps from zero."""

    kind: ClassVar[str] = "steps"

    @property
    def low(self) -> int:
        """The first step within the bounds."""
        return ceil(self.bounds[0] / self.step)

    @property
    def high(self) -> int:
        """The last step within the bounds."""
        return floor(self.bounds[1] / self.step)

    @property
    def base(self) -> Counter:
        """Itself."""
        return self


@dataclass(frozen=True)
class _Share(Counter):
    """A part of the G that each row adds to a few counters together."""

    @property
    def high(self) -> int:
        """All of G."""
        return self.steps


@dataclass(frozen=True)
class AboveCounter(_Share):
    """The value in steps from its lower bound."""

    kind: ClassVar[str] = "above"

    @property
    def origin(self) -> Fraction:
        """The lower bound."""
        return self.bounds[0]


@dataclass(frozen=True)
class BelowCounter(_Share):
    """What `AboveCounter` leaves of G."""

    kind: ClassVar[str] = "below"


@dataclass(frozen=True)
class MissingCounter(_Share):
    """G where there is no value."""

    kind: ClassVar[str] = "missing"


@dataclass(frozen=True)
class _SquareShare(Counter):
    """A part of the G^2 that each row adds to a few counters together."""

    @property
    def high(self) -> int:
        """All of G^2."""
        return self.steps**2


@dataclass(frozen=True)
class AboveSquare(_SquareShare):
    """The square of the steps above the lower bound."""

    kind: ClassVar[str] = "high"


@dataclass(frozen=True)
class CrossProduct(_SquareShare):
    """Twice the steps above, times those below."""

    kind: ClassVar[str] = "middle"


@dataclass(frozen=True)
class BelowSquare(_SquareShare):
    """The square of the steps that are left of G."""

    kind: ClassVar[str] = "low"


@dataclass(frozen=True)
class MissingSquare(_SquareShare):
    """G^2 where there is no value."""

    kind: ClassVar[str] = "nothing"
