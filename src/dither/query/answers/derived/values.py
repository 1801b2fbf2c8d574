"""Values of computed columns: exact arithmetic on released numbers, as SQL has it.

A number is a decimal, not yet cut to what is possible. What is missing (a quotient by zero, NULLIF, a row that LAG does not
find) makes everything computed from it missing, but for COALESCE; totals pass over it. What is unknown, since its interval
is the whole range, makes all of it unknown, and so does a row that a window took by it. Rows of a window are those that
HAVING has kept, sorted by what is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import trunc
from typing import Any

from dither.query.answers.derived.linear_forms import Part
from dither.query.counters.value_ranges import ReleasedColumns
from dither.query.plan.derived import (
    Cast,
    ConstantTerm,
    FirstKnown,
    KeyValue,
    NullIf,
    Operation,
    Rank,
    ReleasedValue,
    Round,
    ScalarValue,
    Shift,
    SortBy,
    Term,
    Total,
    Window,
    WindowStatistic,
)

Value = Fraction | None
LARGEST_WHOLE = 2**63 - 1  # what a column of whole numbers holds


class DerivedValues:
    """Values of terms, row by row. `rows` are those of the answer that are kept; only they are looked at.

    Rows are named by their places in the whole answer.
    """

    def __init__(self, keys: Sequence[Sequence[Any]], released: ReleasedColumns, rows: Sequence[int]) -> None:
        self.keys, self.released, self.rows = keys, released, list(rows)
        self.uninformative: Callable[[Term], Iterable[int]] = lambda term: ()  # the rows whose interval says nothing
        self.unknown_scalars: frozenset[int] = frozenset()  # places of subqueries whose interval says nothing
        self._known: dict[Term, dict[int, Value]] = {}
        self._seen: dict[Term, dict[int, Value]] = {}
        self._unknown: dict[Term, frozenset[int]] = {}
        self._parts: dict[tuple[int, ...], dict[tuple[object, ...], list[int]]] = {}
        self._lines: dict[tuple[tuple[int, ...], tuple[SortBy, ...]], dict[int, tuple[list[int], int]]] = {}

    def of(self, term: Term) -> dict[int, Value]:
        """The value of a term in each row."""
        if term not in self._known:
            found = self._windowed(term) if isinstance(term, Window) else self._simple(term)
            self._known[term] = found | dict.fromkeys(self.unknown(term), None)
        return self._known[term]

    def unknown(self, term: Term) -> frozenset[int]:
        """The rows in which a term is computed from a number whose interval says nothing."""
        if term not in self._unknown:
            self._unknown[term] = frozenset(self._unknowns(term)).intersection(self.rows)
        return self._unknown[term]

    def known(self, term: Term) -> dict[int, Value]:
        """The value of a term that a window looks at; None where its interval says nothing."""
        if term not in self._seen:
            self._seen[term] = self.of(term) | dict.fromkeys(self._open(term), None)
        return self._seen[term]

    def _open(self, term: Term) -> frozenset[int]:
        return self.unknown(term).union(self.uninformative(term))

    def _unknowns(self, term: Term) -> Iterable[int]:
        match term:
            case ReleasedValue(name):
                return self.released.uninformative.get(name, ())
            case ScalarValue(place, _, _):
                return self.rows if place in self.unknown_scalars else ()
            case Operation(_, left, right):
                return self.unknown(left) | self.unknown(right)
            case Round(inner, _) | Cast(inner, _) | NullIf(inner, _):
                return self.unknown(inner)
            case FirstKnown(parts):
                return self._unknown_first(parts)
            case Shift():
                places = self._unknown_places(term.order)
                there = self._open(term.of) | places
                return [row for row in self.rows if row in places or self.source(term, row) in there] if there else ()
            case Total() | WindowStatistic(kind="avg" | "min" | "max"):
                there = self._open(term.of)
                several = self.parts(term.by).values() if there else ()
                return [row for rows in several if not there.isdisjoint(rows) for row in rows]
            case Rank():
                return self._unknown_places(term.order)
        return ()  # a constant, or how many are there

    def _unknown_places(self, order: tuple[SortBy, ...]) -> frozenset[int]:
        """The rows that are sorted last, in no order, since a number that sorts them is unknown."""
        return frozenset[int]().union(*(self._open(one.of) for one in order if not isinstance(one.of, KeyValue)))

    def _unknown_first(self, parts: tuple[Term, ...]) -> Iterable[int]:
        """The rows in which a part before the first that is there is unknown."""
        left, found = set(self.rows), set[int]()
        for part in parts:
            found |= left & self.unknown(part)
            values = self.of(part)
            left = {row for row in left - found if values[row] is None}
        return found

    def parts(self, by: tuple[int, ...]) -> dict[tuple[object, ...], list[int]]:
        """The rows of each part, in the order of their keys."""
        if by not in self._parts:
            found: dict[tuple[object, ...], list[int]] = {}
            for row in self.rows:
                found.setdefault(self.part(by, row)[1], []).append(row)
            self._parts[by] = found
        return self._parts[by]

    def part(self, by: tuple[int, ...], row: int) -> Part:
        """The part that a row is in."""
        return by, tuple(self.keys[row][place] for place in by)

    def source(self, term: Shift, row: int) -> int | None:
        """The row that LAG or LEAD looks at; None where there is none."""
        line, at = self._line(term.by, term.order)[row]
        place = at - term.offset
        return line[place] if 0 <= place < len(line) else None

    def _simple(self, term: Term) -> dict[int, Value]:
        match term:
            case ReleasedValue(name):
                column = self.released.uncut[name]
                return {row: _exact(column[row]) for row in self.rows}
            case ConstantTerm(value) | ScalarValue(_, _, value):
                return dict.fromkeys(self.rows, value)
            case Operation(sign, left, right):
                first, second = self.of(left), self.of(right)
                return {row: computed(sign, first[row], second[row]) for row in self.rows}
            case Round(inner, digits):
                return {row: None if value is None else rounded(value, digits) for row, value in self.of(inner).items()}
            case Cast(inner, whole):
                found = self.of(inner)
                return {
                    row: Fraction(round(value)) if whole and value is not None else value for row, value in found.items()
                }
            case NullIf(inner, unwanted):
                return {row: None if value == unwanted else value for row, value in self.of(inner).items()}
            case FirstKnown(parts):
                columns = [self.of(part) for part in parts]
                return {row: next((one[row] for one in columns if one[row] is not None), None) for row in self.rows}
        raise AssertionError(term)

    def _windowed(self, term: Term) -> dict[int, Value]:
        found: dict[int, Value] = {}
        if isinstance(term, (Total, WindowStatistic)):
            values, kind = self.known(term.of), term.kind if isinstance(term, WindowStatistic) else "sum"
            for rows in self.parts(term.by).values():
                known = [value for row in rows if (value := values[row]) is not None]
                found |= dict.fromkeys(rows, gathered(kind, known))
        elif isinstance(term, Shift):
            values = self.known(term.of)
            for row in self.rows:
                source = self.source(term, row)
                found[row] = None if source is None else values[source]
        elif isinstance(term, Rank):
            for row, (line, at) in self._line(term.by, term.order).items():
                if at == 0:
                    found |= self._ranked(term, line)
                assert row in found
        return found

    def _ranked(self, term: Rank, line: Sequence[int]) -> dict[int, Value]:
        found: dict[int, Value] = {}
        rank, last = 0, None
        for at, row in enumerate(line, 1):
            here = tuple(self._sorted(one, row) for one in term.order)
            if term.kind == "row_number" or here != last:
                rank = rank + 1 if term.kind == "dense_rank" else at
            found[row], last = Fraction(rank), here
        return found

    def _line(self, by: tuple[int, ...], order: tuple[SortBy, ...]) -> dict[int, tuple[list[int], int]]:
        """For each row: the rows of its part in their order, and where it stands; the first of a part comes first."""
        if (by, order) not in self._lines:
            found: dict[int, tuple[list[int], int]] = {}
            for rows in self.parts(by).values():
                line = list(rows)
                for one in reversed(order):
                    line = in_order(line, {row: self._sorted(one, row) for row in line}, descending=one.descending)
                found |= {row: (line, at) for at, row in enumerate(line)}
            self._lines[by, order] = found
        return self._lines[by, order]

    def _sorted(self, one: SortBy, row: int) -> Any:
        if isinstance(one.of, ReleasedValue):
            return self.released.shown[one.of.name][row]
        return self.keys[row][one.of.place] if isinstance(one.of, KeyValue) else self.known(one.of)[row]


def in_order(rows: Sequence[int], by: Mapping[int, Any] | Sequence[Any], *, descending: bool) -> list[int]:
    """Rows sorted by a column; equal ones stay as they are, and what is missing comes last, as in DuckDB."""
    known = [row for row in rows if by[row] is not None]
    known.sort(key=lambda row: by[row], reverse=descending)
    return known + [row for row in rows if by[row] is None]


def gathered(kind: str, known: Sequence[Fraction]) -> Value:
    """Of the values of several rows: their sum, average, least, largest or number. Of none, the number alone is known."""
    if kind == "count":
        return Fraction(len(known))
    if not known:
        return None
    if kind in ("min", "max"):
        return min(known) if kind == "min" else max(known)
    total = sum(known, start=Fraction(0))
    return total if kind == "sum" else total / len(known)


def computed(sign: str, left: Value, right: Value) -> Value:
    """Arithmetic; missing where a part is, and where zero is divided by."""
    if left is None or right is None or (sign in ("/", "//", "%") and right == 0):
        return None
    if sign in ("//", "%"):
        whole = trunc(left / right)
        return Fraction(whole) if sign == "//" else left - whole * right
    if sign in "+-":
        return left + right if sign == "+" else left - right
    return left * right if sign == "*" else left / right


def rounded(value: Fraction, digits: int) -> Fraction:
    """To the nearest number of so many digits, from the middle away from zero."""
    scaled = abs(value) * Fraction(10) ** digits
    nearest = Fraction((2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)) / Fraction(10) ** digits
    return nearest if value >= 0 else -nearest


def plain(value: Value, *, whole: bool) -> int | float | None:
    """A value as a column holds it; missing where it is beyond what 64 bits hold, where SQL stops with an error."""
    if value is None:
        return None
    if whole:
        return int(value) if abs(value) <= LARGEST_WHOLE else None
    try:
        return float(value)
    except OverflowError:
        return None


def _exact(value: Any) -> Value:
    return None if value is None else Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
