"""The dialect of a CSV file, recognised from its first lines. For its owner alone, who asked for it: rows are looked at.

What is found here is proposed in a draft, never used to read: the policy says how a file is written.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from dither.errors import DataError
from dither.query.policy.csv_dialect import PLAIN, CsvDialect
from dither.query.sources.csv_encoding import ORDERS, lines

FIRST_BYTES, FIRST_ROWS, FIRST_LINES = 1 << 20, 10_000, 1000
MOST_CUT = 100  # lines of a last row that is cut; more: a quote that closes nothing
NUMBER, YEAR = re.compile(r" *[+-]?[0-9][0-9.,:/' -]*"), re.compile(" *(19|20)[0-9]{2} *")
CANDIDATES = (",", ";", "\t", "|")


def first_rows(path: str, dialect: CsvDialect, most: int = FIRST_ROWS) -> list[list[str]]:
    """The first rows of a file as lists of cells, the header among them; what cannot be read ends them."""
    found: list[list[str]] = []
    with lines(path, dialect.encoding) as read:
        try:
            found += (row for row in islice(_reader(read, dialect), most) if row)
        except csv.Error:
            return found
    return found


def wrong_rows(path: str, dialect: CsvDialect, width: int, most: int | None = None) -> Iterator[tuple[int, int]]:
    """Of the first `most` rows each that has too few cells or too many: its number, the header's being 1, and how many."""
    with lines(path, dialect.encoding) as read, suppress(csv.Error):
        for number, row in enumerate(islice(_reader(read, dialect), most), start=1):
            if row and (len(row) < width or any(row[width:])):
                yield number, len(row)


def sniff(path: str) -> CsvDialect:
    """The dialect that fits the first lines best."""
    encoding = _encoding(path)
    with lines(path, encoding) as read:
        first = list(islice(read, FIRST_LINES))
    if not "".join(first).strip():
        raise DataError("file", path, "it has no line", "CSV with a line of names and rows")
    best = max(
        (CsvDialect(separator, encoding, quote) for separator in CANDIDATES for quote in ('"', "", "'")),
        key=lambda dialect: _score(first, dialect),
    )
    names = next(iter(first_rows(path, best, 1)), [])
    if is_row(names):
        return CsvDialect(best.separator, encoding, best.quote, tuple(f"column_{at}" for at in range(1, len(names) + 1)))
    return best


def is_row(names: Sequence[str]) -> bool:
    """Whether a first line looks like a row rather than like names: a number or a date stands in it, years aside."""
    return any(NUMBER.fullmatch(name) and not YEAR.fullmatch(name) for name in names)


def _encoding(path: str) -> str:
    with Path(path).open("rb") as file:
        first = file.read(FIRST_BYTES)
    if first[:2] in ORDERS:
        return "utf-16"
    try:
        first.decode()
    except UnicodeDecodeError as error:
        if error.start < len(first) - 3 or len(first) < FIRST_BYTES:  # not just a letter that is cut
            return "windows-1252"
    return PLAIN.encoding


def _score(first: Sequence[str], dialect: CsvDialect) -> tuple[float, int, bool]:
    """How many rows have as many cells as the first; how many cells; and whether cells in quotes lose these."""
    rows, ended, reader = list[list[str]](), 0, csv.reader(first, strict=True, **_style(dialect))
    try:
        for row in reader:
            rows += [row] if row else []
            ended = reader.line_num
    except csv.Error as error:  # the last row may just be cut, and a cell too long for this reader
        is_cut = len(first) == FIRST_LINES and reader.line_num == len(first)
        if not rows or reader.line_num - ended > MOST_CUT or not (is_cut or "field limit" in str(error)):
            return -1, 0, False
    width, text = len(rows[0]) if rows else 0, "".join(first)
    same = sum(len(row) == width for row in rows) / len(rows) if width > 1 else 0
    inside = dialect.quote and f"{dialect.quote}{dialect.separator}" in text
    return same, width, bool(inside) or (dialect.quote == '"' and '"' not in text)


def _reader(read: Iterable[str], dialect: CsvDialect) -> Iterator[list[str]]:
    return csv.reader(read, **_style(dialect))


def _style(dialect: CsvDialect) -> dict[str, Any]:
    quoting = csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE
    return {"delimiter": dialect.separator, "quotechar": dialect.quote or None, "quoting": quoting}
