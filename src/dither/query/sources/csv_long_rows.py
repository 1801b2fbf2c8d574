"""Rows of a CSV file that are longer than the engine reads: written again with long cells cut, so that no row is too long.

The engine fails on a row of more than 2,000,000 bytes: one person's long cell would fail everybody's questions. No question
looks at more than the first LONGEST_TEXT characters of a cell, and of a longer id, number or date at nothing
(`engines/duckdb/read_table.py`). So a file that has such a row is copied, and in that row alone cells of more than KEPT
bytes keep their first KEPT bytes. Empty cells beyond the last column, which the engine passes over, are left out there, and
one cell stands for others.

Theorem. Of a file whose quotes are in order (`sources/csv_quotes.py`) the copy has the same rows, and everything that a
question reads of them is the same. No row of it with as many cells as there are columns is longer than
`longest_row(columns)`, which the engine is told to read; rows with fewer cells, or with text beyond the last column, fail
the file as they do in the original.

    K    KEPT bytes;    L    LONGEST_TEXT = 2000

Proof. Quotes in order: outside and inside alternate from quote to quote, so ends of lines and separators outside are those
of rows and cells; they are copied. A cell of up to K bytes between its quotes is copied. Of a longer one its first K bytes
are kept, less a part of a character and less the first half of a doubled quote at their end: at most 4 bytes. A character is
at most 4 bytes long, and a doubled quote 2, so at least (K - 4) / 4 > L characters remain, and they begin the cell. The read
gives the first L characters of a text of more than L bytes, and NULL for what is no text, before and after. A row of n cells
has at most K + 2 bytes for each, a separator between two and an end of two bytes: less than n (K + 4). Rows that are not cut
have at most LONG bytes. What becomes of a row depends on that row alone, so neighbours differ in the rows of one person.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from dither.query.policy.column import LONGEST_TEXT
from dither.query.sources.csv_quotes import MARK

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONG = 1_000_000  # bytes of a row that is copied as it is
KEPT = 4 * (LONGEST_TEXT + 2)
ENGINE = 2_000_000  # bytes of a row that the engine reads unless told
AT_ONCE = 1 << 24  # bytes
FIRST = 1 << 12  # bytes of a block that are looked at first
_ENDS = (ord("\n"), ord("\r"))


def longest_row(columns: int) -> int:
    """More bytes than a row of so many cells has that is not cut, or has been."""
    return max(ENGINE, columns * (KEPT + 4))


def long_rows(path: str, quote: str = '"', *, header: bool = True, long: int = LONG) -> list[tuple[int, int]]:
    """From where to where rows of more than `long` bytes go, their ends left out; a header is none. By pieces, in UTF-8."""
    size = Path(path).stat().st_size
    if size <= long:
        return []
    data = np.memmap(path, dtype=np.uint8, mode="r")
    start = len(MARK) if bytes(data[: len(MARK)]) == MARK else 0
    if _all_short(data, start, quote, long // 2):
        return []
    found, row, seen, is_header = list[tuple[int, int]](), start, 0, header
    for at in range(start, size, AT_ONCE):
        piece = data[at : at + AT_ONCE]
        ends, seen = _outside(piece, _is_end(piece), quote, seen)
        ends = ends + at
        if at + AT_ONCE >= size:
            ends = np.append(ends, size)
        starts = np.concatenate(([row], ends[:-1] + 1)) if len(ends) else ends
        for which in np.flatnonzero(ends - starts > long):
            if not (is_header and starts[which] == start):
                found.append((int(starts[which]), int(ends[which])))
        row = int(ends[-1]) + 1 if len(ends) else row
    return found


def write_cut(
    path: str, target: Path, rows: list[tuple[int, int]], separator: str, quote: str, *, columns: int, kept: int = KEPT
) -> None:
    """The file again, with long cells of these rows cut; empty cells beyond the columns are left out."""
    data = np.memmap(path, dtype=np.uint8, mode="r")
    with target.open("xb") as file:
        done = 0
        for start, end in rows:
            _copy(data, done, start, file)
            for number, (first, last) in enumerate(_cells(data, start, end, separator, quote)):
                if number == columns:
                    file.write(_beyond(data[first - 1 : end].tobytes(), separator.encode(), quote.encode()))
                    break
                file.write((separator.encode() if number else b"") + _cut(data, first, last, quote, kept))
            done = end
        _copy(data, done, len(data), file)


def _all_short(data: NDArray[np.uint8], start: int, quote: str, block: int) -> bool:
    """Whether a row ends in every block of so many bytes: a row of twice as many would cover one of them. It looks at the
    beginning of a block first, which is enough for nearly every file."""
    seen = 0
    for at in range(start, len(data) - block + 1, block):
        whole = data[at : at + block]
        if not any(len(_outside(part, _is_end(part), quote, seen)[0]) for part in (whole[:FIRST], whole)):
            return False
        seen += int(np.count_nonzero(whole == ord(quote))) if quote else 0
    return True


def _is_end(piece: NDArray[np.uint8]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (piece == _ENDS[0]) | (piece == _ENDS[1])
    return found


def _outside(piece: NDArray[np.uint8], signs: NDArray[np.bool_], quote: str, seen: int) -> tuple[NDArray[np.int64], int]:
    """The places of signs that are not within quotes, after so many quotes were seen; and how many are seen then."""
    places = np.flatnonzero(signs)
    if not quote:
        return places, seen
    quotes = np.flatnonzero(piece == ord(quote))
    return places[(np.searchsorted(quotes, places) + seen) % 2 == 0], seen + len(quotes)


def _cells(data: NDArray[np.uint8], start: int, end: int, separator: str, quote: str) -> Iterator[tuple[int, int]]:
    """From where to where the cells of a row go, with their quotes."""
    first, seen = start, 0
    for at in range(start, end, AT_ONCE):
        piece = data[at : min(at + AT_ONCE, end)]
        places, seen = _outside(piece, piece == ord(separator), quote, seen)
        for place in places:
            yield first, at + int(place)
            first = at + int(place) + 1
    yield first, end


def _copy(data: NDArray[np.uint8], start: int, end: int, file: IO[bytes]) -> None:
    for at in range(start, end, AT_ONCE):
        file.write(data[at : min(at + AT_ONCE, end)].tobytes())


def _cut(data: NDArray[np.uint8], first: int, last: int, quote: str, kept: int) -> bytes:
    """A cell with its quotes, cut where it is long."""
    around = quote.encode() if quote and first < last and data[first] == ord(quote) else b""
    first, last = first + len(around), last - len(around)
    inside = data[first : min(last, first + kept)].tobytes()
    if last - first > kept:
        inside = _whole_characters(inside)
        doubled = len(inside) - len(inside.rstrip(around)) if around else 0
        inside = inside[: len(inside) - doubled % 2]
    return around + inside + around


def _beyond(rest: bytes, separator: bytes, quote: bytes) -> bytes:
    """What stands for cells beyond the last column, each after its separator: nothing if all are empty, or a cell that is
    not. If no quote remains where empty cells lose theirs, each quote that opens a cell is followed by the one that closes
    it: all in quotes are empty."""
    plain = rest.replace(separator + 2 * quote, separator)
    return separator + b"x" if plain.strip(separator) else b""


def _whole_characters(cut: bytes) -> bytes:
    """Bytes of UTF-8 without a part of a character at their end."""
    for back in range(1, min(4, len(cut)) + 1):
        byte = cut[-back]
        if byte & 0xC0 != 0x80:  # the first byte of a character, which says how long it is
            length = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return cut if back >= length else cut[:-back]
    return cut
