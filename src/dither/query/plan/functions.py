"""Functions of a row: nodes of expressions beside those of `plan/expressions.py`, a small closed set.

Texts: of a text LONGEST_TEXT characters are read, and functions give no more, so that their work is bounded; a text that is
no text (bytes that are not UTF-8) is missing. Numbers are doubles, as everywhere in expressions.
"""

from __future__ import annotations

import datetime
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import Any, ClassVar, Literal

from dither.query.plan.base import Expression
from dither.query.plan.dates import DateFunction
from dither.query.plan.facts import Facts, around, common_type
from dither.query.plan.mathematics.elementary import NumberFunction
from dither.query.policy.column import LONGEST_TEXT, Type

Spelling = Literal["upper", "lower", "trim", "ltrim", "rtrim"]


@dataclass(frozen=True)
class ChangeText(Expression):
    """A text in capital or small letters, or without the spaces around it."""

    code: ClassVar[str] = "change_text"

    how: Spelling
    of: Expression

    @property
    def facts(self) -> Facts:
        return Facts(Type.TEXT)


@dataclass(frozen=True)
class Substring(Expression):
    """So many characters of a text from a place on, the first being 1; or its last ones."""

    code: ClassVar[str] = "substring"

    of: Expression
    start: int | None  # None: from the end
    length: int

    @property
    def facts(self) -> Facts:
        return Facts(Type.TEXT)


@dataclass(frozen=True)
class Concat(Expression):
    """Texts one after the other; missing where one of them is."""

    code: ClassVar[str] = "concat"

    parts: tuple[Expression, ...]

    @property
    def facts(self) -> Facts:
        return Facts(Type.TEXT)


@dataclass(frozen=True)
class Length(Expression):
    """How many characters a text has."""

    code: ClassVar[str] = "length"

    of: Expression

    @property
    def facts(self) -> Facts:
        return Facts(Type.INTEGER, Fraction(0), Fraction(LONGEST_TEXT))


@dataclass(frozen=True)
class Coalesce(Expression):
    """The first of several values that is not missing."""

    code: ClassVar[str] = "coalesce"

    parts: tuple[Expression, ...]

    @property
    def facts(self) -> Facts:
        found = [part.facts for part in self.parts]
        return around(found, nullable=all(facts.nullable for facts in found))


@dataclass(frozen=True)
class GreatestLeast(Expression):
    """The largest, or the least, of the values that are not missing."""

    code: ClassVar[str] = "greatest_least"

    largest: bool
    parts: tuple[Expression, ...]

    @cached_property  # asked for by each level above: without a memory the work would double with each
    def facts(self) -> Facts:
        found = [part.facts for part in self.parts]
        lower, upper = self.ends
        nullable = all(facts.nullable for facts in found)
        if lower is None or upper is None:
            return Facts(common_type(found), nullable=nullable)
        if common_type(found).is_date:
            return Facts(common_type(found), nullable=nullable, first=lower, last=upper)
        return Facts(common_type(found), lower, upper, nullable)

    @cached_property
    def ends(self) -> tuple[Any, Any]:
        """Bounds, each by itself: GREATEST(x, 0) is at least 0 whatever x is, so that LEAST(GREATEST(x, 0), 9) has both."""
        ends = [part.ends if isinstance(part, GreatestLeast) else _ends(part.facts) for part in self.parts]
        lower, upper = [low for low, _ in ends], [high for _, high in ends]
        there = [not part.facts.nullable for part in self.parts]
        if self.largest:
            return _sure(lower, there, largest=True), _hull(upper, largest=True)
        return _hull(lower, largest=False), _sure(upper, there, largest=False)


def _ends(facts: Facts) -> tuple[Any, Any]:
    """The bounds of numbers, or of dates."""
    return (facts.first, facts.last) if facts.type.is_date else (facts.lower, facts.upper)


def _hull(ends: list[Any], *, largest: bool) -> Any:
    """The end that holds all: unknown where one of them is."""
    known = [end for end in ends if end is not None]
    return None if len(known) < len(ends) else max(known) if largest else min(known)


def _sure(ends: list[Any], there: list[bool], *, largest: bool) -> Any:
    """The best end of those that are surely there; where none is, the worst of all, since any may be the only one."""
    known = [end for end, sure in zip(ends, there, strict=True) if sure and end is not None]
    return _hull(ends, largest=not largest) if not known else max(known) if largest else min(known)


