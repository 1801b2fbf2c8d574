"""Plain text tables: the same letters everywhere, however wide the terminal is and whatever it can show.

`rich` draws what only a terminal shows (the ledger, bars of progress). Here nothing is wrapped, coloured or guessed: columns
are as wide as their longest cells, in characters, so that what is printed is what a page shows and a test compares.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence


def table(rows: Sequence[Sequence[str]], *, left: Collection[int] = (0,), rule: int = 0) -> list[str]:
    """Lines with columns two spaces apart, those named to the left, others to the right; a rule below the first rows."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def line(row: Sequence[str]) -> str:
        placed = zip(row, widths, strict=True)
        cells = [cell.ljust(width) if at in left else cell.rjust(width) for at, (cell, width) in enumerate(placed)]
        return "  ".join(cells).rstrip()

    lines = [line(row) for row in rows]
    return [*lines[:rule], "  ".join("-" * width for width in widths), *lines[rule:]] if rule else lines
