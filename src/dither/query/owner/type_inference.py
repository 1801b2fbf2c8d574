"""The type of a column in text, and how its cells are written, recognised from some of them. For the owner alone.

A few cells may be anything: what at least 19 of 20 are is taken. Words for missing are looked for in columns that are
otherwise numbers, dates or truth values; in a text, 'unknown' may be an answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dither.query.policy.column import Type
from dither.query.policy.date_format import read_date_format

ENOUGH = 0.95
NULLS = {"na", "n/a", "#n/a", "null", "none", "nan", "-", "--", "?", ".", "k.a.", "k. a.", "keine angabe", "unbekannt"}
NULLS |= {"unknown", "missing", "fehlt", "n.d.", "(null)"}
TRUTHS = [("ja", "nein"), ("yes", "no"), ("oui", "non"), ("wahr", "falsch"), ("true", "false"), ("vrai", "faux")]
LETTERS = [("j", "n"), ("y", "n"), ("t", "f"), ("o", "n")]  # both must be there: one alone may be a code
STYLES = [(".", ""), (",", ""), (",", "."), (".", ","), (".", "'"), (",", " "), (",", "\N{NO-BREAK SPACE}")]
WHOLE = re.compile("0|-?[1-9][0-9]*")
DAYS = ("DD.MM.YYYY", "D.M.YYYY", "DD/MM/YYYY", "MM/DD/YYYY", "D/M/YYYY", "M/D/YYYY", "DD-MM-YYYY", "YYYY/MM/DD")
TIMES = (" hh:mm", " hh:mm:ss", " h:mm", "Thh:mm:ss", " hh:mm:ss.f")
ISO = (
    "YYYY-MM-DD",
    "YYYY-MM-DD hh:mm:ss",
    "YYYY-MM-DD hh:mm",
    "YYYY-MM-DDThh:mm:ss",
    "YYYY-MM-DD hh:mm:ss.f",
)  # need no format
Style = tuple[str, str]  # decimal sign and thousands mark


@dataclass(frozen=True)
class Inferred:
    """What a column seems to be."""

    type: Type
    facts: dict[str, Any] = field(default_factory=dict)  # as a policy states them, beside its type
    formats: tuple[str, ...] = ()  # that fit a date equally well, if there are several
    styles: tuple[Style, ...] = ()  # of numbers that are not plain whole ones: all that fit


def infer(cells: Sequence[str]) -> Inferred:
    """The type of a column, from cells of it. Cells without anything are left out."""
    counts = Counter(cell.strip(" ") for cell in cells)
    del counts[""]
    nulls = [word for word in counts if word.casefold() in NULLS]
    rest = Counter({word: count for word, count in counts.items() if word not in nulls})
    found = _truth(rest) or _date(rest) or _number(rest) if rest else None
    if found is None:
        return Inferred(Type.TEXT)
    return Inferred(found.type, found.facts | ({"null": sorted(nulls)} if nulls else {}), found.formats, found.styles)


def _most(counts: Counter[str], test: Callable[[str], object]) -> bool:
    return sum(count for word, count in counts.items() if test(word)) >= ENOUGH * counts.total()


def _truth(counts: Counter[str]) -> Inferred | None:
    lowered = {word.casefold() for word in counts}
    for true, false in (*TRUTHS, *LETTERS):
        if (true, false) in LETTERS and lowered != {true, false}:
            continue
        if lowered <= {true, false}:
            words = {
                fact: sorted({word, *(seen for seen in counts if seen.casefold() == word)})
                for fact, word in (("true", true), ("false", false))
            }
            return Inferred(Type.BOOLEAN, {} if true == "true" else words)
    return None


def _date(counts: Counter[str]) -> Inferred | None:
    def fits(text: str) -> bool:
        pattern = re.compile(read_date_format(text, "format", time="h" in text).pattern)
        return _most(counts, pattern.fullmatch)

    for text in ISO:
        if fits(text):
            return Inferred(Type.TIMESTAMP if "h" in text else Type.DATE)
    for time in ("", *TIMES):
        found = tuple(day + time for day in DAYS if fits(day + time))
        strict = tuple(text for text in found if "DD" in text) or found  # 01.02.2024 fits D.M.YYYY as well
        if strict:
            return Inferred(Type.TIMESTAMP if time else Type.DATE, {"format": strict[0]}, strict if len(strict) > 1 else ())
    return None


def _number(counts: Counter[str]) -> Inferred | None:
    if _most(counts, WHOLE.fullmatch):
        return Inferred(Type.INTEGER)
    if any(re.fullmatch("0[0-9]+", word) for word in counts):  # a code: 007 is not 7
        return None
    styles = tuple(style for style in STYLES if _most(counts, pattern_of(style).fullmatch))
    if not styles:
        return None
    parts = any(styles[0][0] in word for word in counts)
    return Inferred(Type.DECIMAL if parts else Type.INTEGER, style_facts(styles[0]), styles=styles)


def pattern_of(style: Style) -> re.Pattern[str]:
    """Numbers in a style."""
    decimal, thousands = style
    whole = "[0-9]+" + (f"|[0-9]{{1,3}}(?:[{thousands}][0-9]{{3}})+" if thousands else "")
    return re.compile(f"[+-]?(?:{whole})(?:[{decimal}][0-9]+)?(?:[eE][+-]?[0-9]{{1,3}})?")


def style_facts(style: Style) -> dict[str, str]:
    """A style in the words of a policy; nothing for the plain one."""
    decimal, thousands = style
    return ({} if decimal == "." else {"decimal": decimal}) | ({"thousands": thousands} if thousands else {})


def common_style(columns: Sequence[Inferred]) -> Style:
    """The style that most of the columns with such numbers fit; the plainest of several."""
    votes = Counter(style for column in columns for style in column.styles)
    return max(STYLES, key=lambda style: (votes[style], -STYLES.index(style)))