@dataclass(frozen=True)
class Abs(Expression):
    """A number without its sign."""

    code: ClassVar[str] = "abs"

    of: Expression

    @property
    def facts(self) -> Facts:
        of = self.of.facts
        if of.lower is None or of.upper is None:
            return Facts(of.type, nullable=of.nullable)
        least = max(of.lower, -of.upper, Fraction(0))
        return Facts(of.type, least, max(abs(of.lower), abs(of.upper)), of.nullable)


@dataclass(frozen=True)
class Rounding(Expression):
    """A number with so many digits after the point (before it, where negative)."""

    code: ClassVar[str] = "round"
    spelled_attributes: ClassVar[tuple[str, ...]] = ("way", "of", "digits")
    way: ClassVar[str]  # what it is called in stored questions

    of: Expression
    digits: int = 0

    @property
    @abstractmethod
    def words(self) -> str:
        """Where to."""

    @abstractmethod
    def whole(self, number: Fraction) -> int:
        """A number without digits after the point."""

    @property
    def facts(self) -> Facts:
        of = self.of.facts
        kind = Type.INTEGER if self.digits <= 0 else of.type
        if of.lower is None or of.upper is None:
            return Facts(kind, nullable=of.nullable)
        unit = Fraction(10) ** -self.digits
        return Facts(kind, self.whole(of.lower / unit) * unit, self.whole(of.upper / unit) * unit, of.nullable)


@dataclass(frozen=True)
class Floor(Rounding):
    """FLOOR(x)."""

    way: ClassVar[str] = "floor"
    words = "down"

    def whole(self, number: Fraction) -> int:
        """The next below."""
        return floor(number)


@dataclass(frozen=True)
class Ceil(Rounding):
    """CEIL(x)."""

    way: ClassVar[str] = "ceil"
    words = "up"

    def whole(self, number: Fraction) -> int:
        """The next above."""
        return ceil(number)


@dataclass(frozen=True)
class Trunc(Rounding):
    """TRUNC(x)."""

    way: ClassVar[str] = "trunc"
    words = "towards zero"

    def whole(self, number: Fraction) -> int:
        """The next on the side of zero."""
        return int(number)


@dataclass(frozen=True)
class Round(Rounding):
    """ROUND(x, digits)."""

    way: ClassVar[str] = "round"

    @property
    def words(self) -> str:
        """To how many digits."""
        return f"to {self.digits} digits after the point"

    def whole(self, number: Fraction) -> int:
        """The nearest; halves go away from zero."""
        return floor(number + Fraction(1, 2)) if number >= 0 else ceil(number - Fraction(1, 2))


@dataclass(frozen=True)
class WidthBucket(Expression):
    """Which of `count` equal parts of low..high a number lies in: 1 to count; 0 below, count + 1 from high on."""

    code: ClassVar[str] = "width_bucket"

    of: Expression
    low: Fraction
    high: Fraction
    count: int

    @property
    def facts(self) -> Facts:
        return Facts(Type.INTEGER, Fraction(0), Fraction(self.count + 1), self.of.facts.nullable)


@dataclass(frozen=True)
class Clamp(Expression):
    """A number or a date, as the nearer of two ends where it lies beyond them; what is missing stays so. Ours alone: what
    groups are made of, so that a row beyond the bounds of its column is in the group at the edge."""

    code: ClassVar[str] = "clamp"

    of: Expression
    lower: Fraction | datetime.date
    upper: Fraction | datetime.date

    @property
    def facts(self) -> Facts:
        of = self.of.facts
        if not isinstance(self.lower, Fraction) or not isinstance(self.upper, Fraction):
            assert not isinstance(self.lower, Fraction)
            assert not isinstance(self.upper, Fraction)
            return Facts(of.type, nullable=of.nullable, first=self.lower, last=self.upper)
        return Facts(of.type, self.lower, self.upper, of.nullable)


Function = (
    Clamp
    | DateFunction
    | ChangeText
    | Substring
    | Concat
    | Length
    | Coalesce
    | GreatestLeast
    | Abs
    | Floor
    | Ceil
    | Round
    | Trunc
    | WidthBucket
    | NumberFunction
)
