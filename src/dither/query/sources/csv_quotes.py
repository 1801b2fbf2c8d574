"""Whether the quotes of a CSV file are in order, so that no line can take others with it.

Quotes are counted from the beginning of the file. Inside and outside alternate, so the first, third, ... open a cell, or
are the second half of a doubled quote; the second, fourth, ... close one, or are the first half of a doubled quote. The
file is in order if their number is even, every opening quote stands at the beginning of a cell, and every closing one at
the end of one. Then there is one way to read it. (DuckDB drops, without a word, all that follows a quote that is never
closed.)
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

AT_ONCE = 1 << 24  # bytes
MARK = b"\xef\xbb\xbf"  # of UTF-8, before the first cell


def misplaced_quote(path: str, separator: str = ",", quote: str = '"') -> int | None:
    """The byte at which the first quote out of order stands; None if all are in order. By pieces. Of a file in UTF-8."""
    size = Path(path).stat().st_size
    if size == 0 or not quote:
        return None
    borders = np.isin(
        np.arange(256), np.frombuffer(f"{separator}\r\n{quote}".encode(), dtype=np.uint8)
    )  # of a cell in quotes
    data = np.memmap(path, dtype=np.uint8, mode="r")
    start = len(MARK) if bytes(data[: len(MARK)]) == MARK else 0
    seen, last = 0, 0
    for at in range(start, size, AT_ONCE):
        quotes = at + np.flatnonzero(data[at : at + AT_ONCE] == ord(quote))
        opens = (np.arange(len(quotes)) + seen) % 2 == 0
        before = (quotes == start) | borders[data[np.maximum(quotes - 1, 0)]]
        after = (quotes == size - 1) | borders[data[np.minimum(quotes + 1, size - 1)]]
        fine = np.where(opens, before, after)
        if not fine.all():
            return int(quotes[np.argmin(fine)])
        seen, last = seen + len(quotes), int(quotes[-1]) if len(quotes) else last
    return None if seen % 2 == 0 else last


def line_at(path: str, place: int) -> int:
    """The number of the line in which a byte stands, the first being 1; lines end as the first one does."""
    before = np.memmap(path, dtype=np.uint8, mode="r")[:place]
    newlines, returns = (int(np.count_nonzero(before == sign)) for sign in b"\n\r")
    return 1 + (newlines or returns)
