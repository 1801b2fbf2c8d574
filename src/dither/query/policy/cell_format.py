"""How cells are written that are stored as text: decimal commas, formats of dates, words for true, false and missing.

Stated for a column, or for all columns of a table; what a column says goes before what its table says, and words for missing
are added. Columns that say whose a row is are read as they are written, but for words that say missing: of '1.000' and
'1000' a number would make one person.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dither.errors import PolicyError
from dither.query.policy.date_format import DateFormat, read_date_format
from dither.query.policy.fact import Fact

DECIMALS = (".", ",")
THOUSANDS = (".", ",", "'", " ", "\N{RIGHT SINGLE QUOTATION MARK}", "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}")
NUMBER_FACTS = ("decimal", "thousands")
COLUMN_FACTS = ("format", "true", "false", "null", *NUMBER_FACTS)
MOST_WORDS, LONGEST_WORD = 100, 100


@dataclass(frozen=True)
class CellFormat:
    """How the cells of a column are written. The empty one: numbers, dates and truth values as the engine reads them."""

    decimal: str | None = None
    thousands: str | None = None
    date: DateFormat | None = None
    true: tuple[str, ...] = ()
    false: tuple[str, ...] = ()
    null: tuple[str, ...] = ()  # beside the empty cell

    @property
    def number(self) -> tuple[str, str] | None:
        """Decimal sign and thousands mark, '' for none; None where numbers are read by the engine."""
        return None if self.decimal is None and self.thousands is None else (self.decimal or ".", self.thousands or "")

    def stated(self) -> dict[str, Any]:
        """What was stated, as a policy states it; for its hash."""
        facts = {"decimal": self.decimal, "thousands": self.thousands, "format": self.date and self.date.text}
        words = {"true": list(self.true), "false": list(self.false), "null": list(self.null)}
        return {name: fact for name, fact in {**facts, **words}.items() if fact}

    def describe(self) -> str:
        """How dates and truth values are written, in a few words; '' where nothing is stated."""
        said = [] if self.date is None else [f"written {self.date.text}"]
        words = [(self.true, "true"), (self.false, "false")]
        return ", ".join([*said, *(f"{' or '.join(map(repr, these[:3]))} is {what}" for these, what in words if these)])


def read_cell_format(stated: Mapping[str, Any], kind: str, of_table: CellFormat, where: str) -> CellFormat:
    """The format of a column of a type, from its own words and those of its table."""
    is_number, is_date = kind in ("integer", "decimal", "float"), kind in ("date", "timestamp")
    facts = {"format": is_date, "true": kind == "boolean", "false": kind == "boolean"} | dict.fromkeys(
        NUMBER_FACTS, is_number
    )
    for fact, fits in facts.items():
        if fact in stated and not fits:
            raise PolicyError(
                f"{where}.{fact}", stated[fact], f"a {kind} column has none", "leaving it out, or another type"
            )
    decimal, thousands = read_number_format(stated, of_table if is_number else CellFormat(), where)
    date = None
    if "format" in stated:
        date = read_date_format(stated["format"], f"{where}.format", time=kind == "timestamp")
    true, false = (read_words(stated.get(fact, []), f"{where}.{fact}") for fact in ("true", "false"))
    null = tuple(dict.fromkeys((*of_table.null, *read_words(stated.get("null", []), f"{where}.null"))))
    if bool(true) != bool(false):
        given, missing = ("true", "false") if true else ("false", "true")
        why = f"words for {missing} belong beside it: a cell that is neither is missing"
        raise PolicyError(f"{where}.{given}", list(true or false), why, 'true = ["ja"], false = ["nein"]')
    for word in {*true, *false}:
        if [word in words for words in (true, false, null)].count(True) > 1:
            raise PolicyError(where, word, "one word has two meanings", 'true = ["ja"], false = ["nein"], null = ["?"]')
    return CellFormat(decimal, thousands, date, true, false, null)


def read_number_format(stated: Mapping[str, Any], otherwise: CellFormat, where: str) -> tuple[str | None, str | None]:
    """Decimal sign and thousands mark."""
    decimal, thousands = stated.get("decimal", otherwise.decimal), stated.get("thousands", otherwise.thousands)
    if decimal is not None and decimal not in DECIMALS:
        raise PolicyError(f"{where}.decimal", decimal, "it is no decimal sign", '"," or "."')
    if thousands is not None and thousands not in THOUSANDS:
        raise PolicyError(f"{where}.thousands", thousands, "it is no thousands mark", """ ".", ",", "'" or " " """.strip())
    if thousands is not None and thousands == (decimal or "."):
        instead = """decimal = "," beside thousands = ".", or the other way round"""
        raise PolicyError(f"{where}.thousands", thousands, "it is the decimal sign as well", instead)
    return decimal, thousands


def read_words(stated: Fact, where: str) -> tuple[str, ...]:
    """Words that stand for a value."""
    listed = isinstance(stated, (list, tuple)) and len(stated) <= MOST_WORDS
    if not listed or not all(isinstance(word, str) and 0 < len(word) <= LONGEST_WORD for word in stated):  # type: ignore[union-attr]
        why = f"it lists at most {MOST_WORDS} words of 1 to {LONGEST_WORD} characters"
        raise PolicyError(where, stated, why, '["NA", "-"]; the empty cell is missing anyway')
    assert isinstance(stated, (list, tuple))
    for word in stated:
        if any("\ud800" <= sign <= "\udfff" for sign in word):
            raise PolicyError(where, word, "it holds half a character (a lone surrogate)", "text that can be encoded")
        if word != word.strip(" "):
            raise PolicyError(
                where, word, "blanks around a cell are left out before words are compared", f'"{word.strip()}"'
            )
    return tuple(dict.fromkeys(stated))
