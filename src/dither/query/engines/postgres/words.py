"""The words of SQL that PostgreSQL spells in its own way, beside the portable ones.

PostgreSQL fails where a double overflows or underflows, and where a cast does not fit: what is compared before it is
computed does not get there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import ClassVar

from dither.query.engines.key_lists import KeyList
from dither.query.engines.words import Words
from dither.query.plan.functions import Spelling
from dither.query.policy.column import Type

LONGEST_NAME = 63  # bytes: of longer names PostgreSQL reads the beginning, and two may become one
SMALL, LARGE = "1e-290", "1e290"  # doubles below are taken for zero where they are rounded, and above as they are


def setting(listed: KeyList) -> str:
    """The setting that holds a list of keys."""
    return f"dither.keys_{listed.name.replace(' ', '_')}"


class PostgresWords(Words):
    """PostgreSQL has numbers of any length, and no cast that gives NULL where it would fail."""

    types: ClassVar[Mapping[Type, str]] = {**Words.types, Type.TEXT: "text"}
    wide_type = "numeric"
    salt: ClassVar[str] = "current_setting('dither.salt')"  # as the run of a SELECT knows it

    def name(self, text: str) -> str:
        """A name of ours that is too long goes by its hash; columns of tables never are."""
        if len(text.encode()) > LONGEST_NAME:
            text = f"name {hashlib.sha256(text.encode()).hexdigest()[:40]}"
        return super().name(text)

    def key_list(self, listed: KeyList) -> str:
        """From a setting of the transaction, as an array. The SELECT within keeps the planner from looking at its length:
        a list that it thinks too long for a hash table would be gone through for every row."""
        held = f"current_setting({self.text(setting(listed))})"
        return f"SELECT unnest((SELECT {self.cast(held, f'{self.types[listed.type]}[]')}))"

    def round(self, sql: str, digits: int) -> str:
        """To so many digits, halves away from zero. A double less its floor is exact, so that no half is missed."""
        power = self.number(Fraction(10) ** abs(digits))
        there, back = ("*", "/") if digits >= 0 else ("/", "*")
        size = f"(abs({sql}) {there} {power})"
        rounded = f"(floor({size}) + CASE WHEN {size} - floor({size}) >= 0.5 THEN 1 ELSE 0 END) {back} {power}"
        large = f"WHEN abs({sql}) < {LARGE} THEN sign({sql}) * {rounded} ELSE {sql}"
        return f"(CASE WHEN abs({sql}) < {SMALL} THEN {self.number(0.0)} {large} END)"

    def change(self, how: Spelling, sql: str) -> str:
        """Capital and small letters of ASCII: others have rules of their own on every engine."""
        return f'{how}({sql} COLLATE "C")'

    def narrow_total(self, sql: str, over: str = "", most: int | None = None) -> str:
        """A sum of bigints is a numeric, and is kept in 128 bits until then; numerics are added digit by digit."""
        return f"sum({self.narrow(sql)}){over}"

    def order(self, salt: int | str, columns: Sequence[str]) -> str:
        """A hash of 64 bits, keyed by the salt; every value has a text."""
        texts = ", ".join(self.cast(part, self.types[Type.TEXT]) for part in columns)
        return f"hashtextextended(concat_ws(':', {texts}) COLLATE \"C\", {self.cast(str(salt), 'bigint')})"

    def materialized(self, name: str, select: str) -> str:
        return f"{name} AS MATERIALIZED ({select})"

    def computed_once(self, select: str) -> str:
        """PostgreSQL writes what a column stands for wherever it is used, unless OFFSET says how many rows to leave out."""
        return f"{select} OFFSET 0"

    def inline(self, name: str, select: str) -> str:
        return f"{name} AS NOT MATERIALIZED ({select})"


POSTGRES = PostgresWords()
