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

QUOTE = ord('"')
ENDS = np.frombuffer(b",\r\n", dtype=np.uint8)
AT_ONCE = 1 << 24  # bytes
MARK = b"\xef\xbb\xbf"  # of UTF-8, before the first cell


def misplaced_quote(path: str) -> int | None:
    """The byte at which the first quote out of order stands; None if all are in order."""
    if Path(path).stat().st_size == 0:
        return None
    data = np.memmap(path, dtype=np.uint8, mode="r")
    start = len(MARK) if bytes(data[: len(MARK)]) == MARK else 0
    found = [start + np.flatnonzero(data[start:][at : at + AT_ONCE] == QUOTE) + at for at in range(0, len(data), AT_ONCE)]
    quotes = np.concatenate(found)
    opening, closing = quotes[0::2], quotes[1::2]
    before = np.concatenate([[-2], closing])[: len(opening)]  # the quote before an opening one
    begins = (opening == start) | np.isin(data[opening - 1], ENDS) | (opening == before + 1)
    if not begins.all():
        return int(opening[np.argmin(begins)])
    if len(opening) > len(closing):
        return int(opening[-1])
    after = np.concatenate([opening[1:], [-2]])  # the quote after a closing one
    last = closing == len(data) - 1
    ends = last | np.isin(data[np.minimum(closing + 1, len(data) - 1)], ENDS) | (after == closing + 1)
    return None if ends.all() else int(closing[np.argmin(ends)])
