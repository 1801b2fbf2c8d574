"""The words of SQL that Spark spells in its own way, beside the portable ones.

Spark is read in ANSI mode, where a cast that does not fit and a sum that overflows are errors: what is written here does not
get there. Three functions are traps. `floor` of a double is a whole number of 64 bits, 0 of NaN and an error of 1e300:
`rint` is total, and the floor is that or one less. `DIV` computes in decimals and cuts the quotient to 64 bits without a
word. A sum of whole numbers is one of 64 bits, which fails where it overflows.

Theorem (sums). Of fewer than 2^40 whole numbers x of 64 bits, `narrow_total` is the sum, and nothing overflows.
Legend. h = x >> 44, m = (x >> 22) mod 2^22, l = x mod 2^22.
Proof. x = h 2^44 + m 2^22 + l, also where x is negative: shifts round down. |h| <= 2^19, and m and l are below 2^22, so that
their sums are below 2^62: they fit into 64 bits. What is added up in the end is below 2^103 < 10^38. Where all |x| are below
2^23, their own sum is below 2^63.

Theorem (quotients). For whole numbers a, b > 0 below 10^38 in size with |a / b| < 10^32, `divide_wide` is a / b without its
fraction.
Proof. The remainder of decimals is exact and has the sign of a, so that a less it is a multiple of b, no larger than a. The
quotient of the two is whole: of the 38 digits of a quotient six are behind the point, and none of them is needed.

Wide whole numbers are decimals of 38 digits, which hold 2^126 < 10^38: the largest sum that is written, 2^20 groups of four
squares of 2^52 (`templates/clip.py`). There r <= 2^63 + 1, whose square is below 10^38 too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from string import ascii_lowercase, ascii_uppercase
from typing import ClassVar

from dither.query.engines.key_lists import KeyList
from dither.query.engines.words import LARGEST, SECONDS, SMALL, Words
from dither.query.plan.calendar_periods import Period, Unit
from dither.query.plan.expressions import Part
from dither.query.plan.functions import Spelling
from dither.query.plan.mathematics.elementary import ElementaryName
from dither.query.policy.column import Type

PARTS: Mapping[Part, str] = {
    "weekday": "dayofweek({}) - 1",  # the first day is Sunday, and 1
    "isodow": "weekday({}) + 1",  # the first day is Monday, and 0
    "doy": "dayofyear({})",
    "week": "weekofyear({})",
    "isoyear": "EXTRACT(YEAROFWEEK FROM {})",
}
LOW = 22  # bits of a part of a sum


class SparkWords(Words):
    """Spark has casts that give NULL where they would fail, and decimals of 38 digits."""

    types: ClassVar[Mapping[Type, str]] = {
        **Words.types, Type.DECIMAL: "DOUBLE", Type.FLOAT: "DOUBLE", Type.TEXT: "STRING", Type.TIMESTAMP: "TIMESTAMP_NTZ",
    }  # fmt: skip
    wide_type = "DECIMAL(38, 0)"
    salt: ClassVar[str] = ":salt"  # a parameter of the statement
    distributed: ClassVar[bool] = True

    def name(self, text: str) -> str:
        """Inside backticks only a backtick means anything."""
        return "`" + text.replace("`", "``") + "`"

    def text(self, value: str) -> str:
        """Inside single quotes a backslash escapes what follows, and a single quote ends it."""
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def narrow(self, sql: str) -> str:
        """NULL, should a proof not hold: no error would tell of it."""
        return f"TRY_CAST({sql} AS BIGINT)"

    def whole(self, sql: str) -> str:
        """NULL for NaN and beyond 64 bits; compared, since the cast takes 2^63 for the largest number below it."""
        return f"CASE WHEN {sql} >= -{LARGEST} AND {sql} < {LARGEST} THEN {self.narrow(sql)} END"

    def cell(self, sql: str, kind: Type) -> str:
        """NULL where it does not fit."""
        return f"TRY_CAST({sql} AS {self.types[kind]})"

    def binary(self, sql: str) -> str:
        """By bytes, whatever the session or the column says."""
        return f"{sql} COLLATE UTF8_BINARY"

    def sound(self, sql: str) -> str:
        """Files may hold texts that are not UTF-8."""
        return f"try_validate_utf8({sql})"

    def key_list(self, listed: KeyList) -> str:
        """A view of the session that reads."""
        return f"SELECT k FROM {self.name(key_view(listed))}"

    def part(self, part: Part, sql: str) -> str:
        """Every day and time of the years 1 to 9999 has it. Sunday is 0."""
        return self.narrow(f"({PARTS.get(part, f'{part}({{}})').format(sql)})")

    def start(self, period: Period, sql: str, kind: Type) -> str:
        """As a time with the zone of the session, which is UTC, and so without gaps."""
        return self.cast(f"date_trunc({self.text(period)}, {sql})", self.types[kind])

    def difference(self, unit: Unit, start: str, end: str) -> str:
        """Days, seconds and microseconds since 1970 fit into 64 bits."""
        if unit == "day":
            return self.narrow(f"datediff({end}, {start})")
        if unit == "microsecond":
            first, last = (f"unix_micros({self.cast(sql, 'TIMESTAMP')})" for sql in (start, end))
            return f"({last} - {first})"
        if unit in SECONDS:
            first, last = (
                f"unix_seconds({self.cast(f'date_trunc({self.text(unit)}, {sql})', 'TIMESTAMP')})" for sql in (start, end)
            )
            return f"(({last} - {first}) DIV {SECONDS[unit]})"
        return super().difference(unit, start, end)

    def change(self, how: Spelling, sql: str) -> str:
        """Capital and small letters of ASCII: others have rules of their own on every engine."""
        letters = {"upper": (ascii_lowercase, ascii_uppercase), "lower": (ascii_uppercase, ascii_lowercase)}.get(how)
        if letters is None:
            return super().change(how, sql)
        return f"translate({sql}, {self.text(letters[0])}, {self.text(letters[1])})"

    def floor(self, sql: str) -> str:
        return f"(rint({sql}) - CASE WHEN rint({sql}) > {sql} THEN {self.number(1.0)} ELSE {self.number(0.0)} END)"

    def ceil(self, sql: str) -> str:
        return f"(rint({sql}) + CASE WHEN rint({sql}) < {sql} THEN {self.number(1.0)} ELSE {self.number(0.0)} END)"

    def trunc(self, sql: str) -> str:
        return f"(sign({sql}) * {self.floor(f'abs({sql})')})"

    def round(self, sql: str, digits: int) -> str:
        """To so many digits, halves away from zero: `rint` takes them to the even side. What it leaves is exact, so that no
        half is missed. Infinities, and what is too large, stay as they are."""
        power = self.number(Fraction(10) ** abs(digits))
        there, back = ("*", "/") if digits >= 0 else ("/", "*")
        size = f"(abs({sql}) {there} {power})"
        half = f"CASE WHEN {size} - rint({size}) = {self.number(0.5)} THEN {self.number(1.0)} ELSE {self.number(0.0)} END"
        large = self.number(1e290)
        return f"(CASE WHEN abs({sql}) < {large} THEN sign({sql}) * ((rint({size}) + {half}) {back} {power}) ELSE {sql} END)"

    def elementary(self, name: ElementaryName, sql: str) -> str:
        return f"{name}({sql})"

    def divide(self, sql: str, by: str) -> str:
        """Towards zero; the quotient is proved to fit into 64 bits."""
        return f"({sql} DIV {by})"

    def divide_wide(self, sql: str, by: str) -> str:
        """By the remainder: `DIV` would cut the quotient to 64 bits."""
        of, divisor = self.wide(sql), self.wide(by)
        return self.wide(f"(({of} - {of} % {divisor}) / {divisor})")

    def narrow_total(self, sql: str, over: str = "", most: int | None = None) -> str:
        """In three parts of 64 bits, far faster than decimals; in one, where that is known to do. NULL of none."""
        if most is not None and most < SMALL:
            return f"sum({sql}){over}"
        mask = 2**LOW - 1
        parts = [f"shiftright({sql}, {2 * LOW})", f"(shiftright({sql}, {LOW}) & {mask})", f"({sql} & {mask})"]
        high, middle, low = (f"sum({part}){over}" for part in parts)
        return f"({self.wide(high)} * {2 ** (2 * LOW)} + {self.wide(middle)} * {2**LOW} + {low})"

    def order(self, salt: int | str, columns: Sequence[str]) -> str:
        """A hash of 64 bits has a value for everything."""
        return f"xxhash64({salt}, {', '.join(columns)})"


def key_view(listed: KeyList) -> str:
    """The view that holds a list of keys."""
    return f"dither_keys_{listed.name.replace(' ', '_')}"


SPARK = SparkWords()
