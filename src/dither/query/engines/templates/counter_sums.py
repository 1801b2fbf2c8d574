"""Sums of counters as SQL, from what is read of rows: a template for each class of `plan/counters.py`.

A column x holds what is read of an expression: its steps from zero or from its lower bound, or only whether it is there;
NULL where it has no value. With n rows, c values, s the sum of x and z that of its squares:

    RowCounter       n                   AboveSquare      z
    ValueCounter     c                   CrossProduct     2 (G s - z)
    StepCounter      s                   BelowSquare      G^2 c - 2 G s + z
    AboveCounter     s                   MissingSquare    G^2 (n - c)
    BelowCounter     G c - s
    MissingCounter   G (n - c)

A person is one, whatever her rows are; where each row is a person, n. Of people who meet a condition, x is there where a row
meets it: one where c is above zero; where each row is a person, c.

Different values are counted of x, the value itself. What is equal must be one value to grouping, order and hash alike, so
that which values are chosen of a person is a function of what she has: texts are compared by their bytes, the two zeros of
doubles are made one, and NaN is no value, as in COUNT(x). Pairs of values: `templates/pair_sums.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from dither.query.engines.templates.counters import clamped, counted, holds_integers
from dither.query.engines.templates.expressions import is_there, render, value
from dither.query.engines.templates.pair_sums import pair_steps, pair_sum, read_pair
from dither.query.engines.words import Words
from dither.query.plan.counters import (
    AboveCounter,
    AboveSquare,
    BelowCounter,
    BelowSquare,
    Counter,
    CrossProduct,
    DistinctCounter,
    MissingCounter,
    MissingSquare,
    PersonCounter,
    RowCounter,
    StepCounter,
    ValueCounter,
)
from dither.query.plan.mathematics.pair_counters import PairCounter, PairValues
from dither.query.policy.column import Type


@dataclass(frozen=True)
class Sums:
    """What is known of the rows of a group, as SQL."""

    words: Words
    counter: Counter
    n: str  # how many rows
    alone: bool  # whether each row is a person
    x: str  # what was read of a row
    count: str  # how many rows have it; `{}` stands for it
    added: str  # its sum

    @property
    def c(self) -> str:
        """How many values."""
        return self.count.replace("{}", self.x)

    @property
    def s(self) -> str:
        """The sum of steps."""
        return self.added.replace("{}", self.x)

    @property
    def z(self) -> str:
        """The sum of squares of steps."""
        return self.added.replace("{}", f"({self.x} * {self.x})")

    @property
    def persons(self) -> str:
        """How many people: one, unless each row is one; or those who meet the condition."""
        if self.counter.of is None:
            return self.n if self.alone else self.words.wide("1")
        return (
            self.c if self.alone else f"CASE WHEN {self.c} > 0 THEN {self.words.wide('1')} ELSE {self.words.wide('0')} END"
        )

    @property
    def steps(self) -> str:
        """G."""
        return self.words.wide(str(self.counter.steps))

    @property
    def squared(self) -> str:
        """G^2."""
        return self.words.wide(str(self.counter.steps**2))

    @property
    def two(self) -> str:
        return self.words.wide("2")


def read_value(words: Words, base: Counter, place: int) -> list[str]:
    """The value e of a row and its steps k, before the clamp."""
    if isinstance(base, PairValues):
        return read_pair(words, base, place)
    if isinstance(base, (ValueCounter, DistinctCounter)):
        return [f"{render(words, base.values)} AS e{place}"]
    e = value(words, base)
    return [f"{e} AS e{place}", f"{counted(words, base, e)} AS k{place}"]


def read_steps(words: Words, base: Counter, place: int) -> str:
    """What is added up of a row: x, or NULL."""
    if isinstance(base, PairValues):
        return pair_steps(words, base, place)
    if isinstance(base, DistinctCounter):
        there, value = is_there(words, base.values, f"e{place}"), _one_spelling(words, base, f"e{place}")
        return f"CASE WHEN {there} THEN {value} END AS x{place}"
    if isinstance(base, ValueCounter):
        return f"CASE WHEN {is_there(words, base.values, f'e{place}')} THEN {words.integer(1)} END AS x{place}"
    return f"{clamped(words, base, f'e{place}', f'k{place}')} AS x{place}"


def _one_spelling(words: Words, base: Counter, e: str) -> str:
    """A value such that equal ones are the same."""
    if base.values.facts.type is Type.TEXT:
        return words.binary(e)
    zero = words.number(0.0)
    doubles = base.values.facts.type.is_number and not holds_integers(base.values)
    return f"CASE WHEN {words.double(e)} = {zero} THEN {zero} ELSE {words.double(e)} END" if doubles else e


def counter_sum(of: Sums) -> str:
    """The sum of a counter over the rows of a group."""
    return SUMS[type(of.counter)](of)


SUMS: dict[type[Counter], Callable[[Sums], str]] = {
    RowCounter: lambda of: of.n,
    PersonCounter: lambda of: of.persons,
    ValueCounter: lambda of: of.c,
    DistinctCounter: lambda of: f"count(DISTINCT {of.x})",
    StepCounter: lambda of: of.s,
    AboveCounter: lambda of: of.s,
    BelowCounter: lambda of: f"{of.steps} * {of.c} - {of.s}",
    MissingCounter: lambda of: f"{of.steps} * ({of.n} - {of.c})",
    AboveSquare: lambda of: of.z,
    CrossProduct: lambda of: f"{of.two} * ({of.steps} * {of.s} - {of.z})",
    BelowSquare: lambda of: f"{of.squared} * {of.c} - {of.two} * {of.steps} * {of.s} + {of.z}",
    MissingSquare: lambda of: f"{of.squared} * ({of.n} - {of.c})",
    PairCounter: lambda of: pair_sum(of.words, cast(PairCounter, of.counter), of.x, of.count, of.added),
}
