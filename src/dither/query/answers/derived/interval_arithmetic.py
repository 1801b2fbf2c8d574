"""Expressions as operations on pieces that have intervals, and interval arithmetic over the box of them.

Sums and products take their extremes at the corners of a box; a quotient by an interval without zero is the product with
its inverse, and with zero in it nothing bounds the quotient; ROUND, CAST and the // of a quotient never fall as their
argument rises, and neither do the least and the largest of several, in each of them. Ends are exact fractions, or infinite.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import inf, trunc

from dither.query.answers.derived.linear_forms import Quotient
from dither.query.answers.derived.values import rounded
from dither.query.plan.derived import (
    Cast,
    ConstantTerm,
    FirstKnown,
    NullIf,
    Operation,
    Round,
    Shift,
    Term,
    Total,
    WindowStatistic,
)

End = Fraction | float  # a number, or an infinite one
Ends = tuple[End, End]
NOTHING: Ends = (-inf, inf)
DIVIDES = ("/", "//", "%")


@dataclass(frozen=True)
class Opaque:
    """An aggregate of a row that has an interval of its own."""

    name: str
    row: int

    @property
    def key(self) -> Hashable:
        """By what it is known."""
        return self


@dataclass(frozen=True)
class Scalar:
    """What a scalar subquery gave, with an interval of its own."""

    place: int

    @property
    def key(self) -> Hashable:
        """By what it is known."""
        return self


@dataclass(frozen=True, eq=False)
class Node:
    """An operation on pieces: + - * / // %, 'round', 'cast', 'hull', 'first' that is there; 'sum', 'min', 'max' of many."""

    what: str
    parts: tuple[Symbol, ...]
    digits: int = 0


Piece = Quotient | Opaque | Scalar
Symbol = Piece | Node


def may_be_missing(term: Term) -> bool:
    """Whether a term may be missing where the aggregates are numbers; a row that LAG does not find is known beforehand."""
    match term:
        case Operation(sign, left, right):
            divides = sign in DIVIDES and not (isinstance(right, ConstantTerm) and right.value)
            return divides or may_be_missing(left) or may_be_missing(right)
        case Round(inner, _) | Cast(inner, _):
            return may_be_missing(inner)
        case Total() | Shift() | WindowStatistic():
            return may_be_missing(term.of)
        case FirstKnown(parts):
            return all(may_be_missing(part) for part in parts)
    return isinstance(term, NullIf)


def operation(sign: str, left: Symbol | None, right: Symbol | None) -> Symbol | None:
    """Arithmetic on two symbols: of forms where that is possible; None where it is missing, whatever was released."""
    if left is None or right is None:
        return None
    if isinstance(right, Quotient) and right.is_constant and sign in DIVIDES and not right.over.constant:
        return None
    if isinstance(left, Quotient) and isinstance(right, Quotient) and sign not in ("//", "%"):
        found = left.combined(sign, right)
        if found is not None:
            return found
    return Node(sign, (left, right))


def arithmetic(node: Node, parts: list[Ends]) -> Ends:
    """The ends of an operation, by those of its parts."""
    (low, high), *others = parts
    if node.what == "round":
        return _finite(low, lambda end: rounded(end, node.digits)), _finite(high, lambda end: rounded(end, node.digits))
    if node.what == "cast":
        return _finite(low, lambda end: Fraction(round(end))), _finite(high, lambda end: Fraction(round(end)))
    if node.what in ("hull", "first"):
        return min(part[0] for part in parts), max(part[1] for part in parts)
    if node.what in ("min", "max"):
        if node.what == "min":
            return min(part[0] for part in parts), min(part[1] for part in parts)
        return max(part[0] for part in parts), max(part[1] for part in parts)
    if node.what in ("sum", "+"):
        return reduce(plus, (part[0] for part in parts)), reduce(plus, (part[1] for part in parts))
    (first, last) = others[0]
    if node.what == "-":
        return plus(low, -last), plus(high, -first)
    if node.what == "%":
        return _remainder(parts[0], others[0])
    if node.what in ("/", "//"):
        if first <= 0 <= last:
            return NOTHING
        first, last = _inverse(last), _inverse(first)
    corners = [product(one, two) for one in (low, high) for two in (first, last)]
    ends = min(corners), max(corners)
    return (_finite(ends[0], _whole), _finite(ends[1], _whole)) if node.what == "//" else ends


def _remainder(over: Ends, under: Ends) -> Ends:
    """What is left of a division: nearer to zero than what is divided by, no farther than what is divided, on its side.

    Where all quotients drop to one whole number q, it is also the difference of what is divided and q times the other.
    """
    most = min(_farthest(under), _farthest(over))
    low, high = (-most if over[0] < 0 else Fraction(0)), (most if over[1] > 0 else Fraction(0))
    whole = arithmetic(Node("//", ()), [over, under])
    if whole[0] == whole[1] and inf not in (whole[1], -whole[0]):
        times = arithmetic(Node("*", ()), [under, whole])
        low, high = max(low, plus(over[0], -times[1])), min(high, plus(over[1], -times[0]))
    return low, high


def _farthest(ends: Ends) -> End:
    """How far from zero an interval reaches."""
    return max(-ends[0], ends[1])


def _whole(end: Fraction) -> Fraction:
    return Fraction(trunc(end))


def product(one: End, two: End) -> End:
    """Of two ends; nothing of an infinite number is nothing. An infinite one never meets a fraction that no double holds."""
    if one == 0 or two == 0:
        return Fraction(0)
    if isinstance(one, float) or isinstance(two, float):
        return inf if (one > 0) == (two > 0) else -inf
    return one * two


def plus(one: End, two: End) -> End:
    """Of two ends that are not infinite in opposite directions."""
    return one if isinstance(one, float) else two if isinstance(two, float) else one + two


def _inverse(end: End) -> End:
    return Fraction(0) if end in (inf, -inf) else 1 / Fraction(end)


def _finite(end: End, change: Callable[[Fraction], Fraction]) -> End:
    return end if isinstance(end, float) else change(end)
