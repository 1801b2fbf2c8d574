"""Cells as their owner says that they are written, in DuckDB's SQL: a text that a cast reads, or NULL.

Theorem. What becomes of a cell is a function of that cell and of the policy. It has a value for every text: no error, and in
time linear in its length.

Proof. Only trim, replace, IN, regexp_full_match, regexp_replace and, in `whole_sql`, TRY_CAST are written, with constant
words and patterns, on one cell of at most LONGEST_TEXT bytes. The first three are total. Patterns are RE2, which reads
bytes of UTF-8, has no backtracking and no locale; they are those of this file and of `policy/date_format.py`, without
repetition of a repetition that could be empty. The engine has valid UTF-8 only: a file with other bytes was not read at
all. TRY_CAST, here and in the cast that follows, gives NULL where it would fail, and `whole_sql` compares two numbers of one
type. So a person's rows give the same whatever other rows there are.

Numbers keep their digits: of a cell that matches, thousands marks are taken out and the decimal sign becomes a point, and
the double next to what stands there is read as in any other file. A mark stands before each three digits or nowhere, so that
12.5 is not 125 where points are marks. In a column of whole numbers 1.5 is missing: the cast alone would round it. 1.0 and
1e3 are whole; 19 digits after the point are looked at. Of columns that say whose a row is only words for missing are looked
at: everything else keeps two spellings apart.
"""

from __future__ import annotations

from dither.query.policy.cell_format import CellFormat
from dither.query.policy.column import Type
from dither.query.sources.sql_quotes import text

WHOLE = "DECIMAL(38, 19)"  # has every whole number of 64 bits, and as many digits after the point as fit beside it


def value_sql(sql: str, cells: CellFormat, *, kind: Type, is_id: bool) -> str:
    """A text as one that a cast to its type reads, NULL where it is none; `sql` is that of the cell."""
    trimmed = f"trim({sql}, ' ')"
    value = sql
    if not is_id and kind.is_number and cells.number is not None:
        value = _number(trimmed, *cells.number)
    elif not is_id and cells.date is not None:
        matches = f"regexp_full_match({trimmed}, {text(cells.date.pattern)})"
        iso = f"regexp_replace({trimmed}, {text(f'^{cells.date.pattern}$')}, {text(cells.date.iso)})"
        value = f"CASE WHEN {matches} THEN {iso} END"
    elif not is_id and cells.true:
        value = f"CASE WHEN {_among(trimmed, cells.true)} THEN 'true' WHEN {_among(trimmed, cells.false)} THEN 'false' END"
    return f"CASE WHEN NOT {_among(trimmed, cells.null)} THEN {value} END" if cells.null else value


def whole_sql(sql: str) -> str:
    """A text if it is a whole number that a cast reads, else NULL; `sql` is that of the text."""
    exact, rounded = f"TRY_CAST({sql} AS {WHOLE})", f"TRY_CAST(TRY_CAST({sql} AS BIGINT) AS {WHOLE})"
    return f"CASE WHEN {exact} = {rounded} THEN {sql} END"


def is_missing(sql: str, cells: CellFormat) -> str:
    """Whether a text is NULL or a word for missing; for its owner."""
    trimmed = f"trim({sql}, ' ')"
    words = f" OR {_among(trimmed, cells.null)}" if cells.null else ""
    return f"({sql} IS NULL{words})"


def _number(sql: str, decimal: str, thousands: str) -> str:
    whole = "[0-9]+" + (f"|[0-9]{{1,3}}(?:[{thousands}][0-9]{{3}})+" if thousands else "")
    pattern = f"[+-]?(?:(?:{whole})(?:[{decimal}][0-9]*)?|[{decimal}][0-9]+)(?:[eE][+-]?[0-9]{{1,4}})?"
    plain = sql if not thousands else f"replace({sql}, {text(thousands)}, '')"
    plain = plain if decimal == "." else f"replace({plain}, {text(decimal)}, '.')"
    return f"CASE WHEN regexp_full_match({sql}, {text(pattern)}) THEN {plain} END"


def _among(sql: str, words: tuple[str, ...]) -> str:
    return f"({sql} IN ({', '.join(text(word) for word in words)}))"
