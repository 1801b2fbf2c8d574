"""The words of SQL that engines spell differently: the portable spelling of each, with the reason why it is total.

A template (`engines/templates/`) writes what runs on rows out of these words and of SQL that means the same everywhere:
SELECT, CASE, comparisons, coalesce, nullif, count, min, max, abs, length, substring, right, and windows: row_number, rank,
dense_rank, lag, lead, first_value, last_value, nth_value. An engine is a class of words of its own, beside what runs it, and
says only what it spells otherwise. *Total*: whatever a row holds, there is a value or NULL, never an error, since an error
would tell of the row.

What a word gets stands on its own: a name, a call, a CASE ... END, or something in parentheses. What it gives does, too.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import count
from typing import ClassVar, Self

from dither.query.engines.key_lists import KeyList, KeyLists
from dither.query.plan.calendar_periods import Period, Unit
from dither.query.plan.expressions import Part
from dither.query.plan.functions import Spelling
from dither.query.plan.mathematics.elementary import ElementaryName
from dither.query.policy.column import Key, Type
from dither.query.sources import sql_quotes

WHOLE = "0|-?[1-9][0-9]*"  # the one spelling of a whole number
LARGEST, SMALL = 2**63, 2**23  # fewer than 2^40 small numbers add up to less than the largest
LARGE = 2.0**100  # the largest and, turned over, the smallest number that arithmetic gets from a cell
SECONDS: dict[Unit, int] = {"hour": 3600, "minute": 60, "second": 1}


class Words:
    """The portable spelling."""

    types: ClassVar[Mapping[Type, str]] = {
        Type.INTEGER: "BIGINT", Type.DECIMAL: "DOUBLE PRECISION", Type.FLOAT: "DOUBLE PRECISION", Type.TEXT: "VARCHAR",
        Type.BOOLEAN: "BOOLEAN", Type.DATE: "DATE", Type.TIMESTAMP: "TIMESTAMP",
    }  # fmt: skip
    wide_type: ClassVar[str] = "NUMERIC(38)"
    salt: ClassVar[str] = "0"  # as the run of a SELECT knows it
    distributed: ClassVar[bool] = False  # whether rows are on many machines: totals are sent about, not rows

    def __init__(self, *, cuts: bool = False, lists: KeyLists | None = None) -> None:
        self._cuts, self._lists = cuts, lists

    def with_lists(self, lists: KeyLists | None) -> Self:
        """The same words, with a place for lists of keys that are too long to be written."""
        return type(self)(cuts=self._cuts, lists=lists)

    @cached_property
    def operands(self) -> Self:
        """The same words for arithmetic: cells so large or small that some engines would fail are cut, on all alike."""
        return type(self)(cuts=True, lists=self._lists)

    # -- names and constants: none depends on a row; what the engine cannot read is refused when the SELECT is rehearsed

    def name(self, text: str) -> str:
        """A name, quoted: what stands inside means nothing else."""
        return sql_quotes.name(text)

    def text(self, value: str) -> str:
        """A text, quoted: inside single quotes only a single quote means anything."""
        return sql_quotes.text(value)

    def integer(self, value: int) -> str:
        """A whole number of 64 bits; quoted, since an unquoted minus comes after the cast, and -2^63 fails."""
        return self.cast(self.text(str(value)), self.types[Type.INTEGER])

    def number(self, value: Fraction | float) -> str:
        """The double nearest to a rational; also an infinity, and NaN."""
        try:
            found = value if isinstance(value, float) else value.numerator / value.denominator
        except OverflowError:
            found = float("inf") if value > 0 else float("-inf")
        return self.cast(self.text(repr(found)), self.types[Type.FLOAT])

    def constant(self, value: object) -> str:
        """A value that was written in a question or a policy."""
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, int):
            return self.integer(value)
        if isinstance(value, Fraction):
            whole = value.denominator == 1 and -LARGEST <= value < LARGEST
            return self.integer(value.numerator) if whole else self.number(value)
        if isinstance(value, datetime.datetime):
            return self.cast(self.text(value.isoformat(sep=" ")), self.types[Type.TIMESTAMP])
        if isinstance(value, datetime.date):
            return self.cast(self.text(value.isoformat()), self.types[Type.DATE])
        assert isinstance(value, str)
        return self.text(value)

    # -- casts

    def cast(self, sql: str, to: str) -> str:
        """A cast that cannot fail: of a constant, or of a value that is proved to fit."""
        return f"CAST({sql} AS {to})"

    def double(self, sql: str) -> str:
        """A number as a double: every whole number has a nearest one."""
        return self.cast(sql, self.types[Type.FLOAT])

    def wide(self, sql: str) -> str:
        """A whole number in the widest integers, which hold every sum that is written (`templates/totals.py`)."""
        return self.cast(sql, self.wide_type)

    def narrow(self, sql: str) -> str:
        """A wide whole number that is proved to fit, in 64 bits."""
        return self.cast(sql, self.types[Type.INTEGER])

    def whole(self, sql: str) -> str:
        """A number without a fraction in 64 bits; NULL beyond, and for NaN: compared before it is cast."""
        return f"CASE WHEN {sql} >= -{LARGEST} AND {sql} < {LARGEST} THEN {self.narrow(sql)} END"

    # -- cells

    def cell(self, sql: str, kind: Type) -> str:
        """A cell as its type; NULL where it does not fit. By a plain cast: for columns that are stored as what the policy
        says; without a cast that tries, all others are for the engine to refuse before the charge."""
        return self.cast(sql, self.types[kind])

    def real(self, sql: str) -> str:
        """A double that is a number or an infinity; NULL for NaN, which equals itself. As an operand, of a size that
        doubles can compute with, zero, or an infinity."""
        found = f"nullif({sql}, {self.number(float('nan'))})"
        if not self._cuts:
            return found
        large, small, infinite = (self.number(size) for size in (LARGE, 1 / LARGE, float("inf")))
        big = f"WHEN abs({sql}) > {large} AND abs({sql}) < {infinite} THEN sign({sql}) * {large}"
        return f"CASE {big} WHEN abs({sql}) < {small} THEN {self.number(0.0)} ELSE {found} END"

    def is_real(self, sql: str) -> str:
        """Whether a double is a number or an infinity; NaN is above them."""
        return f"({sql} <= {self.number(float('inf'))})"

    def one_zero(self, sql: str) -> str:
        """A double with one zero: -0.0 and 0.0 are equal and yet two values, -0.0 + 0.0 is 0.0. No sum with zero fails."""
        return f"({sql} + {self.number(0.0)})"

    def is_whole(self, sql: str) -> str:
        """Whether a text spells a whole number in the one way: of '7', '007' and '6.9' a cast would make one."""
        return f"({sql} SIMILAR TO {self.text(WHOLE)})"

    def binary(self, sql: str) -> str:
        """A text that is compared by its bytes, whatever its column says."""
        return f'{sql} COLLATE "C"'

    def sound(self, sql: str) -> str:
        """A text that functions can take; NULL where its bytes are no text. As it is: where such cannot be stored."""
        return sql

    def among(self, sql: str, keys: Sequence[Key]) -> str:
        """Whether a value is one of these keys; a long list stands beside the SELECT (`engines/key_lists.py`)."""
        listed = None if self._lists is None else self._lists.add(keys)
        if listed is None:
            return f"{sql} IN ({', '.join(self.constant(key) for key in keys)})"
        return f"{sql} IN ({self.key_list(listed)})"

    def is_listed(self, keys: Sequence[Key]) -> bool:
        """Whether a list of keys stands beside the SELECT."""
        return self._lists is not None and self._lists.add(keys) is not None

    def key_list(self, listed: KeyList) -> str:
        """A SELECT of the keys of a list, as the run of a SELECT knows them."""
        return f"SELECT k FROM {self.name(f'declared keys, {listed.name}')}"

    def key(self, sql: str, options: Sequence[str]) -> str:
        """A text that is one of these constants, or NULL, in as little room as there is."""
        return sql

    # -- functions of a row

    def part(self, part: Part, sql: str) -> str:
        """A part of a day or a time, as a whole number; every one from the year 1 to 9999 has it. Sunday is 0."""
        return self.narrow(self.floor(f"EXTRACT({'DOW' if part == 'weekday' else part.upper()} FROM {sql})"))

    def start(self, period: Period, sql: str, kind: Type) -> str:
        """The start of a period: at most a year earlier, and never before the year 1, which starts on a Monday."""
        of = self.cast(sql, self.types[Type.TIMESTAMP])  # without a zone
        return self.cast(f"date_trunc({self.text(period)}, {of})", self.types[kind])

    def later(self, sql: str, months: int, days: int, microseconds: int) -> str:
        """A timestamp so much later, by a constant of at most 30,000 years: engines have timestamps of 290,000 years."""
        interval = self.cast(self.text(f"{months} months {days} days {microseconds} microseconds"), "INTERVAL")
        return f"({sql} + {interval})"

    def difference(self, unit: Unit, start: str, end: str) -> str:
        """How many starts of a unit lie between two times of the years 1 to 9999: of whole numbers, which fit 64 bits."""
        if unit == "day":
            first, last = (self.cast(sql, self.types[Type.DATE]) for sql in (start, end))
            return self.narrow(f"({last} - {first})")
        if unit == "microsecond":  # those of the minute are below 2^26
            first, last = (self.narrow(f"EXTRACT(MICROSECONDS FROM {sql})") for sql in (start, end))
            return f"({self.difference('minute', start, end)} * 60000000 + {last} - {first})"
        if unit in SECONDS:
            first, last = (f"EXTRACT(EPOCH FROM {self.start(unit, sql, Type.TIMESTAMP)})" for sql in (start, end))
            return self.narrow(f"(({last} - {first}) / {SECONDS[unit]})")
        per_year = {"year": 0, "quarter": 4, "month": 12}[unit]
        found = []
        for sql in (end, start):
            year = self.part("year", sql)
            found.append(f"({year} * {per_year} + {self.part(unit, sql)})" if per_year else year)
        return f"({found[0]} - {found[1]})"

    def like(self, sql: str, pattern: str) -> str:
        """Whether a text looks like a constant pattern, in which only % and _ mean anything: it lacks the escape sign."""
        lacks = next(chr(code) for code in count(33) if chr(code) not in f"{pattern}%_'\\")
        return f"({sql} LIKE {self.text(pattern)} ESCAPE {self.text(lacks)})"

    def left(self, sql: str, length: int) -> str:
        """The first so many characters of a text; a shorter one as it is."""
        return f"left({sql}, {length})"

    def change(self, how: Spelling, sql: str) -> str:
        """A sound text in capital or small letters, or without the blanks around it."""
        return f"{how}({sql})"

    def greatest(self, parts: Sequence[str]) -> str:
        """The largest of the values that are there; NaN is above all."""
        return f"greatest({', '.join(parts)})"

    def least(self, parts: Sequence[str]) -> str:
        """The least of the values that are there."""
        return f"least({', '.join(parts)})"

    def floor(self, sql: str) -> str:
        """The whole number below, as a double, of every double."""
        return f"floor({sql})"

    def ceil(self, sql: str) -> str:
        """The whole number above, as a double, of every double."""
        return f"ceil({sql})"

    def round(self, sql: str, digits: int) -> str:
        """A double to so many digits, halves away from zero; the power of ten is a constant."""
        power = self.number(Fraction(10) ** digits)
        return f"(sign({sql}) * {self.floor(f'(abs({sql}) * {power} + 0.5)')} / {power})"

    def trunc(self, sql: str) -> str:
        """The whole number next to a double on the side of zero, as a double."""
        return f"trunc({sql})"

    def elementary(self, name: ElementaryName, sql: str) -> str:
        """A logarithm, a root or an exponential of a double that has one. A function of the number alone, wherever it is."""
        return f"(ln({sql}) / {self.number(math.log(2))})" if name == "log2" else f"{name}({sql})"

    def power(self, sql: str, exponent: Fraction) -> str:
        """A double to the power of a constant; it has one, and it is a double. A function of the number alone."""
        return f"power({sql}, {self.number(exponent)})"

    def remainder(self, sql: str, by: str) -> str:
        """What a positive constant leaves of a whole number of 64 bits, with its sign."""
        return f"mod({sql}, {by})"

    def divide(self, sql: str, by: str) -> str:
        """Whole numbers divided, towards zero; the divisor is a positive constant, or a count of rows that are there."""
        return f"div({sql}, {by})"

    def divide_wide(self, sql: str, by: str) -> str:
        """The same of wide whole numbers, where the quotient need not fit into 64 bits."""
        return self.divide(sql, by)

    # -- totals

    def total(self, sql: str) -> str:
        """A sum of whole numbers, wide: as many rows as there are cannot overflow it; NULL of none."""
        return f"sum({self.wide(sql)})"

    def narrow_total(self, sql: str, over: str = "", most: int | None = None) -> str:
        """The same of whole numbers of 64 bits, at most so large, if known; some are faster at it. `over`: as a window."""
        return f"{self.total(sql)}{over}"

    def collected(self, sql: str) -> str:
        """All values of a group as one list, in any order; NULL of none."""
        return f"array_agg({sql})"

    def order(self, salt: int | str, columns: Sequence[str]) -> str:
        """By what a person's groups are chosen: a function of salt, person and group alone. Every value has a text."""
        texts = ", ".join(self.cast(str(part), self.types[Type.TEXT]) for part in (salt, *columns))
        return f"md5(concat_ws(':', {texts}))"

    def sort_item(self, sql: str, *, descending: bool = False, nulls_first: bool = False) -> str:
        """By what rows are sorted, with the direction and the place of NULL spelled out, whatever an engine is set to."""
        return f"{sql} {'DESC' if descending else 'ASC'} NULLS {'FIRST' if nulls_first else 'LAST'}"

    def materialized(self, name: str, select: str) -> str:
        """A SELECT within WITH that is read twice, computed once where the engine can; of content alone: twice the same."""
        return f"{name} AS ({select})"

    def computed_once(self, select: str) -> str:
        """A SELECT whose columns are computed once a row, however often they are used outside, where an engine would not."""
        return select

    def inline(self, name: str, select: str) -> str:
        """A SELECT within WITH that is read as if it stood there."""
        return f"{name} AS ({select})"
