"""Columns that are computed from released ones: arithmetic on aggregates, shares of a total, ranks. A closed set of nodes.

They are evaluated on an answer, after its release: nothing of them reaches an engine, a price or a stored question. A column
may name an aggregate as often as it likes; the aggregate is released once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Literal

Sign = Literal["+", "-", "*", "/", "//", "%"]
RankKind = Literal["row_number", "rank", "dense_rank"]
OverKind = Literal["avg", "min", "max", "count"]


@dataclass(frozen=True)
class Term:
    """A number of each row of an answer."""


@dataclass(frozen=True)
class ReleasedValue(Term):
    """An aggregate of the question, by its name."""

    name: str


@dataclass(frozen=True)
class KeyValue(Term):
    """A key of GROUP BY, by its place: what windows are sorted by."""

    place: int


@dataclass(frozen=True)
class ConstantTerm(Term):
    """A number."""

    value: Fraction


@dataclass(frozen=True)
class ScalarValue(Term):
    """What a scalar subquery gave, by its place among those of the question; None while it is unknown, or if it is NULL."""

    place: int
    text: str  # as it was written
    value: Fraction | None


@dataclass(frozen=True)
class Operation(Term):
    """Arithmetic. What is divided by zero is missing; / is real division, whatever is divided, // drops what is behind the
    point, and % is what it leaves: it has the sign of what is divided."""

    sign: Sign
    left: Term
    right: Term


@dataclass(frozen=True)
class Round(Term):
    """ROUND(x, digits): to the nearest, from the middle away from zero."""

    of: Term
    digits: int


@dataclass(frozen=True)
class Cast(Term):
    """CAST(x AS BIGINT), to the nearest whole number and from the middle to the even one; or CAST(x AS DOUBLE), as it is."""

    of: Term
    whole: bool


@dataclass(frozen=True)
class FirstKnown(Term):
    """COALESCE: the first that is not missing."""

    parts: tuple[Term, ...]


@dataclass(frozen=True)
class NullIf(Term):
    """NULLIF(x, constant): missing where it is that number."""

    of: Term
    value: Fraction


@dataclass(frozen=True)
class SortBy:
    """By what the rows of a window are sorted."""

    of: Term
    descending: bool


@dataclass(frozen=True)
class Window(Term):
    """What looks at other rows of the answer: all of them, or those with the same keys at some places."""

    by: tuple[int, ...]  # PARTITION BY: places of keys


@dataclass(frozen=True)
class Total(Window):
    """SUM(x) OVER (PARTITION BY ...)."""

    of: Term


@dataclass(frozen=True)
class WindowStatistic(Window):
    """AVG, MIN, MAX or COUNT (x) OVER (PARTITION BY ...): of the rows that have it; all rows of the answer count."""

    kind: OverKind
    of: Term


@dataclass(frozen=True)
class Shift(Window):
    """LAG and LEAD: the same of the row that is so many before; a negative number for rows behind."""

    of: Term
    offset: int
    order: tuple[SortBy, ...]

    @property
    def by_numbers(self) -> bool:
        """Whether released numbers decide which row is looked at; the truth may have another one there."""
        return any(not isinstance(one.of, KeyValue) for one in self.order)


@dataclass(frozen=True)
class Rank(Window):
    """ROW_NUMBER, RANK, DENSE_RANK. Rows that are equal are numbered in the order of their keys."""

    kind: RankKind
    order: tuple[SortBy, ...]


@dataclass(frozen=True)
class Derived:
    """A column of the answer that is computed."""

    name: str
    of: Term

    @property
    def parts(self) -> list[Term]:
        """All terms in it."""
        return list(terms(self.of))

    @property
    def names(self) -> list[str]:
        """The aggregates that it is computed from, each once."""
        return list(dict.fromkeys(part.name for part in self.parts if isinstance(part, ReleasedValue)))

    @property
    def has_window(self) -> bool:
        """Whether it looks at other rows."""
        return any(isinstance(part, Window) for part in self.parts)

    @property
    def counts_rows(self) -> bool:
        """Whether it is, or is computed from, the place of a row, or how many rows there are."""
        return any(
            isinstance(part, Rank) or (isinstance(part, WindowStatistic) and part.kind == "count") for part in self.parts
        )

    @property
    def is_rank(self) -> bool:
        """Whether it is, or is computed from, the place of a row among released numbers, a row at such a place, or how many
        rows there are."""
        return self.counts_rows or any(isinstance(part, Shift) and part.by_numbers for part in self.parts)


def terms(of: Term) -> Iterator[Term]:
    """A term and all that it is made of."""
    yield of
    for field in fields(of):
        inner = getattr(of, field.name)
        for one in inner if isinstance(inner, tuple) else (inner,):
            part = one.of if isinstance(one, SortBy) else one
            if isinstance(part, Term):
                yield from terms(part)


def derived_words(of: Term, keys: tuple[str, ...]) -> str:
    """A term, for people to read; `keys` are the names of the groups."""
    match of:
        case ReleasedValue(name):
            return name
        case KeyValue(place):
            return keys[place]
        case ConstantTerm(value):
            return _number(value)
        case ScalarValue(_, text, _):
            return text
        case Operation(sign, left, right):
            return f"({derived_words(left, keys)} {sign} {derived_words(right, keys)})"
        case Round(inner, digits):
            return f"{derived_words(inner, keys)} rounded to {digits} digit{'' if digits == 1 else 's'}"
        case Cast(inner, whole):
            return f"{derived_words(inner, keys)} as a {'whole ' if whole else ''}number"
        case FirstKnown(parts):
            return f"the first that is there of ({', '.join(derived_words(part, keys) for part in parts)})"
        case NullIf(inner, value):
            return f"({derived_words(inner, keys)}, missing where it is {_number(value)})"
        case Total(by, inner):
            return f"the total of {derived_words(inner, keys)} over {_rows(by, keys)}"
        case WindowStatistic(by, kind, inner):
            told = {"avg": "the average", "min": "the least", "max": "the largest", "count": "the number"}[kind]
            return f"{told} of {derived_words(inner, keys)} over {_rows(by, keys)}"
        case Shift(by, inner, offset, order):
            where = f"{abs(offset)} row{'s' if abs(offset) > 1 else ''} {'before' if offset > 0 else 'behind'}"
            return f"{derived_words(inner, keys)} of {where} in {_rows(by, keys)}{_sorted(order, keys)}"
        case Rank(by, kind, order):
            name = {"row_number": "number", "rank": "rank", "dense_rank": "rank without gaps"}[kind]
            return f"the {name} in {_rows(by, keys)}{_sorted(order, keys)}"
    raise AssertionError(of)


def _rows(by: tuple[int, ...], keys: tuple[str, ...]) -> str:
    return "all rows" + (f" of the same {', '.join(keys[place] for place in by)}" if by else "")


def _sorted(order: tuple[SortBy, ...], keys: tuple[str, ...]) -> str:
    told = [f"{derived_words(one.of, keys)}{', largest first' if one.descending else ''}" for one in order]
    return f" by {' and '.join(told)}"


def _number(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"{float(value):g}"
