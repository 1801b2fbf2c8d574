"""Sums of released counters, cell by cell, and quotients of two of them: what the noise of a computed column is made of.

A form is a constant, aggregates of single rows and totals of aggregates over parts of the rows, each times a number.
Totals are kept as such, so that a share of a million rows is as small as one of three.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf

LARGE = Fraction(10) ** 100  # weights beyond this, or below one in so many, are scaled before they become doubles
Cell = tuple[str, int]  # an aggregate, and the row of the answer
Part = tuple[tuple[int, ...], tuple[object, ...]]  # PARTITION BY these keys, and what they are


@dataclass(frozen=True)
class Form:
    """A sum of released numbers, each times a number."""

    constant: Fraction = Fraction(0)
    cells: Mapping[Cell, Fraction] = field(default_factory=dict)
    totals: Mapping[tuple[str, Part], Fraction] = field(default_factory=dict)

    @property
    def is_constant(self) -> bool:
        """Whether it has no noise."""
        return not self.cells and not self.totals

    @property
    def key(self) -> Hashable:
        """By what it is known: the same for the same sum."""
        return self.constant, frozenset(self.cells.items()), frozenset(self.totals.items())

    def times(self, factor: Fraction) -> Form:
        """So many of it."""
        if not factor:
            return Form()
        scaled = ({at: number * factor for at, number in part.items()} for part in (self.cells, self.totals))
        return Form(self.constant * factor, *scaled)  # type: ignore[arg-type]

    def plus(self, other: Form) -> Form:
        """Both together; what cancels is gone."""
        cells, totals = dict(self.cells), dict(self.totals)
        for at, number in other.cells.items():
            cells[at] = cells.get(at, Fraction(0)) + number
        for over, number in other.totals.items():
            totals[over] = totals.get(over, Fraction(0)) + number
        left = ({at: number for at, number in part.items() if number} for part in (cells, totals))
        return Form(self.constant + other.constant, *left)  # type: ignore[arg-type]

    def scaled(self) -> tuple[Form, Fraction]:
        """The same over a number, which is 1 unless doubles might not hold its largest weight; and that number."""
        sizes = [abs(number) for number in (self.constant, *self.cells.values(), *self.totals.values()) if number]
        most = max(sizes, default=Fraction(1))
        return (self, Fraction(1)) if 1 / LARGE <= most <= LARGE else (self.times(1 / most), most)

    def product(self, other: Form) -> Form | None:
        """None where both have noise: no form."""
        if self.is_constant:
            return other.times(self.constant)
        return self.times(other.constant) if other.is_constant else None


ONE = Form(Fraction(1))


@dataclass(frozen=True)
class Quotient:
    """One form over another; the other is 1 where nothing with noise is divided by."""

    over: Form
    under: Form = ONE

    @property
    def key(self) -> Hashable:
        """By what it is known."""
        return self.over.key, self.under.key

    @property
    def is_constant(self) -> bool:
        """Whether it has no noise."""
        return self.over.is_constant and self.under.is_constant

    def scaled(self) -> tuple[Quotient, Fraction]:
        """A quotient whose weights doubles hold, and how many times it this one is."""
        (over, above), (under, below) = self.over.scaled(), self.under.scaled()
        return Quotient(over, under), above / below

    def combined(self, sign: str, other: Quotient) -> Quotient | None:
        """The same arithmetic on forms, where that gives a quotient of forms; None where it does not."""
        a, b, c, d = self.over, self.under, other.over, other.under
        if sign in "+-":
            c = c if sign == "+" else c.times(Fraction(-1))
            if b.key == d.key:
                return _lowest(a.plus(c), b)
            left, right, below = a.product(d), c.product(b), b.product(d)
            return None if left is None or right is None or below is None else _lowest(left.plus(right), below)
        above, below = (a.product(c), b.product(d)) if sign == "*" else (a.product(d), b.product(c))
        return None if above is None or below is None else _lowest(above, below)


def _lowest(over: Form, under: Form) -> Quotient:
    """With 1 below where it is a constant; what is divided by zero is left to whoever asked."""
    if under.is_constant and under.constant:
        return Quotient(over.times(1 / under.constant))
    return Quotient(over, under)


@dataclass(frozen=True)
class Weights:
    """How two forms weigh the aggregates of each kind of row: rows that are named, and the others of each total, so many."""

    pairs: Mapping[tuple[str, Hashable], tuple[Fraction, Fraction]]  # by aggregate and kind of row
    times: Mapping[Hashable, int]  # rows of each kind
    constants: tuple[Fraction, Fraction]

    def limits(self, not_negative: Callable[[str], bool]) -> tuple[float, float]:
        """What the quotient of the truths keeps, where no truth is negative: between the least and the largest quotient of
        two weights, since a sum of parts over a sum of parts lies between the least and the largest of their quotients."""
        if not all(not_negative(name) for (name, _), (a, b) in self.pairs.items() if a or b):
            return -inf, inf
        return self.between(list(self.pairs.values()))

    def of_rows(self, rows: Callable[[tuple[str, ...]], Sequence[Mapping[str, Fraction]]]) -> list[tuple[Fraction, ...]]:
        """What the two forms gain by each row that `rows` lists for the aggregates of a kind of row."""
        names: dict[Hashable, list[str]] = {}
        for name, kind in self.pairs:
            names.setdefault(kind, []).append(name)
        return [
            tuple(sum((self.pairs[name, kind][at] * row[name] for name in several), start=Fraction(0)) for at in (0, 1))
            for kind, several in names.items()
            for row in rows(tuple(several))
        ]

    def between(self, gained: Sequence[tuple[Fraction, ...]]) -> tuple[float, float]:
        """The least and the largest quotient of what the two forms gain, and of their constants."""
        found = [(a, b) for a, b in (*gained, self.constants) if a or b]
        if all(b <= 0 for _, b in found):
            found = [(-a, -b) for a, b in found]
        if not found or any(b < 0 for _, b in found):
            return -inf, inf
        try:
            ends = [float(a / b) if b else (inf if a > 0 else -inf) for a, b in found]
        except OverflowError:  # beyond what doubles hold: no limit is a limit
            return -inf, inf
        return min(ends), max(ends)


def weights_of(
    quotient: Quotient, members: Callable[[Part], frozenset[int]], counted: Callable[..., Counter[object]]
) -> Weights:
    """The weights of the two forms; `members` are the rows of a part, `counted` the rows in each combination of parts."""
    forms = quotient.over, quotient.under
    parts = tuple(sorted({part for form in forms for _, part in form.totals}, key=repr))
    named = {row for form in forms for _, row in form.cells}
    signs: dict[int, tuple[bool, ...]] = {row: tuple(row in members(part) for part in parts) for row in named}
    times: dict[Hashable, int] = dict(counted(parts)) if parts else {}
    for sign in signs.values():
        if sign in times:
            times[sign] -= 1
    times = {kind: count for kind, count in times.items() if count > 0 and any(kind)}  # type: ignore[arg-type]
    times |= dict.fromkeys(named, 1)
    pairs: dict[tuple[str, Hashable], tuple[Fraction, Fraction]] = {}
    names = dict.fromkeys(name for form in forms for name, _ in (*form.cells, *form.totals))
    for name in names:
        for kind in times:
            sign = signs.get(kind, kind)  # type: ignore[call-overload]
            pair = [form.cells.get((name, kind), Fraction(0)) for form in forms] if kind in named else [Fraction(0)] * 2
            for at, form in enumerate(forms):
                own = (
                    form.totals.get((name, part), Fraction(0)) for part, inside in zip(parts, sign, strict=True) if inside
                )
                pair[at] += sum(own, start=Fraction(0))
            if any(pair):
                pairs[name, kind] = (pair[0], pair[1])
    return Weights(pairs, times, (forms[0].constant, forms[1].constant))
