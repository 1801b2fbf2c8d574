"""A person's own totals: one number for each person and key, exact, so that it does not depend on the order of rows.

Each class says how it is called in words and which column it makes. How much one person can have of something is bounded by
the owner's limits, `rows` of her own: a count or a sum is clamped as if she had at most so many. (More is possible, and
counts as that much.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from dither.query.plan.base import Expression
from dither.query.plan.counters import AboveCounter
from dither.query.plan.expression_parts import hard_facts, may_be_changed
from dither.query.plan.lattice import bounded_step, step_of
from dither.query.policy.column import Column, Type
from dither.query.policy.table import Table


@dataclass(frozen=True)
class PersonTotal(ABC):
    """One of a person's own totals."""

    code: ClassVar[str] = "person_total"
    spelled_attributes: ClassVar[tuple[str, ...]] = ("column", "kind", "of")
    kind: ClassVar[str]  # what it is called in stored questions
    words: ClassVar[str]  # what it is; where it is of values, they follow
    adds: ClassVar[bool] = False  # whether values are added up, which need bounds
    grows: ClassVar[bool] = False  # whether more rows may make it larger, so that it is cut at what the limits of rows allow

    column: Column
    of: Expression | None = None  # of which values; None for rows

    @property
    def counter(self) -> AboveCounter | None:
        """The counter of whose sum it is made, if of one."""
        return None

    @property
    def values(self) -> Expression:
        """The values that it is of."""
        assert self.of is not None
        return self.of

    def hard_facts(self, table: Table) -> set[str]:
        """Return what is hard of its column: nobody's total lies beyond, of rows that are as the owner says."""
        return hard_facts(self.column, self.values, table)

    def changes_values(self, table: Table) -> bool:
        """Return whether it adds up values that may be clamped or rounded first."""
        return self.adds and may_be_changed(self.of, table)

    @classmethod
    @abstractmethod
    def make(cls, name: str, rows: int, of: Expression) -> Self:
        """The total with its column: under this name, of a person with so many rows."""


@dataclass(frozen=True)
class _PersonCount(PersonTotal):
    """A count, of at most so many."""

    grows: ClassVar[bool] = True

    @classmethod
    def make(cls, name: str, rows: int, of: Expression | None = None) -> Self:
        """The total with its column."""
        return cls(Column(name, Type.INTEGER, Fraction(0), Fraction(rows), Fraction(1), None, nullable=False), of)

    def hard_facts(self, table: Table) -> set[str]:
        """Return its bounds, where nobody has more rows than are counted."""
        return {f"bounds.{self.column.name}"} if table.has_hard_rows else set()


@dataclass(frozen=True)
class PersonRows(_PersonCount):
    """COUNT(*)."""

    kind: ClassVar[str] = "rows"
    words: ClassVar[str] = "how many rows"


@dataclass(frozen=True)
class PersonValues(_PersonCount):
    """COUNT(x)."""

    kind: ClassVar[str] = "values"
    words: ClassVar[str] = "how many values of"


@dataclass(frozen=True)
class PersonDistinct(_PersonCount):
    """COUNT(DISTINCT x)."""

    kind: ClassVar[str] = "different"
    words: ClassVar[str] = "how many different values of"


@dataclass(frozen=True)
class _PersonEnd(PersonTotal):
    """One of her values."""

    @classmethod
    def make(cls, name: str, rows: int, of: Expression) -> Self:
        """The total with its column, whatever rows she has."""
        facts = of.facts
        bounds = (facts.lower, facts.upper, bounded_step(of))
        return cls(Column(name, facts.type, *bounds, first=facts.first, last=facts.last), of)


@dataclass(frozen=True)
class PersonMin(_PersonEnd):
    """MIN(x)."""

    kind: ClassVar[str] = "least"
    words: ClassVar[str] = "the least"


@dataclass(frozen=True)
class PersonMax(_PersonEnd):
    """MAX(x)."""

    kind: ClassVar[str] = "most"
    words: ClassVar[str] = "the largest"


@dataclass(frozen=True)
class _PersonAdded(PersonTotal):
    """A total of steps that are added up."""

    adds: ClassVar[bool] = True

    @property
    def counter(self) -> AboveCounter:
        """The counter of whose sum it is made."""
        return AboveCounter(self.of, step_of(self.values))

    @property
    def is_whole(self) -> bool:
        """Whether its values are whole numbers, each of as many steps."""
        return self.values.facts.type is Type.INTEGER and step_of(self.values) == 1


@dataclass(frozen=True)
class PersonSum(_PersonAdded):
    """SUM(x)."""

    grows: ClassVar[bool] = True
    kind: ClassVar[str] = "sum"
    words: ClassVar[str] = "the sum of"

    @classmethod
    def make(cls, name: str, rows: int, of: Expression) -> Self:
        """The total with its column: a whole number where all values are."""
        facts, step = of.facts, step_of(of)
        assert facts.lower is not None
        assert facts.upper is not None
        kind = Type.INTEGER if facts.type is Type.INTEGER and step == 1 else Type.FLOAT
        lower, upper = min(facts.lower, rows * facts.lower), max(facts.upper, rows * facts.upper)
        return cls(Column(name, kind, lower, upper, step), of)

    def hard_facts(self, table: Table) -> set[str]:
        """Return its bounds, where neither values nor rows lie beyond theirs, and its steps."""
        found = hard_facts(self.column, self.values, table)
        return found if table.has_hard_rows else found - {f"bounds.{self.column.name}"}


@dataclass(frozen=True)
class PersonMean(_PersonAdded):
    """AVG(x)."""

    kind: ClassVar[str] = "average"
    words: ClassVar[str] = "the average of"

    @classmethod
    def make(cls, name: str, rows: int, of: Expression) -> Self:
        """The total with its column, whatever rows she has."""
        return cls(Column(name, Type.FLOAT, of.facts.lower, of.facts.upper, None), of)
