"""Plain text tables: the same letters everywhere, whatever a terminal can show.

`rich` draws what only a terminal shows (the ledger, bars of progress). Here nothing is coloured or guessed: columns are as
wide as their longest cells, so that what is printed is what a page shows and a test compares. What a terminal has no room
for is folded in `terminal.py`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence


def table(rows: Sequence[Sequence[str]], *, left: Collection[int] = (0,), rule: int = 0) -> list[str]:
    """Lines with columns two spaces apart, those named to the left, others to the right; a rule below the first rows."""
    widths = [max(map(cell_width, column)) for column in zip(*rows, strict=True)]

    def line(row: Sequence[str]) -> str:
        placed = zip(row, widths, strict=True)
        cells = [_filled(cell, width, right=at not in left) for at, (cell, width) in enumerate(placed)]
        return "  ".join(cells).rstrip()

    lines = [line(row) for row in rows]
    return [*lines[:rule], "  ".join("-" * width for width in widths), *lines[rule:]] if rule else lines


def cell_width(text: str) -> int:
    """How many columns a text takes in a terminal: letters of East Asia take two, marks upon a letter none."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 0 if unicodedata.combining(sign) else 1 for sign in text)


def _filled(cell: str, width: int, *, right: bool) -> str:
    free = " " * (width - cell_width(cell))
    return free + cell if right else cell + free
