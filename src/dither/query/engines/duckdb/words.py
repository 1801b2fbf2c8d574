"""The words of SQL that DuckDB spells in its own way, beside the portable ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from dither.query.engines.words import WHOLE, Words
from dither.query.plan.calendar_periods import Period, Unit
from dither.query.plan.expressions import Part
from dither.query.plan.mathematics.elementary import ElementaryName
from dither.query.policy.column import Type


class DuckDBWords(Words):
    """DuckDB has casts that give NULL where they would fail, TRY around whole expressions, and integers of 128 bits."""

    types: ClassVar[Mapping[Type, str]] = {**Words.types, Type.DECIMAL: "DOUBLE", Type.FLOAT: "DOUBLE"}
    wide_type = "HUGEINT"
    salt: ClassVar[str] = "getvariable('salt')"  # as the run of a SELECT knows it

    def cast(self, sql: str, to: str) -> str:
        return f"{sql}::{to}"

    def integer(self, value: int) -> str:
        return self.cast(str(value), self.types[Type.INTEGER]) if value >= 0 else super().integer(value)

    def narrow(self, sql: str) -> str:
        """NULL, should a proof not hold: no error would tell of it."""
        return self.whole(sql)

    def whole(self, sql: str) -> str:
        """NULL for NaN and beyond 64 bits."""
        return f"TRY_CAST({sql} AS BIGINT)"

    def cell(self, sql: str, kind: Type) -> str:
        """NULL where it does not fit."""
        return f"TRY_CAST({sql} AS {self.types[kind]})"

    def is_whole(self, sql: str) -> str:
        """By RE2, in time linear in the length; whatever is stored has a text."""
        return f"regexp_full_match({self.cast(sql, self.types[Type.TEXT])}, {self.text(WHOLE)})"

    def binary(self, sql: str) -> str:
        """A column of a DuckDB file may say that a is A."""
        return f'{sql} COLLATE "binary"'

    def sound(self, sql: str) -> str:
        """A frame in memory may hold texts that are not UTF-8, on which functions fail: decoding fails first, inside TRY."""
        return f"TRY(decode(encode({sql})))"

    def key(self, sql: str, options: Sequence[str]) -> str:
        """An ENUM takes a byte or two wherever it goes."""
        return f"TRY_CAST({sql} AS ENUM({', '.join(options)}))"

    def part(self, part: Part, sql: str) -> str:
        """NULL for infinities."""
        return f"date_part({self.text('dow' if part == 'weekday' else part)}, {sql})"

    def start(self, period: Period, sql: str, kind: Type) -> str:
        """Beyond the years that a timestamp has, DuckDB fails: missing."""
        return f"TRY_CAST(TRY(date_trunc({self.text(period)}, {sql})) AS {self.types[kind]})"

    def difference(self, unit: Unit, start: str, end: str) -> str:
        """Of the years 1 to 9999 every difference fits into 64 bits. NULL, should a proof not hold."""
        return f"TRY(date_diff({self.text(unit)}, {start}, {end}))"

    def like(self, sql: str, pattern: str) -> str:
        """Nothing escapes unless one says so."""
        return f"({sql} LIKE {self.text(pattern)})"

    def round(self, sql: str, digits: int) -> str:
        """Every double has a rounded one."""
        return f"round({sql}, {digits})"

    def elementary(self, name: ElementaryName, sql: str) -> str:
        return f"{name}({sql})"

    def remainder(self, sql: str, by: str) -> str:
        return f"({sql} % {by})"

    def divide(self, sql: str, by: str) -> str:
        """Towards zero, in 64 or 128 bits."""
        return f"({sql} // {by})"

    def total(self, sql: str) -> str:
        """A sum of BIGINTs is a HUGEINT."""
        return f"sum({sql})"

    def order(self, salt: int | str, columns: Sequence[str]) -> str:
        """A hash of 64 bits has a value for everything, NULL too."""
        return f"hash({salt}::UBIGINT, {', '.join(columns)})"

    def materialized(self, name: str, select: str) -> str:
        return f"{name} AS MATERIALIZED ({select})"

    def inline(self, name: str, select: str) -> str:
        return f"{name} AS NOT MATERIALIZED ({select})"


DUCKDB = DuckDBWords()
